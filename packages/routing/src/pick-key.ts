/** The order in which an upstream's keys are tried for one caller (spec, multi-key selection). */

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;
const encoder = new TextEncoder();

/** FNV-1a, 32 bits, over the UTF-8 bytes. */
export function fnv1a(text: string): number {
  let hash = offsetBasis;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, prime) >>> 0;
  return hash >>> 0;
}

/**
 * Positions of the keys in the order to be tried: first the one in whose cumulative weight interval the hash of (access key, upstream) lands,
 * then the other weighted ones in their order, then the standbys (weight 0). [] when there are no keys.
 */
export function orderKeys(weights: readonly number[], accessKey: string, upstream: string): number[] {
  const weighted = weights.flatMap((weight, index) => (weight > 0 ? [index] : []));
  const standby = weights.flatMap((weight, index) => (weight > 0 ? [] : [index]));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  if (total === 0) return standby;
  let rest = fnv1a(`${accessKey}\u0000${upstream}`) % total;
  const first = weighted.find((index) => {
    rest -= weights[index]!;
    return rest < 0;
  })!;
  return [first, ...weighted.filter((index) => index !== first), ...standby];
}
