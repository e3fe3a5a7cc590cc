/** The card game's table: where things stand is taken from the suite's pictures (`siberia_env/card/layout.json`). */
import layout from "../../../siberia_env/card/layout.json";
import { range } from "../common/fields";
import type { TableProps } from "../common/look";
import { counted } from "../common/text";
import { ActionCard, Caption, CardBack, EmptyPlace, Piece, ResourceCard, Seat, Text } from "../look/pieces";
import { Players, type PanelProps } from "../look/players";
import { Spot } from "../look/spot";
import { PLAYERS } from "../look/style";
import { KINDS, PERSONS, RESOURCES, SYMBOLS } from "./names";
import type { Captured, CardPlayer, CardTable, Counts, Slot } from "./shown";

/** The whole table, in parts that stand as one picture in a wide window and below each other in a narrow one. */
export function Table({ table, narrow, notes }: TableProps<CardTable>) {
  const own = table.players.findIndex((player) => player.you);
  return (
    <div class={`table card-table ${narrow ? "narrow" : "wide"}`}>
      <Row table={table} narrow={narrow} />
      {own >= 0 && <Hand player={table.players[own]} />}
      <Supply table={table} narrow={narrow} />
      <Players players={table.players} notes={notes} narrow={narrow} Panel={Player} />
      <div class="counts">
        {table.counts.map((counts) => (
          <CountsTable key={counts.caption} counts={counts} pile={counts === table.counts[0]} />
        ))}
      </div>
    </div>
  );
}

// ---------------------------------------------------------------- the row and the stacks

function Row({ table, narrow }: { table: CardTable; narrow: boolean }) {
  const [wide, high] = layout.row.card;
  const perLine = narrow ? 4 : table.row.length;
  const left = narrow ? 8 : layout.row.x;
  const view = narrow ? "0 60 416 414" : "8 58 1184 176";
  return (
    <svg class="part row" viewBox={view} role="group" aria-label="Row and stacks">
      {!narrow && <Headframe />}
      <Caption
        x={left}
        y={layout.row.caption[1]}
        words={narrow ? "Row (the first card lies beside the headframe)" : "Row"}
        room={400}
      />
      {table.row.map((card, slot) => (
        <Spot
          key={slot}
          id={`slot ${slot}`}
          label={slotLabel(card, slot)}
          x={left + (slot % perLine) * layout.row.pitch}
          y={layout.row.y + Math.floor(slot / perLine) * (high + 8)}
          box={[0, 0, wide, high]}
        >
          <SlotCard card={card} wide={wide} high={high} />
        </Spot>
      ))}
      <Stack
        id="resource stack"
        caption={layout.stacks.resource.caption}
        cards={table.resource_stack}
        x={narrow ? 8 : layout.stacks.resource.x}
        y={narrow ? 402 : layout.stacks.y}
        narrow={narrow}
      />
      <Stack
        id="action stack"
        caption={layout.stacks.action.caption}
        cards={table.action_stack}
        x={narrow ? 216 : layout.stacks.action.x}
        y={narrow ? 402 : layout.stacks.y}
        narrow={narrow}
      />
    </svg>
  );
}

function slotLabel(card: Slot | null, slot: number): string {
  if (card === null) return `slot ${slot}, empty`;
  if (card.resource === null) return `slot ${slot}, face down`;
  return `slot ${slot}, ${card.resource} ${card.value}${card.face_up ? "" : ", face down"}`;
}

function SlotCard({ card, wide, high }: { card: Slot | null; wide: number; high: number }) {
  if (card === null) return <EmptyPlace wide={wide} high={high} words="empty" />;
  if (card.resource === null) {
    return (
      <g data-about="face down">
        <CardBack wide={wide} high={high} />
      </g>
    );
  }
  return (
    <ResourceCard wide={wide} high={high} resource={card.resource} value={card.value ?? ""} faceUp={card.face_up} />
  );
}

function Headframe() {
  const { x, y, tower, wheel } = layout.headframe;
  const [middle, top, radius] = wheel;
  return (
    <g transform={`translate(${x} ${y})`} data-about="headframe" stroke="var(--muted)" fill="none">
      <path d={tower} fill="var(--muted)" fill-rule="evenodd" stroke="none" />
      <g class="wheel" style={{ transformOrigin: `${middle}px ${top}px` }}>
        <circle cx={middle} cy={top} r={radius} stroke-width="6" />
        <path
          d={`M${middle - radius} ${top}H${middle + radius}M${middle} ${top - radius}V${top + radius}`}
          stroke-width="3"
        />
      </g>
    </g>
  );
}

