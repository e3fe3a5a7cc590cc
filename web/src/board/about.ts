/** What the things of the board game's table are, in a sentence or two each. */
import { capitalised } from "../common/text";
import { PANEL_ACTIONS, RESOURCES } from "./names";

const ACTION_MEANING: Record<string, string> = {
  manager:
    "Manager. His action lays one of the two manager counters that pay for it onto a free space of another action, where it counts as any counter.",
  logistician:
    "Logistician. His action gives your workers three steps on the map. Exhausted areas are crossed for nothing.",
  salesman:
    "Salesman. His action sends a pawn to an exchange: from your reserve, from another exchange, or a worker from the map.",
  worker: "Worker. His action brings a pawn from your reserve to Vladivostok.",
  investor:
    "Investor. His action takes an investment tile that lies face up. It covers a space of its action for the rest of the game.",
};

const THINGS: Record<string, string> = {
  pawn: "A pawn: on the map a worker, at an exchange a salesman. Its colour and number are its player's.",
  area: "An area. Each cube in it can be extracted by a player with a worker there. An area without cubes is exhausted.",
  exhausted:
    "An exhausted area. It takes no more cubes, its workers went home, and steps cross it for nothing. The eighth one brings about the end.",
  Vladivostok: "Vladivostok, where workers begin. It holds no cubes, and no worker walks back into it.",
  arrow: "A step out of Vladivostok leads along this arrow.",
  lake: "Lake Baikal. Nobody walks over it.",
  exchange: "A stock exchange with its prices. Who has a salesman here can sell at these prices; a dash is not traded.",
  "exchange side": "An exchange tile with two sides. The first player chooses which of the two exchanges is in play.",
  reserve: "The cubes beside the map. Research brings them into areas. Three kinds gone from here bring about the end.",
  "salesman card": "A salesman card: its owner may sell the resource at this price without a salesman at an exchange.",
  "best price": "The best price that is open to this player through salesmen and salesman cards.",
  "pawns in reserve":
    "Each player has six pawns. Those in reserve can become workers or salesmen. At most ten counters stay on a panel at the end of a round.",
  research:
    "Research. Each counter here brings a cube of its resource onto the map at the player's first turn of the round; a manager any resource.",
  tile: "An investment tile. It covers this space for the rest of the game, so one counter is enough for the action.",
  space:
    "A free space. An action can be carried out when both its spaces are covered; the counters then go back into the bag.",
  bag: "The bag. Everybody draws six counters from it at the beginning of a round. You see how many of each kind you can't see elsewhere.",
  end: "The end. The round in which the eighth area is exhausted, or the third reserve empty, is the last.",
};

export function about(key: string): string | null {
  const counter = key.match(/^counter (.+)/)?.[1];
  if (counter === "manager") return "A manager counter. It goes onto a space of the manager or to research.";
  if (counter) {
    const [resource, person] = counter.split("/");
    return `A counter with ${resource} and the ${person}. It covers a space of the one or the other, or goes to research for ${resource}.`;
  }
  const tile = key.match(/^tile of (.+)/)?.[1];
  if (tile) return `An investment tile of ${tile}: it covers a space of that action for the rest of the game.`;
  if (RESOURCES.includes(key)) {
    return `${capitalised(key)}, one of the five resources. Its action takes a cube of it from every area where you have a worker, and sells them all at your best price.`;
  }
  if (PANEL_ACTIONS.includes(key)) return ACTION_MEANING[key];
  return THINGS[key] ?? null;
}
