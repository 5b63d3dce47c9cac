/** Lists request rows newest first, page by page, within filters. */
import type { RequestRow } from '@model-gateway/contracts';
import { type Expression, type ExpressionBuilder, type Kysely, type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, RequestColumns } from '../schema.ts';
import { type Position, readCursor, writeCursor } from './cursor.ts';
import { decodeRow } from './row-codec.ts';

/** Rows within a time range; milliseconds since the epoch, `from` inclusive, `to` exclusive. */
interface TimeFilters {
  from?: number;
  to?: number;
}

/** Rows of one caller or conversation. */
interface CallerFilters {
  accessKey?: string;
  /** One of these. */
  accessKeys?: readonly string[];
  keyGroup?: string;
  clientProtocol?: string;
  sessionId?: string;
}

/** Rows by where the request went. */
interface TargetFilters {
  model?: string;
  /** The upstream that served it, or any that its attempts touched. */
  upstream?: string;
  upstreamProtocol?: string;
}

/** Rows by how the request ended. */
interface OutcomeFilters {
  status?: number;
  errorCode?: string;
  stream?: boolean;
  /** Those that went wrong, or those that did not. */
  failed?: boolean;
  /** Minimum duration in ms. */
  minDurationMs?: number;
}

/** Conditions that are all to hold; absent ones do not filter. */
export interface RequestFilters extends TimeFilters, CallerFilters, TargetFilters, OutcomeFilters {
  /** The minted id or the caller's own. */
  requestId?: string;
  /** Literal substring, ASCII case ignored, of one of `searchedColumns`. Reads every row of the range until the page is full. */
  search?: string;
}

/** Where a free search looks. */
export const searchedColumns = [
  'id',
  'client_request_id',
  'access_key',
  'model',
  'requested_model',
  'upstream',
  'error_code',
  'session_id',
  'client_ip',
  'user_agent',
] as const satisfies readonly (keyof RequestRow)[];

/** One page of request rows, newest first. */
export interface RequestQuery {
  filters: RequestFilters;
  cursor?: string;
  limit: number;
}

/** The rows of one page, and the cursor of the next; null on the last page. */
export interface RequestPage {
  items: RequestRow[];
  nextCursor: string | null;
}

type Builder = ExpressionBuilder<Database, 'request_stats'>;

/** Filter → condition. */
const conditions: { [F in keyof RequestFilters]-?: (eb: Builder, value: NonNullable<RequestFilters[F]>, dialect: StorageDialect) => Expression<SqlBool> } = {
  requestId: (eb, value) => eb.or([eb('id', '=', value), eb('client_request_id', '=', value)]),
  accessKey: (eb, value) => eb('access_key', '=', value),
  accessKeys: (eb, value) => eb('access_key', 'in', value),
  keyGroup: (eb, value) => eb('key_group', '=', value),
  model: (eb, value) => eb('model', '=', value),
  upstream: (eb, value) => eb('upstream', '=', value),
  status: (eb, value) => eb('status', '=', value),
  errorCode: (eb, value) => eb('error_code', '=', value),
  stream: (eb, value, dialect) => eb('stream', '=', dialect.encodeBoolean(value)),
  clientProtocol: (eb, value) => eb('client_protocol', '=', value),
  upstreamProtocol: (eb, value) => eb('upstream_protocol', '=', value),
  sessionId: (eb, value) => eb('session_id', '=', value),
  // The same words as the partial index.
  failed: (eb, value) => eb('error_code', value ? 'is not' : 'is', null),
  minDurationMs: (eb, value) => eb('duration_ms', '>=', value),
  search: (eb, value, dialect) => eb.or(searchedColumns.map((column) => dialect.contains(eb.ref(column), value))),
  from: (eb, value) => eb('started_at', '>=', value),
  to: (eb, value) => eb('started_at', '<', value),
};

type RowQuery = SelectQueryBuilder<Database, 'request_stats', RequestColumns>;

/** Throws `validation_failed` naming `cursor`. */
export async function listRows(db: Kysely<Database>, dialect: StorageDialect, { filters, cursor, limit }: RequestQuery): Promise<RequestPage> {
  const position = cursor === undefined ? null : readCursor(cursor);
  const { upstream, ...others } = filters;
  // One more than requested shows whether there is a next page.
  const page = (query: RowQuery, by: RequestFilters): RowQuery =>
    narrow(query, { by, position, dialect })
      .orderBy('started_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit + 1);
  const all = db.selectFrom('request_stats').selectAll();
  try {
    // Each of the two queries has an index of its own; one query for both would read every row of the range.
    const served = await page(all, filters).execute();
    const touched = upstream === undefined ? [] : await page(all.where(isTouched(upstream, others, position)), others).execute();
    const rows = touched.length === 0 ? served : mergeNewest(served, touched);
    const items = rows.slice(0, limit).map(decodeRow);
    const last = items.at(-1);
    return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.started_at, id: last.id }) : null };
  } catch (error) {
    throw dialect.translateError(error);
  }
}

function narrow(query: RowQuery, { by, position, dialect }: { by: RequestFilters; position: Position | null; dialect: StorageDialect }): RowQuery {
  let narrowed = query;
  for (const name of Object.keys(conditions) as (keyof RequestFilters)[]) {
    const value = by[name];
    if (value !== undefined)
      narrowed = narrowed.where((eb) =>
        (conditions[name] as (eb: Builder, value: unknown, dialect: StorageDialect) => Expression<SqlBool>)(eb, value, dialect),
      );
  }
  return position ? narrowed.where(sql<SqlBool>`(started_at, id) < (${position.startedAt}, ${position.id})`) : narrowed;
}

/** Rows of this page whose attempts touched the upstream, found through the side table. */
function isTouched(upstream: string, { from, to }: RequestFilters, position: Position | null): RawBuilder<SqlBool> {
  const end = position === null ? to : Math.min(to ?? Number.MAX_SAFE_INTEGER, position.startedAt + 1);
  const parts = [
    sql`t.upstream = ${upstream}`,
    ...(from === undefined ? [] : [sql`t.started_at >= ${from}`]),
    ...(end === undefined ? [] : [sql`t.started_at < ${end}`]),
  ];
  return sql<SqlBool>`(started_at, id) in (select t.started_at, t.id from touched_upstreams t where ${sql.join(parts, sql` and `)})`;
}

/** A row may be in both: it was replaced after its attempts were recorded. */
function mergeNewest(one: readonly RequestColumns[], other: readonly RequestColumns[]): RequestColumns[] {
  const rows = new Map([...one, ...other].map((row) => [`${row.started_at}:${row.id}`, row]));
  return [...rows.values()].sort((a, b) => Number(b.started_at) - Number(a.started_at) || (a.id < b.id ? 1 : -1));
}
