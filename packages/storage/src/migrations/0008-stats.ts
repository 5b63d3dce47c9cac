/** Rows by day, sums by minute, hour and day, latencies as histograms, and sessions of coding agents. */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { StorageDialect } from '../dialects/dialect.ts';
import { dayMs, dayOf, otherPartition, partitionOf } from '../requests/days.ts';

const run = (db: Kysely<unknown>, statement: string) => sql.raw(statement).execute(db);

const indexes = {
  request_stats_id: 'id',
  request_stats_client_request_id: 'client_request_id) where (client_request_id is not null',
  request_stats_access_key: 'access_key, started_at',
  request_stats_model: 'model, started_at',
  request_stats_upstream: 'upstream, started_at',
  request_stats_session: 'session_id, started_at) where (session_id is not null',
  // Failed rows are few, and are what is searched for.
  request_stats_failed: 'started_at) where (error_code is not null',
};

export const statTables = ({ types, partitionsByDay, compactTable, identity }: StorageDialect): Migration => ({
  async up(db) {
    if (partitionsByDay) await partition(db);
    await run(db, `alter table request_stats add column cache_write_1h_tokens ${types.integer}`);
    for (const [name, on] of Object.entries(indexes)) await run(db, `create index if not exists ${name} on request_stats (${on})`);
    const { text, integer } = types;
    const dimensions = ['access_key', 'key_group', 'model', 'upstream', 'client_protocol', 'upstream_protocol', 'error', 'currency'];
    // One row for each combination that ever occurred, so that the sums below are whole numbers alone.
    await run(
      db,
      `create table stat_series (id ${identity}, key ${text} not null unique, scope ${text} not null, ${dimensions.map((name) => `${name} ${text} not null`).join(', ')})`,
    );
    for (const name of ['scope', 'access_key', 'model']) await run(db, `create index stat_series_${name} on stat_series (${name})`);
    const place = `series ${integer} not null, grain ${integer} not null, start ${integer} not null`;
    const sums = ['requests', 'errors', 'estimated', 'unpriced', 'input', 'output', 'cache_read', 'cache_write', 'reasoning', 'cost_micros', 'duration_ms'];
    const summed = sums.map((name) => `${name} ${integer} not null`).join(', ');
    await run(db, `create table stat_sums (${place}, ${summed}, primary key (series, grain, start)) ${compactTable}`);
    await run(
      db,
      `create table stat_latencies (${place}, kind ${integer} not null, bucket ${integer} not null, count ${integer} not null,
       primary key (series, grain, start, kind, bucket)) ${compactTable}`,
    );
    await run(
      db,
      `create table stat_sessions (session_id ${text} not null, access_key ${text} not null, currency ${text} not null, first_at ${integer} not null,
       last_at ${integer} not null, ${summed}, primary key (session_id, access_key, currency))`,
    );
    await run(db, 'create index stat_sessions_last_at on stat_sessions (last_at)');
    // Writers need no lock any more: the insert itself shows which rows are new.
    await run(db, 'drop table if exists spend_turn');
  },
});

/** Today's table becomes partitions of a day each. */
async function partition(db: Kysely<unknown>): Promise<void> {
  await run(db, 'set local statement_timeout = 0');
  await run(db, 'alter table request_stats rename to request_stats_before');
  // The names of its indexes are wanted by the new table.
  for (const name of Object.keys(indexes)) await run(db, `drop index if exists ${name}`);
  await run(db, 'alter table request_stats_before rename constraint request_stats_pkey to request_stats_before_pkey');
  await run(db, 'create table request_stats (like request_stats_before including defaults, primary key (started_at, id)) partition by range (started_at)');
  await run(db, `create table ${otherPartition} partition of request_stats default`);
  const { rows } = await sql<{ day: string | number }>`select distinct started_at / ${sql.lit(dayMs)} as day from request_stats_before`.execute(db);
  for (const { day } of rows) {
    const from = dayOf(Number(day) * dayMs);
    await run(db, `create table ${partitionOf(from)} partition of request_stats for values from (${from}) to (${from + dayMs})`);
  }
  await run(db, 'insert into request_stats select * from request_stats_before');
  await run(db, 'drop table request_stats_before');
}
