/** JSON as records have it: whole numbers of any size, no key twice, and written as Python writes it. */

import type { Json } from "./types";

/** What is wrong with a text that is no JSON; the caller says where it stands. */
export class JsonError extends Error {}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  whole(): Json {
    const value = this.value(0);
    this.space();
    if (this.at < this.text.length) this.fail("something stands behind the value");
    return value;
  }

  private fail(why: string): never {
    throw new JsonError(`not JSON: ${why}, at character ${this.at + 1}`);
  }

  private space(): void {
    while (" \t\n\r".includes(this.text[this.at] ?? "x")) this.at++;
  }

  private value(depth: number): Json {
    if (depth > 100) this.fail("nested too deep");
    this.space();
    const next = this.text[this.at];
    if (next === "{") return this.object(depth);
    if (next === "[") return this.list(depth);
    if (next === '"') return this.string();
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ] as const)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    return this.number();
  }

  private object(depth: number): Json {
    const found: { [key: string]: Json } = Object.create(null);
    this.at++;
    this.space();
    if (this.text[this.at] === "}") return (this.at++, found);
    for (;;) {
      this.space();
      if (this.text[this.at] !== '"') this.fail("expected a key in quotes");
      const key = this.string();
      if (key in found) this.fail(`the key ${JSON.stringify(key)} stands twice in one object`);
      this.space();
      if (this.text[this.at++] !== ":") (this.at--, this.fail("expected a colon"));
      found[key] = this.value(depth + 1);
      this.space();
      const next = this.text[this.at++];
      if (next === "}") return found;
      if (next !== ",") (this.at--, this.fail("expected a comma or a closing brace"));
    }
  }

  private list(depth: number): Json {
    const found: Json[] = [];
    this.at++;
    this.space();
    if (this.text[this.at] === "]") return (this.at++, found);
    for (;;) {
      found.push(this.value(depth + 1));
      this.space();
      const next = this.text[this.at++];
      if (next === "]") return found;
      if (next !== ",") (this.at--, this.fail("expected a comma or a closing bracket"));
    }
  }

  private string(): string {
    const match = /"(?:[^"\\\u0000-\u001f]|\\.)*"/y;
    match.lastIndex = this.at;
    const found = match.exec(this.text);
    try {
      if (!found) throw new SyntaxError();
      const value = JSON.parse(found[0]) as string;
      this.at = match.lastIndex;
      return value;
    } catch {
      return this.fail("a damaged string");
    }
  }

  private number(): Json {
    const match = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
    match.lastIndex = this.at;
    const found = match.exec(this.text);
    if (!found) this.fail("expected a value");
    if (found![1] || found![2]) this.fail(`${found![0]} is no whole number`);
    this.at = match.lastIndex;
    const value = Number(found![0]);
    return Number.isSafeInteger(value) ? value : BigInt(found![0]);
  }
}

/** The value of a JSON text. Throws a `JsonError`. */
export function parseJson(text: string): Json {
  return new Reader(text).whole();
}

/** A value as Python's `json.dumps(value, ensure_ascii=False)` writes it. */
export function writeJson(value: Json): string {
  if (typeof value === "bigint") return value.toString();
  if (Array.isArray(value)) return `[${value.map(writeJson).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value as { [key: string]: Json });
    return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}: ${writeJson(entry)}`).join(", ")}}`;
  }
  return JSON.stringify(value);
}

/** Whether two values are the same; the order of keys does not count. */
export function same(left: Json, right: Json): boolean {
  if (left === right) return true;
  if (left === null || right === null || typeof left !== "object" || typeof right !== "object") return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const [mine, other] = [left as { [key: string]: Json }, right as { [key: string]: Json }];
  const keys = Object.keys(mine);
  return keys.length === Object.keys(other).length && keys.every((key) => key in other && same(mine[key], other[key]));
}

const MOST_QUOTED = 100;

/** A value for an error message, cut short. */
export function quoted(value: Json): string {
  const text = writeJson(value);
  return text.length <= MOST_QUOTED ? text : text.slice(0, MOST_QUOTED - 3) + "...";
}
