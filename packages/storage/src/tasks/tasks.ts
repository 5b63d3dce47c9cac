/** The repository of upstreams' tasks. */
import type { TaskStatus } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

/** A task with sealed content. */
export interface StoredTask {
  owner: string;
  id: string;
  status: TaskStatus;
  content: string;
  reply: string | null;
}

/** A task that begins. */
export interface NewTask {
  owner: string;
  id: string;
  content: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  dueAt: number;
  expiresAt: number;
}

export interface TasksRepository {
  /** Changes nothing where one of this id is there. */
  add(task: NewTask): Promise<void>;
  find(owner: string, id: string): Promise<StoredTask | undefined>;
  /** Unfinished tasks that are due, those that have waited longest first; nobody else gets them before `leaseMs` are over. */
  lease(limit: number, leaseMs: number): Promise<StoredTask[]>;
  /** When an unfinished task is due again. */
  setDue(owner: string, id: string, dueAt: number): Promise<void>;
  /** false: it has ended already, or is not there. */
  end(owner: string, id: string, status: Exclude<TaskStatus, 'running'>, reply: string): Promise<boolean>;
  /** Forgets what has expired. Resolves with the number of tasks. */
  prune(): Promise<number>;
}

const columns = ['owner', 'id', 'status', 'content', 'reply'] as const;

export function createTasks(db: Kysely<Database>, dialect: StorageDialect, now: () => number): TasksRepository {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    add: ({ owner, id, content, createdAt, dueAt, expiresAt }) =>
      translate(async () => {
        const row = { owner, id, status: 'running', created_at: createdAt, due_at: dueAt, expires_at: expiresAt, content, reply: null };
        await db
          .insertInto('tasks')
          .values(row)
          .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
          .execute();
      }),
    find: (owner, id) =>
      translate(async () => {
        const row = await db.selectFrom('tasks').select(columns).where('owner', '=', owner).where('id', '=', id).executeTakeFirst();
        return row as StoredTask | undefined;
      }),
    lease: (limit, leaseMs) =>
      translate(async () => {
        const due = await db
          .selectFrom('tasks')
          .select([...columns, 'due_at'])
          .where('due_at', '<=', now())
          .orderBy('due_at')
          .limit(limit)
          .execute();
        const leased: StoredTask[] = [];
        for (const { due_at: dueAt, ...task } of due) {
          // Another process that was faster has changed the time.
          const { numUpdatedRows } = await db
            .updateTable('tasks')
            .set({ due_at: now() + leaseMs })
            .where('owner', '=', task.owner)
            .where('id', '=', task.id)
            .where('due_at', '=', dueAt)
            .executeTakeFirst();
          if (numUpdatedRows > 0n) leased.push(task as StoredTask);
        }
        return leased;
      }),
    setDue: (owner, id, dueAt) =>
      translate(async () => {
        await db.updateTable('tasks').set({ due_at: dueAt }).where('owner', '=', owner).where('id', '=', id).where('due_at', 'is not', null).execute();
      }),
    end: (owner, id, status, reply) =>
      translate(async () => {
        const { numUpdatedRows } = await db
          .updateTable('tasks')
          .set({ status, reply, due_at: null })
          .where('owner', '=', owner)
          .where('id', '=', id)
          .where('due_at', 'is not', null)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    prune: () =>
      translate(async () => {
        const { numDeletedRows } = await db.deleteFrom('tasks').where('expires_at', '<=', now()).executeTakeFirst();
        return Number(numDeletedRows);
      }),
  };
}
