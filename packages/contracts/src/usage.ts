/**
 * Token counts of one reply in disjoint buckets: the four input buckets add up to what the upstream read, and `output + reasoning` to what it wrote.
 * Vendors count differently (some include cached tokens in the input, some reasoning in the output), so every protocol converts its own counts to
 * these.
 */
export interface Usage {
  /** Fresh (uncached) prompt tokens. */
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Visible output, without reasoning where the upstream reports the two separately. */
  output: number;
  reasoning: number;
}

export type UsageSource = 'upstream' | 'partial' | 'estimated';

export const noUsage: Readonly<Usage> = Object.freeze({ input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 });