interface StackProps {
  id: string;
  caption: string;
  cards: number;
  x: number;
  y: number;
  narrow: boolean;
}

function Stack({ id, caption, cards, x, y, narrow }: StackProps) {
  const [wide, high] = narrow ? [192, 66] : layout.stacks.card;
  return (
    <Spot id={id} label={`${caption}, ${counted(cards, "card")}`} x={x} y={y} box={[0, 0, wide, high]}>
      <g data-about={id}>
        <Caption x={0} y={-8} words={caption} room={wide + 30} />
        {cards === 0 && <EmptyPlace wide={wide} high={high} words="empty" />}
        {cards > 0 && narrow && <rect width={wide} height={high} rx="8" fill="url(#woven)" stroke="var(--band)" />}
        {cards > 0 &&
          !narrow &&
          [8, 4, 0].map((depth) => <CardBack key={depth} x={depth} y={depth} wide={wide - 8} high={high - 8} />)}
        {cards > 0 && (
          <>
            <circle cx={wide / 2 - 4} cy={high / 2 - 4} r="21" fill="var(--panel)" stroke="var(--band)" />
            <Text x={wide / 2 - 4} y={high / 2 + 3} size={19} words={cards} anchor="middle" bold />
          </>
        )}
      </g>
    </Spot>
  );
}

// ---------------------------------------------------------------- the supply

function Supply({ table, narrow }: { table: CardTable; narrow: boolean }) {
  const { size, piece, workers, salesmen, investors, pitch, label } = layout.supply;
  const [wide, high] = narrow ? [416, 134] : size;
  const lines = narrow
    ? { workers: [90, 10], salesmen: [12, 52], investors: [12, 94] }
    : { workers: [workers, 8], salesmen: [salesmen, 8], investors: [investors, 8] };
  const { supply } = table;
  return (
    <svg class="part supply" viewBox={`-2 -2 ${wide + 4} ${high + 4}`} role="group" aria-label="Supply">
      <rect width={wide} height={high} rx="8" fill="var(--panel)" stroke="var(--line)" />
      <Text x={12} y={lines.workers[1] + 20} size={14} words="Supply" bold />
      <Spot
        id="supply worker"
        label={`supply: ${counted(supply.workers, "worker")}`}
        x={lines.workers[0]}
        y={lines.workers[1]}
        box={[-4, -3, 80, piece + 6, 6]}
      >
        <Piece name="worker" x={0} y={0} size={piece} faded={!supply.workers} />
        <Text x={piece + 6} y={20} size={15} words={`×${supply.workers}`} bold />
      </Spot>
      <g transform={`translate(${lines.salesmen[0]} ${lines.salesmen[1]})`}>
        <Text x={0} y={20} size={12} words="salesmen of" fill="var(--muted)" />
        {SYMBOLS.map((symbol, index) => (
          <Spot
            key={symbol}
            id={`supply salesman ${symbol}`}
            label={`the salesman of ${symbol}${supply.salesmen[index] ? "" : ", hired"}`}
            x={label + 2 + index * pitch}
            box={[-3, -3, piece + 6, piece + 6, 6]}
          >
            <g data-about={`salesman of ${symbol}`}>
              <use href={`#piece-${symbol}`} width={piece} height={piece} opacity={supply.salesmen[index] ? 1 : 0.25} />
            </g>
          </Spot>
        ))}
      </g>
      <g transform={`translate(${lines.investors[0]} ${lines.investors[1]})`}>
        <Text x={0} y={20} size={12} words="investors of" fill="var(--muted)" />
        {RESOURCES.map((resource, index) => (
          <Spot
            key={resource}
            id={`supply investor ${resource}`}
            label={`the investor of ${resource}${supply.investors[index] ? "" : ", hired"}`}
            x={label + 2 + index * pitch}
            box={[-3, -3, piece + 6, piece + 6, 6]}
          >
            <g data-about={`investor of ${resource}`}>
              <use
                href={`#piece-${resource}`}
                width={piece}
                height={piece}
                opacity={supply.investors[index] ? 1 : 0.25}
              />
            </g>
          </Spot>
        ))}
      </g>
    </svg>
  );
}

