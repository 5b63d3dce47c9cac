/** The repository of console users and their sessions; every change of users runs alone, so that what it checked stays true. */
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createUserReader, createUserWriter, type UserReader, type UserWriter } from './users.ts';

/** The repository of console users and their sessions. */
export interface ConsoleStore {
  users: UserReader;
  sessions: Sessions;
  /** One transaction at a time over all processes. Commits when `work` resolves. */
  changeUsers<T>(work: (writer: UserWriter) => Promise<T>): Promise<T>;
}

export function createConsoleStore(db: Kysely<Database>, dialect: StorageDialect, now: () => number): ConsoleStore {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  return {
    users: createUserReader(db, dialect, translate),
    sessions: createSessions(db, translate),
    changeUsers: (work) =>
      translate(() =>
        db.transaction().execute(async (transaction) => {
          // The first statement of every change: it takes the row's lock.
          const { revision } = await transaction
            .updateTable('console_state')
            .set({ revision: sql<number>`revision + 1` })
            .where('id', '=', 1)
            .returning('revision')
            .executeTakeFirstOrThrow();
          return work(createUserWriter(transaction, dialect, { revision, now: now() }));
        }),
      ),
  };
}
