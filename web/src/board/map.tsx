/** The board's map: the suite's own as it is drawn, another one as a ring of areas. */
import layout from "../../../siberia_env/board/layout.json";
import { Pawn, Piece, Text } from "../look/pieces";
import { Spot } from "../look/spot";
import { counted } from "../common/text";
import type { Area, BoardTable } from "./shown";

type Point = readonly number[];

const [WIDE, HIGH] = layout.map.size;
const AREAS: Record<string, { at: number[]; outline: number[][] }> = layout.map.areas;
const ARROWS: Record<string, number[][]> = layout.map.arrows;

export function SiberiaMap({ table }: { table: BoardTable }) {
  return (
    <svg class="part map" viewBox={`-2 -2 ${WIDE + 4} ${HIGH + 4}`} role="group" aria-label="Map of Siberia">
      <rect width={WIDE} height={HIGH} rx="8" fill="var(--water)" stroke="var(--wave)" />
      <Waves />
      {table.drawn_map ? <DrawnMap table={table} /> : <RingOfAreas table={table} />}
    </svg>
  );
}

function Waves() {
  const spots: Point[] = [
    [90, 28],
    [300, 14],
    [590, 18],
    [560, 540],
    [60, 545],
    [880, 210],
    [640, 552],
    [300, 548],
  ];
  return (
    <g fill="none" stroke="var(--wave)" stroke-width="2" stroke-linecap="round" opacity="0.7">
      {spots.map(([x, y]) => (
        <path key={`${x} ${y}`} d={`M${x - 18} ${y}q4.5 -5 9 0t9 0t9 0t9 0`} />
      ))}
    </g>
  );
}

function path(points: readonly Point[], closed = true): string {
  return `M${points.map(([x, y]) => `${x} ${y}`).join(" ")}${closed ? "Z" : ""}`;
}

function DrawnMap({ table }: { table: BoardTable }) {
  const { at, size } = layout.map.start;
  return (
    <>
      {table.areas.map((area) => (
        <Spot key={area.name} id={`area ${area.name}`} label={areaLabel(area, table)}>
          <g data-about={area.exhausted ? "exhausted" : "area"}>
            <path
              class="land"
              d={path(AREAS[area.name].outline)}
              fill={area.exhausted ? "url(#hatched)" : "var(--land)"}
              stroke="var(--shore)"
              stroke-width="2.5"
              stroke-linejoin="round"
            />
            {!area.exhausted && <Trees at={AREAS[area.name].at} name={area.name} />}
          </g>
          <Place place={area} at={AREAS[area.name].at} room={layout.map.place.room} />
        </Spot>
      ))}
      <g data-about="lake">
        <path
          d={path(layout.map.lake)}
          fill="var(--water)"
          stroke="var(--wave)"
          stroke-width="2"
          stroke-linejoin="round"
        />
      </g>
      <Start table={table} at={at} size={size} />
      {table.start.arrows.map((area) => (
        <Arrow key={area} from={ARROWS[area][0]} to={ARROWS[area][1]} />
      ))}
    </>
  );
}

/** A few firs, so that land looks like land; where they stand depends on the area's name alone. */
function Trees({ at, name }: { at: Point; name: string }) {
  const places: Point[] = [
    [-74, -30],
    [66, -26],
    [-62, 42],
    [58, 44],
    [-84, 10],
  ];
  const first = name.length % places.length;
  return (
    <g fill="var(--shore)" opacity="0.5">
      {[0, 2, 3].map((step) => {
        const [x, y] = places[(first + step) % places.length];
        return (
          <path
            key={step}
            transform={`translate(${at[0] + x} ${at[1] + y})`}
            d="M0 -11L5 -3H3L7 4H1.4V8H-1.4V4H-7L-3 -3H-5Z"
          />
        );
      })}
    </g>
  );
}

function areaLabel(area: Area, table: BoardTable): string {
  if (area.exhausted) return `${area.name}, exhausted`;
  const workers = area.workers.flatMap((count, player) =>
    count ? [`${counted(count, "worker")} of ${table.players[player].name}`] : [],
  );
  return [area.name, area.cubes.length ? `cubes: ${area.cubes.join(", ")}` : "no cubes", ...workers].join("; ");
}

interface Shown {
  name: string;
  cubes: string[];
  exhausted: boolean;
  workers: number[];
}

/** The name of a place, its cubes and its workers, around the point `at`. */
function Place({ place, at, room }: { place: Shown; at: Point; room: number }) {
  const { name, cubes, cube, pitch, pawns, pawn, pawn_pitch: pawnPitch } = layout.map.place;
  const [x, y] = at;
  const left = x - (place.cubes.length * pitch - 2) / 2;
  return (
    <>
      {place.exhausted && (
        <rect x={x - 56} y={y + name - 16} width="112" height="40" rx="6" fill="var(--panel)" fill-opacity="0.75" />
      )}
      <text class="place-name" x={x} y={y + name} text-anchor="middle" font-size="14" font-weight="bold">
        {place.name}
      </text>
      {place.exhausted && <Text x={x} y={y + name + 17} size={12} words="exhausted" anchor="middle" room={room} />}
      {place.cubes.map((resource, index) => (
        <Cube key={resource} resource={resource} x={left + index * pitch} y={y + cubes} size={cube} />
      ))}
      <Pawns pawns={place.workers} x={x} y={y + pawns} size={pawn} pitch={pawnPitch} room={room} />
    </>
  );
}

