/** What changes of stored turns are made with. */
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import type { OwnerBytes } from './owner-bytes.ts';

/** What a change needs of the store. */
export interface WriteContext {
  db: Kysely<Database>;
  dialect: StorageDialect;
  now: number;
  bytes: OwnerBytes;
}
