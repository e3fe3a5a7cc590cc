/** Digests and the seeds that follow from them, as `siberia_env.seeds` derives them. */

import { blake2b } from "@noble/hashes/blake2.js";

/** The SHA-256 of some bytes, in hexadecimal digits. */
export async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function eightBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

/** The BLAKE2b of `message` under a key of 64 bits, as a number of 64 bits. */
export function keyedHash(key: bigint, message: Uint8Array): bigint {
  const found = blake2b(message, { dkLen: 8, key: eightBytes(BigInt.asUintN(64, key)) });
  return new DataView(found.buffer, found.byteOffset).getBigUint64(0, true);
}

/** See `siberia_env.seeds.derived_seed`. */
export function derivedSeed(seed: bigint, stream: number, number: number): bigint {
  return keyedHash(seed, Uint8Array.from([...eightBytes(BigInt(stream)), ...eightBytes(BigInt(number))]));
}

/** The streams of seeds of hints and of agents, by seat from the latter on; `checkModule` compares them with Python's. */
export const HINT_STREAM = 2;
export const AGENT_STREAM = 3;
