/** Stream ids: random, minted by the opener; both parts together are a safe integer that serves as a Map key. */
import { randomFillSync } from 'node:crypto';

/**
 * Identifies a stream between two processes, and is all that a frame needs to belong to it. So nothing of it may follow from other streams of the same
 * process: who serves one of them may write to that process, and would find the few bits that are left of another by trying.
 */
export interface StreamId {
  /** 32 random bits. */
  number: number;
  /** 21 more: all that a safe integer holds. */
  salt: number;
}

const saltBits = 21;
const pool = new Uint32Array(1024);
let used = pool.length;

/** A new id, which nobody guesses, and late frames of other streams do not match. */
export function mintStreamId(): StreamId {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  return { number: pool[used++]!, salt: pool[used++]! >>> (32 - saltBits) };
}

export const streamKey = (number: number, salt: number): number => number * 2 ** saltBits + salt;
