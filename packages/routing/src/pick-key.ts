/** The order in which an upstream's keys are tried for one caller (spec, multi-key selection). */
import { fnv1a } from './hash.ts';

export type Weighted = { readonly weight: number };

/** The key whose cumulative weight interval contains the hash of (access key, upstream), by position; -1 when no key has a weight. */
export function pickKey(keys: readonly Weighted[], accessKey: string, upstream: string): number {
  let total = 0;
  for (const { weight } of keys) total += weight;
  if (total === 0) return -1;
  let rest = fnv1a(`${accessKey}\u0000${upstream}`) % total;
  for (let index = 0; index < keys.length; index++) {
    rest -= keys[index]!.weight;
    if (rest < 0) return index;
  }
  return -1;
}

/**
 * Positions in the order to be tried: `first`, then the other weighted keys after it in a circle, then the standbys (weight 0).
 * Keys that are `late` go to the end of their part: still tried before a standby is.
 */
export function orderKeys(keys: readonly Weighted[], first: number, late?: (index: number) => boolean): number[] {
  const weighted: number[] = [];
  const standby: number[] = [];
  const start = Math.max(0, first);
  for (let step = 0; step < keys.length; step++) {
    const index = (start + step) % keys.length;
    if (keys[index]!.weight > 0) weighted.push(index);
  }
  for (let index = 0; index < keys.length; index++) if (keys[index]!.weight === 0) standby.push(index);
  return late ? [...lateLast(weighted, late), ...lateLast(standby, late)] : weighted.concat(standby);
}

const lateLast = (order: readonly number[], late: (index: number) => boolean): number[] => [
  ...order.filter((index) => !late(index)),
  ...order.filter((index) => late(index)),
];
