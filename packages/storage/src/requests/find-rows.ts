/** Rows of the request log by their ids. */
import type { RequestRow } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import { decodeRow } from './row-codec.ts';

/** `startedAt` spares the search through all partitions. */
export async function findRow(db: Kysely<Database>, id: string, startedAt?: number): Promise<RequestRow | null> {
  let query = db.selectFrom('request_stats').selectAll().where('id', '=', id);
  if (startedAt !== undefined) query = query.where('started_at', '=', startedAt);
  const columns = await query.executeTakeFirst();
  return columns ? decodeRow(columns) : null;
}

/** Those that are there, in no order. */
export async function findRows(db: Kysely<Database>, ids: readonly string[]): Promise<RequestRow[]> {
  if (ids.length === 0) return [];
  const found = await db
    .selectFrom('request_stats')
    .selectAll()
    .where('id', 'in', [...ids])
    .execute();
  return found.map(decodeRow);
}
