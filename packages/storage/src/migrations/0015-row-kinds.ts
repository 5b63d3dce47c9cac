/** The kind of a row, and audio tokens, which are counted separately from those of text. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

export const rowKindColumns = ({ text, integer }: StorageDialect['types']): Migration => ({
  async up(db) {
    await run(db, `alter table request_stats add column kind ${text} not null default 'call'`);
    // The request whose second row it is.
    await run(db, `alter table request_stats add column of ${text}`);
    for (const name of ['audio_input_tokens', 'audio_output_tokens'])
      await run(db, `alter table request_stats add column ${name} ${integer} not null default 0`);
    for (const table of ['stat_sums', 'stat_sessions'])
      for (const name of ['audio_input', 'audio_output']) await run(db, `alter table ${table} add column ${name} ${integer} not null default 0`);
  },
});
