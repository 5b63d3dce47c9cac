/** Stream ids: a counter and a salt, minted by the opener; together a safe integer that serves as a Map key. */
import { randomFillSync } from 'node:crypto';

/** Identifies a stream between two processes. */
export interface StreamId {
  /** u32. */
  number: number;
  /** 21 random bits, so that a late or forged frame does not fit the next stream. */
  salt: number;
}

const saltBits = 21;
const pool = new Uint32Array(1024);
let used = pool.length;
let counter = randomFillSync(new Uint32Array(1))[0]!;

/** A new id, unguessable enough that late frames of other streams do not match. */
export function mintStreamId(): StreamId {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  counter = (counter + 1) >>> 0;
  return { number: counter, salt: pool[used++]! >>> (32 - saltBits) };
}

export const streamKey = (number: number, salt: number): number => number * 2 ** saltBits + salt;
