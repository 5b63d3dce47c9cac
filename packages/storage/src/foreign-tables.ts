/** Tables of another program's PostgreSQL, read in one transaction that may not write. */
import pg from 'pg';

/** What is read of it. */
export interface WantedTables {
  /** Whose rows are read; of all others it is said how many rows they have. */
  rows: ReadonlySet<string>;
  /** A table of the columns `key` and `value`, read as one object. */
  settings: string;
}

const int8 = 20;
const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === int8 ? Number : pg.types.getTypeParser(oid, format)),
} as pg.CustomTypesConfig;

const timeoutMs = 60_000;

/** By table. Rejects with what the driver says, which quotes no password. */
export async function readForeignTables(url: string, { rows: wanted, settings }: WantedTables): Promise<Record<string, unknown>> {
  const client = new pg.Client({ connectionString: url, types, connectionTimeoutMillis: 10_000, statement_timeout: timeoutMs, query_timeout: timeoutMs });
  // A connection that is lost afterwards rejects the query under way.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('begin transaction isolation level repeatable read read only');
    const { rows: found } = await client.query<{ name: string; place: string }>(
      "select table_name as name, quote_ident(table_schema) || '.' || quote_ident(table_name) as place from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE' order by table_name",
    );
    const tables: Record<string, unknown> = {};
    for (const { name, place } of found) {
      if (wanted.has(name)) tables[name] = (await client.query(`select * from ${place} order by id`)).rows;
      else if (name === settings)
        tables[name] = Object.fromEntries(
          (await client.query<{ key: string; value: unknown }>(`select key, value from ${place}`)).rows.map(({ key, value }) => [key, value]),
        );
      else tables[name] = `${(await client.query<{ count: number }>(`select count(*) as count from ${place}`)).rows[0]?.count ?? 0} rows`;
    }
    return tables;
  } finally {
    await client.end();
  }
}
