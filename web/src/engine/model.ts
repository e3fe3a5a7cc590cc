/** Trained models, read from the very files that Python plays with: arrays of numpy in a zip file. */

import { unzipSync } from "fflate";
import { messageOf, SiberiaError, type Json } from "./types";
import type { Description } from "./kernels";
import { isObject } from "./rooms";

/** A network as kernels take it (siberia_agents/network.py). */
export interface Network {
  readonly numbers: Float32Array;
  readonly widths: readonly number[];
  /** The outputs where the heads begin. */
  readonly heads: { readonly [name: string]: number };
}

interface Numbers {
  readonly shape: readonly number[];
  readonly numbers: Float32Array;
}

function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -14 * (fraction / 1024));
}

/** The header of a `.npy` file, and where its content begins. */
function header(file: Uint8Array): { type: string; shape: number[]; start: number } {
  const data = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file[0] !== 0x93 || String.fromCharCode(...file.slice(1, 6)) !== "NUMPY") throw new Error("no array");
  const long = file[6] > 1;
  const start = (long ? 12 : 10) + (long ? data.getUint32(8, true) : data.getUint16(8, true));
  const text = new TextDecoder("latin1").decode(file.subarray(long ? 12 : 10, start));
  const found = /'descr': '([^']+)', 'fortran_order': False, 'shape': \(([\d, ]*)\)/.exec(text);
  if (!found) throw new Error("an array that is not laid out as expected");
  return {
    type: found[1],
    shape: found[2]
      .split(",")
      .map((each) => each.trim())
      .filter(Boolean)
      .map(Number),
    start,
  };
}

function numbersOf(file: Uint8Array): Numbers {
  const { type, shape, start } = header(file);
  const size = shape.reduce((product, each) => product * each, 1);
  const data = new DataView(file.buffer, file.byteOffset + start, file.byteLength - start);
  const numbers = new Float32Array(size);
  if (type === "<f2") for (let k = 0; k < size; k++) numbers[k] = fromHalf(data.getUint16(2 * k, true));
  else if (type === "<f4") for (let k = 0; k < size; k++) numbers[k] = data.getFloat32(4 * k, true);
  else throw new Error(`numbers of type ${type}`);
  if (!numbers.every(Number.isFinite)) throw new Error("weights that are not finite numbers");
  return { shape, numbers };
}

function textOf(file: Uint8Array): string {
  const { type, start } = header(file);
  if (!/^<U\d+$/.test(type)) throw new Error("a description that is no text");
  const data = new DataView(file.buffer, file.byteOffset + start, file.byteLength - start);
  const letters: string[] = [];
  for (let at = 0; at < data.byteLength; at += 4) letters.push(String.fromCodePoint(data.getUint32(at, true)));
  return letters.join("").replace(/\0+$/, "");
}

const padded = (width: number, block: number): number => Math.ceil(width / block) * block;

/** The numbers of all layers: for each the biases, then for each block of outputs the weights, input by input. */
function flatten(layers: readonly { weight: Numbers; bias: Numbers }[], block: number): Float32Array {
  const sizes = layers.map(({ weight, bias }) => padded(bias.shape[0], block) * (1 + weight.shape[0]));
  const flat = new Float32Array(sizes.reduce((sum, each) => sum + each, 0));
  let start = 0;
  layers.forEach(({ weight, bias }, layer) => {
    const [inputs, outputs] = weight.shape;
    flat.set(bias.numbers, start);
    const weights = start + padded(outputs, block);
    for (let input = 0; input < inputs; input++)
      for (let output = 0; output < outputs; output++) {
        const [which, lane] = [Math.floor(output / block), output % block];
        flat[weights + (which * inputs + input) * block + lane] = weight.numbers[input * outputs + output];
      }
    start += sizes[layer];
  });
  return flat;
}

function readChecked(info: Description, file: string, bytes: Uint8Array, players: number): Network {
  const { search } = info;
  const parts = unzipSync(bytes);
  const about: Json = JSON.parse(textOf(parts["metadata.npy"]));
  if (!isObject(about) || !search.modelFormats.includes(about.format as string))
    throw new SiberiaError(`${file} is a model of another format than this page reads.`);
  if (about.game !== info.game || !(about.num_players as readonly Json[]).includes(players))
    throw new SiberiaError(`${file} is no model for ${players} players of ${info.title}.`);
  if (about.observation !== info.observation.version)
    throw new SiberiaError(`${file} was trained on another version of the observation than this page has.`);
  const layers = Array.from({ length: about.layers as number }, (_, layer) => ({
    weight: numbersOf(parts[`${layer}_weight.npy`]),
    bias: numbersOf(parts[`${layer}_bias.npy`]),
  }));
  const widths = [layers[0].weight.shape[0], ...layers.map(({ weight }) => weight.shape[1])];
  layers.forEach(({ weight, bias }, layer) => {
    if (weight.shape.length !== 2 || weight.shape[0] !== widths[layer] || bias.shape[0] !== widths[layer + 1])
      throw new Error("layers that don't fit together");
  });
  const heads: { [name: string]: number } = {};
  let outputs = 0;
  for (const [name, size] of Object.entries(about.heads as { [name: string]: number })) {
    if (search.heads[name] !== size) throw new Error(`a head ${name} of ${size} numbers`);
    heads[name] = outputs;
    outputs += size;
  }
  if (widths[0] !== info.observation.size || widths.at(-1) !== outputs || heads.policy !== 0)
    throw new Error("a network of another size");
  if (!("shares" in heads && "margins" in heads)) throw new Error("a network that says nothing of shares and margins");
  return { numbers: flatten(layers, search.block), widths, heads };
}

/** The network in a model file. Throws a `SiberiaError` if it is damaged, or not one for these games. */
export function readModel(info: Description, file: string, bytes: Uint8Array, players: number): Network {
  try {
    return readChecked(info, file, bytes, players);
  } catch (error) {
    if (error instanceof SiberiaError) throw error;
    throw new SiberiaError(`${file} is not a model of the suite, or is damaged (${messageOf(error)}).`);
  }
}
