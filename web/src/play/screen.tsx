/** The screen on which a game is played: the table, what is asked, the moves, the log. */
import { useCallback, useEffect, useReducer, useState } from "preact/hooks";
import { About } from "../look/about";
import { Log } from "./log";
import { Moves, margin } from "./moves";
import { PACES, storePace, type Pace, type Session } from "./session";
import { download, forget } from "./saves";
import { Sheet } from "./sheet";
import { TableView } from "./view";

/** Simulations of a hint. */
const HINT_SIMULATIONS = 400;

interface Props {
  session: Session;
  onLeave: () => void;
  onReplay: (record: string) => void;
  onLearn: () => void;
}

export function PlayScreen({ session, onLeave, onReplay, onLearn }: Props) {
  const [version, redraw] = useReducer((count: number) => count + 1, 0);
  const [pointed, setPointed] = useState<number | null>(null);
  const [asking, setAsking] = useState(false);
  const [undoAsks, setUndoAsks] = useState(false);
  useEffect(() => {
    redraw(undefined); // for what has happened since it was drawn
    return session.subscribe(() => redraw(undefined));
  }, [session]);
  useEffect(() => setPointed(null), [session.game, session.game.decisions]);
  const undo = useCallback(() => {
    if (!session.canUndo) return;
    if (session.undoBringsNews()) setUndoAsks(true);
    else session.undo();
  }, [session]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      if (event.key === "h") void session.askHint(HINT_SIMULATIONS);
      else if (event.key === "u") undo();
      else if (event.key === "?") setAsking((on) => !on);
      else if (event.key === "m") document.querySelector<HTMLButtonElement>("button.move")?.focus();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [session, undo]);
  const { game, look, names, viewer, handOver } = session;
  const notes = session.setup.seats.map((seat) =>
    seat.kind === "agent" && seat.agent !== seat.name ? seat.agent : "",
  );
  const pointedNote = pointed !== null && session.choices.includes(pointed) ? session.noteOf(pointed) : "";
  if (handOver !== null) {
    return (
      <main class="curtain">
        <h2>Pass the device to {names(handOver)}</h2>
        <p>Nobody else should look: what {names(handOver)} sees comes next.</p>
        <button type="button" class="primary" onClick={() => session.takeOver()}>
          I am {names(handOver)}
        </button>
        <button type="button" onClick={onLeave}>
          Leave the game
        </button>
      </main>
    );
  }
  return (
    <main class={`play ${asking ? "asking" : ""}`}>
      <section class="board-room" aria-label="Table">
        <TableView
          look={look}
          game={game}
          version={version}
          viewer={viewer}
          names={names}
          notes={notes}
          choices={session.choices}
          pointed={pointed}
          changed={session.changed}
          onChoose={(action) => session.choose(action)}
          onPoint={setPointed}
          onFlights={session.onFlights}
          pace={PACES[session.pace]}
        />
        {game.isOver() && <Sheet look={look} game={game} names={names} looksAhead={session.looksAhead} />}
      </section>
      <aside class="side">
        <Ask session={session} pointed={pointed} note={pointedNote} />
        <div class="tools" role="toolbar" aria-label="Tools">
          <button
            type="button"
            disabled={!session.asksViewer || session.hinting}
            onClick={() => void session.askHint(HINT_SIMULATIONS)}
            title="What guided search thinks of your moves (h)"
          >
            {session.hinting ? "Thinking…" : "Hint"}
          </button>
          <button type="button" disabled={!session.canUndo} onClick={undo} title="Take your last decision back (u)">
            Undo
          </button>
          <button
            type="button"
            aria-pressed={asking}
            onClick={() => setAsking(!asking)}
            title="Then tap whatever you want explained (?)"
          >
            Explain
          </button>
          <label class="pace">
            <span>Pace</span>
            <select
              value={session.pace}
              onChange={(event) => {
                session.pace = event.currentTarget.value as Pace;
                storePace(session.pace);
                redraw(undefined);
              }}
            >
              {Object.keys(PACES).map((pace) => (
                <option key={pace} value={pace}>
                  {pace}
                </option>
              ))}
            </select>
          </label>
        </div>
        {session.hint && <HintText session={session} />}
        {game.isOver() ? (
          <Finished session={session} onLeave={onLeave} onReplay={onReplay} />
        ) : (
          <Moves session={session} pointed={pointed} onPoint={setPointed} />
        )}
        <Log session={session} />
        <div class="tools">
          <button type="button" onClick={onLearn}>
            How to play
          </button>
          <button
            type="button"
            onClick={() => download(`siberia-${look.key}.save.json`, JSON.stringify(session.asSave()))}
          >
            Save to a file
          </button>
          <button type="button" onClick={onLeave}>
            Leave
          </button>
        </div>
        {!session.isKept && (
          <p class="warning">This browser keeps nothing: save to a file before you close the page.</p>
        )}
      </aside>
      {undoAsks && (
        <div class="veil">
          <div class="dialog" role="alertdialog" aria-labelledby="undo-asks">
            <p id="undo-asks">
              Since then you have seen what you couldn't foresee. You can take your decision back all the same; it is
              counted, and the score sheet will say so.
            </p>
            <button type="button" class="primary" autofocus onClick={() => setUndoAsks(false)}>
              Leave it
            </button>
            <button
              type="button"
              onClick={() => {
                setUndoAsks(false);
                session.undo();
              }}
            >
              Take it back
            </button>
          </div>
        </div>
      )}
      <About look={look} game={game} asking={asking} onAnswered={() => setAsking(false)} />
    </main>
  );
}

