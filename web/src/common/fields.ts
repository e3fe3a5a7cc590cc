/** Reading the fields of a state or ruleset record. */
import type { Fields } from "../engine/types";

/** A field that holds one number. */
export function one(fields: Fields, name: string): number {
  return Number(fields[name]);
}

/** A field that holds a row of numbers. */
export function all(fields: Fields, name: string): ArrayLike<number> {
  return fields[name];
}

/** A row of a field with two axes, as an array of its own. */
export function row(fields: Fields, name: string, index: number): number[] {
  return Array.from(fields[name][index] as ArrayLike<number>);
}

/** One number of a field with two axes. */
export function cell(fields: Fields, name: string, index: number, column: number): number {
  return fields[name][index][column];
}

/** The numbers from 0 to `count` - 1. */
export function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}
