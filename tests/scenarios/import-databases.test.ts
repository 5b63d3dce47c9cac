/** new-api out of the databases that it runs on: PostgreSQL by its address, MySQL by a dump; both come out as the same tables as JSON do. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError } from '@model-gateway/config';
import pg from 'pg';
import { importForeign } from '../../deploy/cli/src/commands/import.ts';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../support/postgres.ts';

const channel = { id: 1, type: 1, key: 'sk-of-the-channel', name: 'openai', status: 1, base_url: 'https://api.openai.com', models: 'gpt-4o', group: 'default' };
const token = { id: 7, user_id: 1, key: 'k'.repeat(48), name: "ada's", status: 1, expired_time: -1, remain_quota: 500_000, unlimited_quota: false, group: '' };
const tables = { channels: [channel], options: { SystemName: 'ours' }, tokens: [token], users: '2 rows' };

const mysqlDump = `-- MySQL dump 10.13
CREATE TABLE \`channels\` (
${Object.keys(channel)
  .map((name) => `  \`${name}\` text`)
  .join(',\n')}
) ENGINE=InnoDB;
INSERT INTO \`channels\` VALUES (1,1,'sk-of-the-channel','openai',1,'https://api.openai.com','gpt-4o','default');
INSERT INTO \`options\` (\`key\`, \`value\`) VALUES ('SystemName','ours');
INSERT INTO \`tokens\` (${Object.keys(token)
  .map((name) => `\`${name}\``)
  .join(', ')}) VALUES (7,1,'${token.key}','ada\\'s',1,-1,500000,0,'');
CREATE TABLE \`users\` (
  \`id\` bigint
) ENGINE=InnoDB;
INSERT INTO \`users\` VALUES (1),(2);
`;

const suite = postgresAvailable() ? describe : describe.skip;

suite('new-api', () => {
  let server: TestPostgres;
  let url: string;
  const folder = mkdtempSync(join(tmpdir(), 'import-databases-'));
  const converted = async (source: string) => {
    await importForeign(['new-api', source, '-o', join(folder, 'out.yaml'), '--findings', join(folder, 'findings.json')], {});
    return { file: readFileSync(join(folder, 'out.yaml'), 'utf8'), findings: JSON.parse(readFileSync(join(folder, 'findings.json'), 'utf8')) };
  };
  const fromJson = () => {
    writeFileSync(join(folder, 'tables.json'), JSON.stringify(tables));
    return converted(join(folder, 'tables.json'));
  };
  beforeAll(async () => {
    server = await openTestPostgres();
    url = await server.createDatabase();
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const insert = async (table: string, row: object) => {
      const names = Object.keys(row).map((name) => `"${name}"`);
      await client.query(`insert into ${table} (${names.join(', ')}) values (${names.map((_, at) => `$${at + 1}`).join(', ')})`, Object.values(row));
    };
    await client.query(`create table channels (id bigint, type bigint, key text, name text, status bigint, base_url text, models text, "group" text)`);
    await client.query(`create table tokens (id bigint, user_id bigint, key text, name text, status bigint, expired_time bigint, remain_quota bigint,
      unlimited_quota boolean, "group" text)`);
    await client.query('create table options (key text, value text)');
    await client.query('create table users (id bigint)');
    await client.query('insert into users values (1), (2)');
    await insert('channels', channel);
    await insert('tokens', token);
    await insert('options', { key: 'SystemName', value: 'ours' });
    await client.end();
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('out of PostgreSQL', async () => {
    const found = await converted(url);
    expect(found).toEqual(await fromJson());
    expect(found.file).toContain(`sk-${token.key}`);
    expect(found.findings.map(({ source_path }: { source_path: string }) => source_path)).toEqual(expect.arrayContaining(['users', 'options.SystemName']));
  });

  test('out of a dump of MySQL', async () => {
    writeFileSync(join(folder, 'new-api.sql'), mysqlDump);
    const [found, wanted] = [await converted(join(folder, 'new-api.sql')), await fromJson()];
    expect(found.file).toBe(wanted.file);
    expect(found.findings.map(({ source_path, status }: Record<string, string>) => `${source_path} ${status}`).sort()).toEqual(
      wanted.findings.map(({ source_path, status }: Record<string, string>) => `${source_path} ${status}`).sort(),
    );
  });

  test('a dump that is cut, and a database that is not there, are refused in words without a key or a password', async () => {
    writeFileSync(join(folder, 'cut.sql'), mysqlDump.slice(0, mysqlDump.indexOf('gpt-4o')));
    const faultOf = (source: string) =>
      importForeign(['new-api', source], {}).then(
        () => new Error('taken'),
        (error: Error) => error,
      );
    const cut = await faultOf(join(folder, 'cut.sql'));
    const away = await faultOf('postgresql://somebody:password-canary@127.0.0.1:9/new-api');
    for (const fault of [cut, away]) expect(fault).toBeInstanceOf(ConfigError);
    expect(cut.message).toContain('is cut in the midst of a text');
    expect(away.message).toContain('ECONNREFUSED');
    expect(cut.message + away.message).not.toMatch(/sk-of|canary/);
  });
});
