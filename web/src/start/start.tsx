/** The first screen: what is played and by whom, games to go on with, records to look at. */
import { useEffect, useState } from "preact/hooks";
import { openGame, type GameKey, type Opened } from "../engines";
import { parseJson } from "../engine/index";
import { messageOf, type GameInfo, type Json, type Rules } from "../engine/types";
import { LOOKS } from "../looks";
import { MACHINE, OPENING, hasBridge } from "../play/bridge";
import { forget, isSeat, kept, type Save, type SeatPlan, type Setup } from "../play/saves";

interface Props {
  onStart: (setup: Setup) => void;
  onResume: (save: Save) => void;
  onFile: (file: File) => void;
  onLearn: (game: GameKey) => void;
}

const PLAN_KEY = "siberia:plan";
/** The choice of an agent whose spec is typed. */
const OWN = "own";

/** The agents that are offered, by spec, with what the list says. */
const OFFERS: readonly [spec: string, words: string][] = [
  ["level:easy", "agent, easy"],
  ["level:medium", "agent, medium"],
  ["level:hard", "agent, hard"],
  ["level:best", "agent, best"],
  ["random", "random"],
  ["greedy", "greedy"],
  ["heuristic", "heuristic"],
  ["learned", "learned"],
  ["search:1000", "search:1000"],
  ["guided:200", "guided:200"],
];

const NEW_AGENT: SeatPlan = { kind: "agent", name: "level:medium", agent: "level:medium" };

interface Plan {
  game: GameKey;
  seats: SeatPlan[];
}

/** What was chosen before on this machine, and the game that the address asks for. */
function storedPlan(): Plan {
  const fresh: Plan = {
    game: "card",
    seats: [{ kind: "person", name: "You", agent: "" }, NEW_AGENT],
  };
  try {
    const plan = JSON.parse(localStorage.getItem(PLAN_KEY) ?? "null") as Plan | null;
    const asked = OPENING.plan.game;
    if (asked === "card" || asked === "board") {
      fresh.game = asked;
      if (plan) plan.game = asked;
    }
    const fits =
      plan &&
      (plan.game === "card" || plan.game === "board") &&
      Array.isArray(plan.seats) &&
      plan.seats.length >= 2 &&
      plan.seats.length <= 4 &&
      plan.seats.every(isSeat);
    return fits ? plan : fresh;
  } catch {
    return fresh;
  }
}

