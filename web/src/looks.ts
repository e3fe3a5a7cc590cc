/** Both games as the page shows them. */
import { BOARD } from "./board/look";
import { CARD } from "./card/look";
import type { GameLook } from "./common/look";

export const LOOKS: Record<"card" | "board", GameLook> = { card: CARD, board: BOARD };
