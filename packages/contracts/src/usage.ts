/**
 * Token counts of one reply in disjoint buckets: the sum of the four input buckets is what the upstream read,
 * `output + reasoning` is what it wrote. Every protocol converts its own bases to these (wire.md §0).
 */
export interface Usage {
  /** Fresh (uncached) prompt tokens. */
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Visible output, without reasoning where the upstream tells the two apart. */
  output: number;
  reasoning: number;
}

export type UsageSource = 'upstream' | 'partial' | 'estimated';

export const noUsage: Readonly<Usage> = Object.freeze({ input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 });
