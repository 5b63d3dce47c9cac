/** The files that the project's README shows are taken as they stand, and mean what it says of them. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
/** In order; names of the environment are resolved by the command that applies a file, here to a made-up key. */
const files = [...readme.matchAll(/^version: 2\n[\s\S]*?(?=^YAML$|^```$)/gm)].map(([text]) => text.replaceAll(/\$\{\w+\}/g, 'made-up-key'));

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness.close());

test('the files of the README make models, teams and budgets', async () => {
  expect(files.map((text) => Object.keys(parseYaml(text)))).toEqual([
    ['version', 'upstreams', 'models', 'pricing', 'key_groups', 'access_keys'],
    ['version', 'key_groups', 'access_keys'],
  ]);
  for (const text of files) {
    const { status, body } = await harness.call('POST', `${api}/import`, text, { 'content-type': 'application/yaml' });
    expect([status, body.error]).toEqual([200, undefined]);
  }
  const { items } = (await harness.call('GET', `${api}/budgets`)).body;
  const told = items.map(({ kind, name, limit, period, currency }: Record<string, unknown>) => [kind, name, limit, period, currency]);
  expect(told).toHaveLength(3);
  expect(told).toEqual(
    expect.arrayContaining([
      ['group', 'research', '200', 'month', 'USD'],
      ['group', 'interns', '5', 'day', 'USD'],
      ['key', 'ada', '50', 'month', 'USD'],
    ]),
  );
  expect((await harness.call('GET', `${api}/key-groups/research`)).body.rate_limit).toMatchObject({ rpm: 60, window_secs: 60 });
});

test('the addresses that the README asks for what was spent answer', async () => {
  const asked = [...readme.matchAll(/console\/api\/((?:budgets|stats)[^"\s]*)/g)].map(([, path]) => path);
  expect(asked).toHaveLength(2);
  for (const path of asked) expect([path, (await harness.call('GET', `${api}/${path}`)).status]).toEqual([path, 200]);
});
