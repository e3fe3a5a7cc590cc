/** The card game as the page shows it: see `GameLook`. */
import { all, one, range } from "../common/fields";
import type { Flight, GameLook, Source, Step } from "../common/look";
import { dollars, plural } from "../common/text";
import type { Game } from "../engine/types";
import { about } from "./about";
import { describe, remark, takenSlots, toldTo } from "./chronicle";
import {
  ACTIONS,
  ACTION_NAMES,
  CARD_ACTIONS,
  EMPTY,
  HAND_LIMIT,
  KINDS,
  NOTHING,
  PAYMENTS,
  PERSONS,
  PERSON_VALUE,
  PHASES,
  RESOURCES,
  ROW_SLOTS,
  SYMBOLS,
  TITLE,
  symbolOf,
} from "./names";
import { shown, type CardTable } from "./shown";
import { Table } from "./table";

export const CARD: GameLook<CardTable> = {
  key: "card",
  title: TITLE,
  earned: "score",
  Table,
  shown,
  prompt,
  spots,
  pieces,
  group,
  remark,
  toldTo,
  describe,
  flights,
  sources,
  about,
};

// ---------------------------------------------------------------- what the person is asked

function prompt(game: Game): string {
  const { state } = game;
  const phase = one(state, "phase");
  if (phase === PHASES.DISCOVER) {
    return game.legalActions().includes(ACTIONS.KEEP_HIDDEN)
      ? "Turn up a face-down card of the row, or keep the row as it is."
      : "Turn up one of the face-down cards of the row.";
  }
  if (phase === PHASES.CHOOSE) return "Draw cards, or pay for one action: mine a resource or hire a person.";
  if (phase !== PHASES.PAYING) return "";
  const chosen = one(state, "chosen");
  const symbol = SYMBOLS[symbolOf(chosen)];
  const payment = one(state, "payment");
  const what = `Pay for “${ACTION_NAMES[CARD_ACTIONS + chosen]}”:`;
  if (payment === PAYMENTS.FIRST_CARD) return `${what} begin with a card that shows ${symbol}.`;
  if (payment === PAYMENTS.SECOND_CARD) return `${what} one more card that shows ${symbol}, or two that don't.`;
  return `${what} one more card that doesn't show ${symbol}.`;
}

function spots(game: Game, action: number): string[] {
  const player = one(game.state, "player");
  if (action < ACTIONS.KEEP_HIDDEN) return [`slot ${action}`];
  if (action === ACTIONS.KEEP_HIDDEN) return [];
  if (action < ACTIONS.MINE) {
    const most = Math.max(...game.legalActions().filter((legal) => legal >= ACTIONS.DRAW && legal < ACTIONS.MINE));
    return action === most && action > ACTIONS.DRAW ? ["action stack"] : [];
  }
  if (action < ACTIONS.HIRE_WORKER) {
    const resource = action - ACTIONS.MINE;
    const inRow = range(ROW_SLOTS).filter((slot) => {
      const card = all(game.state, "row")[slot];
      return (
        card !== EMPTY && all(game.state, "face_up")[slot] && all(game.ruleset, "card_resource")[card] === resource
      );
    });
    return [...inRow.map((slot) => `slot ${slot}`), `captured ${player} ${RESOURCES[resource]}`];
  }
  if (action === ACTIONS.HIRE_WORKER) return ["supply worker"];
  if (action < ACTIONS.HIRE_INVESTOR) return [`supply salesman ${SYMBOLS[action - ACTIONS.HIRE_SALESMAN]}`];
  if (action < ACTIONS.PAY) return [`supply investor ${RESOURCES[action - ACTIONS.HIRE_INVESTOR]}`];
  const kind = KINDS[action - ACTIONS.PAY];
  return range(HAND_LIMIT).map((copy) => (copy ? `hand ${kind} ${copy}` : `hand ${kind}`));
}

function pieces(_game: Game, action: number): string[] {
  if (action < ACTIONS.MINE) return [];
  if (action < ACTIONS.HIRE_WORKER) return [RESOURCES[action - ACTIONS.MINE]];
  if (action === ACTIONS.HIRE_WORKER) return ["worker"];
  if (action < ACTIONS.HIRE_INVESTOR) return ["salesman", SYMBOLS[action - ACTIONS.HIRE_SALESMAN]];
  if (action < ACTIONS.PAY) return ["investor", RESOURCES[action - ACTIONS.HIRE_INVESTOR]];
  return KINDS[action - ACTIONS.PAY].split("/");
}

