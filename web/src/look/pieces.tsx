/** What both tables are drawn with: pieces, pawns, cards, counters and text that fits its room. */
import type { ComponentChildren } from "preact";
import { PAWN, PIECES, PLAYERS, fitted } from "./style";

const FACE = 24;

/** The definitions that all pictures on the page use; drawn once. */
export function Symbols() {
  return (
    <svg class="definitions" width="0" height="0" aria-hidden="true" focusable="false">
      <defs>
        {Object.entries(PIECES).map(([name, look]) => (
          <symbol key={name} id={`piece-${name}`} viewBox={`0 0 ${FACE} ${FACE}`} overflow="visible">
            <rect x="0.75" y="0.75" width="22.5" height="22.5" rx="4" fill={look.fill} stroke={look.ink} />
            <path d={look.icon} fill={look.ink} fill-rule="evenodd" transform="translate(4.2 1.6) scale(0.65)" />
            <text x="12" y="21.4" font-size="8.6" font-weight="bold" text-anchor="middle" fill={look.ink}>
              {look.letters}
            </text>
          </symbol>
        ))}
        {PLAYERS.map((look, player) => (
          <symbol key={player} id={`pawn-${player}`} viewBox="4 0 16 24" overflow="visible">
            <path d={PAWN} fill={look.fill} stroke="#22303a" stroke-width="1" />
            <text x="12" y="20" font-size="9" font-weight="bold" text-anchor="middle" fill={look.ink}>
              {player}
            </text>
          </symbol>
        ))}
        <pattern id="hatched" width="8" height="8" patternUnits="userSpaceOnUse">
          <rect width="8" height="8" fill="var(--exhausted)" />
          <path d="M0 8L8 0" stroke="var(--hatch)" stroke-width="1.2" />
        </pattern>
        <pattern id="woven" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect width="10" height="10" fill="var(--back)" />
          <path d="M0 5H10" stroke="#fff" stroke-opacity="0.07" stroke-width="4" />
        </pattern>
        <linearGradient id="sheen" x1="0" y1="0" x2="0" y2="1">
          <stop offset="0" stop-color="#fff" stop-opacity="0.3" />
          <stop offset="0.5" stop-color="#fff" stop-opacity="0" />
          <stop offset="1" stop-color="#000" stop-opacity="0.14" />
        </linearGradient>
        <radialGradient id="deep" cx="0.5" cy="0.45" r="0.75">
          <stop offset="0" stop-color="#fff" stop-opacity="0.2" />
          <stop offset="1" stop-color="#000" stop-opacity="0.12" />
        </radialGradient>
      </defs>
    </svg>
  );
}

interface TextProps {
  x: number;
  y: number;
  size: number;
  words: string | number;
  room?: number;
  anchor?: "middle" | "end";
  bold?: boolean;
  fill?: string;
}

/** A line of text on the baseline `y`, no wider than `room`. */
export function Text({ x, y, size, words, room, anchor, bold = false, fill = "var(--ink)" }: TextProps) {
  const [told, fit] = room === undefined ? [String(words), size] : fitted(String(words), size, room, bold);
  return (
    <text
      x={x}
      y={y}
      font-size={fit}
      text-anchor={anchor ?? "start"}
      font-weight={bold ? "bold" : "normal"}
      fill={fill}
    >
      {told}
    </text>
  );
}

/** The small heading of a part of the table. */
export function Caption({ x, y, words, room }: { x: number; y: number; words: string; room: number }) {
  return <Text x={x} y={y} size={12} words={words} room={room} bold fill="var(--muted)" />;
}

interface PieceProps {
  name: string;
  x: number;
  y: number;
  size: number;
  faded?: boolean;
}

/** A square that stands for a resource, a person or a manager. */
export function Piece({ name, x, y, size, faded = false }: PieceProps) {
  return (
    <use href={`#piece-${name}`} x={x} y={y} width={size} height={size} opacity={faded ? 0.25 : 1} data-about={name} />
  );
}

/** A pawn of a player; beside it how many they are, if more than one. */
export function Pawn({
  player,
  x,
  y,
  size,
  number = 1,
}: {
  player: number;
  x: number;
  y: number;
  size: number;
  number?: number;
}) {
  return (
    <>
      <use href={`#pawn-${player}`} x={x} y={y} width={(size * 2) / 3} height={size} data-about="pawn" />
      {number > 1 && (
        <Text x={x + (size * 2) / 3 + 0.5} y={y + 0.8 * size} size={0.46 * size} words={`×${number}`} bold />
      )}
    </>
  );
}

