/** Things that move over the table: drawn above the page, from one place to another, and gone. */
import type { Art, Flight } from "../common/look";
import { PAWN, PIECES, PLAYERS } from "./style";

const SVG = "http://www.w3.org/2000/svg";
const LONGEST = 620;
const STAGGER = 90;

/** The place of that name on the page that is seen; the first of the names that is there. */
function place(names: readonly string[]): DOMRect | null {
  for (const name of names) {
    const found = document.querySelector(`[data-spot="${CSS.escape(name)}"]`);
    if (found) {
      const box = found.getBoundingClientRect();
      if (box.width > 0) return box;
    }
  }
  return null;
}

/** Where the things of a step begin; measured before the table is drawn anew. */
export function measured(flights: readonly Flight[]): (DOMRect | null)[] {
  return flights.map((flight) => place(flight.from));
}

/** Let things fly; does nothing where people want no motion. */
export function fly(flights: readonly Flight[], starts: readonly (DOMRect | null)[], pace: number): void {
  if (pace === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  flights.forEach((flight, index) => {
    const from = starts[index] ?? place(flight.from);
    const to = place(flight.to);
    if (!from || !to) return;
    const thing = drawn(flight.art);
    document.body.append(thing);
    const size = thing.getBoundingClientRect();
    const at = (box: DOMRect) =>
      `translate(${box.left + box.width / 2 - size.width / 2}px, ${box.top + box.height / 2 - size.height / 2}px)`;
    const motion = thing.animate(
      [
        { transform: `${at(from)} scale(1)`, opacity: 1 },
        { transform: `${at(to)} scale(1.15)`, opacity: 1, offset: 0.85 },
        { transform: `${at(to)} scale(0.7)`, opacity: 0 },
      ],
      {
        duration: Math.min(LONGEST, Math.max(220, pace)),
        delay: index * Math.min(STAGGER, pace / 6),
        easing: "cubic-bezier(.3,.7,.3,1)",
        fill: "both",
      },
    );
    motion.onfinish = () => thing.remove();
    motion.oncancel = () => thing.remove();
  });
}

const SIZES: Record<Art["kind"], [number, number]> = {
  piece: [34, 34],
  pawn: [24, 36],
  card: [46, 72],
  counter: [46, 31],
  back: [40, 60],
};

/** A small picture of a thing, laid over the page. */
function drawn(art: Art): SVGSVGElement {
  const [wide, high] = SIZES[art.kind];
  const picture = element("svg", { class: "flight", width: wide, height: high, viewBox: `0 0 ${wide} ${high}` });
  if (art.kind === "piece") picture.append(use(`#piece-${art.name}`, 0, 0, wide, high));
  if (art.kind === "pawn") {
    const look = PLAYERS[art.player];
    picture.append(
      element("path", { d: PAWN, fill: look.fill, stroke: "#22303a", transform: "translate(-6 0) scale(1.5)" }),
    );
  }
  if (art.kind === "back") {
    picture.append(element("rect", { width: wide, height: high, rx: 6, fill: "url(#woven)", stroke: "#fff" }));
  }
  if (art.kind === "card" || art.kind === "counter") {
    const parts = art.name.split("/");
    parts.forEach((name, index) => {
      const upright = art.kind === "card";
      const box = upright
        ? { x: 0, y: (index * high) / parts.length, width: wide, height: high / parts.length }
        : { x: (index * wide) / parts.length, y: 0, width: wide / parts.length, height: high };
      const size = Math.min(box.width, box.height) * 0.8;
      picture.append(element("rect", { ...box, fill: PIECES[name].fill }));
      picture.append(
        use(`#piece-${name}`, box.x + (box.width - size) / 2, box.y + (box.height - size) / 2, size, size),
      );
    });
    picture.append(
      element("rect", { x: 0.5, y: 0.5, width: wide - 1, height: high - 1, rx: 5, fill: "none", stroke: "#22303a" }),
    );
  }
  return picture as SVGSVGElement;
}

function use(href: string, x: number, y: number, width: number, height: number): SVGElement {
  return element("use", { href, x, y, width, height });
}

function element(tag: string, attributes: Record<string, string | number>): SVGElement {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  return made;
}
