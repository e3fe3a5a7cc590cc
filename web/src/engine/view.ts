/** What an agent is shown: the observation and mask of the seat on turn, and samples of what it can't see. */

import { SiberiaError, type Game } from "./types";
import { PlayedGame } from "./game";

/** As `siberia_env.view.View`. It holds a sample, never the true state, so it may be sent anywhere. */
export interface View {
  readonly players: number;
  readonly player: number;
  readonly ruleset: Uint8Array<ArrayBuffer>;
  readonly observation: Float32Array<ArrayBuffer>;
  readonly mask: Uint8Array<ArrayBuffer>;
  readonly representative: Uint8Array<ArrayBuffer>;
}

/** The decision that is due in a game, as its player sees it. */
export function viewOf(game: Game, player: number): View {
  if (!(game instanceof PlayedGame)) throw new SiberiaError("the game is not one of this engine");
  if (game.currentPlayer() !== player) throw new SiberiaError(`player ${player} is not on turn`);
  const seed = BigInt(game.kernels.info.search.representative);
  return {
    players: game.players,
    player,
    ruleset: game.variant.bytes.slice(),
    observation: game.observation(player),
    mask: Uint8Array.from(game.legalMask()),
    representative: game.sample(player, seed).stateBytes(),
  };
}
