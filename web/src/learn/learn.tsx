/** The introduction: how to play in three minutes, in the words of the rules page, with the pieces beside them. */
import type { ComponentChildren } from "preact";
import board from "../data/board.json";
import card from "../data/card.json";
import type { GameKey } from "../engines";
import { LOOKS } from "../looks";
import { ActionCard, CardBack, Counter, ResourceCard, Text } from "../look/pieces";

const WORDS = { card, board };

export function Learn({ game, onBack }: { game: GameKey; onBack: () => void }) {
  const [aim, ...rest] = WORDS[game].how_to_play;
  const steps = rest.filter((part) => part.startsWith("- "));
  const notes = rest.filter((part) => !part.startsWith("- "));
  const look = LOOKS[game];
  const symbols = game === "card" ? card.symbols : board.panel_actions;
  return (
    <main class="learn">
      <h2>{look.title}, in three minutes</h2>
      <p class="aim">{marked(aim)}</p>
      <ol class="steps">
        {steps.map((step, index) => (
          <li key={step}>
            <div class="picture">{game === "card" ? cardPicture(index) : boardPicture(index)}</div>
            <p>{marked(step.slice(2))}</p>
          </li>
        ))}
      </ol>
      {notes.map((note) => (
        <p key={note}>{marked(note.replace(/ To try it: `[^`]*`\.?/, ""))}</p>
      ))}
      <h3>Every symbol</h3>
      <dl class="symbols">
        {symbols.map((symbol) => (
          <div key={symbol}>
            <dt>
              <svg width="40" height="40" viewBox="0 0 24 24" role="img" aria-label={symbol}>
                <use href={`#piece-${symbol}`} width="24" height="24" />
              </svg>
              {symbol}
            </dt>
            <dd>{look.about(symbol, null)}</dd>
          </div>
        ))}
      </dl>
      <p class="small">
        At the table, rest the pointer on anything to read what it is; on a touch screen, press “Explain” first and then
        tap the thing. Numbers such as C7 or B12 are the rules' numbers: <code>siberia rules {game}</code> prints them
        all.
      </p>
      <button type="button" class="primary" onClick={onBack}>
        Back
      </button>
    </main>
  );
}

/** The light markup of the rules page: bold and code. */
function marked(text: string) {
  return text.split(/(\*\*[^*]+\*\*|`[^`]+`)/).map((part, index) => {
    if (part.startsWith("**")) return <b key={index}>{part.slice(2, -2)}</b>;
    if (part.startsWith("`")) return <code key={index}>{part.slice(1, -1)}</code>;
    return part;
  });
}

/** A piece that nobody asks about: the text beside the picture explains it. */
function Piece({ name, x, y, size = 30 }: { name: string; x: number; y: number; size?: number }) {
  return <use href={`#piece-${name}`} x={x} y={y} width={size} height={size} />;
}

/** Moved to a point, and made smaller or larger. */
function placed(x: number, y: number, scale = 1) {
  return { transform: `translate(${x} ${y}) scale(${scale})` };
}

function cardPicture(step: number) {
  const card = (resource: string, value: string) => (
    <ResourceCard wide={92} high={140} resource={resource} value={value} faceUp />
  );
  const pictures = [
    <>
      <g {...placed(4, 10, 0.6)}>{card("gas", "$2000")}</g>
      <g {...placed(64, 10, 0.6)}>{card("gold", "$5000")}</g>
      <g {...placed(124, 10, 0.6)}>
        <CardBack wide={92} high={140} />
      </g>
    </>,
    <>
      <g {...placed(20, 10, 0.6)}>
        <CardBack wide={92} high={140} />
      </g>
      <Text x={92} y={58} size={24} words="→" />
      <g {...placed(120, 10, 0.6)}>{card("oil", "$4000")}</g>
    </>,
    <>
      <g {...placed(4, 4, 0.55)}>{card("gold", "$3000")}</g>
      <g {...placed(60, 4, 0.55)}>{card("gold", "$5000")}</g>
      <Text x={120} y={46} size={20} words="→" />
      <Piece name="worker" x={146} y={10} />
      <Piece name="worker" x={146} y={46} />
    </>,
    <>
      <Piece name="worker" x={14} y={10} size={44} />
      <Piece name="salesman" x={72} y={10} size={44} />
      <Piece name="investor" x={130} y={10} size={44} />
      <Text x={94} y={84} size={13} words="each from the supply" anchor="middle" />
    </>,
    <>
      <ActionCard x={16} y={4} wide={52} high={86} kind="gold/worker" names />
      <ActionCard x={74} y={4} wide={52} high={86} kind="gold/salesman" names />
      <Text x={134} y={54} size={20} words="=" />
      <Piece name="gold" x={152} y={32} />
    </>,
    <>
      <g {...placed(10, 6, 0.55)}>{card("diamond", "$7000")}</g>
      <Piece name="salesman" x={70} y={10} />
      <Text x={108} y={34} size={16} words="→ $8000" bold />
      <Piece name="worker" x={70} y={50} />
      <Text x={108} y={72} size={16} words="→ $1000" bold />
    </>,
  ];
  return frame(pictures[step] ?? null);
}

function boardPicture(step: number) {
  const pawn = (player: number, x: number, y: number, size = 30) => (
    <use href={`#pawn-${player}`} x={x} y={y} width={(size * 2) / 3} height={size} />
  );
  const area = (fill: string) => (
    <path d="M10 20L60 6L120 16L176 8V74L120 86L56 78L14 84Z" fill={fill} stroke="var(--shore)" stroke-width="2.5" />
  );
  const counter = (kind: string, x: number, y: number) => <Counter kind={kind} x={x} y={y} wide={56} high={38} />;
  const pictures = [
    <>
      {area("var(--land)")}
      <Piece name="gas" x={54} y={26} />
      <Piece name="diamond" x={88} y={26} />
      {pawn(0, 128, 28)}
    </>,
    <>
      {counter("oil/worker", 6, 8)}
      {counter("gas/investor", 68, 8)}
      {counter("manager", 130, 8)}
      {counter("gold/salesman", 37, 52)}
      {counter("gold/logistician", 99, 52)}
    </>,
    <>
      <Piece name="gold" x={8} y={28} size={40} />
      {counter("gold/worker", 58, 28)}
      {counter("gold/salesman", 120, 28)}
    </>,
    <>
      {area("var(--land)")}
      {pawn(0, 30, 30)}
      <Piece name="oil" x={58} y={32} />
      <Text x={100} y={58} size={20} words="→ $4000" bold />
    </>,
    <>
      {["worker", "logistician", "salesman", "investor", "manager"].map((name, index) => (
        <Piece key={name} name={name} x={8 + (index % 3) * 60} y={8 + Math.floor(index / 3) * 44} size={38} />
      ))}
    </>,
    <>
      {counter("charcoal/investor", 8, 26)}
      <Text x={74} y={54} size={20} words="→" />
      <g {...placed(92, 10, 0.5)}>{area("var(--land)")}</g>
      <Piece name="charcoal" x={122} y={22} size={24} />
    </>,
    <>
      {area("url(#hatched)")}
      <Text x={94} y={52} size={14} words="exhausted" anchor="middle" bold />
    </>,
    <>
      {Array.from({ length: 8 }, (_, index) => (
        <rect
          key={index}
          x={8 + index * 22}
          y={34}
          width="18"
          height="18"
          rx="4"
          fill={index < 7 ? "var(--ink)" : "var(--panel)"}
          stroke="var(--line)"
        />
      ))}
      <Text x={94} y={76} size={13} words="seven of eight areas" anchor="middle" />
    </>,
  ];
  return frame(pictures[step] ?? null);
}

function frame(inside: ComponentChildren) {
  return (
    <svg viewBox="0 0 188 96" aria-hidden="true">
      {inside}
    </svg>
  );
}
