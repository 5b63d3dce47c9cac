/**
 * The repository of credentials that upstreams get by a login. Every change names the version of the row that it was made for: of two processes that
 * change one row, the second one learns that it was late. That is the lock of the refresh, too.
 */
import type { SsoProfileId, SsoState } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database, SsoCredentialColumns } from '../schema.ts';

/** A credential as it is kept; times in ms since the epoch. */
export interface SsoCredential {
  id: string;
  name: string;
  profile: SsoProfileId;
  /** Whose it is at the vendor; null: nobody knows. It never changes once it is known. */
  account: string | null;
  description: string;
  /** Secret ones are with the tokens. */
  settings: Readonly<Record<string, string>>;
  /** Sealed; null: there are none any more. */
  tokens: string | null;
  /** Names the access token. */
  tokenId: string | null;
  /** `refreshing` is never stored: a row is when `refreshingUntil` is still to come. */
  state: Exclude<SsoState, 'refreshing'>;
  lastError: string | null;
  expiresAt: number | null;
  /** When a refresh is due, also one that failed; null: never. */
  refreshAt: number | null;
  /** Until then a process has the right to refresh. */
  refreshingUntil: number | null;
  /** When an upstream's 401 was last answered by a refresh. */
  forcedAt: number | null;
  refreshedAt: number | null;
  version: number;
  createdAt: number;
  updatedAt: number;
}

export type NewSsoCredential = Omit<SsoCredential, 'version' | 'createdAt' | 'updatedAt' | 'refreshingUntil' | 'forcedAt' | 'refreshedAt'>;
export type SsoCredentialPatch = Partial<Omit<SsoCredential, 'id' | 'name' | 'version' | 'createdAt' | 'updatedAt'>>;

/** A login that somebody has begun. */
export interface SsoLogin {
  id: string;
  /** Sealed. */
  content: string;
  version: number;
  expiresAt: number;
}

export interface SsoCredentialRepository {
  all(): Promise<SsoCredential[]>;
  find(name: string): Promise<SsoCredential | undefined>;
  /** false: the name is taken. */
  insert(credential: NewSsoCredential): Promise<boolean>;
  /** Changes the row where it still has this version. Resolves with the new version, or null: somebody else was faster. */
  update(id: string, version: number, patch: SsoCredentialPatch): Promise<number | null>;
  remove(id: string): Promise<boolean>;
  /** Credentials whose refresh is due. */
  due(limit: number): Promise<SsoCredential[]>;
  addLogin(login: Omit<SsoLogin, 'version'>): Promise<void>;
  findLogin(id: string): Promise<SsoLogin | undefined>;
  /** As `update`. */
  updateLogin(id: string, version: number, content: string): Promise<boolean>;
  /** Whether it was still there: what is done once is done by who removed it. */
  removeLogin(id: string): Promise<boolean>;
  pruneLogins(): Promise<void>;
}

const columnNames = {
  account: 'account',
  profile: 'profile',
  description: 'description',
  settings: 'settings',
  tokens: 'tokens',
  tokenId: 'token_id',
  state: 'state',
  lastError: 'last_error',
  expiresAt: 'expires_at',
  refreshAt: 'refresh_at',
  refreshingUntil: 'refreshing_until',
  forcedAt: 'forced_at',
  refreshedAt: 'refreshed_at',
} as const satisfies Record<keyof SsoCredentialPatch, keyof SsoCredentialColumns>;

const fromRow = (row: SsoCredentialColumns): SsoCredential => ({
  id: row.id,
  name: row.name,
  profile: row.profile as SsoProfileId,
  account: row.account,
  description: row.description,
  settings: JSON.parse(row.settings) as Record<string, string>,
  tokens: row.tokens,
  tokenId: row.token_id,
  state: row.state as SsoCredential['state'],
  lastError: row.last_error,
  expiresAt: row.expires_at,
  refreshAt: row.refresh_at,
  refreshingUntil: row.refreshing_until,
  forcedAt: row.forced_at,
  refreshedAt: row.refreshed_at,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

const toColumns = (patch: SsoCredentialPatch): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(patch).map(([name, value]) => [columnNames[name as keyof SsoCredentialPatch], name === 'settings' ? JSON.stringify(value) : value]),
  );

export function createSsoCredentials(db: Kysely<Database>, dialect: StorageDialect, now: () => number): SsoCredentialRepository {
  const translate = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw dialect.translateError(error);
    }
  };
  const select = () => db.selectFrom('sso_credentials').selectAll();
  return {
    all: () => translate(async () => (await select().orderBy('name').execute()).map(fromRow)),
    find: (name) =>
      translate(async () => {
        const row = await select().where('name', '=', name).executeTakeFirst();
        return row && fromRow(row);
      }),
    insert: ({ id, name, ...fields }) =>
      translate(async () => {
        const at = now();
        const row = { id, name, ...toColumns(fields), version: 1, created_at: at, updated_at: at, refreshing_until: null, forced_at: null, refreshed_at: null };
        const { numInsertedOrUpdatedRows } = await db
          .insertInto('sso_credentials')
          .values(row as SsoCredentialColumns)
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        return (numInsertedOrUpdatedRows ?? 0n) > 0n;
      }),
    update: (id, version, patch) =>
      translate(async () => {
        const { numUpdatedRows } = await db
          .updateTable('sso_credentials')
          .set({ ...toColumns(patch), version: version + 1, updated_at: now() })
          .where('id', '=', id)
          .where('version', '=', version)
          .executeTakeFirst();
        return numUpdatedRows > 0n ? version + 1 : null;
      }),
    remove: (id) =>
      translate(async () => {
        const { numDeletedRows } = await db.deleteFrom('sso_credentials').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    due: (limit) =>
      translate(async () => {
        const rows = await select().where('refresh_at', '<=', now()).where('state', '=', 'ok').orderBy('refresh_at').limit(limit).execute();
        return rows.map(fromRow);
      }),
    ...loginStore(db, translate, now),
  };
}

function loginStore(db: Kysely<Database>, translate: <T>(work: () => Promise<T>) => Promise<T>, now: () => number) {
  return {
    addLogin: ({ id, content, expiresAt }: Omit<SsoLogin, 'version'>) =>
      translate(async () => {
        await db.insertInto('sso_logins').values({ id, content, version: 1, expires_at: expiresAt }).execute();
      }),
    findLogin: (id: string) =>
      translate(async () => {
        const row = await db.selectFrom('sso_logins').selectAll().where('id', '=', id).where('expires_at', '>', now()).executeTakeFirst();
        return row && { id: row.id, content: row.content, version: row.version, expiresAt: row.expires_at };
      }),
    updateLogin: (id: string, version: number, content: string) =>
      translate(async () => {
        const { numUpdatedRows } = await db
          .updateTable('sso_logins')
          .set({ content, version: version + 1 })
          .where('id', '=', id)
          .where('version', '=', version)
          .executeTakeFirst();
        return numUpdatedRows > 0n;
      }),
    removeLogin: (id: string) =>
      translate(async () => {
        const { numDeletedRows } = await db.deleteFrom('sso_logins').where('id', '=', id).executeTakeFirst();
        return numDeletedRows > 0n;
      }),
    pruneLogins: () =>
      translate(async () => {
        await db.deleteFrom('sso_logins').where('expires_at', '<=', now()).execute();
      }),
  };
}
