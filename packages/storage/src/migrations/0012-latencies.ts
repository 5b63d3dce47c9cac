/** Latencies are stored with their sums, as counts by bucket in one text: one row is written where there were about ten, and read in a tenth of the time. */
import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';

export const latencyColumns = ({ mode, types: { text } }: StorageDialect): Migration => ({
  async up(db) {
    const run = (statement: string) => sql.raw(statement).execute(db);
    if (mode === 'postgresql') await run('set local statement_timeout = 0');
    // No released version has written latencies: they are not carried over, and a large table is not rewritten.
    for (const name of ['duration_counts', 'content_counts']) await run(`alter table stat_sums add column ${name} ${text} not null default ''`);
    await run('drop table stat_latencies');
    if (mode !== 'postgresql') return;
    // Rows of one hour are stored together, in the order they were written: a query over many series reads them so, and not by series all over the
    // table. In SQLite the table itself is the index.
    await run('create index stat_sums_start on stat_sums (grain, start)');
    // A search for slow requests that finds few would read every row of the range. Equal durations share an index entry.
    await run('create index request_stats_duration on request_stats (duration_ms)');
    // Sums of the current hour and day are updated again and again: with free space on the page, PostgreSQL can update a row without touching its
    // indexes (HOT).
    await run('alter table stat_sums set (fillfactor = 60)');
  },
});
