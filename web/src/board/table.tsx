/** The board game's table: where things stand is taken from the suite's pictures (`siberia_env/board/layout.json`). */
import layout from "../../../siberia_env/board/layout.json";
import { range } from "../common/fields";
import type { TableProps } from "../common/look";
import { counted, dollars } from "../common/text";
import { Caption, Counter, Pawn, Piece, Seat, Text } from "../look/pieces";
import { Players, type PanelProps } from "../look/players";
import { Spot } from "../look/spot";
import { Pawns, SiberiaMap } from "./map";
import { KINDS, PANEL_ACTIONS, PERSONS, RESOURCES, SPACES } from "./names";
import type { BoardPlayer, BoardTable, Exchange, OnAction } from "./shown";

/** The whole table, in parts that stand as one picture in a wide window and below each other in a narrow one. */
export function Table({ table, narrow, notes }: TableProps<BoardTable>) {
  return (
    <div class={`table board-table ${narrow ? "narrow" : "wide"}`}>
      <div class="map-and-trade">
        <div class="map-room">
          <SiberiaMap table={table} />
        </div>
        <Trade table={table} />
      </div>
      <Players players={table.players} notes={notes} narrow={narrow} Panel={Player} />
      <div class="supplies">
        <Tiles table={table} />
        <Bag bag={table.bag} />
        <End table={table} />
      </div>
    </div>
  );
}

// ---------------------------------------------------------------- exchanges

const { trade } = layout;

/** The middle of a resource's column. */
const column = (resource: number) => trade.label + (resource + 0.5) * trade.column;

function Trade({ table }: { table: BoardTable }) {
  const { tile, row, width } = trade;
  const top = (number: number) => trade.header - 4 + number * (tile.height + tile.gap);
  const cards = table.salesman_cards;
  let y = top(table.exchanges.length) + row - 10;
  const line = (rows = 1) => {
    const at = y;
    y += row * rows;
    return at;
  };
  const reserve = line();
  const prices = cards.length ? line() : 0;
  const owners = cards.length ? line() : 0;
  const best = table.best_prices.map(() => line());
  return (
    <svg class="part trade" viewBox={`-3 0 ${width + 6} ${Math.max(y - 10, 470)}`} role="group" aria-label="Exchanges">
      <Caption x={0} y={20} words="Exchanges" room={trade.label} />
      {RESOURCES.map((resource, index) => (
        <Spot key={resource} id={`trade ${resource}`} label={resource} box={[column(index) - 16, -2, 32, 32, 6]}>
          <Piece name={resource} x={column(index) - trade.piece / 2} y={2} size={trade.piece} />
        </Spot>
      ))}
      {table.exchanges.map((exchange, number) => (
        <ExchangeRow key={number} exchange={exchange} number={number} y={top(number)} table={table} />
      ))}
      <Spot
        id="reserve"
        label={`cubes in reserve: ${RESOURCES.map((name, index) => `${table.reserve[index]} ${name}`).join(", ")}`}
      >
        <g data-about="reserve">
          <Text x={10} y={reserve} size={12} words="In reserve" room={trade.label - 14} />
          {table.reserve.map((cubes, index) => (
            <Text
              key={index}
              x={column(index)}
              y={reserve}
              size={12}
              words={cubes}
              anchor="middle"
              bold={cubes === 0}
            />
          ))}
        </g>
      </Spot>
      {cards.length > 0 && (
        <g data-about="salesman card">
          <Text x={10} y={prices} size={12} words="Salesman card" room={trade.label - 14} />
          <Text x={10} y={owners} size={12} words="held by" room={trade.label - 14} />
          {cards.map((card, index) => (
            <Spot
              key={index}
              id={`card ${RESOURCES[index]}`}
              label={`salesman card of ${RESOURCES[index]}, ${dollars(card.price)}, ${card.owner === null ? "free" : `of ${table.players[card.owner].name}`}`}
              box={[column(index) - 28, prices - 15, 56, 42, 6]}
            >
              <Text
                x={column(index)}
                y={prices}
                size={12}
                words={dollars(card.price)}
                anchor="middle"
                room={trade.column - 4}
              />
              {card.owner === null ? (
                <Text x={column(index)} y={owners} size={12} words="-" anchor="middle" />
              ) : (
                <Pawn player={card.owner} x={column(index) - 7.3} y={owners - 17} size={22} />
              )}
            </Spot>
          ))}
        </g>
      )}
      {table.best_prices.map((sold, player) => (
        <g key={player} data-about="best price">
          <Text x={10} y={best[player]} size={12} words="Best price of" room={trade.label - 40} />
          <Pawn player={player} x={trade.label - 26} y={best[player] - 17} size={22} />
          <Prices prices={sold} y={best[player]} />
        </g>
      ))}
    </svg>
  );
}