/** A cube: its piece with a side and a shadow. */
function Cube({ resource, x, y, size }: { resource: string; x: number; y: number; size: number }) {
  return (
    <g class="cube">
      <path d={`M${x + 3} ${y + size}l3 3h${size - 5}a3 3 0 0 0 3 -3v-${size - 5}l-3 -3z`} fill="#000" opacity="0.35" />
      <Piece name={resource} x={x} y={y} size={size} />
    </g>
  );
}

/** The pawns of all players who have some, in a row around the middle `x`. */
export function Pawns({
  pawns,
  x,
  y,
  size,
  pitch,
  room,
}: {
  pawns: number[];
  x: number;
  y: number;
  size: number;
  pitch: number;
  room: number;
}) {
  const there = pawns.flatMap((number, player) => (number ? [{ player, number }] : []));
  const scale = Math.min(1, room / (Math.max(there.length, 1) * pitch));
  const step = pitch * scale;
  const left = x - (there.length * step) / 2;
  return (
    <>
      {there.map(({ player, number }, index) => (
        <Pawn
          key={player}
          player={player}
          x={left + index * step + (number > 1 ? 0 : (step - (size * scale * 2) / 3) / 2)}
          y={y}
          size={size * scale}
          number={number}
        />
      ))}
    </>
  );
}

function Start({ table, at, size }: { table: BoardTable; at: Point; size: Point }) {
  const [wide, high] = size;
  const place = { ...table.start, cubes: [], exhausted: false };
  const workers = place.workers.map((count, player) => (count ? `${count} of ${table.players[player].name}` : ""));
  return (
    <Spot id={`area ${place.name}`} label={`${place.name}; workers: ${workers.filter(Boolean).join(", ") || "none"}`}>
      <g data-about="Vladivostok">
        <rect
          class="land"
          x={at[0] - wide / 2}
          y={at[1] - high / 2}
          width={wide}
          height={high}
          rx="10"
          fill="var(--panel)"
          stroke="var(--ink)"
          stroke-width="2"
        />
      </g>
      <Place place={place} at={at} room={wide - 8} />
    </Spot>
  );
}

function Arrow({ from, to }: { from: Point; to: Point }) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const ahead = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  const neck = [to[0] - 12 * ahead[0], to[1] - 12 * ahead[1]];
  const wings = [1, -1].map((side) => [neck[0] - side * 8 * ahead[1], neck[1] + side * 8 * ahead[0]]);
  return (
    <g data-about="arrow">
      <path d={path([from, neck], false)} stroke="var(--ink)" stroke-width="5" fill="none" />
      <path d={path([to, ...wings])} fill="var(--ink)" />
    </g>
  );
}

// ---------------------------------------------------------------- a map of somebody's own

function RingOfAreas({ table }: { table: BoardTable }) {
  const { size, bend, places } = layout.map.other;
  const [wide, high] = size;
  const names = [null, ...table.areas.map((area) => area.name)];
  const at = (name: string | null): Point => places[Math.floor((names.indexOf(name) * places.length) / names.length)];
  const bent = (start: Point, stop: Point): Point[] => {
    const control = [0, 1].map(
      (axis) => ((1 - bend) * (start[axis] + stop[axis])) / 2 + (bend * [WIDE, HIGH][axis]) / 2,
    );
    return Array.from({ length: 17 }, (_, step) => {
      const t = step / 16;
      return [0, 1].map((axis) => (1 - t) ** 2 * start[axis] + 2 * t * (1 - t) * control[axis] + t * t * stop[axis]);
    });
  };
  const ways = table.areas.flatMap((area, index) =>
    area.adjacent.filter((other) => names.indexOf(other) > index + 1).map((other) => [area.name, other]),
  );
  return (
    <>
      {ways.map(([one, other]) => (
        <path
          key={`${one} ${other}`}
          d={path(bent(at(one), at(other)), false)}
          stroke="var(--shore)"
          stroke-width="3"
          fill="none"
        />
      ))}
      {table.start.arrows.map((area) => {
        const line = bent(at(null), at(area));
        const [x, y] = at(area);
        const outside = line.findIndex(
          (point) => Math.abs(point[0] - x) <= wide / 2 + 3 && Math.abs(point[1] - y) <= high / 2 + 3,
        );
        return (
          <g key={area}>
            <path d={path(line.slice(0, outside), false)} stroke="var(--ink)" stroke-width="5" fill="none" />
            <Arrow from={line[outside - 2]} to={line[outside - 1]} />
          </g>
        );
      })}
      {table.areas.map((area) => {
        const [x, y] = at(area.name);
        return (
          <Spot key={area.name} id={`area ${area.name}`} label={areaLabel(area, table)}>
            <g data-about={area.exhausted ? "exhausted" : "area"}>
              <rect
                class="land"
                x={x - wide / 2}
                y={y - high / 2}
                width={wide}
                height={high}
                rx="10"
                fill={area.exhausted ? "url(#hatched)" : "var(--land)"}
                stroke="var(--shore)"
                stroke-width="2"
              />
            </g>
            <Place place={area} at={[x, y]} room={wide - 8} />
          </Spot>
        );
      })}
      <Start table={table} at={at(null)} size={size} />
    </>
  );
}
