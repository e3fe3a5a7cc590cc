/** A game that is being played. People and agents take their decisions here, and everything is kept. */
import type { Flight, GameLook } from "../common/look";
import { flightsSeen, takeStep } from "../common/step";
import { decisionSeed, hintSeed } from "../engine/index";
import { messageOf, SiberiaError, type Analysis, type Engine, type Game, type Thinker } from "../engine/types";
import { MACHINE, askMachine } from "./bridge";
import { broughtNews, outlook, worlds } from "./outlook";
import { FORMAT, decisionNames, keep, type Save, type Setup } from "./saves";
import { entryOf, type Entry } from "./tale";

/** Milliseconds that a step of another player stays to be seen. */
export const PACES = { slow: 1600, normal: 750, fast: 250, instant: 0 } as const;
export type Pace = keyof typeof PACES;

export interface Hint {
  /** How many decisions there were. */
  decisions: number;
  simulations: number;
  moves: Analysis[];
}

export class Session {
  readonly look: GameLook;
  readonly engine: Engine;
  readonly setup: Setup;
  readonly id: string;
  game: Game;
  tale: Entry[] = [];
  looksAhead: number[];
  /** The seat whose view is shown; null while only agents play, who hide nothing from the onlooker. */
  viewer: number | null = null;
  /** The person who has to take the device before the next view is shown. */
  handOver: number | null = null;
  /** The seat that is being waited for. */
  thinking: number | null = null;
  hint: Hint | null = null;
  hinting = false;
  /** What went wrong, in a sentence. */
  problem: string | null = null;
  /** Whether the browser keeps the game. */
  isKept = true;
  pace: Pace = storedPace();
  /** Places where something has changed since the viewer's last decision. */
  changed = new Set<string>();

  private readonly thinker: Thinker;
  private readonly listeners = new Set<() => void>();
  private readonly flightListeners = new Set<(flights: Flight[]) => void>();
  private readonly notes = new Map<number, string>();
  private notesOf = -1;
  private samples: Game[] = [];
  private generation = 0;
  private running = false;

  /** Take the decisions `names` in a new game. Throws a `SiberiaError` if they don't fit. */
  constructor(
    engine: Engine,
    thinker: Thinker,
    look: GameLook,
    setup: Setup,
    id: string,
    names: readonly string[] = [],
    looksAhead: number[] = [],
  ) {
    this.engine = engine;
    this.thinker = thinker;
    this.look = look;
    this.setup = setup;
    this.id = id;
    this.looksAhead = looksAhead.length ? [...looksAhead] : setup.seats.map(() => 0);
    this.game = engine.newGame({
      players: setup.seats.length,
      rules: setup.rules,
      seed: BigInt(setup.seed),
      ...(setup.components === null ? {} : { components: setup.components }),
    });
    this.settleViewer(); // what is marked as changed depends on who looks
    for (const [count, name] of names.entries()) {
      const action = this.game.isOver() ? -1 : this.game.actionNumber(name);
      if (!this.game.legalActions().includes(action)) {
        throw new SiberiaError(
          `The saved game doesn't fit this version: decision ${count + 1}, “${name}”, is not legal there.`,
        );
      }
      this.step(action);
    }
    this.settleViewer();
  }

  // ------------------------------------------------------------ listening

