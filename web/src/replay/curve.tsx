/** The curve of what every player could expect: the lead over the others at each of its own decisions. */
import { PLAYERS } from "../look/style";
import { dollars, type Names } from "../common/text";
import type { Judgement } from "./record";

const WIDE = 400;
const HIGH = 180;
const LEFT = 58;
const BOTTOM = 22;

interface Props {
  judgements: readonly Judgement[];
  decisions: number;
  /** The final leads, thousands. */
  final: readonly number[];
  at: number;
  names: Names;
  onStep: (index: number) => void;
}

export function Curve({ judgements, decisions, final, at, names, onStep }: Props) {
  const highest = Math.max(5, ...judgements.map(({ played }) => Math.abs(played.margin)), ...final.map(Math.abs));
  const step = [1, 2, 5, 10, 20, 50, 100, 200].find((size) => highest / size <= 4) ?? 500;
  const x = (index: number) => LEFT + (index / Math.max(1, decisions)) * (WIDE - LEFT - 8);
  const y = (margin: number) => (HIGH - BOTTOM) / 2 - (margin / highest) * ((HIGH - BOTTOM) / 2 - 8);
  const marks = Array.from(
    { length: 2 * Math.floor(highest / step) + 1 },
    (_, index) => (index - Math.floor(highest / step)) * step,
  );
  return (
    <svg
      class="curve"
      viewBox={`0 0 ${WIDE} ${HIGH}`}
      role="img"
      aria-label="Expected lead of each player over the game"
      onClick={(event) => {
        const box = event.currentTarget.getBoundingClientRect();
        const share = (((event.clientX - box.left) / box.width) * WIDE - LEFT) / (WIDE - LEFT - 8);
        onStep(Math.round(Math.min(1, Math.max(0, share)) * decisions));
      }}
    >
      {marks.map((mark) => (
        <g key={mark}>
          <path d={`M${LEFT} ${y(mark)}H${WIDE - 8}`} stroke="var(--line)" stroke-width={mark ? 0.6 : 1.4} />
          <text x={LEFT - 6} y={y(mark) + 4} font-size="11" text-anchor="end" fill="var(--muted)">
            {mark < 0 ? "−" : mark > 0 ? "+" : ""}
            {dollars(Math.abs(mark))}
          </text>
        </g>
      ))}
      {final.map((lead, player) => {
        const own = judgements.filter((judgement) => judgement.player === player);
        const points = [...own.map(({ index, played }) => [x(index), y(played.margin)]), [x(decisions), y(lead)]];
        const line = `M${points.map((point) => point.map((value) => value.toFixed(1)).join(" ")).join("L")}`;
        return (
          <g key={player}>
            <path d={line} fill="none" stroke="var(--ink)" stroke-opacity="0.35" stroke-width="4" />
            <path d={line} fill="none" stroke={PLAYERS[player].fill} stroke-width="2.4" />
            {own
              .filter((judgement) => judgement.cost >= 3)
              .map(({ index, played }) => (
                <circle
                  key={index}
                  cx={x(index)}
                  cy={y(played.margin)}
                  r="3.6"
                  fill={PLAYERS[player].fill}
                  stroke="var(--ink)"
                />
              ))}
            <text x={WIDE - 10} y={y(lead) - 5} font-size="11" text-anchor="end" fill="var(--ink)">
              {names(player)}
            </text>
          </g>
        );
      })}
      <path d={`M${x(at)} 4V${HIGH - BOTTOM}`} stroke="var(--highlight)" stroke-width="2.5" />
      <text x={LEFT} y={HIGH - 6} font-size="11" fill="var(--muted)">
        first decision
      </text>
      <text x={WIDE - 8} y={HIGH - 6} font-size="11" text-anchor="end" fill="var(--muted)">
        end, decision {decisions}
      </text>
    </svg>
  );
}
