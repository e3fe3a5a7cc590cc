/** What differs between the games (`Room`), and what the rooms of both share. */

import { SiberiaError, type Fields, type Json, type Line, type Rules } from "./types";
import type { Description } from "./kernels";
import { quoted } from "./json";

export type Tables = { readonly [table: string]: any };

/** A game with everything settled that is settled before the deal. */
export interface Variant {
  readonly info: Description;
  readonly room: Room;
  readonly players: number;
  readonly rules: Rules;
  readonly components: Tables;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly ruleset: Fields;
}

/** A line of a record with its number. */
export type Numbered = readonly [number, Line];

/** What a game's file offers; docs/records.md has the form of the lines. */
export interface Room {
  /** The tables of a component file or a record's header, checked; with `wholeBox` they have the totals of the box. */
  readComponents(info: Description, tables: Json, wholeBox: boolean): Tables;
  /** Throw unless so many can play with the tables. */
  checkPlayable(info: Description, tables: Tables, players: number): void;
  /** Every option in force, checked. */
  checkRules(info: Description, rules: { readonly [option: string]: Json }, tables: Tables): Rules;
  /** Write rules and tables into the ruleset of the box. */
  fillRuleset(info: Description, bytes: Uint8Array, players: number, rules: Rules, tables: Tables): void;
  /** Every action's name; in `state`, if it is given. */
  actionNames(info: Description, tables: Tables, state: Fields | null): readonly string[];
  /** Lines before a chance outcome is settled. */
  dueEvents(variant: Variant, state: Fields): Line[];
  /** Lines for what happened between two states: an action, or a chance outcome. */
  events(variant: Variant, before: Fields, after: Fields): Line[];
  /** Throw unless a chance line has the right form. */
  checkEvent(variant: Variant, line: Line): void;
  /** The outcome due, as the lines from here on show it. */
  outcome(variant: Variant, state: Fields, lines: readonly Numbered[]): number[];
}

export function refuse(message: string): never {
  throw new SiberiaError(message);
}

/** The constants of a game's modules by name; see `GameInfo.constants`. */
export const constantsOf = (info: Description) => info.constants as { readonly [name: string]: any };

/** Whether a text could be printed on one line: it has no control signs, and no spaces but ordinary ones. */
export const isPrintable = (text: string): boolean => !/[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u.test(text);

// ---------------------------------------------------------------- tables and options

export function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function checkWhole(value: Json | undefined, path: string, low: number, high: number): number {
  if (typeof value === "number" && Number.isInteger(value) && low <= value && value <= high) return value;
  return refuse(`${path}: ${shown(value)} is not a whole number from ${low} to ${high}`);
}

export function shown(value: Json | undefined): string {
  return value === undefined ? "nothing" : quoted(value);
}

/** `tables`, if it is an object with no other keys than `names`. */
export function checkTables(tables: Json, names: readonly string[]): { readonly [table: string]: Json } {
  if (!isObject(tables))
    return refuse(`components: expected an object with the keys ${names.join(", ")}; got ${shown(tables)}`);
  for (const name of Object.keys(tables))
    if (!names.includes(name)) refuse(`${name}: no such table; the tables are ${names.join(", ")}`);
  return tables;
}

/** A table, if it is an object with exactly the `keys`. */
export function checkTable(
  table: Json | undefined,
  name: string,
  keys: readonly string[],
): { readonly [key: string]: Json } {
  if (!isObject(table))
    return refuse(`${name}: expected an object with the keys ${keys.join(", ")}; got ${shown(table)}`);
  for (const key of Object.keys(table))
    if (!keys.includes(key)) refuse(`${name}.${key}: no such entry; the entries are ${keys.join(", ")}`);
  for (const key of keys) if (!(key in table)) refuse(`${name}.${key}: missing`);
  return table;
}

/** A table of a number from `low` to `high` for each of `keys`, in their order. */
export function checkNumbers(
  table: Json | undefined,
  name: string,
  keys: readonly string[],
  low: number,
  high: number,
): { [key: string]: number } {
  const found = checkTable(table, name, keys);
  return Object.fromEntries(keys.map((key) => [key, checkWhole(found[key], `${name}.${key}`, low, high)]));
}

/** The sum of the numbers in a table. */
export const total = (table: { readonly [key: string]: number }): number => sum(Object.values(table));

export const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);

