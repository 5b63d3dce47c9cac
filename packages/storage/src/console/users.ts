/** The repository of console users. */
import { type Kysely, sql } from 'kysely';
import type { ListQuery } from '../catalog/resource-repository.ts';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { ConsoleUserColumns, Database } from '../schema.ts';
import { type ConsoleUser, toUser } from './console-user.ts';
import { insertSession, type NewConsoleSession } from './sessions.ts';

export type NewConsoleUser = Pick<ConsoleUser, 'id' | 'username' | 'role' | 'enabled' | 'passwordHash' | 'identity'> &
  Partial<Pick<ConsoleUser, 'email' | 'oidcValues'>>;
export type ConsoleUserChange = Partial<Pick<ConsoleUser, 'role' | 'enabled' | 'passwordHash' | 'email' | 'oidcValues'>>;

/** Reads console users. */
export interface UserReader {
  find(username: string): Promise<ConsoleUser | null>;
  findByIdentity(issuer: string, subject: string): Promise<ConsoleUser | null>;
  list(query: ListQuery): Promise<{ items: ConsoleUser[]; total: number }>;
  /** Re-hashes the same password, or notes a sign-in: neither changes the revision an admin sees. */
  touch(id: string, touch: { lastLoginAt: number; upgrade?: { from: string; to: string } }): Promise<void>;
}

/** Changes console users, inside `changeUsers`. */
export interface UserWriter extends UserReader {
  count(): Promise<number>;
  /** Enabled admins but this one. */
  countOtherAdmins(id: string): Promise<number>;
  /** Throws `conflict` when the name is taken. */
  insert(user: NewConsoleUser): Promise<ConsoleUser>;
  update(user: ConsoleUser, change: ConsoleUserChange): Promise<ConsoleUser>;
  remove(id: string): Promise<void>;
  insertSession(session: NewConsoleSession): Promise<void>;
  /** Ends every session of the user but `except`; gives how many. */
  endSessions(id: string, except?: string): Promise<number>;
  /** Hash of the `CONSOLE_PASSWORD` that was last applied to the first admin. */
  appliedPassword(): Promise<string | null>;
  setAppliedPassword(hash: string): Promise<void>;
}

type Translate = <T>(work: () => Promise<T>) => Promise<T>;

const sortable: Readonly<Record<string, keyof ConsoleUserColumns>> = {
  username: 'username',
  role: 'role',
  created_at: 'created_at',
  updated_at: 'updated_at',
  last_login_at: 'last_login_at',
};

export function createUserReader(db: Kysely<Database>, dialect: StorageDialect, translate: Translate): UserReader {
  const one = (rows: ConsoleUserColumns | undefined) => (rows ? toUser(rows) : null);
  return {
    find: (username) => translate(async () => one(await db.selectFrom('console_users').selectAll().where('username', '=', username).executeTakeFirst())),
    findByIdentity: (issuer, subject) =>
      translate(async () =>
        one(await db.selectFrom('console_users').selectAll().where('issuer', '=', issuer).where('subject', '=', subject).executeTakeFirst()),
      ),
    list: ({ page, pageSize, search, sort }) =>
      translate(async () => {
        const all = db.selectFrom('console_users');
        const matching = search ? all.where((eb) => dialect.contains(eb.ref('username'), search)) : all;
        const { total } = await matching.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
        const items = await matching
          .selectAll()
          .orderBy(sortable[sort?.column ?? 'username'] ?? 'username', sort?.descending ? 'desc' : 'asc')
          .orderBy('id')
          .limit(pageSize)
          .offset((page - 1) * pageSize)
          .execute();
        return { items: items.map(toUser), total: Number(total) };
      }),
    touch: (id, { lastLoginAt, upgrade }) =>
      translate(async () => {
        await db.updateTable('console_users').set({ last_login_at: lastLoginAt }).where('id', '=', id).execute();
        // Only if the hash is still the verified one: a password changed in the meantime stays.
        if (upgrade)
          await db.updateTable('console_users').set({ password_hash: upgrade.to }).where('id', '=', id).where('password_hash', '=', upgrade.from).execute();
      }),
  };
}

export function createUserWriter(db: Kysely<Database>, dialect: StorageDialect, { revision, now }: { revision: number; now: number }): UserWriter {
  const encode = (change: ConsoleUserChange) => ({
    ...(change.role !== undefined && { role: change.role }),
    ...(change.enabled !== undefined && { enabled: dialect.encodeBoolean(change.enabled) }),
    ...(change.passwordHash !== undefined && { password_hash: change.passwordHash }),
    ...(change.email !== undefined && { email: change.email }),
    ...(change.oidcValues !== undefined && { oidc_values: JSON.stringify(change.oidcValues) }),
  });
  const count = sql<number>`count(*)`.as('total');
  return {
    // The transaction's caller translates errors.
    ...createUserReader(db, dialect, (work) => work()),
    async count() {
      return Number((await db.selectFrom('console_users').select(count).executeTakeFirstOrThrow()).total);
    },
    async countOtherAdmins(id) {
      const others = db.selectFrom('console_users').where('role', '=', 'admin').where('enabled', '=', dialect.encodeBoolean(true)).where('id', '!=', id);
      return Number((await others.select(count).executeTakeFirstOrThrow()).total);
    },
    async insert({ id, username, role, enabled, passwordHash, identity, email = null, oidcValues = [] }) {
      const values = {
        id,
        username,
        role,
        enabled: dialect.encodeBoolean(enabled),
        password_hash: passwordHash,
        issuer: identity?.issuer ?? null,
        subject: identity?.subject ?? null,
        email,
        oidc_values: oidcValues.length === 0 ? null : JSON.stringify(oidcValues),
        etag: revision,
        created_at: now,
        updated_at: now,
        last_login_at: null,
      };
      await db.insertInto('console_users').values(values).execute();
      return toUser(values);
    },
    async update(user, change) {
      await db
        .updateTable('console_users')
        .set({ ...encode(change), etag: revision, updated_at: now })
        .where('id', '=', user.id)
        .execute();
      return { ...user, ...change, etag: revision, updatedAt: now };
    },
    async remove(id) {
      await db.deleteFrom('console_sessions').where('user_id', '=', id).execute();
      await db.deleteFrom('console_users').where('id', '=', id).execute();
    },
    insertSession: (session) => insertSession(db, session),
    async endSessions(id, except) {
      const mine = db.deleteFrom('console_sessions').where('user_id', '=', id);
      const { numDeletedRows } = await (except === undefined ? mine : mine.where('id', '!=', except)).executeTakeFirst();
      return Number(numDeletedRows);
    },
    async appliedPassword() {
      return (await db.selectFrom('console_state').select('applied_password_hash').where('id', '=', 1).executeTakeFirst())?.applied_password_hash ?? null;
    },
    async setAppliedPassword(hash) {
      await db.updateTable('console_state').set({ applied_password_hash: hash }).where('id', '=', 1).execute();
    },
  };
}
