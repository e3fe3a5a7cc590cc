/** What the things of the card game's table are, in a sentence or two each. */
import { capitalised, dollars, plural } from "../common/text";
import type { Game } from "../engine/types";
import { RESOURCES, SYMBOLS } from "./names";

const THINGS: Record<string, string> = {
  worker:
    "Worker. Each of your workers takes one card when you mine. Worth $1000 at the end, or more with the salesman of workers.",
  salesman:
    "Salesman. He belongs to a resource or to a kind of person, and raises what yours of it are worth at the end. Worth $1000 himself, or more with the salesman of salesmen.",
  investor:
    "Investor. He belongs to a resource and makes mining it cheaper: one card that shows it pays. Worth $1000 at the end, or more with the salesman of investors.",
  "face down": "A resource card that lies face down. Nobody knows what it is before somebody turns it up.",
  headframe: "The headframe of the mine. Who mines takes face-up cards from here on, one for each worker.",
  "resource stack":
    "The stack of resource cards. It refills the row, face down. When its last card has been turned up, everybody gets one more turn.",
  "action stack":
    "The stack of action cards. You draw up to two instead of acting, or one after an action; eight in hand are the most.",
};

export function about(key: string, game: Game | null): string | null {
  const [person, symbol] = key.split(" of ");
  if (person === "salesman" && symbol) {
    const value = game?.ruleset["salesman_value"][SYMBOLS.indexOf(symbol)] as number | undefined;
    const worth = value === undefined ? "more" : dollars(value);
    return RESOURCES.includes(symbol)
      ? `The salesman of ${symbol}. With him, each ${symbol} card of yours counts ${worth} at the end, if that is more than its own value.`
      : `The salesman of ${plural(symbol)}. With him, each of your ${plural(symbol)} counts ${worth} at the end instead of $1000.`;
  }
  if (person === "investor" && symbol) {
    return `The investor of ${symbol}. With him, one card that shows ${symbol} pays for mining it, or two cards that don't.`;
  }
  if (RESOURCES.includes(key)) {
    return `${capitalised(key)}, one of the five resources. A card of the row counts its value at the end for whoever has mined it. An action card that shows ${key} helps to pay for mining it.`;
  }
  return THINGS[key] ?? null;
}
