/** The screen on which a record is looked at, step by step and as any seat saw it, with what guided search says. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Flight } from "../common/look";
import { flightsSeen, takeStep } from "../common/step";
import { messageOf } from "../engine/types";
import { About } from "../look/about";
import { PLAYERS } from "../look/style";
import { margin } from "../play/moves";
import { download } from "../play/saves";
import { Sheet } from "../play/sheet";
import { told } from "../play/tale";
import { TableView } from "../play/view";
import { Curve } from "./curve";
import { judge, turningPoints, type Judgement, type OpenedRecord } from "./record";

/** Simulations for each decision of an analysis. */
const SIMULATIONS = 200;
const NOTHING = new Set<string>();

interface ReplayProps {
  record: OpenedRecord;
  /** Shows another game of the same file. */
  onGame: (number: number) => void;
  onLeave: (() => void) | null;
}

export function ReplayScreen({ record, onGame, onLeave }: ReplayProps) {
  const { look, replayed } = record;
  const decisions = replayed.decisions.length;
  const [at, setAt] = useState(0);
  const [viewer, setViewer] = useState<number | null>(null);
  const [asking, setAsking] = useState(false);
  const [playing, setPlaying] = useState(false);
  const { judgements, progress, done, problem, start, stop, running } = useAnalysis(record);
  const game = useMemo(() => replayed.at(at), [replayed, at]);
  const names = useCallback((player: number) => `${replayed.agents[player]} (${player})`, [replayed]);
  const listener = useRef<((flights: Flight[]) => void) | null>(null);
  const onFlights = useCallback((added: (flights: Flight[]) => void) => {
    listener.current = added;
    return () => void (listener.current = null);
  }, []);

  const current = useRef(0); // keys may come faster than the page is drawn
  const step = (to: number) => {
    const next = Math.min(decisions, Math.max(0, to));
    const from = current.current;
    current.current = next;
    if (next === from + 1) {
      listener.current?.(flightsSeen(look, takeStep(replayed.at(from), replayed.decisions[from].action), viewer));
    }
    setAt(next);
  };
  useEffect(() => {
    if (!playing) return;
    if (at >= decisions) {
      setPlaying(false);
      return;
    }
    const waiting = setTimeout(() => step(at + 1), 900);
    return () => clearTimeout(waiting);
  }, [playing, at, viewer]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLInputElement && event.target.type !== "range") return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const now = current.current;
      const moves: Record<string, number> = {
        ArrowRight: now + 1,
        ArrowLeft: now - 1,
        Home: 0,
        End: decisions,
        PageDown: now + 10,
        PageUp: now - 10,
      };
      if (event.key in moves) step(moves[event.key]);
      else if (event.key === "?") setAsking((on) => !on);
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  });

  const leads = useMemo(() => {
    const scores = replayed.at(decisions).scores();
    const sum = scores.reduce((total, score) => total + score, 0);
    return scores.map((score) => score - (sum - score) / (scores.length - 1));
  }, [replayed]);
  const judged = new Map(judgements.map((judgement) => [judgement.index, judgement]));
  const points = turningPoints(judgements);
  const here = at < decisions ? judged.get(at) : undefined;
  return (
    <main class={`play replay ${asking ? "asking" : ""}`}>
      <section class="board-room" aria-label="Table">
        <TableView
          look={look}
          game={game}
          version={at}
          viewer={viewer}
          names={names}
          notes={[]}
          choices={[]}
          pointed={null}
          changed={NOTHING}
          onChoose={() => undefined}
          onPoint={() => undefined}
          onFlights={onFlights}
          pace={500}
        />
        {at === decisions && <Sheet look={look} game={game} names={names} />}
      </section>
      <aside class="side">
        <div class="ask">
          <p class="turn">{look.shown(game, viewer, names).turn}</p>
        </div>
        {record.games > 1 && (
          <label class="row">
            <span>Game</span>
            <select
              value={record.number}
              onChange={(event) => {
                onGame(Number(event.currentTarget.value));
                event.currentTarget.value = String(record.number); // which stays if the other game is damaged
              }}
            >
              {Array.from({ length: record.games }, (_, number) => (
                <option key={number} value={number}>
                  {number + 1} of {record.games}
                </option>
              ))}
            </select>
          </label>
        )}
        <div class="tools" role="toolbar" aria-label="Steps">
          <button type="button" onClick={() => step(0)} aria-label="To the beginning">
            |◀
          </button>
          <button type="button" onClick={() => step(at - 1)} aria-label="One decision back">
            ◀
          </button>
          <button type="button" onClick={() => setPlaying(!playing)} aria-label={playing ? "Stop" : "Play"}>
            {playing ? "Stop" : "Play"}
          </button>
          <button type="button" onClick={() => step(at + 1)} aria-label="One decision on">
            ▶
          </button>
          <button type="button" onClick={() => step(decisions)} aria-label="To the end">
            ▶|
          </button>
          <button type="button" aria-pressed={asking} onClick={() => setAsking(!asking)}>
            Explain
          </button>
        </div>
        <label class="slider">
          <span class="unseen">Decision</span>
          <input
            type="range"
            min={0}
            max={decisions}
            value={at}
            onInput={(event) => step(Number(event.currentTarget.value))}
          />
          <span>
            {at} of {decisions}
          </span>
        </label>
        <label class="row">
          <span>Seen by</span>
          <select
            value={viewer === null ? "open" : String(viewer)}
            onChange={(event) =>
              setViewer(event.currentTarget.value === "open" ? null : Number(event.currentTarget.value))
            }
          >
            <option value="open">everybody: all is open</option>
            {replayed.agents.map((_, player) => (
              <option key={player} value={player}>
                {names(player)}
              </option>
            ))}
          </select>
        </label>
        <section class="analysis" aria-label="Analysis">
          <div class="tools">
            <button type="button" class="primary" onClick={running ? stop : start} disabled={done}>
              {done ? "Analysed" : running ? "Stop" : "Analyse with guided search"}
            </button>
            {(running || judgements.length > 0) && !done && <progress max={decisions} value={progress} />}
          </div>
          {problem && (
            <p class="problem" role="alert">
              {problem}
            </p>
          )}
          {judgements.length > 0 && (
            <Curve judgements={judgements} decisions={decisions} final={leads} at={at} names={names} onStep={step} />
          )}
          {here && <Verdict judgement={here} record={record} />}
          {points.length > 0 && (
            <>
              <h3>Turning points</h3>
              <ol class="points">
                {points.map((judgement) => (
                  <li key={judgement.index}>
                    <button type="button" class="link" onClick={() => step(judgement.index)}>
                      <span class="dot" style={{ background: PLAYERS[judgement.player].fill }} />
                      {judgement.index + 1}: {names(judgement.player)} played {replayed.decisions[judgement.index].name}
                      ; it cost {margin(judgement.cost).slice(1)}
                    </button>
                  </li>
                ))}
              </ol>
            </>
          )}
          {done && points.length === 0 && <p class="small">No decision cost as much as $1000.</p>}
        </section>
        <Steps record={record} at={at} viewer={viewer} names={names} judged={judged} onStep={step} />
        <div class="tools">
          <button type="button" onClick={() => download(`siberia-${look.key}.jsonl`, record.text)}>
            Save the record
          </button>
          {onLeave && (
            <button type="button" onClick={onLeave}>
              Leave
            </button>
          )}
        </div>
      </aside>
      <About look={look} game={game} asking={asking} onAnswered={() => setAsking(false)} />
    </main>
  );
}

