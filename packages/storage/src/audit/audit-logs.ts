/** The repository of the audit log: idempotent batches in, pages newest first out. */
import type { AuditRow } from '@model-gateway/contracts';
import { type Expression, type ExpressionBuilder, type Kysely, type SqlBool, sql } from 'kysely';
import { deleteOlder } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import { cleanText } from '../requests/clean-text.ts';
import { readCursor, writeCursor } from '../requests/cursor.ts';
import type { AuditColumns, Database } from '../schema.ts';

/** Conditions that are all to hold; absent ones do not filter. */
export interface AuditFilters {
  /** Literal substring, ASCII case ignored. */
  actor?: string;
  /** One of these. */
  actions?: readonly string[];
  entityTypes?: readonly string[];
  entityId?: string;
  requestId?: string;
  /** Literal substring of actor, entity, address or request id. */
  search?: string;
  /** Milliseconds since the epoch: from inclusive, to exclusive. */
  from: number;
  to: number;
}

/** One page of the audit log. */
export interface AuditQuery {
  filters: AuditFilters;
  cursor?: string;
  limit: number;
}

/** Records of one page, and the cursor of the next; null on the last page. */
export interface AuditPage {
  items: AuditRow[];
  nextCursor: string | null;
}

/** The repository of audit records. */
export interface AuditLogs {
  /** Safe to repeat: a record that is there stays as it is. One transaction. */
  insertRows(rows: readonly AuditRow[]): Promise<void>;
  /** Throws `validation_failed` naming `cursor`. */
  listRows(query: AuditQuery): Promise<AuditPage>;
  /** Deletes records older than `before` (ms since the epoch), in small pieces. Resolves with the number deleted. */
  prune(before: number, stopped?: () => boolean): Promise<number>;
}

type Builder = ExpressionBuilder<Database, 'audit_logs'>;

const searched = ['actor', 'entity_id', 'ip_address', 'request_id'] as const;

/** Filter → condition. */
const conditions: { [F in keyof AuditFilters]-?: (eb: Builder, value: NonNullable<AuditFilters[F]>, dialect: StorageDialect) => Expression<SqlBool> } = {
  actor: (eb, value, dialect) => dialect.contains(eb.ref('actor'), value),
  actions: (eb, value) => eb('action', 'in', value),
  entityTypes: (eb, value) => eb('entity_type', 'in', value),
  entityId: (eb, value) => eb('entity_id', '=', value),
  requestId: (eb, value) => eb('request_id', '=', value),
  search: (eb, value, dialect) => eb.or(searched.map((column) => dialect.contains(eb.ref(column), value))),
  from: (eb, value) => eb('occurred_at', '>=', value),
  to: (eb, value) => eb('occurred_at', '<', value),
};

/** Nine columns each: far below the parameter limit of both engines. */
const rowsPerStatement = 500;

export function createAuditLogs(db: Kysely<Database>, dialect: StorageDialect): AuditLogs {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    insertRows: (rows) =>
      // One statement is a transaction by itself.
      translate(() =>
        rows.length <= rowsPerStatement ? insertRecords(db, rows) : db.transaction().execute((transaction) => insertRecords(transaction, rows)),
      ),
    prune: (before, stopped = () => false) => translate(() => deleteOlder(db, { table: 'audit_logs', time: 'occurred_at', before }, stopped)),
    async listRows({ filters, cursor, limit }) {
      const position = cursor === undefined ? null : readCursor(cursor);
      let query = db.selectFrom('audit_logs').selectAll();
      for (const name of Object.keys(conditions) as (keyof AuditFilters)[]) {
        const value = filters[name];
        if (value !== undefined)
          query = query.where((eb) => (conditions[name] as (eb: Builder, value: unknown, dialect: StorageDialect) => Expression<SqlBool>)(eb, value, dialect));
      }
      if (position) query = query.where(sql<SqlBool>`(occurred_at, id) < (${position.startedAt}, ${position.id})`);
      // One more than requested shows whether there is a next page.
      const rows = await translate(() =>
        query
          .orderBy('occurred_at', 'desc')
          .orderBy('id', 'desc')
          .limit(limit + 1)
          .execute(),
      );
      const items = rows.slice(0, limit).map(decode);
      const last = items.at(-1);
      return { items, nextCursor: rows.length > limit && last ? writeCursor({ startedAt: last.occurred_at, id: last.id }) : null };
    },
  };
}

/** Inside the caller's transaction. */
export async function insertRecords(db: Kysely<Database>, rows: readonly AuditRow[]): Promise<void> {
  for (let start = 0; start < rows.length; start += rowsPerStatement)
    await db
      .insertInto('audit_logs')
      .values(rows.slice(start, start + rowsPerStatement).map(encode))
      .onConflict((conflict) => conflict.columns(['occurred_at', 'id']).doNothing())
      .execute();
}

const encode = (row: AuditRow): AuditColumns => ({
  id: row.id,
  occurred_at: row.occurred_at,
  actor: cleanText(row.actor),
  action: row.action,
  entity_type: row.entity_type,
  entity_id: cleanText(row.entity_id),
  diff: row.diff === null ? null : cleanText(JSON.stringify(row.diff), Number.POSITIVE_INFINITY),
  ip_address: row.ip_address === null ? null : cleanText(row.ip_address),
  request_id: row.request_id === null ? null : cleanText(row.request_id),
});

const decode = ({ diff, ...row }: AuditColumns): AuditRow =>
  ({ ...row, diff: diff === null ? null : (JSON.parse(diff) as Record<string, unknown>) }) as AuditRow;
