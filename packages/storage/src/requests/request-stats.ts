/** The repository of finished requests: idempotent batches in, pages newest first out. */
import type { RequestRow, SpendOwner } from '@model-gateway/contracts';
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, RequestColumns } from '../schema.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { columnNames, decodeRow, encodeRow, encodeValues } from './row-codec.ts';
import { costsMoney, followSpend, readSpent } from './spend.ts';

export interface RequestFilters {
  /** The minted id or the caller's own. */
  requestId?: string;
  accessKey?: string;
  keyGroup?: string;
  model?: string;
  upstream?: string;
  status?: number;
  errorCode?: string;
  stream?: boolean;
  /** Milliseconds since the epoch: from inclusive, to exclusive. */
  from?: number;
  to?: number;
}

export interface RequestQuery {
  filters: RequestFilters;
  cursor?: string;
  limit: number;
}

export interface RequestPage {
  items: RequestRow[];
  nextCursor: string | null;
}

export interface RequestStats {
  /** Safe to repeat: a row stands until one of higher authority comes. One transaction. */
  insertRows(rows: readonly RequestRow[]): Promise<void>;
  listRows(query: RequestQuery): Promise<RequestPage>;
  /** Millionths, one figure for each owner. */
  spent(owners: readonly SpendOwner[]): Promise<number[]>;
}

const keyColumns: ReadonlySet<string> = new Set(['id', 'started_at']);
const replaced = columnNames.filter((name) => !keyColumns.has(name));

type Builder = ExpressionBuilder<Database, 'request_stats'>;

/** Filter → condition. */
const conditions: { [F in keyof RequestFilters]-?: (eb: Builder, value: NonNullable<RequestFilters[F]>, dialect: StorageDialect) => Expression<SqlBool> } = {
  requestId: (eb, value) => eb.or([eb('id', '=', value), eb('client_request_id', '=', value)]),
  accessKey: (eb, value) => eb('access_key', '=', value),
  keyGroup: (eb, value) => eb('key_group', '=', value),
  model: (eb, value) => eb('model', '=', value),
  upstream: (eb, value) => eb('upstream', '=', value),
  status: (eb, value) => eb('status', '=', value),
  errorCode: (eb, value) => eb('error_code', '=', value),
  stream: (eb, value, dialect) => eb('stream', '=', dialect.encodeBoolean(value)),
  from: (eb, value) => eb('started_at', '>=', value),
  to: (eb, value) => eb('started_at', '<', value),
};

export function createRequestStats(db: Kysely<Database>, dialect: StorageDialect): RequestStats {
  const rowsPerStatement = Math.min(500, Math.floor(dialect.maxParameters / columnNames.length));
  /** The statement for one row; its parameters are the columns in their order. */
  let oneRow: string | undefined;
  const statementOf = (row: RequestRow): string => (oneRow ??= upsert(db, [encodeRow(row, dialect)]).compile().sql);

  async function insertEach(rows: readonly RequestRow[], runEach: NonNullable<StorageDialect['runEach']>): Promise<void> {
    const [first] = rows;
    if (!first) return;
    const statement = statementOf(first);
    const parameters = rows.map((row) => encodeValues(row, dialect));
    const write = async () => runEach(statement, parameters);
    await db.transaction().execute((transaction) => (rows.some(costsMoney) ? followSpend(transaction, rows, write) : write()));
  }

  async function insertTogether(rows: readonly RequestRow[]): Promise<void> {
    const columns = uniqueByKey(rows).map((row) => encodeRow(row, dialect));
    if (columns.length === 0) return;
    const priced = rows.some(costsMoney);
    if (!priced && columns.length <= rowsPerStatement) return void (await upsert(db, columns).execute());
    await db.transaction().execute((transaction) => {
      const write = async () => {
        for (let start = 0; start < columns.length; start += rowsPerStatement)
          await upsert(transaction, columns.slice(start, start + rowsPerStatement)).execute();
      };
      return priced ? followSpend(transaction, rows, write) : write();
    });
  }

  return {
    async insertRows(rows) {
      try {
        await (dialect.runEach ? insertEach(rows, dialect.runEach) : insertTogether(rows));
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
    async spent(owners) {
      try {
        return await Promise.all(owners.map((owner) => readSpent(db, owner)));
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
    async listRows({ filters, cursor, limit }) {
      const position = cursor === undefined ? null : readCursor(cursor);
      let query = db.selectFrom('request_stats').selectAll();
      for (const name of Object.keys(conditions) as (keyof RequestFilters)[]) {
        const value = filters[name];
        if (value !== undefined)
          query = query.where((eb) => (conditions[name] as (eb: Builder, value: unknown, dialect: StorageDialect) => Expression<SqlBool>)(eb, value, dialect));
      }
      if (position) query = query.where(sql<SqlBool>`(started_at, id) < (${position.startedAt}, ${position.id})`);
      try {
        // One more than asked for tells whether there is a next page.
        const rows = await query
          .orderBy('started_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute();
        const items = rows.slice(0, limit).map(decodeRow);
        const last = items.at(-1);
        return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.started_at, id: last.id }) : null };
      } catch (error) {
        throw dialect.translateError(error);
      }
    },
  };
}

const upsert = (db: Kysely<Database>, columns: RequestColumns[]) =>
  db
    .insertInto('request_stats')
    .values(columns)
    .onConflict((conflict) =>
      conflict
        .columns(['started_at', 'id'])
        .doUpdateSet((eb) => Object.fromEntries(replaced.map((name) => [name, eb.ref(`excluded.${name}`)])))
        .where((eb) => eb(eb.ref('excluded.authority'), '>', eb.ref('request_stats.authority'))),
    );

/** One statement may not touch a row twice, and statements that lock rows in one order cannot block each other. */
function uniqueByKey(rows: readonly RequestRow[]): RequestRow[] {
  const best = new Map<string, RequestRow>();
  for (const row of rows) {
    const key = `${row.started_at}:${row.id}`;
    const known = best.get(key);
    if (!known || row.authority > known.authority) best.set(key, row);
  }
  return [...best.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}
