/** The score sheet: where everybody's points came from, with their sum. */
import { dollars, type Names } from "../common/text";
import type { GameLook } from "../common/look";
import type { Game } from "../engine/types";

interface Props {
  look: GameLook;
  game: Game;
  names: Names;
  looksAhead?: readonly number[];
}

export function Sheet({ look, game, names, looksAhead }: Props) {
  const scores = game.scores();
  const lines = look.sources(game);
  const winners = game.isOver() ? game.winners() : [];
  const sums = scores.map((_, player) => lines.reduce((sum, line) => sum + line.amounts[player], 0));
  return (
    <div class="sheet">
      <table>
        <caption>Where the points came from</caption>
        <thead>
          <tr>
            <th scope="col">from</th>
            {scores.map((_, player) => (
              <th key={player} scope="col">
                {names(player)}
                {winners.includes(player) ? (winners.length > 1 ? " ★ shared win" : " ★ winner") : ""}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.label}>
              <th scope="row">
                <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true">
                  <use href={`#piece-${line.piece}`} width="24" height="24" />
                </svg>
                {line.label}
              </th>
              {line.amounts.map((amount, player) => (
                <td key={player}>{amount ? dollars(amount) : "-"}</td>
              ))}
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">together</th>
            {sums.map((sum, player) => (
              <td key={player}>{dollars(sum)}</td>
            ))}
          </tr>
        </tfoot>
      </table>
      {looksAhead?.map(
        (count, player) =>
          count > 0 && (
            <p key={player}>
              {names(player)} took back {count === 1 ? "one decision" : `${count} decisions`} with knowledge of what
              followed.
            </p>
          ),
      )}
    </div>
  );
}
