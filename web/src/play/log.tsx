/** The log: what the viewer has been told, the latest at the bottom; screen readers hear what is added. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { PLAYERS } from "../look/style";
import type { Session } from "./session";
import { told } from "./tale";

/** Entries that are drawn; older ones are in the record. */
const MOST = 250;

export function Log({ session }: { session: Session }) {
  const box = useRef<HTMLDivElement>(null);
  const { tale, viewer, look, names } = session;
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [tale.length, viewer]);
  return (
    <div class="log" ref={box} role="log" aria-live="polite" aria-label="What has happened" tabIndex={0}>
      {tale.slice(-MOST).map((entry) => {
        const lines = told(look, entry, viewer, names);
        return lines.map((line, index) => (
          <p key={`${entry.count} ${index}`} class={line.startsWith("you") ? "own" : ""}>
            <span class="dot" style={{ background: PLAYERS[entry.player].fill }} />
            {line}
          </p>
        ));
      })}
    </div>
  );
}