function Ask({ session, pointed, note }: { session: Session; pointed: number | null; note: string }) {
  const { game, look, names, viewer, thinking, problem } = session;
  const told = look.shown(game, viewer, names).turn;
  const turn = session.asksViewer ? yourTurn(told) : told;
  return (
    <div class="ask" aria-live="polite">
      <p class="turn">{turn}</p>
      {problem && (
        <p class="problem" role="alert">
          {problem}{" "}
          <button type="button" onClick={() => session.retry()}>
            Try again
          </button>
        </p>
      )}
      {session.asksViewer && <p class="prompt">{look.prompt(game)}</p>}
      {thinking !== null && !problem && (
        <p class="prompt waiting">
          {names(thinking)} is thinking
          <span class="dots" />
        </p>
      )}
      <p class="preview" aria-live="off">
        {pointed !== null && session.choices.includes(pointed) ? (
          <>
            <b>{game.actionName(pointed)}</b>
            {note ? `: ${note}` : ""}
          </>
        ) : (
          "\u00a0"
        )}
      </p>
    </div>
  );
}

/** The sentence about the turn for the person whose turn it is. The question below says what is being decided. */
function yourTurn(told: string): string {
  const [when, rest = ""] = told.split(/: (.*)/s);
  const more = rest.match(/ (The end is in sight.*)$/)?.[1] ?? "";
  return `${when}: your turn. ${more}`.trim();
}

/** What the hint says, in dollars. */
function HintText({ session }: { session: Session }) {
  const { hint, game } = session;
  if (!hint || hint.decisions !== game.decisions) return null;
  const [best, next] = hint.moves.filter((move) => move.visits > 0);
  if (!best) return null;
  const lead = best.margin >= 0 ? "ahead of" : "behind";
  return (
    <p class="hint" role="status">
      Guided search ({hint.simulations} simulations) would play <b>{game.actionName(best.action)}</b>: it expects you to
      end {margin(Math.abs(best.margin)).slice(1)} {lead} the others, with {Math.round(100 * best.share)}% of the win.
      {next && ` ${game.actionName(next.action)}: ${margin(next.margin - best.margin)} beside that.`}
    </p>
  );
}

function Finished({
  session,
  onLeave,
  onReplay,
}: {
  session: Session;
  onLeave: () => void;
  onReplay: (record: string) => void;
}) {
  const { game, look } = session;
  const [winner, ...others] = game.winners().map(session.names);
  return (
    <div class="finished">
      <p class="turn">{others.length > 0 ? "The win is shared." : winner === "You" ? "You win." : `${winner} wins.`}</p>
      <button type="button" class="primary" onClick={() => onReplay(session.record())}>
        Look at the game again
      </button>
      <button type="button" onClick={() => download(`siberia-${look.key}.jsonl`, session.record())}>
        Save its record
      </button>
      <button
        type="button"
        onClick={() => {
          forget(session.id);
          onLeave();
        }}
      >
        New game
      </button>
    </div>
  );
}
