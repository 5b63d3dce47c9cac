/** The targets T1 to T19: what is compared, what must hold, and what would be better still. */
import type { CaseId } from './cases.ts';
import { type CaseResults, type Figure, pairedFigure, summarize } from './driver/paired.ts';
import type { LoadResult, Metric } from './driver/run-load.ts';
import { hasFourCores } from './spawn.ts';
import type { TargetName } from './targets/target.ts';

export interface Measured {
  results: ReadonlyMap<CaseId, CaseResults>;
  /** Longest event-loop stalls in ms, one per repetition, by target. */
  stalls: ReadonlyMap<TargetName, readonly number[]>;
}

export interface Verdict {
  target: string;
  what: string;
  cases: readonly CaseId[];
  bound: 'at most' | 'at least';
  must: number;
  stretch: number;
  unit: '×' | 'ms';
  measure(measured: Measured): Figure | null;
}

type Measure = Verdict['measure'];

/** A metric of one target over another's, repetition by repetition. */
const ratio =
  (id: CaseId, name: TargetName, base: TargetName, metric: Metric): Measure =>
  ({ results }) =>
    paired(results.get(id), name, base, metric);

const difference =
  (id: CaseId, name: TargetName, base: TargetName, metric: Metric): Measure =>
  ({ results }) =>
    paired(results.get(id), name, base, metric, (value, of) => value - of);

/** What a target adds to the direct call's median, over what another adds. */
const addedRatio =
  (id: CaseId, name: TargetName, base: TargetName): Measure =>
  ({ results }) => {
    const found = results.get(id);
    if (!found) return null;
    const added = (of: TargetName): number[] => (found.get(of) ?? []).map((result, at) => result.p50 - (found.get('direct')?.[at]?.p50 ?? Number.NaN));
    const others = added(base);
    return summarize(added(name).map((value, at) => value / (others[at] ?? Number.NaN)));
  };

/** What a second worker changes, over what a second process changes for raw. `counts`: whether a repetition does. */
const secondProcess =
  (metric: Metric, counts: (result: LoadResult) => boolean = () => true): Measure =>
  ({ results }) => {
    const found = results.get('workers-c64');
    if (!found) return null;
    const change = (two: TargetName, one: TargetName): number[] =>
      (found.get(two) ?? []).map((result, at) => {
        const single = found.get(one)?.[at];
        return single && counts(result) && counts(single) ? result[metric] / single[metric] : Number.NaN;
      });
    const raw = change('raw-two', 'raw-one');
    return summarize(change('workers-two', 'workers-one').map((value, at) => value / (raw[at] ?? Number.NaN)));
  };

/** Of a repetition in which mock or driver was the limit, requests per second say nothing of the server. */
const serverIsLimit = ({ driverBusy, mockCores }: LoadResult): boolean => driverBusy < 0.9 && mockCores < 0.9;

function paired(results: CaseResults | undefined, ...rest: [string, string, Metric, ((value: number, base: number) => number)?]): Figure | null {
  return results === undefined ? null : pairedFigure(results, ...rest);
}

const row = (
  target: string,
  what: string,
  cases: CaseId | readonly CaseId[],
  [bound, must, stretch, unit = '×']: ['at most' | 'at least', number, number, ('×' | 'ms')?],
  measure: Measure,
): Verdict => ({ target, what, cases: typeof cases === 'string' ? [cases] : cases, bound, must, stretch, unit, measure });

