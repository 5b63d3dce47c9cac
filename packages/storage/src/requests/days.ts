/** UTC days, and the names of the partitions that hold them. */
export const dayMs = 86_400_000;

/** First millisecond of the UTC day. */
export const dayOf = (time: number): number => Math.floor(time / dayMs) * dayMs;

/** The default partition, for rows outside the prepared days: clocks that are wrong by weeks, and rows that are delivered very late. */
export const otherPartition = 'request_stats_other';

/** A day before 1970 has no partition: its number would not be a name. */
export const partitionOf = (day: number): string => `request_stats_d${day / dayMs}`;

/** null when the name is none of ours. */
export function dayOfPartition(name: string): number | null {
  const match = /^request_stats_d(\d{1,6})$/.exec(name);
  return match ? Number(match[1]) * dayMs : null;
}
