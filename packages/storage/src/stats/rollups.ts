/** Keeps the sums in step with the rows they come from: one for all, one for each value of each dimension, one for each combination. */
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import { type Database, type Measures, measureNames } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { addMeasures, type Grain, grains, type Scope, scopes, startOf } from './dimensions.ts';
import { addTo, writeCounts } from './histogram.ts';
import { resolveSeries, type SeriesKey, seriesText } from './series.ts';
import type { Group, Tally } from './tally.ts';

export const measureColumns = measureNames.map((name) => ({ name, how: 'add' as const }));
const place = ['series', 'grain', 'start'].map((name) => ({ name, type: 'integer' as const }));
const sumTable: SumTable = {
  name: 'stat_sums',
  keys: place,
  values: [...measureColumns, { name: 'duration_counts', how: 'counts' }, { name: 'content_counts', how: 'counts' }],
};

/** What one series gains in one hour, day or minute. */
interface Cell {
  sums: Measures;
  latencies: Group['latencies'];
  /** Of this sum alone; else those of the only group so far, which stay as they are. */
  own: boolean;
}

interface Target extends SeriesKey {
  cells: Record<Grain, Map<number, Cell>>;
}

/** Inside the transaction that writes the rows. */
export async function addRollups(db: Kysely<Database>, dialect: StorageDialect, tallies: readonly Tally[]): Promise<void> {
  const targets = spread(tallies);
  const ids = await resolveSeries(db, dialect, targets);
  const rows: (number | string)[][] = [];
  for (const { text, cells } of targets) {
    const id = ids.get(text)!;
    for (const [grain, number] of grainNumbers)
      for (const [start, { sums, latencies }] of cells[grain])
        rows.push([id, number, start, ...measureNames.map((name) => sums[name]), writeCounts(latencies[0]), writeCounts(latencies[1])]);
  }
  await addInto(db, dialect, sumTable, rows.sort(byPlace));
}

const grainNumbers = Object.entries(grains) as [Grain, number][];

/** Every sum that the tallies change. */
function spread(tallies: readonly Tally[]): Target[] {
  const targets = new Map<string, Target>();
  const targetOf = (scope: Scope, { values, currency }: Group): Target => {
    const text = seriesText(scope, values, currency);
    let target = targets.get(text);
    if (!target) {
      target = { text, scope, values, currency, cells: { minute: new Map(), hour: new Map(), day: new Map() } };
      targets.set(text, target);
    }
    return target;
  };
  for (const { hours, minutes } of tallies) {
    for (const group of hours.values())
      for (const scope of scopes) {
        const { cells } = targetOf(scope, group);
        give(cells.hour, group.start, group);
        give(cells.day, startOf(group.start, 'day'), group);
      }
    for (const group of minutes.values()) give(targetOf('all', group).cells.minute, group.start, group);
  }
  return [...targets.values()];
}

function give(cells: Map<number, Cell>, start: number, { sums, latencies }: Group): void {
  const known = cells.get(start);
  if (!known) return void cells.set(start, { sums, latencies, own: false });
  const cell = known.own ? known : { sums: { ...known.sums }, latencies: [new Map(known.latencies[0]), new Map(known.latencies[1])] as const, own: true };
  if (!known.own) cells.set(start, cell);
  addMeasures(cell.sums, sums);
  for (const kind of [0, 1] as const) for (const [bucket, count] of latencies[kind]) addTo(cell.latencies[kind], bucket, count);
}

/** In the order of the primary key. */
function byPlace(one: readonly (number | string)[], other: readonly (number | string)[]): number {
  for (let at = 0; at < place.length; at++) if (one[at] !== other[at]) return Number(one[at]) - Number(other[at]);
  return 0;
}
