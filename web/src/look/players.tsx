/** The panels of all players: beside each other, or below each other in a narrow window. */
import type { ComponentType } from "preact";

/** What a player's panel is drawn from. */
export interface PanelProps<P> {
  seat: number;
  /** How many panels share the width of the table. */
  players: number;
  player: P;
  note: string;
}

interface Props<P> {
  players: readonly P[];
  notes: readonly string[];
  narrow: boolean;
  Panel: ComponentType<PanelProps<P>>;
}

/** A panel in a narrow window is drawn as wide as one of so many. */
const NARROW_SHARE = 3;

export function Players<P>({ players, notes, narrow, Panel }: Props<P>) {
  return (
    <div class="players" style={{ "--players": narrow ? 1 : players.length }}>
      {players.map((player, seat) => (
        <Panel
          key={seat}
          seat={seat}
          players={narrow ? NARROW_SHARE : players.length}
          player={player}
          note={notes[seat] ?? ""}
        />
      ))}
    </div>
  );
}