  subscribe(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  onFlights = (listener: (flights: Flight[]) => void): (() => void) => {
    this.flightListeners.add(listener);
    return () => this.flightListeners.delete(listener);
  };

  private tell(): void {
    for (const listener of this.listeners) listener();
  }

  // ------------------------------------------------------------ who plays

  names = (player: number): string => this.setup.seats[player].name;

  isPerson(player: number): boolean {
    return player >= 0 && this.setup.seats[player].kind === "person";
  }

  get people(): number[] {
    return this.setup.seats.flatMap((seat, player) => (seat.kind === "person" ? [player] : []));
  }

  /** Whether the person whose view is shown has to decide. */
  get asksViewer(): boolean {
    return (
      !this.game.isOver() &&
      this.handOver === null &&
      this.game.currentPlayer() === this.viewer &&
      this.isPerson(this.viewer ?? -1)
    );
  }

  /** The actions that the viewer can choose from now; none while others are on turn, or if there is only one. */
  get choices(): number[] {
    const legal = this.asksViewer ? this.game.legalActions() : [];
    return legal.length > 1 ? legal : [];
  }

  /** Whose view is shown, and who has to take the device first. */
  private settleViewer(): void {
    const people = this.people;
    const onTurn = this.game.currentPlayer();
    if (people.length <= 1) this.viewer = people[0] ?? null;
    else if (this.game.isOver()) this.handOver = null;
    else if (this.isPerson(onTurn)) this.handOver = onTurn === this.viewer ? null : onTurn;
    else if (this.viewer === null) this.handOver ??= people[0];
  }

  /** The person who was asked for has taken the device. */
  takeOver(): void {
    if (this.handOver === null) return;
    this.viewer = this.handOver;
    this.handOver = null;
    this.changed = new Set();
    this.tell();
    void this.run();
  }

  // ------------------------------------------------------------ decisions

  /** Begin, or go on: agents play until a person has to decide. A person's only legal action is taken too. */
  async run(): Promise<void> {
    if (this.running) return;
    this.running = true;
    const generation = this.generation;
    try {
      while (!this.game.isOver() && generation === this.generation && this.problem === null) {
        const player = this.game.currentPlayer();
        if (this.isPerson(player)) {
          if (this.handOver !== null || player !== this.viewer) break;
          const decisions = this.game.decisions;
          const legal = this.game.legalActions();
          if (legal.length > 1) break;
          await pause(Math.min(PACES[this.pace], 400));
          if (generation !== this.generation) return;
          if (player === this.viewer && this.game.decisions === decisions) this.take(legal[0]);
          continue;
        }
        await this.letThink(player, generation);
      }
    } finally {
      if (generation === this.generation) this.running = false;
    }
    this.tell();
  }

  private async letThink(player: number, generation: number): Promise<void> {
    const { game, setup } = this;
    const spec = setup.seats[player].agent;
    const seed = decisionSeed(BigInt(setup.seed), player, game.decisions);
    this.thinking = player;
    this.tell();
    try {
      const [action] = await Promise.all([
        spec.startsWith(MACHINE)
          ? askMachine(game, player, spec.slice(MACHINE.length), seed)
          : this.thinker.choose(game, player, spec, seed),
        pause(PACES[this.pace]),
      ]);
      if (generation === this.generation) this.take(action);
    } catch (error) {
      if (generation !== this.generation) return;
      this.problem = `${this.names(player)} (${spec}) could not decide: ${sentence(error)} The game is kept.`;
    } finally {
      if (generation === this.generation) this.thinking = null;
    }
  }

  /** Try again after a problem. */
  retry(): void {
    this.beginAnew();
    void this.run();
  }

  /** Wait for nobody any more; an answer that still comes is dropped. */
  private beginAnew(): void {
    this.generation += 1;
    this.running = false;
    this.thinking = null;
    this.problem = null;
  }

  /** The viewer's choice. */
  choose(action: number): void {
    if (!this.choices.includes(action)) return;
    this.problem = null; // a hint that failed, say
    this.take(action);
    void this.run();
  }

  private take(action: number): void {
    const flights = this.step(action);
    this.settleViewer();
    this.save();
    this.tell();
    if (flights.length) for (const listener of this.flightListeners) listener(flights);
  }

  /** Carry an action out, write down what is told of it, and find what moves. */
  private step(action: number): Flight[] {
    const { look, viewer } = this;
    const step = takeStep(this.game, action);
    this.tale.push(entryOf(look, step, this.tale));
    this.hint = null;
    const flights = flightsSeen(look, step, viewer);
    if (step.player === viewer) {
      if (!step.forced) this.changed = new Set();
    } else if (viewer !== null) {
      for (const flight of flights) this.changed.add(flight.to[0]);
    }
    return flights;
  }

  // ------------------------------------------------------------ taking back

  /** How many decisions there were before the viewer's latest one that was a choice; null if there is none. */
  private lastOwn(): number | null {
    return this.tale.findLast((entry) => entry.player === this.viewer && !entry.forced)?.count ?? null;
  }

  get canUndo(): boolean {
    return this.viewer !== null && this.handOver === null && this.lastOwn() !== null;
  }

  /** Whether taking the latest decision back would let the viewer use what it has learned since. */
  undoBringsNews(): boolean {
    const last = this.lastOwn();
    if (last === null || this.viewer === null) return false;
    const since = this.tale.slice(last);
    if (since.some((entry) => entry.player !== this.viewer)) return true;
    const names = since.map((entry) => entry.name);
    return broughtNews(this.game.rewound(last), this.game, this.viewer, names);
  }

  /** Take the viewer's latest decision back, and what followed. It is counted if that looks ahead. */
  undo(): void {
    const last = this.lastOwn();
    if (last === null || this.viewer === null) return;
    if (this.undoBringsNews()) this.looksAhead[this.viewer] += 1;
    this.beginAnew();
    this.hint = null;
    this.game = this.game.rewound(last);
    this.tale = this.tale.filter((entry) => entry.count < last);
    this.changed = new Set();
    this.notesOf = -1;
    this.save();
    this.tell();
    void this.run();
  }

  /** Stop: nobody is waited for any more. */
  leave(): void {
    this.generation += 1;
  }

  // ------------------------------------------------------------ what a move would bring

  /** What an action is certain to bring the viewer, in words; empty if there is nothing to tell. */
  noteOf(action: number): string {
    if (!this.asksViewer || this.viewer === null) return "";
    if (this.notesOf !== this.game.decisions) {
      this.notes.clear();
      this.samples = worlds(this.game, this.viewer);
      this.notesOf = this.game.decisions;
    }
    const known = this.notes.get(action);
    if (known !== undefined) return known;
    const note = outlook(this.look, this.samples, this.viewer, action);
    this.notes.set(action, note);
    return note;
  }

  /** Ask guided search what it thinks of the viewer's moves. */
  async askHint(simulations: number): Promise<void> {
    if (!this.asksViewer || this.viewer === null || this.hinting) return;
    const { game } = this;
    const decisions = game.decisions;
    const current = () => game === this.game && decisions === game.decisions;
    this.hinting = true;
    this.tell();
    try {
      const seed = hintSeed(BigInt(this.setup.seed), decisions);
      const moves = await this.thinker.analyse(game, this.viewer, simulations, seed);
      if (current()) this.hint = { decisions, simulations, moves };
    } catch (error) {
      if (current()) this.problem = `No hint: ${sentence(error)}`;
    } finally {
      this.hinting = false;
      this.tell();
    }
  }

  // ------------------------------------------------------------ keeping

  /** The game as it can be put away. */
  asSave(): Save {
    return {
      format: FORMAT,
      id: this.id,
      version: this.engine.info.version,
      setup: this.setup,
      decisions: decisionNames(this.game),
      looksAhead: this.looksAhead,
      at: Date.now(),
    };
  }

  private save(): void {
    this.isKept = keep(this.asSave());
  }

  /** Keep a game that has just been dealt. */
  begin(): void {
    this.save();
    void this.run();
  }

  /** The names under which a record lists the seats: agents by their specs, people as `person`. */
  get agentNames(): string[] {
    return this.setup.seats.map((seat) => (seat.kind === "person" ? "person" : seat.agent.replace(MACHINE, "")));
  }

  /** The record of the finished game, as `siberia record` writes it. */
  record(): string {
    return this.game.toRecord(this.agentNames);
  }
}

const PACE_KEY = "siberia:pace";

/** The pace that was chosen before on this machine. */
function storedPace(): Pace {
  try {
    const kept = localStorage.getItem(PACE_KEY);
    return kept !== null && Object.hasOwn(PACES, kept) ? (kept as Pace) : "normal";
  } catch {
    return "normal";
  }
}

/** Keep a pace for the games to come. */
export function storePace(pace: Pace): void {
  try {
    localStorage.setItem(PACE_KEY, pace);
  } catch {
    // The page works without a memory too.
  }
}

/** What an error says, ended as a sentence is. */
function sentence(error: unknown): string {
  const text = messageOf(error);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
