/** Tokens of images, and of models that helped: both have prices of their own. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const imageTokenColumns = ({ integer, json }: StorageDialect['types']): Migration => ({
  async up(db) {
    for (const name of ['image_input_tokens', 'image_output_tokens'])
      await sql.raw(`alter table request_stats add column ${name} ${integer} not null default 0`).execute(db);
    await sql.raw(`alter table request_stats add column helpers ${json} not null default '[]'`).execute(db);
  },
});
