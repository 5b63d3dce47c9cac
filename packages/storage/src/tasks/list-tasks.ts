/** Tasks of all owners, for operators. */
import type { TaskStatus } from '@model-gateway/contracts';
import { type Kysely, type SqlBool, sql } from 'kysely';
import { readCursor, writeCursor } from '../requests/cursor.ts';
import type { Database } from '../schema.ts';

/** A task with sealed content. */
export interface StoredTask {
  owner: string;
  id: string;
  status: TaskStatus;
  content: string;
  reply: string | null;
}

/** One page of tasks. */
export interface TaskQuery {
  status?: TaskStatus | undefined;
  accessKey?: string | undefined;
  /** Canonical name of the model that serves it. */
  model?: string | undefined;
  /** Id of the request that began it. */
  request?: string | undefined;
  id?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

/** A task with the times that a list shows, in milliseconds since the epoch. */
export interface ListedTask extends StoredTask {
  createdAt: number;
  expiresAt: number;
  /** Leads to what comes after it. */
  cursor: string;
}

/** The newest first. Throws `validation_failed` naming `cursor`. */
export async function listTasks(db: Kysely<Database>, query: TaskQuery): Promise<{ items: ListedTask[]; hasMore: boolean }> {
  const position = query.cursor === undefined ? null : readCursor(query.cursor);
  let rows = db.selectFrom('tasks').select(['owner', 'id', 'status', 'content', 'reply', 'created_at', 'expires_at']);
  const { status, accessKey, model, request, id } = query;
  for (const [column, value] of Object.entries({ status, access_key: accessKey, model, request, id }))
    if (value !== undefined) rows = rows.where(column as 'status', '=', value);
  if (position) rows = rows.where(sql<SqlBool>`(created_at, id) < (${position.startedAt}, ${position.id})`);
  // One more than requested shows whether there is a next page.
  const found = await rows
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(query.limit + 1)
    .execute();
  const items = found.slice(0, query.limit).map(({ created_at: createdAt, expires_at: expiresAt, ...task }) => ({
    ...(task as StoredTask),
    createdAt: Number(createdAt),
    expiresAt: Number(expiresAt),
    cursor: writeCursor({ startedAt: Number(createdAt), id: task.id }),
  }));
  return { items, hasMore: found.length > query.limit };
}
