/** A record that has been read and played again, and what guided search says of its decisions. */
import { openGame, type GameKey } from "../engines";
import { hintSeed } from "../engine/index";
import { SiberiaError, type Analysis, type Replayed, type Thinker } from "../engine/types";
import type { GameLook } from "../common/look";
import { takeStep } from "../common/step";
import { LOOKS } from "../looks";
import { entryOf, type Entry } from "../play/tale";

export interface OpenedRecord {
  /** A number of its own among all that were opened on this page. */
  id: number;
  look: GameLook;
  thinker: Thinker;
  replayed: Replayed;
  tale: Entry[];
  /** The lines of this game alone. */
  text: string;
  /** The whole file, how many games it holds, and which of them this is, from 0 on. */
  file: string;
  games: number;
  number: number;
}

let opened = 0;

/** Read game `number` of a file of records. Throws a `SiberiaError` in one sentence if it is damaged or no record. */
export async function openRecord(file: string, number = 0): Promise<OpenedRecord> {
  const games = gamesOf(file);
  const text = games[number];
  const game = gameOf(text);
  const { engine, thinker } = await openGame(game);
  const replayed = engine.fromRecord(text);
  const look = LOOKS[game];
  return {
    id: opened++,
    look,
    thinker,
    replayed,
    tale: taleOf(look, replayed),
    text,
    file,
    games: games.length,
    number,
  };
}

/** Which game a record is of, from its first line. */
function gameOf(text: string): GameKey {
  const line = text.slice(0, 2 ** 20).split("\n", 1)[0];
  let header: unknown;
  try {
    header = JSON.parse(line);
  } catch {
    throw new SiberiaError("This is no game record: its first line is not JSON.");
  }
  const { format, game } = (header ?? {}) as { format?: unknown; game?: unknown };
  if (format === undefined) throw new SiberiaError("This is no game record: its first line is no header.");
  if (game !== "card" && game !== "board") {
    throw new SiberiaError(
      `This record is of a game that the page doesn't know: ${JSON.stringify(game)?.slice(0, 40)}.`,
    );
  }
  return game;
}

/** The lines of each game in a file: a header begins the next one. */
function gamesOf(file: string): string[] {
  const lines = file.split("\n");
  const begins = lines.flatMap((line, index) =>
    index > 0 && line.includes('"format"') && line.includes('"siberia-record/') ? [index] : [],
  );
  return [0, ...begins].map((from, number) => {
    const to = begins[number];
    return to === undefined ? lines.slice(from).join("\n") : `${lines.slice(from, to).join("\n")}\n`;
  });
}

/** Everything that happened, told as in a game that is played. */
function taleOf(look: GameLook, replayed: Replayed): Entry[] {
  const game = replayed.at(0);
  const tale: Entry[] = [];
  for (const { action } of replayed.decisions) tale.push(entryOf(look, takeStep(game, action), tale));
  return tale;
}

/** What guided search says of one decision. */
export interface Judgement {
  index: number;
  player: number;
  /** The move that search visited most. Its margin is the player's expected lead over the others, in thousands. */
  best: Analysis;
  /** The move that was played, as search saw it. */
  played: Analysis;
  /** How much more search expects of the best move, in thousands; 0 if it expects no more of it. */
  cost: number;
}

/** Visits below which a move's margin says too little. */
const FEWEST_VISITS = 4;

/** What search says of decision number `index`; null where there was no choice. */
export async function judge(record: OpenedRecord, index: number, simulations: number): Promise<Judgement | null> {
  const { replayed, thinker } = record;
  const decision = replayed.decisions[index];
  if (decision.legal.length < 2) return null;
  const game = replayed.at(index);
  const moves = await thinker.analyse(game, decision.player, simulations, hintSeed(game.seed, index));
  const best = moves[0];
  let played = moves.find((move) => move.action === decision.action) ?? best;
  if (played.action !== best.action && played.visits < FEWEST_VISITS) {
    // Search hardly looked at the move: see what it expects after it.
    const after = await expectedAfter(record, index, simulations);
    if (after !== null) played = { ...played, margin: after };
  }
  return { index, player: decision.player, best, played, cost: Math.max(0, best.margin - played.margin) };
}

/** The lead that search expects for the player once it has moved as in the record; null if others decide next. */
async function expectedAfter(record: OpenedRecord, index: number, simulations: number): Promise<number | null> {
  const { replayed, thinker } = record;
  const { player } = replayed.decisions[index];
  const next = replayed.decisions[index + 1];
  if (!next || next.player !== player) return null;
  const game = replayed.at(index + 1);
  if (game.legalActions().length < 2) return null;
  const moves = await thinker.analyse(game, player, simulations, hintSeed(game.seed, index + 1));
  return moves[0].margin;
}

/** The decisions that cost most, the dearest first. */
export function turningPoints(judgements: readonly Judgement[], most = 8): Judgement[] {
  return judgements
    .filter((judgement) => judgement.cost >= 1)
    .sort((one, other) => other.cost - one.cost)
    .slice(0, most);
}