// ---------------------------------------------------------------- the players

function Player({ seat, players, player, note }: PanelProps<CardPlayer>) {
  const { width, gap, header, hand, persons } = layout.players;
  const wide = (width - (players - 1) * gap) / players;
  const high = player.you ? 224 : layout.players.height;
  const cell = (wide - 8) / RESOURCES.length;
  const column = (wide - 16) / PERSONS.length;
  const label = `${player.name}${player.you ? ", you" : ""}: ${player.score}, ${counted(player.hand_size, "card")} in hand`;
  return (
    <svg class="part player" viewBox={`-4 -4 ${wide + 8} ${layout.players.height + 8}`} role="group" aria-label={label}>
      <Seat
        seat={seat}
        name={player.name}
        note={note}
        you={player.you}
        onTurn={player.on_turn}
        score={player.score}
        wide={wide}
        high={layout.players.height}
        header={header}
      >
        {player.captured.map((captured, resource) => (
          <Spot
            key={resource}
            id={`captured ${seat} ${RESOURCES[resource]}`}
            label={`${counted(captured.cards, "card")} of ${RESOURCES[resource]} captured by ${player.name}, ${captured.value}`}
            x={4 + cell * resource}
            box={[1, layout.players.stack.y - 20, cell - 2, 118, 6]}
          >
            <CapturedStack resource={RESOURCES[resource]} captured={captured} cell={cell} seat={seat} />
          </Spot>
        ))}
        {PERSONS.map((person, index) => {
          const there = player.persons[index];
          return (
            <Spot
              key={person}
              id={`persons ${seat} ${person}`}
              label={`${player.name} has ${counted(there.cards, person)}`}
              x={10 + index * column}
              y={persons.y}
              box={[-4, -4, 84, persons.piece + 8, 6]}
            >
              <Piece name={person} x={0} y={0} size={persons.piece} faded={!there.cards} />
              <Text x={persons.piece + 3} y={19} size={15} words={there.cards} bold />
              {there.salesman && (
                <Mark person="salesman" x={persons.piece + 16} y={3} size={layout.players.stack.mark} seat={seat} />
              )}
            </Spot>
          );
        })}
        <Spot id={`hand of ${seat}`} label={`${player.name} holds ${counted(player.hand_size, "card")}`}>
          <Caption x={10} y={hand.caption} words={`Hand, ${counted(player.hand_size, "card")}`} room={wide - 20} />
          {(player.hand === null || high === layout.players.height) &&
            smallHand(player).map((kind, place) => (
              <SmallCard key={place} kind={kind} x={10 + place * hand.pitch} y={hand.y} />
            ))}
          {player.you && (
            <Text
              x={10}
              y={hand.y + 20}
              size={12}
              words="Your cards lie large on the table."
              fill="var(--muted)"
              room={wide - 20}
            />
          )}
        </Spot>
      </Seat>
    </svg>
  );
}

function smallHand(player: CardPlayer): (number | null)[] {
  return player.hand === null ? range(player.hand_size).map(() => null) : kindsOf(player.hand);
}

/** The cards of a hand, one kind after the other. */
function kindsOf(counts: readonly number[]): number[] {
  return counts.flatMap((count, kind) => range(count).map(() => kind));
}

function SmallCard({ kind, x, y }: { kind: number | null; x: number; y: number }) {
  const [wide, high] = layout.players.hand.card;
  if (kind === null) return <CardBack x={x} y={y} wide={wide} high={high} />;
  return <ActionCard x={x} y={y} wide={wide} high={high} kind={KINDS[kind]} names={false} />;
}

