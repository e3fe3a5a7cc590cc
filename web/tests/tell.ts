/**
 * What the page shows and tells of records, for a comparison with Python: `tests/in_browser.py` runs this under node.
 *
 * Reads a JSON file `{ "static": folder, "records": [text, ...] }` and prints, for each record, for each position, what
 * each seat and an onlooker see, and for each decision what it brought and what each seat is told.
 */
import { readFileSync } from "node:fs";
import { takeStep } from "../src/common/step";
import { seatName } from "../src/common/text";
import { openEngine } from "../src/engine/index";
import type { GameInfo } from "../src/engine/types";
import { LOOKS } from "../src/looks";

const asked = JSON.parse(readFileSync(process.argv[2], "utf-8")) as { static: string; records: string[] };

const told: unknown[] = [];
for (const text of asked.records) {
  const game = JSON.parse(text.split("\n", 1)[0]).game as "card" | "board";
  const file = (ending: string) => readFileSync(`${asked.static}/${game}.${ending}`);
  const engine = await openEngine({
    info: JSON.parse(file("json").toString("utf-8")) as GameInfo,
    wasm: new Uint8Array(file("wasm")),
    model: () => Promise.reject(new Error("no agent thinks here")),
  });
  const look = LOOKS[game];
  const replayed = engine.fromRecord(text);
  const viewers = [null, ...Array.from({ length: replayed.players }, (_, seat) => seat)];
  const positions = Array.from({ length: replayed.decisions.length + 1 }, (_, index) => replayed.at(index));
  told.push({
    shown: positions.map((position) => viewers.map((viewer) => look.shown(position, viewer, seatName))),
    decisions: replayed.decisions.map(({ action, name, events }, index) => ({
      name,
      remark: look.remark(takeStep(replayed.at(index), action)),
      described: events.flatMap((line) => look.describe(line)),
      told: viewers.slice(1).map((seat) => events.flatMap((line) => look.toldTo(seat as number, line))),
    })),
    sources: look.sources(positions[positions.length - 1]),
    scores: positions[positions.length - 1].scores(),
  });
}
process.stdout.write(JSON.stringify(told));
