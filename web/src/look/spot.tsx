/** Places on the table that can be clicked, pointed at and found by an animation. */
import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";

/** What can be done on the table, by the places where it is done. */
export interface Spots {
  /** The legal action of each place, if there is one. */
  actions: ReadonlyMap<string, number>;
  /** Places that the action under the pointer is about. */
  meant: ReadonlySet<string>;
  /** Places where something has changed since the viewer's last decision. */
  changed: ReadonlySet<string>;
  name(action: number): string;
  choose(action: number): void;
  point(action: number | null): void;
}

export const NO_SPOTS: Spots = {
  actions: new Map(),
  meant: new Set(),
  changed: new Set(),
  name: () => "",
  choose: () => undefined,
  point: () => undefined,
};

export const SpotContext = createContext<Spots>(NO_SPOTS);

interface SpotProps {
  /** The place's name, unique on the table, such as `slot 3`. */
  id: string;
  /** What a screen reader says of it. */
  label: string;
  x?: number;
  y?: number;
  /** A box that shows that the place can be chosen; without it the drawing itself glows. */
  box?: [x: number, y: number, wide: number, high: number, round?: number];
  children?: ComponentChildren;
}

/** A place on the table: a button while a legal action belongs to it. */
export function Spot({ id, label, x = 0, y = 0, box, children }: SpotProps) {
  const spots = useContext(SpotContext);
  const action = spots.actions.get(id);
  const marks = [
    "spot",
    action === undefined ? "" : "legal",
    spots.meant.has(id) ? "meant" : "",
    spots.changed.has(id) ? "changed" : "",
  ];
  const place = x || y ? { transform: `translate(${x} ${y})` } : {};
  const frame = box && (
    <rect class="frame" x={box[0]} y={box[1]} width={box[2]} height={box[3]} rx={box[4] ?? 8} fill="none" />
  );
  if (action === undefined) {
    return (
      <g class={marks.join(" ")} data-spot={id} {...place} role="img" aria-label={label}>
        {children}
        {frame}
      </g>
    );
  }
  return (
    <g
      class={marks.join(" ")}
      data-spot={id}
      data-action={action}
      {...place}
      role="button"
      tabIndex={0}
      aria-label={`${spots.name(action)}: ${label}`}
      onClick={() => spots.choose(action)}
      onKeyDown={(event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          spots.choose(action);
        }
      }}
      onPointerEnter={() => spots.point(action)}
      onPointerLeave={() => spots.point(null)}
      onFocus={() => spots.point(action)}
      onBlur={() => spots.point(null)}
    >
      {children}
      {frame}
    </g>
  );
}