function CapturedStack({
  resource,
  captured,
  cell,
  seat,
}: {
  resource: string;
  captured: Captured;
  cell: number;
  seat: number;
}) {
  const { card, fan, most, y: top, count, value, marks, mark } = layout.players.stack;
  const [wide, high] = card;
  const middle = cell / 2;
  const left = middle - wide / 2;
  const owned = (["salesman", "investor"] as const).filter((person) => captured[person]);
  const size = Math.min(mark, (cell - 2) / 2);
  return (
    <>
      {range(Math.max(0, Math.min(captured.cards, most) - 1))
        .reverse()
        .map((depth) => (
          <rect
            key={depth}
            x={left + depth + 1}
            y={top - fan * (depth + 1)}
            width={wide}
            height={high}
            rx="4"
            fill="#fffdf8"
            stroke="#8a867d"
          />
        ))}
      {captured.cards > 0 ? (
        <>
          <rect x={left} y={top} width={wide} height={high} rx="4" fill="#fffdf8" stroke="#6d6a63" />
          <Piece name={resource} x={left + 4} y={top + 11} size={wide - 8} />
          <Text
            x={middle}
            y={count}
            size={10}
            words={counted(captured.cards, "card")}
            anchor="middle"
            room={cell - 2}
          />
          <Text x={middle} y={value} size={12} words={captured.value} anchor="middle" room={cell - 2} bold />
        </>
      ) : (
        <>
          <EmptyPlace x={left} y={top} wide={wide} high={high} />
          <Piece name={resource} x={left + 9} y={top + 16} size={wide - 18} faded />
        </>
      )}
      {owned.map((person, index) => (
        <Mark
          key={person}
          person={person}
          x={middle + (index - owned.length / 2) * size}
          y={marks}
          size={size}
          seat={seat}
          about={`${person} of ${resource}`}
        />
      ))}
    </>
  );
}

/** A person card that belongs to something: its piece, framed in the player's colour. */
function Mark({
  person,
  x,
  y,
  size,
  seat,
  about,
}: {
  person: string;
  x: number;
  y: number;
  size: number;
  seat: number;
  about?: string;
}) {
  return (
    <g data-about={about ?? `salesman of ${person}`}>
      <rect x={x + 0.5} y={y + 0.5} width={size - 1} height={size - 1} rx="4" fill={PLAYERS[seat].fill} />
      <use href={`#piece-${person}`} x={x + 2} y={y + 2} width={size - 4} height={size - 4} />
    </g>
  );
}

// ---------------------------------------------------------------- the viewer's hand, and what lies where

function Hand({ player }: { player: CardPlayer }) {
  const [wide, high] = layout.hand.card;
  const cards = kindsOf(player.hand ?? []);
  const seen = new Map<number, number>();
  return (
    <svg
      class="part hand"
      viewBox={`0 0 ${8 * layout.hand.pitch + 4} ${high + 26}`}
      role="group"
      aria-label="Your hand"
    >
      <Caption x={2} y={12} words={player.name === "You" ? "Your hand" : `Your hand (${player.name})`} room={500} />
      {cards.map((kind, place) => {
        const copy = seen.get(kind) ?? 0;
        seen.set(kind, copy + 1);
        const id = copy ? `hand ${KINDS[kind]} ${copy}` : `hand ${KINDS[kind]}`;
        return (
          <Spot key={id} id={id} label={KINDS[kind]} x={2 + place * layout.hand.pitch} y={20} box={[0, 0, wide, high]}>
            <ActionCard wide={wide} high={high} kind={KINDS[kind]} names />
          </Spot>
        );
      })}
    </svg>
  );
}

function CountsTable({ counts, pile }: { counts: Counts; pile: boolean }) {
  const { label, column, row, piece, width } = layout.counts;
  return (
    <svg class="part" viewBox={`-2 -14 ${width + 14} 122`} role="group" aria-label={countsLabel(counts)}>
      <Spot id={pile ? "discard pile" : counts.caption} label={counts.caption}>
        <Caption x={0} y={0} words={counts.caption} room={width} />
        {RESOURCES.map((resource, index) => (
          <Piece key={resource} name={resource} x={label + index * column + 2} y={8} size={piece} />
        ))}
        {PERSONS.map((person, line) => (
          <g key={person} transform={`translate(0 ${8 + (line + 1) * row})`}>
            <Piece name={person} x={0} y={0} size={piece} />
            {RESOURCES.map((resource, index) => {
              const number = counts.kinds[index * PERSONS.length + line];
              return (
                <Text
                  key={resource}
                  x={label + index * column + 2 + piece / 2}
                  y={17}
                  size={13}
                  words={number || "·"}
                  anchor="middle"
                  bold={number > 0}
                />
              );
            })}
          </g>
        ))}
      </Spot>
    </svg>
  );
}

function countsLabel(counts: Counts): string {
  const told = KINDS.flatMap((kind, index) => (counts.kinds[index] ? [`${counts.kinds[index]} ${kind}`] : []));
  return `${counts.caption}: ${told.join(", ") || "none"}`;
}
