/** Delays between tries: doubling, capped, with jitter so that many waiters do not come back at once. */

/** Milliseconds before try number `tries` (1 is the first repetition): between half and the whole of the doubled step. */
export function backOffMs(tries: number, firstMs = 200, capMs = 10_000): number {
  const full = Math.min(capMs, firstMs * 2 ** Math.min(20, tries - 1));
  return full / 2 + (Math.random() * full) / 2;
}