/** The options in force: those given, and the defaults for the rest. */
export function withDefaults(
  info: Description,
  rules: { readonly [option: string]: Json },
): { [option: string]: Json } {
  if (!isObject(rules)) return refuse(`rules: expected an object of options; got ${shown(rules)}`);
  for (const name of Object.keys(rules))
    if (!(name in info.options))
      refuse(`rules: no option '${name}'; the options are ${Object.keys(info.options).join(", ")}`);
  return Object.fromEntries(
    Object.entries(info.options).map(([name, option]) => {
      const value = name in rules ? rules[name] : option.default;
      if (option.range) checkWhole(value, `rules: ${name}`, option.range[0], option.range[1]);
      else if (!option.values!.includes(value) && !(Array.isArray(value) && option.values!.includes(null)))
        refuse(
          `rules: ${name}: ${shown(value)} is not one of ${option
            .values!.filter((each) => each !== null)
            .map((each) => quoted(each))
            .join(", ")}`,
        );
      return [name, value];
    }),
  );
}

// ---------------------------------------------------------------- lines of records

/** A game's chance lines by name: their keys besides `event`, and what checks the values. */
export type Events = {
  readonly [event: string]: { readonly keys: readonly string[]; check(variant: Variant, line: Line): void };
};

/** Throw unless a chance line is one of `events` and has its form. */
export function checkEventOf(events: Events, variant: Variant, line: Line): void {
  const name = line.event;
  if (typeof name !== "string" || !Object.hasOwn(events, name))
    return refuse(`no event ${shown(name)}; the events are ${Object.keys(events).join(", ")}`);
  checkKeys(line, ["event", ...events[name].keys], name);
  events[name].check(variant, line);
}

export function checkKeys(line: Line, keys: readonly string[], what: string): void {
  const found = Object.keys(line);
  if (found.length !== keys.length || !keys.every((key) => key in line))
    refuse(`${what}: expected the keys ${keys.join(", ")}; got ${found.join(", ") || "none"}`);
}

export function checkList(
  value: Json | undefined,
  path: string,
  low: number,
  high: number,
  what: string,
): readonly Json[] {
  if (Array.isArray(value) && low <= value.length && value.length <= high) return value;
  return refuse(`${path}: expected a list of ${low === high ? low : `${low} to ${high}`} ${what}; got ${shown(value)}`);
}

/** What can still come out by chance, from which the lines of a record take what they show, by name. */
export class Pile {
  private readonly left = new Map<string, number[]>();
  private readonly counts = new Map<string, number>();

  constructor(
    private readonly what: string,
    numbers: Iterable<number>,
    nameOf: (number: number) => string,
  ) {
    for (const number of [...numbers].sort((a, b) => a - b)) {
      const name = nameOf(number);
      this.left.set(name, [...(this.left.get(name) ?? []), number]);
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
  }

  /** The lowest number of that name that is left. */
  take(name: string, line: number): number {
    const found = this.left.get(name)?.shift();
    if (found === undefined)
      refuse(`line ${line}: one ${name} too many; of the ${this.what} ${this.counts.get(name) ?? 0} are ${name}`);
    return found!;
  }

  /** The numbers that nothing has shown, in ascending order. */
  rest(): number[] {
    return [...this.left.values()].flat().sort((a, b) => a - b);
  }
}

/** Each index as often as `counts` says. */
export function repeated(counts: Iterable<number>): number[] {
  return [...counts].flatMap((count, index) => new Array<number>(count).fill(index));
}