function ExchangeRow({
  exchange,
  number,
  y,
  table,
}: {
  exchange: Exchange;
  number: number;
  y: number;
  table: BoardTable;
}) {
  const { tile, width } = trade;
  const open = exchange.sides.length > 1;
  const salesmen = exchange.salesmen.flatMap((count, player) =>
    count ? [`${counted(count, "salesman")} of ${table.players[player].name}`] : [],
  );
  const label = [exchange.sides.map((side) => side.name).join(" or "), ...salesmen].join("; ");
  return (
    <Spot id={`exchange ${number}`} label={label} y={y} box={open ? undefined : [0, 0, width, tile.height]}>
      <g data-about={open ? "exchange side" : "exchange"}>
        <rect class="land" width={width} height={tile.height} rx="8" fill="var(--panel)" stroke="var(--line)" />
        {exchange.sides.map((side, index) => {
          const line = [tile.line, tile.second][index];
          return (
            <Spot
              key={side.name}
              id={`side ${side.name}`}
              label={sideLabel(side)}
              box={open ? [2, line - 17, width - 4, 25, 6] : undefined}
            >
              <rect x="2" y={line - 17} width={width - 4} height="25" fill="transparent" />
              <Text
                x={10}
                y={line}
                size={13}
                words={open ? `${side.name} ?` : side.name}
                room={trade.label - 16}
                bold
              />
              <Prices prices={side.prices} y={line} />
            </Spot>
          );
        })}
      </g>
      <PawnRow pawns={exchange.salesmen} x={trade.label} y={tile.height - tile.pawn - 2} />
    </Spot>
  );
}

function PawnRow({ pawns, x, y }: { pawns: number[]; x: number; y: number }) {
  const standing = pawns.filter((number) => number > 0).length;
  const { pawn, pawn_pitch: pitch } = trade.tile;
  return <Pawns pawns={pawns} x={x + (standing * pitch) / 2} y={y} size={pawn} pitch={pitch} room={400} />;
}

function sideLabel(side: { name: string; prices: number[] }): string {
  const prices = RESOURCES.flatMap((name, index) =>
    side.prices[index] ? [`${name} ${dollars(side.prices[index])}`] : [],
  );
  return `${side.name}: ${prices.join(", ")}`;
}

function Prices({ prices, y }: { prices: number[]; y: number }) {
  return (
    <>
      {prices.map((price, index) => (
        <Text
          key={index}
          x={column(index)}
          y={y}
          size={13}
          words={price ? dollars(price) : "-"}
          anchor="middle"
          room={trade.column - 4}
          fill={price ? "var(--ink)" : "var(--muted)"}
        />
      ))}
    </>
  );
}

// ---------------------------------------------------------------- panels