/** The icon of a piece alone, in a colour of one's own. */
export function Icon({ name, x, y, size, fill }: { name: string; x: number; y: number; size: number; fill?: string }) {
  return (
    <path
      d={PIECES[name].icon}
      fill={fill ?? PIECES[name].ink}
      fill-rule="evenodd"
      transform={`translate(${x} ${y}) scale(${size / FACE})`}
    />
  );
}

interface BoxProps {
  x?: number;
  y?: number;
  wide: number;
  high: number;
}

/** The back of a card, the same for all cards of its size. */
export function CardBack({ x = 0, y = 0, wide, high }: BoxProps) {
  const inset = wide / 11;
  const scale = wide / 92;
  return (
    <g>
      <rect x={x} y={y} width={wide} height={high} rx={Math.min(8, wide / 6)} fill="url(#woven)" stroke="var(--band)" />
      <rect
        x={x + inset}
        y={y + inset}
        width={wide - 2 * inset}
        height={high - 2 * inset}
        rx={Math.min(6, wide / 8)}
        fill="none"
        stroke="#fff"
        stroke-opacity="0.55"
        stroke-width={Math.max(0.6, scale)}
      />
      <Snowflake x={x + wide / 2} y={y + high / 2} radius={wide * 0.26} />
    </g>
  );
}

/** A star of six rays: the mark on the backs of cards. */
export function Snowflake({ x, y, radius }: { x: number; y: number; radius: number }) {
  const ray = `M0 0V${-radius}M0 ${-radius * 0.5}L${-radius * 0.28} ${-radius * 0.8}M0 ${-radius * 0.5}L${radius * 0.28} ${-radius * 0.8}`;
  return (
    <g stroke="#fff" stroke-opacity="0.7" stroke-width={Math.max(0.8, radius / 9)} stroke-linecap="round" fill="none">
      {[0, 60, 120, 180, 240, 300].map((angle) => (
        <path key={angle} d={ray} transform={`translate(${x} ${y}) rotate(${angle})`} />
      ))}
    </g>
  );
}

/** An empty place for a card. */
export function EmptyPlace({ x = 0, y = 0, wide, high, words }: BoxProps & { words?: string }) {
  return (
    <>
      <rect
        x={x}
        y={y}
        width={wide}
        height={high}
        rx={Math.min(8, wide / 8)}
        fill="none"
        stroke="var(--line)"
        stroke-dasharray={wide > 60 ? "6 5" : "4 3"}
      />
      {words && (
        <Text x={x + wide / 2} y={y + high / 2 + 4} size={12} words={words} anchor="middle" fill="var(--muted)" />
      )}
    </>
  );
}

/** A card that shows one or two pieces, each on half of it, large enough for a hand. */
export function ActionCard({ x = 0, y = 0, wide, high, kind, names }: BoxProps & { kind: string; names: boolean }) {
  const half = high / 2;
  const icon = Math.min(wide * 0.8, half * 0.86) * (names ? 0.76 : 1);
  const round = Math.min(8, wide / 7);
  const parts = kind.split("/");
  return (
    <g>
      <rect x={x} y={y} width={wide} height={high} rx={round} fill="#fffdf8" stroke="#6d6a63" />
      {parts.map((name, index) => {
        const look = PIECES[name];
        const top = y + index * half;
        const corner =
          index === 0
            ? `M${x} ${y + half}V${y + round}A${round} ${round} 0 0 1 ${x + round} ${y}H${x + wide - round}A${round} ${round} 0 0 1 ${x + wide} ${y + round}V${y + half}Z`
            : `M${x} ${y + half}H${x + wide}V${y + high - round}A${round} ${round} 0 0 1 ${x + wide - round} ${y + high}H${x + round}A${round} ${round} 0 0 1 ${x} ${y + high - round}Z`;
        return (
          <g key={name} data-about={name}>
            <path d={corner} fill={look.fill} />
            <path d={corner} fill="url(#sheen)" />
            <Icon
              name={name}
              x={x + wide / 2 - icon / 2}
              y={top + half / 2 - (names ? icon * 0.56 : icon * 0.42)}
              size={icon}
            />
            {names && (
              <Text
                x={x + wide / 2}
                y={top + half - 5}
                size={10.5}
                words={name}
                anchor="middle"
                room={wide - 6}
                bold
                fill={look.ink}
              />
            )}
          </g>
        );
      })}
      <rect x={x} y={y} width={wide} height={high} rx={round} fill="none" stroke="var(--ink)" stroke-opacity="0.6" />
    </g>
  );
}

