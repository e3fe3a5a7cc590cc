/**
 * The engine in TypeScript against what Python says, under node: `make web-engine-test`.
 *
 * usage: node web/tests/engine.mjs CASES.json OUT.jsonl, with the cases of `python -m tests.web_cases`. Records of games
 * that were played here are written into the second file, for `siberia replay`.
 */

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rolldown } from "rolldown";

const ROOT = new URL("../../", import.meta.url).pathname;
const [casesFile, outFile] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(casesFile, "utf8"));

// ---------------------------------------------------------------- the engine, built for node

const folder = mkdtempSync(join(tmpdir(), "engine-"));
const entry = join(folder, "entry.ts");
writeFileSync(
  entry,
  `export * from "${ROOT}web/src/engine/index"; export { serve } from "${ROOT}web/src/engine/serve";`,
);
const bundle = await rolldown({
  input: entry,
  platform: "node",
  resolve: { modules: [`${ROOT}web/node_modules`] },
  logLevel: "silent",
});
await bundle.write({ file: join(folder, "engine.mjs"), format: "esm" });
const { openEngine, openThinker, serve, decisionSeed, parseJson, SiberiaError } = await import(
  pathToFileURL(join(folder, "engine.mjs")).href
);
rmSync(folder, { recursive: true });

const read = (file) => new Uint8Array(readFileSync(join(ROOT, file)));
const assetsOf = (game) => ({
  info: JSON.parse(readFileSync(join(ROOT, `experiments/web/static/${game}.json`), "utf8")),
  wasm: read(`experiments/web/static/${game}.wasm`),
  model: async (file) => read(`agents/models/${file}`),
});

/** A worker in this process: messages are copied as between threads. */
function localWorker() {
  const [listeners, own] = [[], []];
  const later = (to, message) => {
    const copy = structuredClone(message);
    queueMicrotask(() => to.forEach((listener) => listener({ data: copy })));
  };
  serve({ postMessage: (message) => later(listeners, message), addEventListener: (_, listener) => own.push(listener) });
  return {
    postMessage: (message) => later(own, message),
    addEventListener: (type, listener) => type === "message" && listeners.push(listener),
    terminate() {},
  };
}

const engines = {};
for (const game of ["card", "board"]) engines[game] = await openEngine(assetsOf(game));
const thinkers = Object.fromEntries(
  Object.entries(engines).map(([game, engine]) => [game, openThinker(engine, localWorker)]),
);

const base64 = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
const refused = (work, part = "") =>
  assert.throws(
    work,
    (error) => error instanceof SiberiaError && error.message.includes(part) && !error.message.includes("\n"),
  );

// ---------------------------------------------------------------- whole games

const counts = { games: 0, states: 0, choices: 0, tables: 0, damaged: 0 };
const written = [];
for (const each of cases.games) {
  const engine = engines[each.game];
  const options = { players: each.players, rules: each.rules, seed: BigInt(each.seed) };
  if (each.components) options.components = each.components;
  const lines = each.record
    .trimEnd()
    .split("\n")
    .map((line) => parseJson(line));
  const game = engine.newGame(options);
  const start = game.clone();
  let at = 0;
  const before = [];
  for (const line of lines) {
    if (!("action" in line)) continue;
    assert.equal(base64(game.stateBytes()), each.states[at], `${each.game} state ${at}`);
    assert.equal(game.currentPlayer(), line.player);
    before.push(game.clone());
    game.apply(game.actionNumber(line.action));
    at++;
    counts.states++;
  }
  assert.equal(base64(game.stateBytes()), each.states[at]);
  assert.ok(game.isOver());
  const record = game.toRecord(lines[0].agents);
  assert.equal(record, each.record, "the record is the one that Python writes");
  written.push(record);
  const middle = before[Math.floor(each.states.length / 2)];
  each.observations.forEach((seen, seat) => assert.equal(base64(middle.observation(seat)), seen));
  assert.equal(base64(middle.sample(0, 99n).stateBytes()), each.sample);

  // read back, also where the seed gives other outcomes
  const replayed = engine.fromRecord(each.record);
  assert.equal(replayed.decisions.length, at);
  assert.equal(base64(replayed.at(at).stateBytes()), each.states[at]);
  assert.equal(base64(replayed.at(3).stateBytes()), each.states[3]);
  const forced = engine.fromRecord(each.forced.record);
  assert.equal(base64(forced.at(0).stateBytes()), each.forced.first);
  assert.equal(base64(forced.at(at).stateBytes()), each.forced.last);
  assert.equal(forced.at(at).toRecord(forced.agents), each.forced.record);

  // saved and taken up again, rewound, undone
  const saved = middle.save();
  const loaded = engine.load(saved);
  assert.equal(base64(loaded.stateBytes()), base64(middle.stateBytes()));
  assert.deepEqual(loaded.lines, middle.lines);
  start.restore(saved);
  assert.equal(base64(start.stateBytes()), base64(middle.stateBytes()));
  assert.equal(base64(game.rewound(5).stateBytes()), each.states[5]);
  assert.equal(base64(engine.load(forced.at(7).save()).stateBytes()), base64(forced.at(7).stateBytes()));
  const other = saved.slice();
  other[Math.floor(other.length / 2)] ^= 1;
  refused(() => engine.load(other));
  refused(() => engine.load(new Uint8Array([1, 2, 3])));
  refused(() => before[0].apply(before[0].legalActions().at(-1) + 1000));

  // agents
  for (const asked of each.choices) {
    const [position, seed] = [before[asked.at], BigInt(asked.seed)];
    assert.equal(decisionSeed(BigInt(each.seed), asked.player, asked.at), seed);
    if (asked.analyse) {
      const found = await thinkers[each.game].analyse(position, asked.player, asked.analyse, seed);
      assert.deepEqual(
        found.map((one) => one.action),
        asked.actions,
      );
      assert.deepEqual(
        found.map((one) => one.visits),
        asked.visits,
      );
      assert.deepEqual(
        found.map((one) => one.margin),
        asked.margins,
      );
      assert.deepEqual(
        found.map((one) => one.share),
        asked.shares,
      );
    } else {
      const action = await thinkers[each.game].choose(position, asked.player, asked.spec, seed);
      assert.equal(action, asked.action, `${each.game} ${each.players} ${asked.spec} at ${asked.at}`);
    }
    counts.choices++;
  }
  counts.games++;
}