function Player({ seat, players, player, note }: PanelProps<BoardPlayer>) {
  const { width, gap, height, header, facts, round, actions, research, new: fresh, label } = layout.players;
  const wide = (width - (players - 1) * gap) / players;
  const held = `${counted(player.pawns, "pawn")} in reserve, ${counted(player.counters, "counter")} on the panel`;
  const waiting = [...RESOURCES, "manager"].flatMap((name, index) =>
    player.research[index] ? [{ name, count: player.research[index] }] : [],
  );
  return (
    <svg
      class="part player"
      viewBox={`-4 -4 ${wide + 8} ${height + 8}`}
      role="group"
      aria-label={`${player.name}${player.you ? ", you" : ""}: ${player.money}; ${held}`}
    >
      <Seat
        seat={seat}
        name={player.name}
        note={note}
        you={player.you}
        onTurn={player.on_turn}
        score={player.money}
        wide={wide}
        high={height}
        header={header}
      >
        <Spot id={`reserve of ${seat}`} label={held} box={[4, facts - 15, 240, 21, 5]}>
          <g data-about="pawns in reserve">
            <Text x={10} y={facts} size={12} words={held} room={wide - 30 - round} />
          </g>
        </Spot>
        <Text x={wide - 10} y={facts} size={12} words={player.this_round} room={round} anchor="end" bold />
        {PANEL_ACTIONS.map((action, number) => {
          const x = 10 + (Math.floor(number / actions.rows) * (wide - 10)) / 2;
          const y = actions.y + (number % actions.rows) * actions.row;
          return (
            <Spot
              key={action}
              id={`panel ${seat} ${action}`}
              label={actionLabel(action, player.actions[number], player.name)}
              x={x}
              y={y}
              box={[-4, -3, (wide - 30) / 2, actions.row - 1, 6]}
            >
              <Piece name={action} x={0} y={1} size={actions.piece} />
              <Spaces seat={seat} action={action} onIt={player.actions[number]} />
            </Spot>
          );
        })}
        <Spot
          id={`research ${seat}`}
          label={`research of ${player.name}: ${waiting.map(({ name, count }) => `${count} ${name}`).join(", ") || "nothing"}`}
          box={[5, research.y - 3, wide - 12, 30, 6]}
        >
          <g data-about="research">
            <rect x="5" y={research.y - 3} width={wide - 12} height="30" rx="6" fill="var(--faint)" opacity="0.5" />
            <Caption x={10} y={research.y + 16} words="Research" room={label - 12} />
          </g>
          {waiting.map(({ name, count }, place) => (
            <g key={name}>
              <Piece name={name} x={label + 10 + place * research.pitch} y={research.y} size={research.piece} />
              <Text
                x={label + 12 + place * research.pitch + research.piece}
                y={research.y + 17}
                size={12}
                words={`×${count}`}
              />
            </g>
          ))}
        </Spot>
        {player.new.length > 0 && <Caption x={10} y={fresh.y + 20} words="To place" room={label - 12} />}
        {player.new.map((kind, place) => (
          <Spot
            key={place}
            id={`new ${seat} ${place}`}
            label={`to be placed: ${KINDS[kind]}`}
            x={label + 2 + place * fresh.pitch}
            y={fresh.y + 2}
          >
            <Counter kind={KINDS[kind]} x={0} y={0} wide={fresh.token[0]} high={fresh.token[1]} fresh={place === 0} />
          </Spot>
        ))}
      </Seat>
    </svg>
  );
}

function actionLabel(action: string, onIt: OnAction, owner: string): string {
  const covers = [
    ...onIt.counters.map((kind) => KINDS[kind]),
    ...(onIt.tile ? ["an investment tile"] : []),
    ...onIt.new.map((kind) => `new ${KINDS[kind]}`),
  ];
  return `${action} of ${owner}: ${covers.join(", ") || "uncovered"}`;
}

/** The spaces of an action with what covers them. */
function Spaces({ seat, action, onIt }: { seat: number; action: string; onIt: OnAction }) {
  const { piece, token, pitch } = layout.players.actions;
  const [wide, high] = token;
  const at = (place: number) => piece + 8 + place * pitch;
  const tile = onIt.counters.length;
  const fresh = tile + (onIt.tile ? 1 : 0);
  const free = fresh + onIt.new.length;
  const copies: Record<number, number> = {};
  return (
    <>
      {onIt.counters.map((kind, place) => {
        const copy = copies[kind] ?? 0;
        copies[kind] = copy + 1;
        return (
          <Spot
            key={place}
            id={`counter ${seat} ${action} ${KINDS[kind]}${copy ? ` ${copy}` : ""}`}
            label={KINDS[kind]}
            x={at(place)}
            box={[-1, -1, wide + 2, high + 2, 4]}
          >
            <Counter kind={KINDS[kind]} x={0} y={0} wide={wide} high={high} />
          </Spot>
        );
      })}
      {onIt.tile && (
        <g data-about="tile" transform={`translate(${at(tile)} 0)`}>
          <rect width={wide} height={high} rx="3" fill="#c9b48a" stroke="#22303a" stroke-width="1.5" />
          <rect width={wide} height={high} rx="3" fill="url(#sheen)" />
          <use href={`#piece-${action}`} x={(wide - 20) / 2} y={(high - 20) / 2} width="20" height="20" />
        </g>
      )}
      {onIt.new.map((kind, place) => (
        <Counter key={place} kind={KINDS[kind]} x={at(fresh + place)} y={0} wide={wide} high={high} fresh />
      ))}
      {range(Math.max(0, SPACES - free)).map((place) => (
        <rect
          key={place}
          x={at(free + place)}
          y="1"
          width={wide}
          height={high - 2}
          rx="5"
          fill="none"
          stroke="var(--line)"
          stroke-dasharray="4 3"
          data-about="space"
        />
      ))}
    </>
  );
}

// ---------------------------------------------------------------- bag, tiles, the end

