/** The API's document as others use it: types by openapi-typescript, calls by openapi-fetch, and no cast between them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import createClient from 'openapi-fetch';
import openapiTS, { astToString } from 'openapi-typescript';
import { startGateway, type TestGateway } from '../support/gateway.ts';

const root = join(import.meta.dirname, '../..');
let gateway: TestGateway;
/** Inside the checkout, where its packages are found. */
const folder = mkdtempSync(join(root, 'tests/node_modules/.generated-client-'));
beforeAll(async () => {
  gateway = await startGateway({ arrangement: 'embedded' });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await gateway?.stop();
});

/** Written as somebody would who has the generated types alone. */
const program = `
import createClient from 'openapi-fetch';
import type { components, paths } from './schema.js';

const client = createClient<paths>({ baseUrl: 'http://localhost' });

type Named = components['schemas'];
export const nameOf = (one: Named['AccessKey'] | Named['Upstream'] | Named['KeyGroup'] | Named['Model'] | Named['LoadBalancer']): string => one.name;
/** A budget is the same type wherever it is shown. */
export const limitOf = ({ budget }: Named['KeyGroup'] | Named['AccessKey']): string => budget?.limit ?? '';
export const made: Named['AccessKeyInput'] = { name: 'ada', group: 'research', budget: { limit: '5', period: 'month' } };

export async function use(): Promise<(string | number)[]> {
  const values: (string | number)[] = [];
  const top = await client.GET('/console/api/stats/top', { params: { query: { by: 'model', error_code: '' } } });
  for (const item of top.data?.items ?? []) values.push(item.requests, item.cost[0]?.cost ?? '');
  if (top.data && top.data.by !== 'session') for (const item of top.data.items) values.push(item.duration_ms.p95 ?? 0);
  if (top.data && top.data.by === 'session') for (const item of top.data.items) values.push(item.session_id);
  const series = await client.GET('/console/api/stats/series', { params: { query: { by: 'access_key' } } });
  for (const item of series.data?.items ?? []) values.push(item.start, item.value ?? '', item.duration_ms.p50 ?? 0);
  const summary = await client.GET('/console/api/stats/summary', {});
  values.push(summary.data?.total_tokens ?? 0, summary.data?.previous?.requests ?? 0);
  const sessions = await client.GET('/console/api/stats/sessions', {});
  values.push(sessions.data?.items[0]?.session_id ?? '');
  const logs = await client.GET('/console/api/logs', { params: { query: { error_code: 'api_error' } } });
  values.push(logs.data?.items[0]?.cost ?? '', logs.data?.items[0]?.error_code ?? '');
  const file = await client.GET('/console/api/export', {});
  values.push(file.data?.version ?? 0);
  const tested = await client.POST('/console/api/models/test', { body: { model: 'm' } });
  values.push(tested.data?.status ?? 0);
  const made = await client.POST('/console/api/pricing', { body: { name: 'p', model: 'm', input: '3.00', output: '15.00' } });
  values.push(made.data?.input ?? '', made.error?.error.message ?? '');
  const table = await client.GET('/console/api/stats/top.csv', { params: { query: { by: 'model' } }, parseAs: 'text' });
  values.push(table.data?.length ?? 0);
  // @ts-expect-error a number in a price says nothing of its unit
  await client.POST('/console/api/pricing', { body: { name: 'p', model: 'm', input: 3, output: 15 } });
  return values;
}
`;

test('a client with generated types needs no cast', async () => {
  const { body } = await gateway.console('GET', '/openapi.json');
  writeFileSync(join(folder, 'schema.d.ts'), astToString(await openapiTS(body)));
  writeFileSync(join(folder, 'use.ts'), program);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    module: 'nodenext',
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    skipLibCheck: true,
    types: [],
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['use.ts'] }));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const compiler = join(dirname(createRequire(join(root, 'package.json')).resolve('typescript/package.json')), 'bin/tsc');
  let output = '';
  try {
    execFileSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    output = String((error as { stdout?: string }).stdout) + String((error as { stderr?: string }).stderr);
  }
  expect(output).toBe('');
}, 120_000);

test('the same calls answer, tables on their own paths too', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: the types are the other test's
  const client = createClient<any>({ baseUrl: gateway.url, headers: { authorization: `Bearer ${gateway.consoleKey}` } }) as any;
  for (const path of ['stats/top', 'stats/series', 'stats/summary', 'stats/sessions', 'logs', 'export']) {
    const { data, response } = await client.GET(`/console/api/${path}`, {});
    expect([path, response.status, typeof data]).toEqual([path, 200, 'object']);
  }
  for (const path of ['stats/top', 'stats/series', 'stats/summary', 'stats/sessions', 'logs']) {
    const { data, response } = await client.GET(`/console/api/${path}.csv`, { parseAs: 'text' });
    const { data: same } = await client.GET(`/console/api/${path}`, { params: { query: { format: 'csv' } }, parseAs: 'text' });
    expect([path, response.headers.get('content-type')]).toEqual([path, 'text/csv; charset=utf-8']);
    expect(data.split('\r\n')[0]).toBe(same.split('\r\n')[0]);
  }
  const refused = await fetch(`${gateway.consoleUrl}/export.yaml`);
  expect(refused.status).toBe(401);
});

test('what is asked by is named when it is none of the choices, and an error has one word everywhere', async () => {
  for (const path of ['stats/top', 'stats/series']) {
    const { status, body } = await gateway.console('GET', `/${path}?by=banana`);
    expect([status, body.error.details]).toEqual([422, [{ field: 'by', message: expect.stringMatching(/^is not one of access_key, .*error_code/) }]]);
  }
  for (const path of ['stats/top', 'stats/series', 'stats/summary', 'logs'])
    for (const query of ['error_code=api_error', 'error=api_error', 'error=api_error&error_code=api_error'])
      expect([path, query, (await gateway.console('GET', `/${path}?${query}`)).status]).toEqual([path, query, 200]);
  for (const path of ['stats/top', 'logs']) expect((await gateway.console('GET', `/${path}?error=one&error_code=two`)).status).toBe(422);
  expect((await gateway.console('GET', '/stats/top?by=error_code')).body.by).toBe('error');
});
