/** Opaque ids that cannot be guessed: a prefix and 24 base62 characters (143 bits). */
import { createRandomPool } from './random-pool.ts';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const idLength = 24;
/** The largest multiple of 62 in a byte: values above are thrown away so that all characters are equally likely. */
const fairBelow = 248;

/** `mintId('toolu_')` → `toolu_` and 24 characters. */
export type MintId = (prefix: string) => string;

export function createMinter(): MintId {
  const random = createRandomPool();
  return (prefix) => {
    let id = prefix;
    for (let left = idLength; left > 0; ) {
      const value = random.byte();
      if (value >= fairBelow) continue;
      id += alphabet[value % 62];
      left--;
    }
    return id;
  };
}
