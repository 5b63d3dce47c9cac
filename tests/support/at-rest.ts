/** Everything that a gateway keeps: each file of its processes and of its bus server, and each row of its database. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { TestGateway } from './gateway.ts';

/** Names of the files and tables, with what they hold as text. */
export async function keptTexts(gateway: TestGateway): Promise<Map<string, string>> {
  const kept = new Map<string, string>();
  for (const folder of [gateway.home, gateway.nats?.store ?? null]) {
    if (folder === null) continue;
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      try {
        kept.set(path, readFileSync(path, 'latin1'));
      } catch {
        // Gone meanwhile: a journal that was rolled up.
      }
    }
  }
  if (gateway.databaseUrl !== undefined) for (const [table, text] of await tablesOf(gateway.databaseUrl)) kept.set(table, text);
  return kept;
}

async function tablesOf(url: string): Promise<[string, string][]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>('select tablename as name from pg_tables where schemaname = current_schema()');
    const texts: [string, string][] = [];
    for (const { name } of tables) {
      const { rows } = await client.query<{ text: string }>(`select row_to_json(one)::text as text from "${name}" one`);
      texts.push([`table ${name}`, rows.map(({ text }) => text).join('\n')]);
    }
    return texts;
  } finally {
    await client.end();
  }
}
