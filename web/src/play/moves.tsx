/** The list of legal moves: each with its pieces, what it is certain to bring, and what a hint says of it. */
import { useEffect, useState } from "preact/hooks";
import type { Session } from "./session";

interface Props {
  session: Session;
  pointed: number | null;
  onPoint: (action: number | null) => void;
}

export function Moves({ session, pointed, onPoint }: Props) {
  const choices = session.choices;
  const notes = useNotes(session, choices);
  if (!choices.length) return null;
  const groups = new Map<string, number[]>();
  for (const action of choices) {
    const group = session.look.group(session.game, action);
    groups.set(group, [...(groups.get(group) ?? []), action]);
  }
  const total = session.hint?.moves.reduce((sum, move) => sum + move.visits, 0) ?? 0;
  return (
    <div class="moves" role="group" aria-label="Your moves" onKeyDown={walk}>
      {[...groups].map(([group, actions]) => (
        <div key={group} class="move-group">
          <h3>{group}</h3>
          {actions.map((action) => {
            const hint = session.hint?.moves.find((move) => move.action === action);
            const share = hint && total ? hint.visits / total : 0;
            return (
              <button
                key={action}
                type="button"
                class={`move ${pointed === action ? "pointed" : ""}`}
                data-move={action}
                onClick={() => session.choose(action)}
                onPointerEnter={() => onPoint(action)}
                onPointerLeave={() => onPoint(null)}
                onFocus={() => onPoint(action)}
                onBlur={() => onPoint(null)}
              >
                {hint && <span class="visits" style={{ width: `${100 * share}%` }} />}
                <span class="move-pieces" aria-hidden="true">
                  {session.look.pieces(session.game, action).map((name) => (
                    <svg key={name} width="22" height="22" viewBox="0 0 24 24">
                      <use href={`#piece-${name}`} width="24" height="24" />
                    </svg>
                  ))}
                </span>
                <span class="move-name">{session.game.actionName(action)}</span>
                {notes.get(action) && <span class="move-note">{notes.get(action)}</span>}
                {hint && hint.visits > 0 && <span class="move-hint">{margin(hint.margin)}</span>}
              </button>
            );
          })}
        </div>
      ))}
    </div>
  );
}

/** A margin in dollars, with its sign. */
export function margin(thousands: number): string {
  const dollars = Math.round(thousands * 10) * 100;
  return `${dollars < 0 ? "−" : "+"}$${Math.abs(dollars)}`;
}

/** What each move is certain to bring, found move by move so that the page stays quick. */
function useNotes(session: Session, choices: readonly number[]): ReadonlyMap<number, string> {
  const [notes, setNotes] = useState<ReadonlyMap<number, string>>(new Map());
  const decision = choices.length ? session.game.decisions : -1;
  useEffect(() => {
    if (decision < 0) return;
    const found = new Map<number, string>();
    let waiting = 0;
    const next = (index: number) => {
      if (session.game.decisions !== decision) return;
      const until = performance.now() + 12;
      let at = index;
      for (; at < choices.length && performance.now() < until; at += 1)
        found.set(choices[at], session.noteOf(choices[at]));
      if (at < choices.length) waiting = window.setTimeout(() => next(at), 0);
      else {
        const told = new Set(found.values());
        setNotes(told.size === 1 && found.size > 1 ? new Map() : found);
      }
    };
    waiting = window.setTimeout(() => next(0), 0);
    return () => {
      clearTimeout(waiting);
      setNotes(new Map());
    };
  }, [decision, session, session.viewer, session.game]);
  return notes;
}

/** Arrow keys walk through the moves. */
function walk(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const list = event.currentTarget as HTMLElement;
  const buttons = [...list.querySelectorAll<HTMLButtonElement>("button.move")];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
  event.preventDefault();
}
