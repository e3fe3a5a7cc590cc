/** The card game's events in words, as `siberia_env/card/notation.py` tells them. */
import type { Step } from "../common/look";
import { counted } from "../common/text";
import { one } from "../common/fields";
import type { Line } from "../engine/types";
import { ACTIONS, CARD_ACTIONS, EMPTY, NOTHING, PHASES, RESOURCES, ROW_SLOTS } from "./names";

/** What `action` brought: the card turned up, or the action paid for. Empty if nothing. */
export function remark({ before, game, action }: Step): string {
  const after = game.state;
  const card = (number: number) =>
    `${RESOURCES[game.ruleset["card_resource"][number]]} $${game.ruleset["card_value"][number] * 1000}`;
  if (action < ACTIONS.KEEP_HIDDEN) return card(before["row"][action - ACTIONS.REVEAL]);
  if (one(before, "phase") !== PHASES.PAYING || one(after, "chosen") !== NOTHING) return "";
  const chosen = one(before, "chosen") + CARD_ACTIONS;
  const name = game.info.actions[chosen];
  if (chosen >= ACTIONS.HIRE_WORKER) return name;
  return `${name} brings ${
    takenSlots({ before, game })
      .map((slot) => card(before["row"][slot]))
      .join(", ") || "nothing"
  }`;
}

/** The slots that a step has emptied, refilled or not. */
export function takenSlots({ before, game }: Pick<Step, "before" | "game">): number[] {
  const slots = Array.from({ length: ROW_SLOTS }, (_, slot) => slot);
  return slots.filter(
    (slot) =>
      before["face_up"][slot] && before["row"][slot] !== EMPTY && game.state["row"][slot] !== before["row"][slot],
  );
}

/** What the seat is told of an event: its own cards, how many the others get, and the shuffle. */
export function toldTo(seat: number, line: Line): string[] {
  if (line["event"] === "draw" && line["player"] !== seat) {
    return [`player ${line["player"]} draws ${counted((line["cards"] as string[]).length, "card")}`];
  }
  return line["event"] === "draw" || line["event"] === "shuffle" ? describe(line) : [];
}

/** An event with everything open. */
export function describe(line: Line): string[] {
  switch (line["event"]) {
    case "draw":
      return [`player ${line["player"]} draws ${(line["cards"] as string[]).join(", ")}`];
    case "shuffle":
      return [`the discard pile is shuffled into a new stack of ${line["cards"]}`];
    case "refill": {
      const slots = Object.entries(line["slots"] as Record<string, string>);
      return [`refilled: ${slots.map(([slot, card]) => `slot ${slot} ${told(card)}`).join(", ")}`];
    }
    case "setup": {
      const faceUp = line["face_up"] as number;
      const row = (line["row"] as string[]).map((card, slot) => (slot < faceUp ? told(card) : `(${told(card)})`));
      const hands = (line["hands"] as string[][]).map((hand, player) => `hand of player ${player}: ${hand.join(", ")}`);
      return [`row (face down in brackets): ${row.join(", ")}`, ...hands];
    }
    default:
      return [];
  }
}

function told(card: string): string {
  const [resource, value] = card.split(" ");
  return `${resource} $${value}`;
}
