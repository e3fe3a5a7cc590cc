/** The fields of a record, read where they lie in its bytes. */

import type { FieldInfo, Fields, RecordInfo } from "./types";

const ROWS = { i1: Int8Array, i2: Int16Array, i4: Int32Array } as const;

function rows(field: FieldInfo, buffer: ArrayBuffer, start: number, axis: number): unknown {
  const make = ROWS[field.type as keyof typeof ROWS];
  const length = field.shape[axis];
  if (axis === field.shape.length - 1) return new make(buffer, start, length);
  const bytes = field.shape.slice(axis + 1).reduce((size, each) => size * each, make.BYTES_PER_ELEMENT);
  return Array.from({ length }, (_, index) => rows(field, buffer, start + index * bytes, axis + 1));
}

/** The fields of the record that lies at the start of `bytes`. */
export function fieldsOf(layout: RecordInfo, bytes: Uint8Array<ArrayBuffer>): Fields {
  const found: { [name: string]: unknown } = {};
  const data = new DataView(bytes.buffer, bytes.byteOffset);
  const readers: { [type: string]: (offset: number) => number | bigint } = {
    i1: (offset) => data.getInt8(offset),
    i2: (offset) => data.getInt16(offset, true),
    i4: (offset) => data.getInt32(offset, true),
    u8: (offset) => data.getBigUint64(offset, true),
  };
  for (const [name, field] of Object.entries(layout.fields)) {
    if (field.shape.length) found[name] = rows(field, bytes.buffer, bytes.byteOffset + field.offset, 0);
    else Object.defineProperty(found, name, { enumerable: true, get: () => readers[field.type](field.offset) });
  }
  return found as Fields;
}

/** Set a number of a record that lies in `bytes`; `index` counts through the field in order. */
export function setField(layout: RecordInfo, bytes: Uint8Array, name: string, value: number, index = 0): void {
  const field = layout.fields[name];
  const size = Number(field.type[1]);
  const data = new DataView(bytes.buffer, bytes.byteOffset + field.offset + index * size);
  if (size === 1) data.setInt8(0, value);
  else if (size === 2) data.setInt16(0, value, true);
  else data.setInt32(0, value, true);
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