export function Start({ onStart, onResume, onFile, onLearn }: Props) {
  const [plan, setPlan] = useState(storedPlan);
  const [rules, setRules] = useState<Rules>({});
  const [components, setComponents] = useState<{ name: string; tables: Json } | null>(null);
  const [seed, setSeed] = useState("");
  const [opened, setOpened] = useState<Opened | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [saves, setSaves] = useState(kept);
  useEffect(() => {
    let current = true;
    setOpened(null);
    openGame(plan.game).then(
      (ready) => current && setOpened(ready),
      (error: unknown) => current && setProblem(messageOf(error)),
    );
    return () => {
      current = false;
    };
  }, [plan.game]);
  const change = (next: Plan) => {
    setPlan(next);
    try {
      localStorage.setItem(PLAN_KEY, JSON.stringify(next));
    } catch {
      // It is only a convenience.
    }
  };
  const seatCount = (count: number) => {
    change({ ...plan, seats: Array.from({ length: count }, (_, seat) => plan.seats[seat] ?? NEW_AGENT) });
  };
  const setSeat = (seat: number, next: SeatPlan) =>
    change({ ...plan, seats: plan.seats.map((old, index) => (index === seat ? next : old)) });
  const readComponents = async (file: File) => {
    try {
      const tables = parseJson(await file.text());
      opened?.engine.checkComponents(tables, plan.seats.length);
      setComponents({ name: file.name, tables });
      setProblem(null);
    } catch (error) {
      setProblem(`${file.name}: ${messageOf(error)}`);
    }
  };
  const start = () => {
    if (seed && !isSeed(seed)) {
      setProblem("A seed is a whole number from 0 to 18446744073709551615.");
      return;
    }
    const setup: Setup = {
      game: plan.game,
      rules,
      components: components?.tables ?? null,
      seed: seed || randomSeed(),
      seats: named(plan.seats),
    };
    try {
      opened?.engine.newGame({
        players: setup.seats.length,
        rules,
        seed: 0n,
        ...(setup.components === null ? {} : { components: setup.components }),
      });
      onStart(setup);
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <main class="start">
      <section class="card-box">
        <h2>New game</h2>
        <div class="games" role="radiogroup" aria-label="Game">
          {(["card", "board"] as const).map((game) => (
            <button
              key={game}
              type="button"
              role="radio"
              aria-checked={plan.game === game}
              class={`game ${plan.game === game ? "chosen" : ""}`}
              onClick={() => {
                change({ ...plan, game });
                setRules({});
                setComponents(null);
                setProblem(null);
              }}
            >
              <GameMark game={game} />
              <b>{game === "card" ? "The card game" : "The board game"}</b>
              <span>
                {game === "card"
                  ? "Mine the row, hire the right people."
                  : "Workers on the map, salesmen at the exchanges."}
              </span>
            </button>
          ))}
        </div>
        <button type="button" class="link" onClick={() => onLearn(plan.game)}>
          New to it? Learn {LOOKS[plan.game].title} in three minutes
        </button>
        <fieldset class="seats">
          <legend>Players</legend>
          <div class="count" role="radiogroup" aria-label="Number of players">
            {[2, 3, 4].map((count) => (
              <button
                key={count}
                type="button"
                role="radio"
                aria-checked={plan.seats.length === count}
                class={plan.seats.length === count ? "chosen" : ""}
                onClick={() => seatCount(count)}
              >
                {count}
              </button>
            ))}
          </div>
          {plan.seats.map((seat, index) => (
            <SeatRow key={index} index={index} seat={seat} onChange={(next) => setSeat(index, next)} />
          ))}
        </fieldset>
        {opened && (
          <details>
            <summary>Rules, components, seed</summary>
            <Options info={opened.engine.info} rules={rules} onChange={setRules} />
            <label class="row">
              <span>Components</span>
              <input
                type="file"
                accept=".json,application/json"
                onChange={(event) => {
                  const file = event.currentTarget.files?.[0];
                  if (file) void readComponents(file);
                }}
              />
            </label>
            <p class="small">
              {components
                ? `${components.name} is used. `
                : "The box as published, with the suite's own choices where nothing is published. "}
              {components && (
                <button type="button" class="link" onClick={() => setComponents(null)}>
                  Use the box again
                </button>
              )}
            </p>
            <label class="row">
              <span>Seed</span>
              <input
                type="text"
                inputMode="numeric"
                placeholder="a new one"
                value={seed}
                onInput={(event) => setSeed(event.currentTarget.value.trim())}
              />
            </label>
          </details>
        )}
        {problem && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="button" class="primary wide" disabled={!opened} onClick={start}>
          {opened ? "Play" : problem ? "This game can't be opened" : "Opening…"}
        </button>
      </section>
      <section class="card-box">
        <h2>Go on</h2>
        {saves.length === 0 && <p class="small">No game is kept here yet. Every game is saved after each decision.</p>}
        <ul class="saves">
          {saves.map((save) => (
            <li key={save.id}>
              <button type="button" class="save" onClick={() => onResume(save)}>
                <b>{LOOKS[save.setup.game].title}</b>
                <span>
                  {save.setup.seats.map((seat) => seat.name).join(", ")}; {save.decisions.length} decisions,{" "}
                  {new Date(save.at).toLocaleString()}
                </span>
              </button>
              <button
                type="button"
                class="link"
                aria-label="Delete this saved game"
                onClick={() => {
                  forget(save.id);
                  setSaves(kept());
                }}
              >
                Delete
              </button>
            </li>
          ))}
        </ul>
        <h2>Look at a record</h2>
        <label class="drop">
          Drop a record (.jsonl) or a saved game here, or choose a file
          <input
            type="file"
            accept=".jsonl,.json"
            onChange={(event) => {
              const file = event.currentTarget.files?.[0];
              if (file) onFile(file);
              event.currentTarget.value = "";
            }}
          />
        </label>
        <p class="small">Nothing leaves this page: rules, agents and analysis all run in your browser.</p>
      </section>
    </main>
  );
}

function SeatRow({ index, seat, onChange }: { index: number; seat: SeatPlan; onChange: (seat: SeatPlan) => void }) {
  const isOffered = OFFERS.some(([spec]) => spec === seat.agent);
  const choice = seat.kind === "person" ? "person" : isOffered ? seat.agent : OWN;
  const choose = (value: string) => {
    if (value === "person") onChange({ kind: "person", name: index ? `Player ${index + 1}` : "You", agent: "" });
    else if (value === OWN) onChange({ kind: "agent", name: "", agent: hasBridge ? MACHINE : "guided:800" });
    else onChange({ kind: "agent", name: value, agent: value });
  };
  return (
    <div class="seat-row">
      <span class={`seat-dot seat-${index}`} aria-hidden="true">
        {index}
      </span>
      <select aria-label={`Seat ${index}`} value={choice} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="person">a person</option>
        {OFFERS.map(([spec, words]) => (
          <option key={spec} value={spec}>
            {words}
          </option>
        ))}
        <option value={OWN}>{hasBridge ? "another agent, or one of this machine…" : "another agent…"}</option>
      </select>
      {seat.kind === "person" && (
        <input
          aria-label={`Name of seat ${index}`}
          maxLength={24}
          value={seat.name}
          onInput={(event) => onChange({ ...seat, name: event.currentTarget.value })}
        />
      )}
      {choice === OWN && (
        <input
          aria-label={`Agent of seat ${index}`}
          placeholder={hasBridge ? "machine:module:Class or guided:800" : "guided:800"}
          value={seat.agent}
          onInput={(event) =>
            onChange({ ...seat, agent: event.currentTarget.value.trim(), name: event.currentTarget.value.trim() })
          }
        />
      )}
    </div>
  );
}

function Options({ info, rules, onChange }: { info: GameInfo; rules: Rules; onChange: (rules: Rules) => void }) {
  return (
    <>
      {Object.entries(info.options).map(([name, option]) => {
        const value = rules[name] ?? option.default;
        const set = (next: Json) => onChange({ ...rules, [name]: next });
        const label = name.replaceAll("_", " ");
        if (typeof option.default === "boolean") {
          return (
            <label key={name} class="row">
              <span>{label}</span>
              <input type="checkbox" checked={value === true} onChange={(event) => set(event.currentTarget.checked)} />
            </label>
          );
        }
        if (option.values) {
          const given = Array.isArray(value);
          const tiles = info.components["exchange_tiles"] as string[][] | undefined;
          return (
            <label key={name} class="row">
              <span>{label}</span>
              <select
                value={given ? "given" : String(value)}
                onChange={(event) =>
                  set(
                    event.currentTarget.value === "given"
                      ? (tiles ?? []).map((tile) => tile[0])
                      : event.currentTarget.value,
                  )
                }
              >
                {option.values
                  .filter((choice) => choice !== null)
                  .map((choice) => (
                    <option key={String(choice)} value={String(choice)}>
                      {String(choice)}
                    </option>
                  ))}
                {tiles && name === "sides" && <option value="given">given:</option>}
              </select>
              {given && tiles && (
                <span class="tiles-given">
                  {tiles.map((tile, index) => (
                    <select
                      key={index}
                      value={String((value as Json[])[index])}
                      aria-label={`Exchange tile ${index + 1}`}
                      onChange={(event) =>
                        set((value as Json[]).map((side, at) => (at === index ? event.currentTarget.value : side)))
                      }
                    >
                      {tile.map((side) => (
                        <option key={side} value={side}>
                          {side}
                        </option>
                      ))}
                    </select>
                  ))}
                </span>
              )}
            </label>
          );
        }
        const [low, high] = option.range ?? [1, 10000];
        return (
          <label key={name} class="row">
            <span>{label}</span>
            <input
              type="number"
              min={low}
              max={high}
              value={Number(value)}
              onChange={(event) => set(Math.round(Number(event.currentTarget.value)))}
            />
          </label>
        );
      })}
    </>
  );
}

/** Seats with names that differ, so that the log can be read. */
function named(seats: readonly SeatPlan[]): SeatPlan[] {
  const count = new Map<string, number>();
  return seats.map((seat, index) => {
    const name = seat.name.trim() || seat.agent || `player_${index}`;
    const times = (count.get(name) ?? 0) + 1;
    count.set(name, times);
    return { ...seat, name: times > 1 ? `${name} ${times}` : name };
  });
}

function isSeed(text: string): boolean {
  return /^\d{1,20}$/.test(text) && BigInt(text) < 2n ** 64n;
}

function randomSeed(): string {
  return String(crypto.getRandomValues(new BigUint64Array(1))[0]);
}

function GameMark({ game }: { game: GameKey }) {
  return (
    <svg viewBox="0 0 96 60" class="game-mark" aria-hidden="true">
      {game === "card" ? (
        <>
          {["gold", "gas", "diamond"].map((name, index) => (
            <g
              key={name}
              transform={`translate(${14 + index * 24} ${8 + Math.abs(index - 1) * 4}) rotate(${(index - 1) * 10} 12 20)`}
            >
              <rect width="28" height="42" rx="4" fill="#fffdf8" stroke="#22303a" />
              <use href={`#piece-${name}`} x="3" y="5" width="22" height="22" />
            </g>
          ))}
        </>
      ) : (
        <>
          <path
            d="M6 14L26 6L44 12L66 4L90 12V44L70 54L48 48L24 56L6 46Z"
            fill="var(--land)"
            stroke="var(--shore)"
            stroke-width="2"
          />
          <path d="M44 12L40 50M66 4L62 30L90 34M6 32L42 30" stroke="var(--shore)" stroke-width="1.5" fill="none" />
          <use href="#pawn-0" x="20" y="12" width="12" height="18" />
          <use href="#pawn-1" x="70" y="12" width="12" height="18" />
          <use href="#piece-oil" x="46" y="32" width="14" height="14" />
        </>
      )}
    </svg>
  );
}
