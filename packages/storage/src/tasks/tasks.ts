/** The repository of upstreams' tasks. */
import type { SpendOwner, TaskStatus } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import { deleteInPieces } from '../delete-in-pieces.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { type ListedTask, listTasks, type StoredTask, type TaskQuery } from './list-tasks.ts';
import { addReservation, holdUntil, readHeld, type TaskReservation } from './task-reservations.ts';

/** A task that begins. */
export interface NewTask {
  owner: string;
  id: string;
  content: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  dueAt: number;
  expiresAt: number;
  /** What operators look it up by: names of its access key and model, and the id of the request that began it. */
  accessKey?: string;
  model?: string;
  request?: string;
  /** Absent: it holds nothing of any budget. */
  reservation?: TaskReservation;
}

/** How a task ended. */
export interface EndedTask {
  owner: string;
  id: string;
  status: Exclude<TaskStatus, 'running'>;
  reply: string;
  /** Milliseconds since the epoch: its row may not have been counted before. */
  heldUntil: number;
}

export interface TasksRepository {
  /** Changes nothing where one of this id is there. */
  add(task: NewTask): Promise<void>;
  find(owner: string, id: string): Promise<StoredTask | undefined>;
  /** Unfinished tasks that are due, those that have waited longest first; nobody else gets them before `leaseMs` are over. */
  lease(limit: number, leaseMs: number): Promise<StoredTask[]>;
  /** When an unfinished task is due again. */
  setDue(owner: string, id: string, dueAt: number): Promise<void>;
  /** false: it has ended already, or is not there. What it holds of budgets it holds no longer than `heldUntil`. */
  end(task: EndedTask): Promise<boolean>;
  /** Of all owners, the newest first. Throws `validation_failed` naming `cursor`. */
  list(query: TaskQuery): Promise<{ items: ListedTask[]; hasMore: boolean }>;
  /** What tasks that began since each owner's `from` hold of budgets now, in millionths. */
  held(owners: readonly SpendOwner[]): Promise<number[]>;
  /** Forgets what has expired. Resolves with the number of tasks. `stopped` ends it early. */
  prune(stopped?: () => boolean): Promise<number>;
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
    add: ({ owner, id, content, createdAt, dueAt, expiresAt, accessKey = null, model = null, request = null, reservation }) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          const times = { created_at: createdAt, due_at: dueAt, expires_at: expiresAt };
          const row = { owner, id, status: 'running', ...times, content, reply: null, access_key: accessKey, model, request };
          const { numInsertedOrUpdatedRows } = await transaction
            .insertInto('tasks')
            .values(row)
            .onConflict((conflict) => conflict.columns(['owner', 'id']).doNothing())
            .executeTakeFirst();
          if (reservation && numInsertedOrUpdatedRows) await addReservation(transaction, { id, createdAt }, reservation);
        }),
      ),
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
    end: ({ owner, id, status, reply, heldUntil }) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          const { numUpdatedRows } = await transaction
            .updateTable('tasks')
            .set({ status, reply, due_at: null })
            .where('owner', '=', owner)
            .where('id', '=', id)
            .where('due_at', 'is not', null)
            .executeTakeFirst();
          if (numUpdatedRows === 0n) return false;
          await holdUntil(transaction, id, heldUntil);
          return true;
        }),
      ),
    list: (query) => translate(() => listTasks(db, query)),
    held: (owners) => translate(() => readHeld(db, owners, now())),
    prune: (stopped = () => false) =>
      translate(async () => {
        const time = now();
        const reservations = { table: 'task_reservations', key: ['task', 'currency'], where: sql`until <= ${time}`, order: 'until' };
        await deleteInPieces(db, reservations, stopped);
        const tasks = { table: 'tasks', key: ['owner', 'id'], where: sql`expires_at <= ${time}`, order: 'expires_at' };
        return deleteInPieces(db, tasks, stopped);
      }),
  };
}