export const verdicts: readonly Verdict[] = [
  row('T1', 'embedded, same protocol, C=16: CPU / raw', 'same-c16', ['at most', 2.1, 1.7], ratio('same-c16', 'embedded', 'raw', 'cpu')),
  row('T1', 'the same, C=64', 'same-c64', ['at most', 2.1, 1.7], ratio('same-c64', 'embedded', 'raw', 'cpu')),
  row('T2', 'the same, C=16: rps / Portkey', 'same-c16', ['at least', 5, 6.5], ratio('same-c16', 'embedded', 'portkey', 'rps')),
  row('T2', 'the same, C=64: rps / Portkey', 'same-c64', ['at least', 5, 6.5], ratio('same-c64', 'embedded', 'portkey', 'rps')),
  row('T3', 'OpenAI → Anthropic: CPU / raw', 'openai-to-anthropic-c16', ['at most', 2.5, 2], ratio('openai-to-anthropic-c16', 'embedded', 'raw', 'cpu')),
  row(
    'T3',
    'OpenAI → Anthropic: rps / Portkey',
    'openai-to-anthropic-c16',
    ['at least', 4.5, 6],
    ratio('openai-to-anthropic-c16', 'embedded', 'portkey', 'rps'),
  ),
  row('T3', 'Anthropic → OpenAI: rps / llms', 'anthropic-to-openai-c16', ['at least', 4, 4.7], ratio('anthropic-to-openai-c16', 'embedded', 'llms', 'rps')),
  row('T4', 'added p50 at C=1, / raw’s', 'same-c1', ['at most', 1.7, 1.4], addedRatio('same-c1', 'embedded', 'raw')),
  row('T4', 'added p50 at C=1, / Portkey’s', 'same-c1', ['at most', 0.5, 0.4], addedRatio('same-c1', 'embedded', 'portkey')),
  row('T5', 'p99 at C=64 / raw', 'same-c64', ['at most', 1.8, 1.4], ratio('same-c64', 'embedded', 'raw', 'p99')),
  row('T5', 'p99 at C=64 / Portkey', 'same-c64', ['at most', 0.2, 0.15], ratio('same-c64', 'embedded', 'portkey', 'p99')),
  row('T6', 'paced stream C=64, same protocol: CPU / raw', 'stream-c64', ['at most', 1.3, 1.1], ratio('stream-c64', 'embedded', 'raw', 'cpu')),
  row(
    'T6',
    'paced stream C=64, translated: CPU / raw',
    'stream-translated-c64',
    ['at most', 1.4, 1.2],
    ratio('stream-translated-c64', 'embedded', 'raw', 'cpu'),
  ),
  row('T7', 'paced stream C=64: gap p99 / Portkey', 'stream-c64', ['at most', 0.5, 0.4], ratio('stream-c64', 'embedded', 'portkey', 'gap99')),
  row('T7', 'paced stream C=64: first word p50 over raw', 'stream-c64', ['at most', 2, 1, 'ms'], difference('stream-c64', 'embedded', 'raw', 'content50')),
  row('T8', '200 KB, same protocol: CPU / raw', 'same-200k', ['at most', 1.2, 0.95], ratio('same-200k', 'embedded', 'raw', 'cpu')),
  row('T9', '2 MB, same protocol: longest stall', 'stall-2m', ['at most', 16, 10, 'ms'], ({ stalls }) => summarize(stalls.get('embedded-probed') ?? [])),
  row('T10', 'on NATS, C=16: CPU / floor on NATS', 'same-c16', ['at most', 1.35, 1.15], ratio('same-c16', 'split', 'dist', 'cpu')),
  row('T10', 'on NATS: added p50 at C=1 over embedded', 'same-c1', ['at most', 0.6, 0.4, 'ms'], difference('same-c1', 'split', 'embedded', 'p50')),
  row('T11', 'on NATS, one core: rps / Portkey', 'same-c16', ['at least', 2.2, 2.8], ratio('same-c16', 'split', 'portkey', 'rps')),
  row('T12', 'RSS at C=64: / Portkey', 'same-c64', ['at most', 0.75, 0.55], ratio('same-c64', 'embedded', 'portkey', 'rssMib')),
  row(
    'T13',
    'edge, router and translator in one process, C=16: CPU / embedded',
    'same-c16',
    ['at most', 1.15, 1.08],
    ratio('same-c16', 'data-plane', 'embedded', 'cpu'),
  ),
  ...(hasFourCores
    ? [row('T14', 'two workers on two cores, C=64: gain of rps over one / raw’s', 'workers-c64', ['at least', 0.9, 0.97], secondProcess('rps', serverIsLimit))]
    : []),
  row(
    'T14',
    `two workers, C=64: CPU over one / raw’s${hasFourCores ? '' : ' (all on one core: the gain of rps needs four, two of them for mock and driver)'}`,
    'workers-c64',
    ['at most', 1.11, 1.03],
    secondProcess('cpu'),
  ),
  row('T15', 'same protocol, C=16: CPU / TensorZero', 'same-c16', ['at most', 0.9, 0.75], ratio('same-c16', 'embedded', 'tensorzero', 'cpu')),
  row(
    'T15',
    'OpenAI → Anthropic: CPU / TensorZero',
    'openai-to-anthropic-c16',
    ['at most', 0.95, 0.75],
    ratio('openai-to-anthropic-c16', 'embedded', 'tensorzero', 'cpu'),
  ),
  row('T15', 'paced stream C=64: CPU / TensorZero', 'stream-c64', ['at most', 0.9, 0.75], ratio('stream-c64', 'embedded', 'tensorzero', 'cpu')),
  row(
    'T15',
    'paced stream C=64, translated: CPU / TensorZero',
    'stream-translated-c64',
    ['at most', 0.95, 0.75],
    ratio('stream-translated-c64', 'embedded', 'tensorzero', 'cpu'),
  ),
  row('T16', '20,000 keys and 2,000 models, C=16: CPU / 10 of each', 'growth-c16', ['at most', 1.05, 1.02], ratio('growth-c16', 'many-keys', 'few', 'cpu')),
  row('T16', 'the same, all of them in turn', 'growth-in-turn-c16', ['at most', 1.05, 1.02], ratio('growth-in-turn-c16', 'many-keys', 'few', 'cpu')),
  row('T16', '2,000 quiet streams beside, C=16: CPU / one', 'growth-c16', ['at most', 1.05, 1.02], ratio('growth-c16', 'many-streams', 'few', 'cpu')),
  row('T17', 'a stored turn of 4 KB, C=16: CPU / unstored', 'turn-c16', ['at most', 1.25, 1.1], ratio('turn-c16', 'embedded-stored', 'embedded', 'cpu')),
  row('T17', 'the same, another upstream', 'turn-translated-c16', ['at most', 1.25, 1.1], ratio('turn-translated-c16', 'embedded-stored', 'embedded', 'cpu')),
  row('T17', 'the same, stream C=64', 'turn-stream-c64', ['at most', 1.25, 1.1], ratio('turn-stream-c64', 'embedded-stored', 'embedded', 'cpu')),
  row('T17', 'the same on NATS, C=16', 'turn-c16', ['at most', 1.25, 1.1], ratio('turn-c16', 'split-stored', 'split', 'cpu')),
  row('T17', 'added p50 at C=1', 'turn-c1', ['at most', 5, 1, 'ms'], difference('turn-c1', 'embedded-stored', 'embedded', 'p50')),
  row('T17', 'added p50 at C=1 on NATS', 'turn-c1', ['at most', 5, 1, 'ms'], difference('turn-c1', 'split-stored', 'split', 'p50')),
  row('T18', 'embeddings of 1 KB, C=16: CPU / raw', 'embeddings-c16', ['at most', 1.6, 1.4], ratio('embeddings-c16', 'embedded', 'raw', 'cpu')),
  row(
    'T18',
    'a batch of 1,000 of them, C=16: CPU / raw',
    'embeddings-batch-c16',
    ['at most', 1.6, 1.4],
    ratio('embeddings-batch-c16', 'embedded', 'raw', 'cpu'),
  ),
  row('T19', 'paced speech, C=64: CPU / raw', 'speech-c64', ['at most', 1.35, 1.15], ratio('speech-c64', 'embedded', 'raw', 'cpu')),
];

export type Judgement = 'stretch' | 'pass' | 'FAIL' | 'not run';

export function judge({ bound, must, stretch }: Verdict, value: Figure | null): Judgement {
  if (value === null) return 'not run';
  const holds = (limit: number): boolean => (bound === 'at most' ? value.median <= limit : value.median >= limit);
  return holds(stretch) ? 'stretch' : holds(must) ? 'pass' : 'FAIL';
}
