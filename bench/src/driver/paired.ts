/** Several targets in turn inside each repetition (A B C, then C B A), so that ratios are paired against the drift of a shared machine. */
import type { LoadResult, Metric } from './run-load.ts';
import { pause } from './run-load.ts';

/** Results of one case: by target name, one result per repetition. */
export type CaseResults = ReadonlyMap<string, readonly LoadResult[]>;

export interface Figure {
  median: number;
  min: number;
  max: number;
}

const restMs = 150;

export async function runPaired(names: readonly string[], repetitions: number, run: (name: string) => Promise<LoadResult>): Promise<CaseResults> {
  const results = new Map<string, LoadResult[]>(names.map((name) => [name, []]));
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const name of repetition % 2 === 1 ? [...names].reverse() : names) {
      results.get(name)?.push(await run(name));
      await pause(restMs);
    }
  }
  return results;
}

/** Median and range of a metric; null when nothing was measured. */
export function figure(results: readonly LoadResult[] | undefined, metric: Metric): Figure | null {
  return summarize((results ?? []).map((result) => result[metric]));
}

/** Combines a metric of two targets repetition by repetition: the ratio, unless another function is given. */
export function pairedFigure(
  results: CaseResults,
  name: string,
  base: string,
  metric: Metric,
  combine: (value: number, base: number) => number = (value, of) => value / of,
): Figure | null {
  const others = results.get(base) ?? [];
  return summarize((results.get(name) ?? []).flatMap((result, at) => (others[at] === undefined ? [] : [combine(result[metric], others[at][metric])])));
}

export function summarize(values: readonly number[]): Figure | null {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { median, min: sorted[0]!, max: sorted.at(-1)! };
}
