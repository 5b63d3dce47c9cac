/** Adds rows up in memory: similar rows cost next to nothing, and nothing reaches the database before `rollups.ts` and its neighbours write it. */
import type { StoredRow } from '../requests/row-codec.ts';
import type { Measures } from '../schema.ts';
import { type AttemptSum, addAttempts } from './attempts.ts';
import { addRow, currencyOf, isRequest, noMeasures, startOf, type Values, valuesOf } from './dimensions.ts';
import { addTo, bucketOf, type Histogram } from './histogram.ts';

/** The effect of a row: `before` is the row it replaced. */
export interface Change {
  before: StoredRow | null;
  after: StoredRow;
}

/** Of one combination of what rows are told apart by, in one hour; or of all rows of a minute. */
export interface Group {
  values: Values;
  currency: string;
  start: number;
  sums: Measures;
  /** By kind: whole duration, first content. */
  latencies: readonly [Histogram, Histogram];
}

/** Additions to the totals of one session. */
export interface Session {
  key: readonly [sessionId: string, accessKey: string, currency: string];
  first: number;
  last: number;
  sums: Measures;
}

const between = '\u0001';
const maxSessionLength = 512;

export class Tally {
  readonly hours = new Map<string, Group>();
  readonly minutes = new Map<string, Group>();
  readonly sessions = new Map<string, Session>();
  readonly attempts = new Map<string, AttemptSum>();
  /** The previous row and its group: the next row is mostly like it. */
  #row: StoredRow | null = null;
  #hour: Group | null = null;
  #minute: Group | null = null;

  static of(changes: Iterable<Change>): Tally {
    const tally = new Tally();
    for (const change of changes) tally.add(change);
    return tally;
  }

  /** What it holds in memory grows with this. */
  get size(): number {
    return this.hours.size + this.minutes.size + this.sessions.size + this.attempts.size;
  }

  add({ before, after }: Change): void {
    if (before) this.#count(before, -1);
    this.#count(after, 1);
  }

  #count(row: StoredRow, sign: 1 | -1): void {
    const alike = this.#row !== null && isAlike(this.#row, row);
    const hour = alike && isWithin(this.#hour, row.started_at, 'hour') ? this.#hour : this.#findHour(row);
    const minute = alike && isWithin(this.#minute, row.started_at, 'minute') ? this.#minute : this.#findMinute(row);
    this.#row = row;
    this.#hour = hour;
    this.#minute = minute;
    addInto(hour, row, sign);
    addInto(minute, row, sign);
    addAttempts(this.attempts, row, sign);
    if (row.session_id !== null && row.kind !== 'orphan') this.#countSession(row, row.session_id, sign);
  }

  #findHour(row: StoredRow): Group {
    const values = valuesOf(row);
    const currency = currencyOf(row);
    const start = startOf(row.started_at, 'hour');
    const id = `${start}${between}${currency}${between}${values.access_key}${between}${values.key_group}${between}${values.model}${between}${values.upstream}${between}${values.client_protocol}${between}${values.upstream_protocol}${between}${values.error}`;
    return find(this.hours, id, () => ({ values, currency, start, sums: noMeasures(), latencies: [new Map(), new Map()] }));
  }

  #findMinute(row: StoredRow): Group {
    const currency = currencyOf(row);
    const start = startOf(row.started_at, 'minute');
    return find(this.minutes, `${start}${between}${currency}`, () => ({
      values: valuesOf(row),
      currency,
      start,
      sums: noMeasures(),
      latencies: [new Map(), new Map()],
    }));
  }

  /** A session belongs to its access key: ids are the callers' own. */
  #countSession(row: StoredRow, id: string, sign: 1 | -1): void {
    const key = [id.length <= maxSessionLength ? id : id.slice(0, maxSessionLength).toWellFormed(), row.access_key ?? '', currencyOf(row)] as const;
    const session = find(this.sessions, key.join(between), () => ({ key, first: row.started_at, last: row.started_at, sums: noMeasures() }));
    session.first = Math.min(session.first, row.started_at);
    session.last = Math.max(session.last, row.started_at);
    addRow(session.sums, row, sign);
  }
}

function find<T>(known: Map<string, T>, id: string, make: () => T): T {
  let one = known.get(id);
  if (one === undefined) {
    one = make();
    known.set(id, one);
  }
  return one;
}

function addInto(group: Group, row: StoredRow, sign: 1 | -1): void {
  addRow(group.sums, row, sign);
  if (!isRequest(row)) return;
  addTo(group.latencies[0], bucketOf(row.duration_ms ?? 0), sign);
  if (row.first_content_ms !== null) addTo(group.latencies[1], bucketOf(row.first_content_ms), sign);
}

const isWithin = (group: Group | null, time: number, grain: 'hour' | 'minute'): group is Group =>
  group !== null && time >= group.start && startOf(time, grain) === group.start;

const isAlike = (one: StoredRow, other: StoredRow): boolean =>
  one.access_key === other.access_key &&
  one.kind === other.kind &&
  one.model === other.model &&
  one.upstream === other.upstream &&
  one.error_code === other.error_code &&
  one.status === other.status &&
  one.key_group === other.key_group &&
  one.client_protocol === other.client_protocol &&
  one.upstream_protocol === other.upstream_protocol &&
  one.currency === other.currency &&
  (one.cost_micros === null) === (other.cost_micros === null);
