/** Latencies lie with the sums they belong to, as counts by bucket in one text: one row is written where there were about ten, and read in a tenth of the time. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const latencyColumns = ({ mode, types: { text } }: StorageDialect): Migration => ({
  async up(db) {
    const run = (statement: string) => sql.raw(statement).execute(db);
    if (mode === 'postgresql') await run('set local statement_timeout = 0');
    // No version that was released has written latencies: what lies there is not carried over, and a large table is not rewritten.
    for (const name of ['duration_counts', 'content_counts']) await run(`alter table stat_sums add column ${name} ${text} not null default ''`);
    await run('drop table stat_latencies');
    if (mode !== 'postgresql') return;
    // Hours lie together as they were written: a question about many series reads them so, and not by series all over the table. SQLite's table is its key.
    await run('create index stat_sums_start on stat_sums (grain, start)');
    // Who looks for slow requests and finds few would read every row of the range. Equal durations share an entry.
    await run('create index request_stats_duration on request_stats (duration_ms)');
    // Sums of this hour and day are written again and again: with room on its page a new version needs no entry in an index.
    await run('alter table stat_sums set (fillfactor = 60)');
  },
});
