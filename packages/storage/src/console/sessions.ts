/** The repository of console sessions, by the hash of their token, and of the one-time codes that are exchanged for one. */
import type { Kysely } from 'kysely';
import type { ConsoleSessionColumns, ConsoleUserColumns, Database } from '../schema.ts';
import { type ConsoleUser, toUser } from './console-user.ts';

/** A session of the console; times in ms since the epoch. */
export interface ConsoleSession {
  /** Shown in lists; not a credential. */
  id: string;
  userId: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  lastSeenAt: number;
  /** Extended with each use. */
  expiresAt: number;
  /** Never extended. */
  endsAt: number;
  ipAddress: string;
  userAgent: string;
}

/** A session to store, with the hash of its token. */
export interface NewConsoleSession extends ConsoleSession {
  /** Lower-case hex SHA-256. */
  tokenHash: string;
}

/** A one-time code that a browser exchanges for a session; `expiresAt` in ms since the epoch. */
export interface SignInCode {
  /** Lower-case hex SHA-256. */
  codeHash: string;
  userId: string;
  expiresAt: number;
}

/** The repository of console sessions. */
export interface Sessions {
  /** With its user; null when there is none or it has expired. */
  find(tokenHash: string, now: number): Promise<{ session: ConsoleSession; user: ConsoleUser } | null>;
  slide(id: string, seen: { lastSeenAt: number; expiresAt: number; ipAddress: string; userAgent: string }): Promise<void>;
  /** Newest use first. */
  listOf(userId: string, now: number, limit: number): Promise<ConsoleSession[]>;
  /** Of every user, with their names. */
  listAll(now: number, limit: number): Promise<(ConsoleSession & { username: string })[]>;
  /** The user whose session it was; null when there is no such session (of this user). */
  remove(id: string, ofUser?: string): Promise<ConsoleUser | null>;
  /** Deletes expired sessions and codes. */
  removeExpired(now: number): Promise<void>;
  insertCode(code: SignInCode): Promise<void>;
  /** Each code works once. */
  takeCode(codeHash: string, now: number): Promise<ConsoleUser | null>;
}

const toSession = (row: ConsoleSessionColumns): ConsoleSession => ({
  id: row.id,
  userId: row.user_id,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
  endsAt: row.ends_at,
  ipAddress: row.ip_address,
  userAgent: row.user_agent,
});

/** Inside a change of users, so that no session can be created beside one that ends them all. */
export async function insertSession(db: Kysely<Database>, session: NewConsoleSession): Promise<void> {
  const { id, tokenHash, userId, createdAt, lastSeenAt, expiresAt, endsAt, ipAddress, userAgent } = session;
  const times = { created_at: createdAt, last_seen_at: lastSeenAt, expires_at: expiresAt, ends_at: endsAt };
  await db
    .insertInto('console_sessions')
    .values({ id, token_hash: tokenHash, user_id: userId, ...times, ip_address: ipAddress, user_agent: userAgent })
    .execute();
}

export function createSessions(db: Kysely<Database>, translate: <T>(work: () => Promise<T>) => Promise<T>): Sessions {
  const alive = (now: number) => db.selectFrom('console_sessions').where('console_sessions.expires_at', '>', now).where('console_sessions.ends_at', '>', now);
  const userOf = (id: string): Promise<ConsoleUserColumns | undefined> => db.selectFrom('console_users').selectAll().where('id', '=', id).executeTakeFirst();
  return {
    find: (tokenHash, now) =>
      translate(async () => {
        const row = await alive(now).selectAll().where('token_hash', '=', tokenHash).executeTakeFirst();
        const user = row && (await userOf(row.user_id));
        return row && user ? { session: toSession(row), user: toUser(user) } : null;
      }),
    slide: (id, { lastSeenAt, expiresAt, ipAddress, userAgent }) =>
      translate(async () => {
        await db
          .updateTable('console_sessions')
          .set({ last_seen_at: lastSeenAt, expires_at: expiresAt, ip_address: ipAddress, user_agent: userAgent })
          .where('id', '=', id)
          .execute();
      }),
    listOf: (userId, now, limit) =>
      translate(async () =>
        (await alive(now).selectAll().where('user_id', '=', userId).orderBy('last_seen_at', 'desc').orderBy('id').limit(limit).execute()).map(toSession),
      ),
    listAll: (now, limit) =>
      translate(async () => {
        const rows = await alive(now)
          .innerJoin('console_users', 'console_users.id', 'console_sessions.user_id')
          .selectAll('console_sessions')
          .select('console_users.username')
          .orderBy('last_seen_at', 'desc')
          .orderBy('console_sessions.id')
          .limit(limit)
          .execute();
        return rows.map((row) => ({ ...toSession(row), username: row.username }));
      }),
    remove: (id, ofUser) =>
      translate(async () => {
        const one = db.deleteFrom('console_sessions').where('id', '=', id);
        const row = await (ofUser === undefined ? one : one.where('user_id', '=', ofUser)).returning('user_id').executeTakeFirst();
        const user = row && (await userOf(row.user_id));
        return user ? toUser(user) : null;
      }),
    removeExpired: (now) =>
      translate(async () => {
        await db
          .deleteFrom('console_sessions')
          .where((eb) => eb.or([eb('expires_at', '<=', now), eb('ends_at', '<=', now)]))
          .execute();
        await db.deleteFrom('console_sign_in_codes').where('expires_at', '<=', now).execute();
      }),
    insertCode: ({ codeHash, userId, expiresAt }) =>
      translate(async () => {
        await db.insertInto('console_sign_in_codes').values({ code_hash: codeHash, user_id: userId, expires_at: expiresAt }).execute();
      }),
    takeCode: (codeHash, now) =>
      translate(async () => {
        const row = await db.deleteFrom('console_sign_in_codes').where('code_hash', '=', codeHash).returning(['user_id', 'expires_at']).executeTakeFirst();
        const user = row && row.expires_at > now ? await userOf(row.user_id) : undefined;
        return user ? toUser(user) : null;
      }),
  };
}
