/**
 * Latencies as counts of logarithmic buckets: histograms of any two hours add up to that of both. Each bucket is 2^(1/4) wide, and a quantile
 * is taken between its edges by its rank among those in it: exact for an even spread, at most 19 % off (a whole bucket) for any other.
 */
const perOctave = 4;
/** 2^22 ms is more than an hour. */
export const lastBucket = 22 * perOctave;

/** 0 holds all below one millisecond. */
export const bucketOf = (ms: number): number => (ms < 1 ? 0 : Math.min(lastBucket, 1 + Math.floor(Math.log2(ms) * perOctave)));

/** `share` of the way through the bucket, on the scale of its edges. */
const within = (bucket: number, share: number): number => (bucket === 0 ? 0 : 2 ** ((bucket - 1 + share) / perOctave));

/** Bucket → count. */
export type Histogram = Map<number, number>;

export const addTo = (histogram: Histogram, bucket: number, count: number): void => void histogram.set(bucket, (histogram.get(bucket) ?? 0) + count);

/** As it lies in a column: `bucket:count`, with blanks between; '' for none. */
export function writeCounts(histogram: Histogram): string {
  let text = '';
  for (const [bucket, count] of histogram) if (count !== 0) text += text === '' ? `${bucket}:${count}` : ` ${bucket}:${count}`;
  return text;
}

/** What is not a count is passed over. A long range has hundreds of thousands of pairs: no text is cut out of the text. */
export function readCounts(into: Histogram, text: string): Histogram {
  let bucket = 0;
  let number = 0;
  let digits = 0;
  let sign = 1;
  let named = false;
  let whole = true;
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? blank : text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      number = number * 10 + code - 48;
      digits++;
    } else if (code === minus && digits === 0 && sign === 1) sign = -1;
    else if (code === colon && !named && digits > 0) {
      bucket = sign * number;
      named = true;
      [number, digits, sign] = [0, 0, 1];
    } else if (code === blank) {
      if (named && whole && digits > 0 && Number.isSafeInteger(bucket) && Number.isSafeInteger(number)) addTo(into, bucket, sign * number);
      [number, digits, sign, named, whole] = [0, 0, 1, false, true];
    } else whole = false;
  }
  return into;
}
const [blank, colon, minus] = [32, 58, 45] as const;

/** Both together. */
export const addCounts = (one: string, other: string): string =>
  one === '' ? other : other === '' ? one : writeCounts(readCounts(readCounts(new Map(), one), other));

/** In whole milliseconds; null of nothing. `share` between 0 and 1. */
export function quantile(histogram: Histogram, share: number): number | null {
  let total = 0;
  for (const count of histogram.values()) total += Math.max(0, count);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * share));
  const buckets = [...histogram.keys()].sort((one, other) => one - other);
  for (const bucket of buckets) {
    const count = Math.max(0, histogram.get(bucket) ?? 0);
    // Of one alone the middle of the bucket.
    if (left <= count) return Math.round(within(bucket, (left - 0.5) / count));
    left -= count;
  }
  return null;
}
