/** Keeps the sums in step with the rows they come from: one for all, one for each value of each dimension, one for each combination. */
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { addMeasures, type Grain, grains, noMeasures, type Scope, scopes, startOf } from './dimensions.ts';
import { addTo } from './histogram.ts';
import type { FreshSeries, SeriesBook, SeriesKey } from './series-book.ts';
import type { Group, Tally } from './tally.ts';

export const measureColumns = measureNames.map((name) => ({ name, how: 'add' as const }));
const place = ['series', 'grain', 'start'].map((name) => ({ name, type: 'integer' as const }));
const sumTable: SumTable = { name: 'stat_sums', keys: place, values: measureColumns };
const latencyTable: SumTable = {
  name: 'stat_latencies',
  keys: [...place, { name: 'kind', type: 'integer' }, { name: 'bucket', type: 'integer' }],
  values: [{ name: 'count', how: 'add' }],
};

interface Target {
  key: SeriesKey;
  grain: Grain;
  start: number;
  sums: Measures;
  latencies: Group['latencies'];
}

/** Inside the transaction that writes the rows. Resolves with what the book may remember once that is committed. */
export async function addRollups(db: Kysely<Database>, dialect: StorageDialect, series: SeriesBook, tallies: readonly Tally[]): Promise<FreshSeries> {
  const targets = spread(series, tallies);
  const { ids, fresh } = await series.resolve(
    db,
    targets.map(({ key }) => key),
  );
  const sums: number[][] = [];
  const latencies: number[][] = [];
  for (const target of targets) {
    const where = [ids.get(target.key.text)!, grains[target.grain], target.start];
    sums.push([...where, ...measureNames.map((name) => target.sums[name])]);
    for (const kind of [0, 1] as const) for (const [bucket, count] of target.latencies[kind]) if (count !== 0) latencies.push([...where, kind, bucket, count]);
  }
  await addInto(db, dialect, sumTable, sums.sort(byNumbers));
  await addInto(db, dialect, latencyTable, latencies.sort(byNumbers));
  return fresh;
}

/** Every sum that the tallies change. */
function spread(series: SeriesBook, tallies: readonly Tally[]): Target[] {
  const targets = new Map<string, Target>();
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
  for (const { hours, minutes } of tallies) {
    for (const group of hours.values())
      for (const scope of scopes) {
        give(scope, group, 'hour');
        give(scope, group, 'day');
      }
    for (const group of minutes.values()) give('all', group, 'minute');
  }
  return [...targets.values()];
}

/** In the order of the primary keys. */
function byNumbers(one: readonly number[], other: readonly number[]): number {
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) return one[at]! - other[at]!;
  return 0;
}