// ---------------------------------------------------------------- what is refused

for (const [game, list] of Object.entries(cases.tables))
  for (const each of list) {
    const options = { players: each.players, rules: each.rules, seed: 1n };
    if (each.components !== null) options.components = each.components;
    if (each.ruleset) {
      const made = engines[game].newGame(options);
      assert.equal(base64(made.variant.bytes), each.ruleset, JSON.stringify(each.rules));
    } else refused(() => engines[game].newGame(options));
    counts.tables++;
  }
for (const [game, list] of Object.entries(cases.damaged))
  for (const { record, error } of list) {
    refused(() => engines[game].fromRecord(record), error.split(":")[0]);
    counts.damaged++;
  }
refused(() => engines.card.newGame({ players: 5, seed: 1n }), "2 to 4");
refused(() => engines.card.newGame({ players: 2, seed: 2n ** 64n }), "seed");
refused(() => engines.card.newGame({ players: 2, seed: 1n }).toRecord(["a", "b"]), "not over");

const position = engines.card.newGame({ players: 2, seed: 1n });
for (const spec of [
  "nobody",
  "greedy:1",
  "search:0",
  "search:x",
  "search:5:playout=bad",
  "guided:5:batch=65",
  "guided:5:threads=2",
  "learned:x.npz",
  "level:god",
  "search:",
])
  await assert.rejects(thinkers.card.choose(position, position.currentPlayer(), spec, 1n), SiberiaError, spec);
await assert.rejects(thinkers.card.choose(position, 1 - position.currentPlayer(), "greedy", 1n), /not on turn/);
await assert.rejects(
  openEngine({ ...assetsOf("card"), wasm: read("experiments/web/static/board.wasm") }),
  /damaged or of another version/,
);
const foreign = assetsOf("card");
foreign.info.format = "siberia-web/0";
await assert.rejects(openEngine(foreign), /different versions/);
const broken = await openEngine({ ...assetsOf("card"), model: async () => new Uint8Array(100) });
await assert.rejects(
  openThinker(broken, localWorker).choose(position, position.currentPlayer(), "learned", 1n),
  SiberiaError,
);
const swapped = await openEngine({ ...assetsOf("card"), model: async () => read("agents/models/board_2.npz") });
await assert.rejects(
  openThinker(swapped, localWorker).choose(position, position.currentPlayer(), "learned", 1n),
  /no model for/,
);
const { WebAssembly: there } = globalThis;
try {
  globalThis.WebAssembly = undefined;
  await assert.rejects(openEngine(assetsOf("card")), /WebAssembly/);
  globalThis.WebAssembly = { ...there, validate: () => false };
  await assert.rejects(openEngine(assetsOf("card")), /SIMD/);
} finally {
  globalThis.WebAssembly = there;
}

if (outFile) writeFileSync(outFile, written.join(""));

// ---------------------------------------------------------------- how long a guided answer takes

for (const game of ["card", "board"]) {
  const each = engines[game].newGame({ players: 2, seed: 3n });
  const times = [];
  while (!each.isOver() && times.length < 12) {
    const [player, decision] = [each.currentPlayer(), each.decisions];
    const before = process.cpuUsage();
    const action = await thinkers[game].choose(each, player, "guided:200", decisionSeed(3n, player, decision));
    const used = process.cpuUsage(before);
    if (each.legalActions().length > 1) times.push((used.user + used.system) / 1000);
    each.apply(action);
  }
  times.sort((a, b) => a - b);
  console.log(
    `${game}: guided:200 takes ${times[Math.floor(times.length / 2)].toFixed(1)} ms of processor time (median), ${times.at(-1).toFixed(1)} ms at most`,
  );
}
console.log(
  `as Python says: ${counts.games} games, ${counts.states} states, ${counts.choices} choices, ${counts.tables} tables and options, ${counts.damaged} damaged records`,
);
