/** The explanation of whatever is pointed at: a bubble beside the thing, and a mode in which a tap explains. */
import { useEffect, useState } from "preact/hooks";
import type { GameLook } from "../common/look";
import type { Game } from "../engine/types";

interface Bubble {
  text: string;
  left: number;
  top: number;
  above: boolean;
}

/** Milliseconds that the pointer rests on a thing before it is explained. */
const PATIENCE = 550;

export function About({
  look,
  game,
  asking,
  onAnswered,
}: {
  look: GameLook;
  game: Game | null;
  asking: boolean;
  onAnswered: () => void;
}) {
  const [bubble, setBubble] = useState<Bubble | null>(null);
  useEffect(() => {
    let waiting = 0;
    const explain = (target: EventTarget | null): boolean => {
      const thing = target instanceof Element ? target.closest("[data-about]") : null;
      const text = thing && look.about(thing.getAttribute("data-about") ?? "", game);
      if (!thing || !text) {
        setBubble(null);
        return false;
      }
      const box = thing.getBoundingClientRect();
      const above = box.top > innerHeight / 2;
      const left = Math.min(Math.max(box.left + box.width / 2, 160), innerWidth - 160);
      setBubble({ text, left, top: above ? box.top - 8 : box.bottom + 8, above });
      return true;
    };
    const onOver = (event: PointerEvent) => {
      clearTimeout(waiting);
      setBubble(null);
      if (event.pointerType === "mouse") waiting = window.setTimeout(() => explain(event.target), PATIENCE);
    };
    const onClick = (event: MouseEvent) => {
      clearTimeout(waiting);
      setBubble(null);
      if (!asking) return;
      event.preventDefault();
      event.stopPropagation();
      if (explain(event.target)) return;
      onAnswered();
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape") {
        setBubble(null);
        if (asking) onAnswered();
      }
    };
    document.addEventListener("pointerover", onOver);
    document.addEventListener("click", onClick, true);
    document.addEventListener("keydown", onKey);
    return () => {
      clearTimeout(waiting);
      document.removeEventListener("pointerover", onOver);
      document.removeEventListener("click", onClick, true);
      document.removeEventListener("keydown", onKey);
    };
  }, [look, game, asking]);
  if (!bubble) return null;
  return (
    <div
      class={`bubble ${bubble.above ? "above" : "below"}`}
      role="tooltip"
      style={{ left: `${bubble.left}px`, top: `${bubble.top}px` }}
    >
      {bubble.text}
    </div>
  );
}
