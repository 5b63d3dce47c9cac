/** Sums of every attempt at an upstream, kept in step with the request log rows: a failure before a failover counts for the upstream where it happened. */
import { type AttemptRecord, withoutCounter, withoutPath } from '@model-gateway/contracts/row';
import { type Kysely, sql } from 'kysely';
import { deleteInPieces } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import type { StoredRow } from '../requests/row-codec.ts';
import type { Database } from '../schema.ts';
import { addInto, type SumTable } from './add-into.ts';
import { type Grain, grainMs, grains, startOf } from './dimensions.ts';
import { addTo, bucketOf, type Histogram, writeCounts } from './histogram.ts';

/** Sums of attempts with the same key, upstream, model and outcome in one minute; durations in ms. */
export interface AttemptSum {
  /** Of the minute. */
  start: number;
  upstream: string;
  /** Stable id of the key entry; '' when the upstream has none, or the row was written by an earlier version. */
  key: string;
  model: string;
  outcome: string;
  attempts: number;
  duration: number;
  durations: Histogram;
}

const between = '\u0001';
const maxLength = 200;
const short = (text: string): string => cleanText(text, maxLength);

/** The class of successful attempts. */
export const wentWell = 'ok';
/** A vendor's error word becomes a class only when it holds no digit: words that are unique for each failure would fill the table. */
const plainCode = /^[a-zA-Z][a-zA-Z_-]{0,39}$/;

/**
 * What became of attempts by which the upstream failed nobody: the caller left, or asked for a path that it does not have; or it was asked for a count of
 * tokens and has no counter.
 */
export const harmlessOutcomes: ReadonlySet<string> = new Set(['client_gone', withoutCounter, withoutPath]);

/** `ok`, `http_429`, or a word for failures without a status. */
export function outcomeOf({ status, error_code }: Pick<AttemptRecord, 'status' | 'error_code'>): string {
  if (error_code === null) return wentWell;
  if (harmlessOutcomes.has(error_code)) return error_code;
  if (status !== null && status >= 300) return `http_${status}`;
  return plainCode.test(error_code) ? error_code : 'broken';
}

/** Rows are asked several times on their way into the sums: their JSON is parsed once. */
const parsed = new WeakMap<object, { text: string; attempts: readonly AttemptRecord[] }>();
const none: readonly AttemptRecord[] = [];

/** Of a row as it is stored. */
export function attemptsOf(row: Pick<StoredRow, 'attempts'>): readonly AttemptRecord[] {
  const { attempts: text } = row;
  if (text === '[]') return none;
  const known = parsed.get(row);
  if (known?.text === text) return known.attempts;
  const attempts = JSON.parse(text) as AttemptRecord[];
  parsed.set(row, { text, attempts });
  return attempts;
}

/** Adds the attempts of a row, or subtracts them. */
export function addAttempts(sums: Map<string, AttemptSum>, row: StoredRow, sign: 1 | -1): void {
  if (row.attempts === '[]') return;
  const start = startOf(row.started_at, 'minute');
  for (const attempt of attemptsOf(row)) {
    const { upstream, key = '' } = attempt;
    const model = attempt.model ?? row.model ?? '';
    const outcome = outcomeOf(attempt);
    // Names are cleaned once for a sum; two that are cleaned to one are one sum in the database.
    const id = `${start}${between}${upstream}${between}${key}${between}${model}${between}${outcome}`;
    let sum = sums.get(id);
    if (!sum) {
      sum = { start, upstream: short(upstream), key: short(key), model: short(model), outcome, attempts: 0, duration: 0, durations: new Map() };
      sums.set(id, sum);
    }
    const ms = Math.min(1e12, Math.max(0, Math.round(attempt.duration_ms) || 0));
    sum.attempts += sign;
    sum.duration += sign * ms;
    addTo(sum.durations, bucketOf(ms), sign);
  }
}

const table: SumTable = {
  name: 'attempt_sums',
  keys: [
    { name: 'grain', type: 'integer' },
    { name: 'start', type: 'integer' },
    ...['upstream', 'key_id', 'model', 'outcome'].map((name) => ({ name, type: 'text' as const })),
  ],
  values: [
    { name: 'attempts', how: 'add' },
    { name: 'duration_ms', how: 'add' },
    { name: 'duration_counts', how: 'counts' },
  ],
};
/** Minutes show how it stands now: those of days long past say nothing more than their hour. */
const keptGrains = ['minute', 'hour', 'day'] as const;

/** Inside the transaction that writes the rows. */
export async function addAttemptSums(
  db: Kysely<Database>,
  dialect: StorageDialect,
  tallies: readonly { attempts: ReadonlyMap<string, AttemptSum> }[],
): Promise<void> {
  const merged = new Map<string, { key: (string | number)[]; attempts: number; duration: number; durations: Histogram }>();
  for (const { attempts } of tallies)
    for (const one of attempts.values())
      for (const grain of keptGrains) {
        const key = [grains[grain], startOf(one.start, grain), one.upstream, one.key, one.model, one.outcome];
        const id = key.join(between);
        const known = merged.get(id) ?? { key, attempts: 0, duration: 0, durations: new Map() };
        known.attempts += one.attempts;
        known.duration += one.duration;
        for (const [bucket, count] of one.durations) addTo(known.durations, bucket, count);
        merged.set(id, known);
      }
  const rows = [...merged]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, one]) => [...one.key, one.attempts, one.duration, writeCounts(one.durations)]);
  await addInto(db, dialect, table, rows);
}

/** Upstreams that the row's attempts touched, and that are not the one it names. */
function othersOf(row: StoredRow): readonly string[] {
  const attempts = attemptsOf(row);
  return attempts.every(({ upstream }) => upstream === row.upstream)
    ? noNames
    : [...new Set(attempts.map(({ upstream }) => upstream))].filter((upstream) => upstream !== row.upstream);
}
const noNames: readonly string[] = [];

const touchedPerStatement = 1_000;

/** Inside the transaction that writes the rows: makes a search by an upstream find these rows too. */
export async function noteTouched(db: Kysely<Database>, rows: readonly StoredRow[]): Promise<void> {
  const touched = rows.flatMap((row) => othersOf(row).map((upstream) => ({ upstream: cleanText(upstream), started_at: row.started_at, id: row.id })));
  for (let start = 0; start < touched.length; start += touchedPerStatement)
    await db
      .insertInto('touched_upstreams')
      .values(touched.slice(start, start + touchedPerStatement))
      .onConflict((conflict) => conflict.columns(['upstream', 'started_at', 'id']).doNothing())
      .execute();
}

/** Deletes sums that are too old. `stopped` ends it early. */
export async function pruneAttempts(db: Kysely<Database>, sums: Readonly<Record<Grain, number | null>>, stopped: () => boolean): Promise<void> {
  for (const grain of keptGrains) {
    const before = sums[grain];
    if (before === null) continue;
    const where = sql`grain = ${grains[grain]} and start < ${before - grainMs[grain]}`;
    await deleteInPieces(db, { table: 'attempt_sums', key: table.keys.map(({ name }) => name), where, order: 'start' }, stopped);
  }
}
