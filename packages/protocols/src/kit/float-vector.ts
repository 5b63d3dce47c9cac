/** Vectors of numbers, as JSON numbers or as base64 of little-endian 32-bit floats. */
import { asArray } from './read.ts';

/** Longer than any model's vectors. */
const maxLength = 1_000_000;

export function encodeVector(vector: readonly number[]): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4);
  for (let at = 0; at < vector.length; at++) bytes.writeFloatLE(vector[at] ?? 0, at * 4);
  return bytes.toString('base64');
}

export function decodeVector(text: string): number[] {
  const bytes = Buffer.from(text, 'base64');
  const vector: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) vector.push(bytes.readFloatLE(at));
  return vector;
}

/** A vector in either form. Throws for anything else. */
export function vectorOf(value: unknown): readonly number[] {
  if (typeof value === 'string' && value.length <= maxLength * 6) return decodeVector(value);
  const list = asArray(value);
  if (!list || list.length > maxLength || !list.every((entry) => typeof entry === 'number' && Number.isFinite(entry))) throw new Error('this is not a vector');
  return list as number[];
}

/** The same direction with length 1; a vector of zeros stays. */
export function unitVector(vector: readonly number[]): readonly number[] {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