/** What guided search says of the decision that comes next. */
function Verdict({ judgement, record }: { judgement: Judgement; record: OpenedRecord }) {
  const { index, best, played, cost } = judgement;
  const game = record.replayed.at(index);
  const { name } = record.replayed.decisions[index];
  const expected = `${margin(best.margin)} beside the others`;
  return (
    <p class="hint" role="status">
      {best.action === played.action
        ? `Next: ${name}. Guided search would do the same; it expects ${expected}.`
        : `Next: ${name}. Guided search would play ${game.actionName(best.action)} and expects ${expected}; ${
            cost >= 0.05 ? `the move costs ${margin(cost).slice(1)}` : "it sees no difference"
          }.`}
    </p>
  );
}

/** Every decision with what it brought, and what it cost; the one that comes next is marked. */
function Steps({
  record,
  at,
  viewer,
  names,
  judged,
  onStep,
}: {
  record: OpenedRecord;
  at: number;
  viewer: number | null;
  names: (player: number) => string;
  judged: ReadonlyMap<number, Judgement>;
  onStep: (index: number) => void;
}) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const box = list.current;
    const marked = box?.querySelector<HTMLElement>(".now");
    if (box && marked) box.scrollTop = marked.offsetTop - box.offsetTop - box.clientHeight / 2;
  }, [at]);
  const lines = useMemo(
    () => record.tale.map((entry) => told(record.look, entry, viewer, names)),
    [record, viewer, names],
  );
  return (
    <ol class="log decisions" ref={list} aria-label="Decisions" tabIndex={0}>
      {record.tale.map((entry, index) => {
        const judgement = judged.get(index);
        return (
          <li key={entry.count} class={index === at ? "now" : index < at ? "past" : ""}>
            <button
              type="button"
              class="link"
              onClick={() => onStep(index)}
              aria-current={index === at ? "step" : undefined}
            >
              <span class="dot" style={{ background: PLAYERS[entry.player].fill }} />
              {lines[index].length ? lines[index][0] : `${names(entry.player)} decides in secret`}
              {judgement && judgement.cost >= 0.5 && <span class="cost"> −{margin(judgement.cost).slice(1)}</span>}
            </button>
            {lines[index].slice(1).map((line) => (
              <div key={line} class="event">
                {line}
              </div>
            ))}
          </li>
        );
      })}
    </ol>
  );
}

/** The analysis of a record, decision by decision. It can be stopped, and goes on where it was. */
function useAnalysis(record: OpenedRecord) {
  const [judgements, setJudgements] = useState<Judgement[]>([]);
  const [next, setNext] = useState(0);
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const decisions = record.replayed.decisions.length;
  useEffect(() => {
    if (!running) return;
    let current = true;
    const work = async () => {
      const found: Judgement[] = [];
      let shown = performance.now();
      for (let index = next; index < decisions && current; index += 1) {
        const judgement = await judge(record, index, SIMULATIONS);
        if (!current) return;
        if (judgement) found.push(judgement);
        if (performance.now() - shown > 250 || index === decisions - 1) {
          shown = performance.now();
          const more = found.splice(0);
          setJudgements((before) => [...before, ...more]);
          setNext(index + 1);
        }
      }
      if (current) setRunning(false);
    };
    setProblem(null);
    work().catch((error: unknown) => {
      if (!current) return;
      setProblem(messageOf(error));
      setRunning(false);
    });
    return () => {
      current = false;
    };
  }, [running, record]);
  return {
    judgements,
    progress: next,
    problem,
    done: next >= decisions && decisions > 0,
    running,
    start: () => setRunning(true),
    stop: () => setRunning(false),
  };
}
