/** `model-gateway import litellm config.yaml`: another gateway's configuration as a file of this one, with a report of what became of each of its keys. */
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { ConfigError } from '@model-gateway/config';
import {
  type Converted,
  convertForeign,
  type Finding,
  type ForeignSource,
  foreignSources,
  settingsTable,
  tablesRead,
  UnreadableSource,
} from '@model-gateway/console/foreign';
import { readForeignTables } from '@model-gateway/storage';
import { stringify as printYaml } from 'yaml';
import { createApiClient } from './api-client.ts';
import { applyText } from './apply.ts';

const isSource = (text: string | undefined): text is ForeignSource => foreignSources.some((source) => source === text);

export async function importForeign(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      output: { type: 'string', short: 'o' },
      findings: { type: 'string' },
      apply: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      url: { type: 'string' },
    },
  });
  const [source, file, extra] = positionals;
  if (!isSource(source)) throw new ConfigError(`"${source ?? ''}" is not a known gateway; accepted: ${foreignSources.join(', ')}`);
  if (file === undefined) throw new ConfigError(`FILE is missing; accepted: ${accepted[source]}`);
  if (extra !== undefined) throw new ConfigError(`"${extra}" is one file too many; accepted: ${accepted[source]}`);
  const { file: converted, findings } = await convert(source, file);
  if (values.findings !== undefined) write(values.findings, `${JSON.stringify(findings, null, 2)}\n`, '--findings');
  const yaml = printYaml(converted, { lineWidth: 0 });
  process.stderr.write(report(findings));
  if (values.output !== undefined) write(values.output, yaml, '-o');
  if (values.apply || values['dry-run'])
    await applyText(createApiClient(values.url, env), yaml, { file: isAddress(file) ? source : file, dryRun: values['dry-run'], json: false, env });
  else if (values.output === undefined) process.stdout.write(yaml);
}

const tablesAccepted =
  'the path of its SQLite database, of a dump by mysqldump, or of its tables as JSON ({"channels": […], "tokens": […]}); or the address of its PostgreSQL (postgresql://…)';

const accepted: Readonly<Record<ForeignSource, string>> = {
  litellm: 'the path of its config.yaml',
  'new-api': tablesAccepted,
  'one-api': tablesAccepted,
};

const isAddress = (file: string): boolean => /^postgres(?:ql)?:\/\//i.test(file);

async function convert(source: ForeignSource, file: string): Promise<Converted> {
  if (source !== 'litellm' && isAddress(file)) return convertForeign(source, JSON.stringify(await readPostgres(file)));
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (cause) {
    throw new ConfigError(`"${file}" cannot be read (${(cause as NodeJS.ErrnoException).code}); accepted: ${accepted[source]}`, { cause });
  }
  const isDatabase = bytes.subarray(0, 16).toString('latin1') === 'SQLite format 3\0';
  try {
    return convertForeign(source, isDatabase ? readDatabase(file) : bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof UnreadableSource) throw new ConfigError(`"${file}" ${error.message}; accepted: ${accepted[source]}`, { cause: error });
    throw error;
  }
}

/** An address holds a password: no message has it. */
async function readPostgres(url: string): Promise<Record<string, unknown>> {
  try {
    return await readForeignTables(url, { rows: tablesRead, settings: settingsTable });
  } catch (error) {
    const { code } = error as { code?: string };
    throw new ConfigError(`the PostgreSQL database cannot be read (${code ?? 'no answer'}); accepted: ${tablesAccepted}`);
  }
}

function readDatabase(file: string): string {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const names = database.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name").all();
    const tables = names.map(({ name }): [string, unknown] => {
      const table = `"${String(name).replaceAll('"', '""')}"`;
      if (tablesRead.has(String(name))) return [String(name), database.prepare(`select * from ${table}`).all()];
      if (name === settingsTable)
        return [
          settingsTable,
          Object.fromEntries(
            database
              .prepare('select * from options')
              .all()
              .map((row) => [String(row['key']), row['value']]),
          ),
        ];
      return [String(name), `${String(database.prepare(`select count(*) as rows from ${table}`).get()?.['rows'])} rows`];
    });
    return JSON.stringify(Object.fromEntries(tables));
  } finally {
    database.close();
  }
}

/** What needs a look, and how many keys there are of each kind. */
function report(findings: readonly Finding[]): string {
  const count = (status: string): number => findings.filter((one) => one.status === status).length;
  const lines = findings
    .filter(({ status }) => status !== 'exact')
    .map(({ source_path, status, message }) => `${status.padEnd(12)} ${source_path}: ${message}\n`);
  return `${lines.join('')}${findings.length} keys: ${['exact', 'approximate', 'manual', 'unsupported'].map((status) => `${count(status)} ${status}`).join(', ')}\n`;
}

/** It may hold keys in full. */
function write(file: string, text: string, option: string): void {
  try {
    writeFileSync(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new ConfigError(`${option} "${file}" cannot be written (${(cause as NodeJS.ErrnoException).code}); accepted: a file that may be written`, { cause });
  }
}
