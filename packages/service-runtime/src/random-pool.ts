/** Random bytes fetched 4 KiB at a time: one system call per id would cost more than minting the id. */
import { randomFillSync } from 'node:crypto';

const poolBytes = 4096;

/** A source of random bytes. */
export interface RandomPool {
  /** The next random byte, 0 to 255. */
  byte(): number;
}

export function createRandomPool(): RandomPool {
  const pool = new Uint8Array(poolBytes);
  let at = poolBytes;
  return {
    byte() {
      if (at === poolBytes) {
        randomFillSync(pool);
        at = 0;
      }
      const value = pool[at] as number;
      // A byte given out is not kept, so that a heap dump does not tell ids of the past.
      pool[at++] = 0;
      return value;
    },
  };
}