/** A resource card of the row: its resource large, its value below. */
export function ResourceCard({
  wide,
  high,
  resource,
  value,
  faceUp,
}: BoxProps & { resource: string; value: string; faceUp: boolean }) {
  const look = PIECES[resource];
  return (
    <g data-about={resource}>
      <rect width={wide} height={high} rx="8" fill="#fffdf8" stroke="#6d6a63" />
      <rect x="6" y="6" width={wide - 12} height={high - 50} rx="5" fill={look.fill} />
      <rect x="6" y="6" width={wide - 12} height={high - 50} rx="5" fill="url(#sheen)" />
      <Icon name={resource} x={wide / 2 - 34} y={20} size={68} />
      <Text x={wide / 2} y={high - 30} size={12} words={resource} anchor="middle" room={wide - 8} fill="#5f6d76" />
      <Text x={wide / 2} y={high - 10} size={18} words={value} anchor="middle" room={wide - 8} bold fill="#22303a" />
      {!faceUp && (
        <>
          <rect width={wide} height={high} rx="8" fill="var(--band)" opacity="0.45" />
          <Text x={wide / 2} y={high - 62} size={11} words="face down" anchor="middle" bold fill="#fff" />
        </>
      )}
    </g>
  );
}

/** A counter of the board game: its resource and its person side by side, or a manager. A new one is framed. */
export function Counter({
  kind,
  x,
  y,
  wide,
  high,
  fresh = false,
}: {
  kind: string;
  x: number;
  y: number;
  wide: number;
  high: number;
  fresh?: boolean;
}) {
  const names = kind.split("/");
  const side = wide / names.length;
  const icon = 0.62 * high;
  return (
    <g data-about={`counter ${kind}`}>
      {names.map((name, index) => {
        const look = PIECES[name];
        const middle = x + (index + 0.5) * side;
        return (
          <g key={name}>
            <rect x={x + index * side} y={y} width={side} height={high} fill={look.fill} />
            <Icon name={name} x={middle - icon / 2} y={y + 1.5} size={icon} />
            <Text
              x={middle}
              y={y + high - 3.5}
              size={0.33 * high}
              words={look.letters}
              anchor="middle"
              bold
              fill={look.ink}
            />
          </g>
        );
      })}
      <rect x={x} y={y} width={wide} height={high} rx="3" fill="url(#sheen)" stroke="#22303a" stroke-width="1" />
      {fresh && (
        <rect
          x={x - 1}
          y={y - 1}
          width={wide + 2}
          height={high + 2}
          rx="4"
          fill="none"
          stroke="var(--highlight)"
          stroke-width="3"
        />
      )}
    </g>
  );
}

/** A player's panel: whose it is, whose turn it is, and the player's score or money. */
export function Seat(props: {
  seat: number;
  name: string;
  note: string;
  you: boolean;
  onTurn: boolean;
  score: string;
  wide: number;
  high: number;
  header: number;
  children: ComponentChildren;
}) {
  const { seat, name, note, you, onTurn, score, wide, high, header } = props;
  const look = PLAYERS[seat];
  const left = onTurn ? 28 : 12;
  return (
    <>
      <rect width={wide} height={high} rx="8" fill={you ? "var(--own)" : "var(--panel)"} stroke="var(--line)" />
      <path d={`M0 ${header}V8A8 8 0 0 1 8 0H${wide - 8}A8 8 0 0 1 ${wide} 8V${header}Z`} fill={look.fill} />
      <path d={`M0 ${header}V8A8 8 0 0 1 8 0H${wide - 8}A8 8 0 0 1 ${wide} 8V${header}Z`} fill="url(#sheen)" />
      {onTurn && <path d={`M10 ${header / 2 - 7}L22 ${header / 2}L10 ${header / 2 + 7}Z`} fill={look.ink} />}
      <Text
        x={left}
        y={header / 2 + 6}
        size={15}
        words={name + (you && name !== "You" ? " (you)" : note ? `, ${note}` : "")}
        room={wide - left - 16 - score.length * 12}
        bold
        fill={look.ink}
      />
      <Text x={wide - 10} y={header / 2 + 6} size={17} words={score} anchor="end" bold fill={look.ink} />
      {props.children}
      {onTurn && (
        <rect
          class="on-turn"
          x="-2"
          y="-2"
          width={wide + 4}
          height={high + 4}
          rx="10"
          fill="none"
          stroke="var(--highlight)"
          stroke-width="4"
        />
      )}
    </>
  );
}
