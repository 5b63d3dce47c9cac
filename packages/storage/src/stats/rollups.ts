/** Keeps the sums in step with the rows they come from: a row that replaces another takes back what that one gave. */
import type { RequestRow } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { addMeasures, dimensions, type Grain, grains, measuresOf, type Scope, scopes, startOf, type Values, valuesOf } from './dimensions.ts';
import { addTo, bucketOf, type Histogram } from './histogram.ts';
import type { FreshSeries, SeriesBook, SeriesKey } from './series-book.ts';

/** What became of a row: `before` is what stood in its place. */
export interface Change {
  before: RequestRow | null;
  after: RequestRow;
}

/** Of one series in one hour or minute. */
interface Group {
  values: Values;
  currency: string;
  start: number;
  sums: Measures;
  /** By kind: whole duration, first content. */
  latencies: readonly [Histogram, Histogram];
}

export const measureColumns = measureNames.map((name) => ({ name, how: 'add' as const }));
const place = ['series', 'grain', 'start'].map((name) => ({ name, type: 'integer' as const }));
const sumTable: SumTable = { name: 'stat_sums', keys: place, values: measureColumns };
const latencyTable: SumTable = {
  name: 'stat_latencies',
  keys: [...place, { name: 'kind', type: 'integer' }, { name: 'bucket', type: 'integer' }],
  values: [{ name: 'count', how: 'add' }],
};

/** Inside the transaction that writes the rows. Resolves with what the book may remember once that is committed. */
export async function addRollups(db: Kysely<Database>, dialect: StorageDialect, series: SeriesBook, changes: readonly Change[]): Promise<FreshSeries> {
  const targets = new Map<string, { key: SeriesKey; grain: Grain; start: number; sums: Measures; latencies: Group['latencies'] }>();
  const give = (scope: Scope, group: Group, grain: Grain): void => {
    const key = series.keyOf(scope, group.values, group.currency);
    const start = startOf(group.start, grain);
    const id = `${key.text}\u0002${grain}${start}`;
    let target = targets.get(id);
    if (!target) {
      target = { key, grain, start, sums: noMeasures(), latencies: [new Map(), new Map()] };
      targets.set(id, target);
    }
    addMeasures(target.sums, group.sums);
    for (const kind of [0, 1] as const) for (const [bucket, count] of group.latencies[kind]) addTo(target.latencies[kind], bucket, count);
  };
  for (const group of groupBy(changes, 'hour').values())
    for (const scope of scopes) {
      give(scope, group, 'hour');
      give(scope, group, 'day');
    }
  for (const group of groupBy(changes, 'minute').values()) give('all', group, 'minute');
  const { ids, fresh } = await series.resolve(
    db,
    [...targets.values()].map(({ key }) => key),
  );
  const sums: number[][] = [];
  const latencies: number[][] = [];
  for (const target of targets.values()) {
    const where = [ids.get(target.key.text)!, grains[target.grain], target.start];
    sums.push([...where, ...measureNames.map((name) => target.sums[name])]);
    for (const kind of [0, 1] as const) for (const [bucket, count] of target.latencies[kind]) if (count !== 0) latencies.push([...where, kind, bucket, count]);
  }
  await addInto(db, dialect, sumTable, sums.sort(byNumbers));
  await addInto(db, dialect, latencyTable, latencies.sort(byNumbers));
  return fresh;
}

/** Rows of a batch are much alike: they are added up before they are spread over the scopes. */
function groupBy(changes: readonly Change[], grain: Grain): Map<string, Group> {
  const groups = new Map<string, Group>();
  const add = (row: RequestRow, sign: 1 | -1): void => {
    const values = valuesOf(row);
    const currency = row.cost_micros === null ? '' : (row.currency ?? '');
    const start = startOf(row.started_at, grain);
    const id = grain === 'minute' ? `${start}${currency}` : `${start}\u0001${currency}\u0001${dimensions.map((name) => values[name]).join('\u0001')}`;
    let group = groups.get(id);
    if (!group) {
      group = { values, currency, start, sums: noMeasures(), latencies: [new Map(), new Map()] };
      groups.set(id, group);
    }
    addMeasures(group.sums, measuresOf(row, sign));
    addTo(group.latencies[0], bucketOf(row.duration_ms), sign);
    if (row.first_content_ms !== null) addTo(group.latencies[1], bucketOf(row.first_content_ms), sign);
  };
  for (const { before, after } of changes) {
    if (before) add(before, -1);
    add(after, 1);
  }
  return groups;
}

export const noMeasures = (): Measures => Object.fromEntries(measureNames.map((name) => [name, 0])) as Measures;

/** In the order of the primary keys. */
function byNumbers(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return one[at]! - other[at]!;
  return 0;
}
