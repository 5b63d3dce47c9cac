/** The tables of a run as Markdown. */
import type { Case } from './cases.ts';
import { type CaseResults, type Figure, figure } from './driver/paired.ts';
import type { Metric } from './driver/run-load.ts';
import { judge, type Measured, type Verdict } from './verdicts.ts';

interface Column {
  title: string;
  metric: Metric;
  digits: number;
  range?: boolean;
  streamOnly?: boolean;
}

const columns: readonly Column[] = [
  { title: 'rps', metric: 'rps', digits: 0, range: true },
  { title: 'p50 ms', metric: 'p50', digits: 2 },
  { title: 'p99 ms', metric: 'p99', digits: 2 },
  { title: 'TTFB p50', metric: 'ttfb50', digits: 2, streamOnly: true },
  { title: 'TTFB p99', metric: 'ttfb99', digits: 2, streamOnly: true },
  { title: 'first word p50', metric: 'content50', digits: 2, streamOnly: true },
  { title: 'gap p99', metric: 'gap99', digits: 1, streamOnly: true },
  { title: 'reads', metric: 'reads', digits: 0, streamOnly: true },
  { title: 'CPU µs', metric: 'cpu', digits: 0, range: true },
  { title: 'cores', metric: 'cores', digits: 2 },
  { title: 'RSS MiB', metric: 'rssMib', digits: 0 },
  { title: 'driver busy', metric: 'driverBusy', digits: 2 },
  { title: 'mock cores', metric: 'mockCores', digits: 2 },
];

export function caseTable(one: Case, results: CaseResults): string {
  const shown = columns.filter((column) => column.streamOnly !== true || one.stream);
  const rows = [...results].map(([name, list]) => [
    name,
    ...shown.map(({ metric, digits, range }) => text(figure(list, metric), digits, range)),
    faults(list.map(({ errors }) => errors)),
  ]);
  return `### ${one.title}, C=${one.connections}\n\n${table([['target', ...shown.map(({ title }) => title), 'errors'], ...rows])}\n`;
}

export function verdictTable(verdicts: readonly Verdict[], measured: Measured): string {
  const rows = verdicts.map((verdict) => {
    const value = verdict.measure(measured);
    const limit = (bound: number): string => `${verdict.bound === 'at most' ? '≤' : '≥'} ${bound}${verdict.unit === 'ms' ? ' ms' : ''}`;
    return [verdict.target, verdict.what, text(value, 2, true), limit(verdict.must), limit(verdict.stretch), judge(verdict, value)];
  });
  return table([['', 'case', 'measured (range)', 'must', 'stretch', 'result'], ...rows]);
}

/** Median, and the range over the repetitions. */
function text(value: Figure | null, digits: number, range = false): string {
  if (value === null) return '–';
  const { median, min, max } = value;
  return median.toFixed(digits) + (range ? ` (${min.toFixed(digits)}..${max.toFixed(digits)})` : '');
}

function faults(all: readonly Record<string, number>[]): string {
  const sums = new Map<string, number>();
  for (const errors of all) for (const [code, count] of Object.entries(errors)) sums.set(code, (sums.get(code) ?? 0) + count);
  return sums.size === 0 ? '0' : [...sums].map(([code, count]) => `${code}: ${count}`).join(', ');
}

function table([head = [], ...rows]: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