function group(_game: Game, action: number): string {
  if (action <= ACTIONS.KEEP_HIDDEN) return "Discover";
  if (action < ACTIONS.MINE) return "Draw cards";
  if (action < ACTIONS.HIRE_WORKER) return "Mine a resource";
  if (action < ACTIONS.PAY) return "Hire a person";
  return "Pay with a card";
}

// ---------------------------------------------------------------- what moves

function flights(step: Step, viewer: number | null): Flight[] {
  const { before, game, action, events } = step;
  const player = one(before, "player");
  const own = viewer === null || viewer === player;
  const found: Flight[] = [];
  if (action >= ACTIONS.PAY) {
    const kind = KINDS[action - ACTIONS.PAY];
    found.push({
      art: { kind: "card", name: kind },
      from: own ? [`hand ${kind}`, `hand of ${player}`] : [`hand of ${player}`],
      to: ["discard pile"],
    });
    const chosen = one(before, "chosen") + CARD_ACTIONS;
    if (one(game.state, "chosen") === NOTHING) {
      if (chosen < ACTIONS.HIRE_WORKER) {
        const resource = RESOURCES[chosen - ACTIONS.MINE];
        for (const slot of takenSlots(step)) {
          found.push({
            art: { kind: "piece", name: resource },
            from: [`slot ${slot}`],
            to: [`captured ${player} ${resource}`],
          });
        }
      } else {
        found.push(hired(chosen, player));
      }
    }
  }
  for (const line of events) {
    if (line["event"] === "draw") {
      const cards = line["cards"] as string[];
      const to = line["player"] as number;
      const seen = viewer === null || viewer === to;
      for (const card of cards) {
        found.push({
          art: seen ? { kind: "card", name: card } : { kind: "back" },
          from: ["action stack"],
          to: seen && viewer !== null ? [`hand ${card}`, `hand of ${to}`] : [`hand of ${to}`],
        });
      }
    }
    if (line["event"] === "refill") {
      for (const slot of Object.keys(line["slots"] as object)) {
        found.push({ art: { kind: "back" }, from: ["resource stack"], to: [`slot ${slot}`] });
      }
    }
    if (line["event"] === "shuffle")
      found.push({ art: { kind: "back" }, from: ["discard pile"], to: ["action stack"] });
  }
  return found;
}

function hired(chosen: number, player: number): Flight {
  if (chosen === ACTIONS.HIRE_WORKER) {
    return { art: { kind: "piece", name: "worker" }, from: ["supply worker"], to: [`persons ${player} worker`] };
  }
  const isSalesman = chosen < ACTIONS.HIRE_INVESTOR;
  const person = isSalesman ? "salesman" : "investor";
  const symbol = SYMBOLS[chosen - (isSalesman ? ACTIONS.HIRE_SALESMAN : ACTIONS.HIRE_INVESTOR)];
  return {
    art: { kind: "piece", name: person },
    from: [`supply ${person} ${symbol}`],
    to: PERSONS.includes(symbol) ? [`persons ${player} ${symbol}`] : [`captured ${player} ${symbol}`],
  };
}

// ---------------------------------------------------------------- where the points came from

function sources(game: Game): Source[] {
  const { state, ruleset } = game;
  const seats = range(game.players);
  const owns = (player: number, symbol: number) => all(state, "salesman_owner")[symbol] === player;
  const resources = RESOURCES.flatMap((resource, index): Source[] => {
    const printed = seats.map((player) => state["captured_value"][player][index]);
    const best = seats.map((player) => state["captured_best_value"][player][index]);
    return [
      { label: `${resource} cards`, piece: resource, amounts: printed },
      {
        label: `more by the salesman of ${resource}`,
        piece: "salesman",
        amounts: seats.map((player) => (owns(player, index) ? best[player] - printed[player] : 0)),
      },
    ];
  });
  const fields = ["workers", "salesmen", "investors"];
  const persons = PERSONS.flatMap((person, index): Source[] => {
    const symbol = SYMBOLS.indexOf(person);
    const more = all(ruleset, "salesman_value")[symbol] - PERSON_VALUE;
    const count = seats.map((player) => all(state, fields[index])[player]);
    return [
      {
        label: `${plural(person)}, ${dollars(PERSON_VALUE)} each`,
        piece: person,
        amounts: count.map((number) => number * PERSON_VALUE),
      },
      {
        label: `more by the salesman of ${plural(person)}`,
        piece: "salesman",
        amounts: seats.map((player) => (owns(player, symbol) ? count[player] * Math.max(0, more) : 0)),
      },
    ];
  });
  return [...resources, ...persons].filter((line) => line.amounts.some((amount) => amount !== 0));
}