function Bag({ bag }: { bag: BoardTable["bag"] }) {
  const { label, column: step, row, piece, managers, width } = layout.bag;
  const number = (person: number, resource: number) => bag.kinds[person * RESOURCES.length + resource];
  const told = KINDS.flatMap((kind, index) => (bag.kinds[index] ? [`${bag.kinds[index]} ${kind}`] : []));
  return (
    <svg class="part bag" viewBox={`-2 -16 ${width + 4} 158`} role="group" aria-label={`Bag: ${told.join(", ")}`}>
      <Spot id="bag" label={`bag, ${counted(bag.size, "counter")}`}>
        <g data-about="bag">
          <Caption x={0} y={0} words={`Bag, ${counted(bag.size, "counter")}; ${bag.counts}:`} room={width} />
          {RESOURCES.map((resource, index) => (
            <Piece key={resource} name={resource} x={label + index * step + 4} y={8} size={piece} />
          ))}
          {PERSONS.map((person, line) => (
            <g key={person} transform={`translate(0 ${8 + (line + 1) * row})`}>
              <Piece name={person} x={0} y={0} size={piece} />
              {RESOURCES.map((resource, index) => (
                <Text
                  key={resource}
                  x={label + index * step + 4 + piece / 2}
                  y={16}
                  size={13}
                  words={number(line, index) || "·"}
                  anchor="middle"
                  bold={number(line, index) > 0}
                />
              ))}
            </g>
          ))}
          <Piece name="manager" x={managers} y={8 + row} size={piece} />
          <Text
            x={managers + piece + 6}
            y={8 + row + 16}
            size={13}
            words={`×${bag.kinds[bag.kinds.length - 1]}`}
            bold
          />
        </g>
      </Spot>
    </svg>
  );
}

function Tiles({ table }: { table: BoardTable }) {
  const { piece, pitch, small, small_pitch: smallPitch, stack, width, line } = layout.tiles;
  const order = table.tile_stack.order;
  const seen: Record<string, number> = {};
  return (
    <svg
      class="part tiles"
      viewBox={`-6 -16 ${width - 150} ${order.length ? 158 : 84}`}
      role="group"
      aria-label="Investment tiles"
    >
      <Caption
        x={0}
        y={0}
        words={`Investment tiles face up; stack: ${counted(table.tile_stack.size, "tile")}`}
        room={width - 160}
      />
      {table.tiles.map((action, place) => {
        const copy = seen[action] ?? 0;
        seen[action] = copy + 1;
        return (
          <Spot
            key={place}
            id={`tile ${action}${copy ? ` ${copy}` : ""}`}
            label={`investment tile of ${action}`}
            x={place * (pitch + 6)}
            y={10}
            box={[-3, -3, piece + 6, piece + 6, 8]}
          >
            <g data-about={`tile of ${action}`}>
              <rect width={piece} height={piece} rx="5" fill="#c9b48a" stroke="#22303a" stroke-width="1.5" />
              <rect width={piece} height={piece} rx="5" fill="url(#sheen)" />
              <use href={`#piece-${action}`} x="6" y="6" width={piece - 12} height={piece - 12} />
            </g>
          </Spot>
        );
      })}
      {order.length > 0 && <Caption x={0} y={stack} words="The stack from the top" room={width} />}
      {order.map((action, place) => (
        <Piece
          key={place}
          name={action}
          x={(place % line) * (smallPitch - 7)}
          y={stack + 6 + Math.floor(place / line) * smallPitch}
          size={small - 6}
        />
      ))}
    </svg>
  );
}

function End({ table }: { table: BoardTable }) {
  const { pip, pitch, row, width } = layout.end;
  const rows = [
    { words: "Exhausted areas", counts: table.exhausted },
    { words: "Empty reserves", counts: table.empty_reserves },
  ];
  return (
    <svg class="part end" viewBox={`-2 -16 ${width - 140} 138`} role="group" aria-label={table.end}>
      <g data-about="end">
        {rows.map(({ words, counts: [reached, needed] }, line) => (
          <g key={words} transform={`translate(0 ${line * row})`}>
            <Caption x={0} y={0} words={`${words}: ${reached} of ${needed}`} room={width} />
            {range(Math.max(reached, needed)).map((place) => (
              <rect
                key={place}
                x={place * pitch}
                y="8"
                width={pip}
                height={pip}
                rx="4"
                fill={place < reached ? "var(--ink)" : "var(--panel)"}
                stroke="var(--line)"
              />
            ))}
          </g>
        ))}
        {table.end.includes("last round") && (
          <Text x={0} y={2 * row + 8} size={14} words="This is the last round." bold />
        )}
      </g>
    </svg>
  );
}
