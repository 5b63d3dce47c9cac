/** Latencies lie with the sums they belong to, as counts by bucket in one text: one row is written where there were about ten, and read in a tenth of the time. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const latencyColumns = ({ mode, types: { text } }: StorageDialect): Migration => ({
  async up(db) {
    const run = (statement: string) => sql.raw(statement).execute(db);
    if (mode === 'postgresql') await run('set local statement_timeout = 0');
    for (const name of ['duration_counts', 'content_counts']) await run(`alter table stat_sums add column ${name} ${text} not null default ''`);
    const counts = (kind: number): string => `coalesce(string_agg(bucket || ':' || count, ' ') filter (where kind = ${kind}), '')`;
    await run(`update stat_sums as s set duration_counts = l.durations, content_counts = l.contents
      from (select series, grain, start, ${counts(0)} as durations, ${counts(1)} as contents from stat_latencies where count <> 0 group by series, grain, start) as l
      where s.series = l.series and s.grain = l.grain and s.start = l.start`);
    await run('drop table stat_latencies');
    // Hours lie together as they were written: a question about many series reads them so, and not by series all over the table. SQLite's table is its key.
    if (mode === 'postgresql') await run('create index stat_sums_start on stat_sums (grain, start)');
  },
});
