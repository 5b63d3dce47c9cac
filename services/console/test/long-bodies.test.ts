/** Long bodies: what is refused before it costs anything, and what is read all the same. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const lines = (count: number, line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index)).join('\n');

describe('long bodies', () => {
  let harness: FreshHarness;
  beforeAll(async () => {
    harness = await startFreshConsole();
    await harness.call('POST', `${api}/key-groups`, { name: 'team' });
  });
  afterAll(() => harness.close());
  const send = (text: string, type = 'application/yaml', query = '?dry_run=true') =>
    harness.call('POST', `${api}/import${query}`, text, { 'content-type': type });
  const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `key-${index}`, group: 'team', description: 'dé[{' }));

  test('YAML ends at 2 MiB and at a depth; JSON may be longer, also under the name of YAML', async () => {
    const long = await send(`# ${'x'.repeat(2 * 1024 * 1024)}\nupstreams: []\n`);
    expect([long.status, long.body.error]).toEqual([413, { code: 'payload_too_large', message: expect.stringContaining('send a longer one as JSON') }]);
    for (const deep of [`x: ${'['.repeat(400_000)}`, `${'- '.repeat(1_000)}x`]) {
      const { status, body } = await send(deep);
      expect([status, body.error]).toEqual([422, { code: 'validation_failed', message: 'The body is nested more than 256 levels deep.' }]);
    }
    const text = JSON.stringify({ key_groups: [{ name: 'team', description: 'x'.repeat(1_500) }], access_keys: [], upstreams: [], models: [] });
    const padded = text.replace('"models":[]', `"models":[]${' '.repeat(3_000_000)}`);
    for (const type of ['application/json', 'application/yaml']) expect([type, (await send(padded, type)).status]).toEqual([type, 200]);
  });

  test('a long body means what a short one does, as YAML and as JSON', async () => {
    const list = keys(1_000);
    for (const [text, type] of [
      [stringify({ access_keys: list }), 'application/yaml'],
      [JSON.stringify({ access_keys: list, pad: undefined, key_groups: [{ name: 'team', description: 'y'.repeat(1_000) }] }, null, 40), 'application/json'],
    ] as const) {
      const { status, body } = await send(text, type);
      expect(status).toBe(200);
      expect(body.created.access_keys).toEqual(list.map(({ name }) => name));
    }
    expect((await send(stringify({ access_keys: list }), 'application/yaml', '')).status).toBe(200);
    expect((await harness.call('GET', `${api}/access-keys/key-999`)).status).toBe(200);
    expect((await harness.call('GET', `${api}/access-keys/key-7`)).body).toMatchObject({ description: 'dé[{' });
  });

  test('YAML that cannot be read says where, short or long; a type that is not read says which are', async () => {
    const models = (text: string) => `${'# comment\n'.repeat(2_000)}models:\n  - ${text}\n`;
    for (const [text, message] of [
      ['models: [', 'The request body is not valid YAML (line 1, column 10).'],
      [models('{name: a, name: b}'), 'A key of the YAML is given twice (line 2002, column 15).'],
      ['models: *nobody', 'The request body is not valid YAML: an alias (`*name`) has no anchor before it.'],
    ] as const) {
      const { status, body } = await send(text);
      expect([status, body.error]).toEqual([400, { code: 'invalid_json', message }]);
    }
    const { status, body } = await send('version: 2', 'text/plain');
    expect([status, body.error.message]).toEqual([415, 'This content type is not supported: send application/json or application/yaml.']);
  });

  test('broken long bodies are refused without quoting their content', async () => {
    const secret = `canary-${'s'.repeat(200_000)}`;
    for (const [text, type] of [
      [`{"upstreams": [{"name": "${secret}"`, 'application/json'],
      [`upstreams: [{name: "${secret}`, 'application/yaml'],
    ] as const) {
      const { status, body } = await send(text, type);
      expect([status, body.error.code]).toEqual([400, 'invalid_json']);
    }
    expect(harness.seen.join()).not.toContain('canary-s');
    const inherited = `{"access_keys":[${'{"name":"a"},'.repeat(20_000)}{"__proto__":{"name":"x"}}]}`;
    expect((await send(inherited, 'application/json')).status).toBe(400);
  });

  test('the first faults are reported, not a hundred thousand', async () => {
    const { status, body, text } = await send(JSON.stringify({ upstreams: Array.from({ length: 99_000 }, () => ({})) }), 'application/json');
    expect(status).toBe(422);
    expect(body.error.details).toHaveLength(50);
    expect(body.error.details[0]).toEqual({ field: 'upstreams.0.name', message: 'is required' });
    expect(text.length).toBeLessThan(10_000);
    const models = await harness.call('POST', `${api}/key-groups`, { name: 'g', models: Array.from({ length: 9_000 }, () => 1) });
    expect([models.status, models.body.error.details.length]).toEqual([422, 50]);
  });

  test.each([
    ['a list that no schema allows', `{"name":"g","models":[${'1,'.repeat(20_000)}1]}`, 'key-groups', 'a list of more than 12000 entries'],
    [
      'more values than any resource has',
      `{"name":"g","x":{${Array.from({ length: 110_000 }, (_, index) => `"${index}":1`).join()}}}`,
      'key-groups',
      'more than 100000 values',
    ],
    ['an import of nothing but numbers', `{"upstreams":[${'1,'.repeat(2_500_000)}1]}`, 'import', 'a list of more than 1000000 entries'],
    ['one entry of an import', `{"upstreams":[{"api_keys":[${'1,'.repeat(20_000)}1]}]}`, 'import', 'a list of more than 12000 entries'],
    ['deep brackets', `{"upstreams":[${'['.repeat(200_000)}${']'.repeat(200_000)}]}`, 'import', 'nested more than 64 levels'],
  ])('%s is refused', async (_what, text, path, says) => {
    const { status, body } = await harness.call('POST', `${api}/${path}`, text);
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(says)]);
  });

  test.each([
    ['a wide mapping', lines(40_000, (index) => `a${index}: x`), 'is not a known field'],
    ['a wide mapping on one line', `{${lines(40_000, (index) => `a${index}: x`).replaceAll('\n', ', ')}}`, 'is not a known field'],
    ['aliases of as many anchors', `upstreams:\n${lines(25_000, (index) => `- &a${index} x\n- *a${index}`)}`, 'more than 5000 anchors and aliases'],
    ['many aliases of one anchor', `upstreams:\n- &a x\n${lines(1_000, () => '- *a')}`, 'An anchor has more than 100 aliases'],
    ['an alias of nothing', `upstreams:\n${lines(1_000, () => '- *a')}`, 'an alias (`*name`) has no anchor before it'],
    ['a key twice in a wide mapping', `${lines(40_000, (index) => `a${index}: x`)}\na7: y`, 'A key of the YAML is given twice (line 40001, column 1).'],
    ['a fault in every line', 'a: b: c\n'.repeat(100_000), 'not valid YAML'],
  ])('%s of YAML costs no more than its length, and is told what is wrong', async (_what, text, says) => {
    const { status, body } = await send(text);
    expect([400, 422]).toContain(status);
    expect(body.error.message).toContain(says);
  });

  test('others are served while the configuration of another gateway is converted', async () => {
    const text = `model_list: []\n${lines(8_000, (index) => `setting_${index}: x`)}`;
    let isDone = false;
    const converted = harness.call('POST', `${api}/import/convert`, { source: 'litellm', text }).finally(() => {
      isDone = true;
    });
    let served = 0;
    while (!isDone) if ((await harness.call('GET', `${api}/key-groups/team`)).status === 200) served++;
    expect((await converted).body.findings.length).toBeGreaterThanOrEqual(8_000);
    expect(served).toBeGreaterThan(5);
  });

  test('a configuration of another gateway that is too deep or has too many aliases is told so', async () => {
    for (const [text, says] of [
      ['model_list: []\nmodel_list: []', 'text: is not read: A key of the YAML is given twice (line 2, column 1).'],
      ['model_list: [', 'text: is not read: It is neither valid YAML nor JSON (line 1, column 14).'],
      [`x: ${'['.repeat(300_000)}`, 'text: is not read: It is nested more than 256 levels deep.'],
      [`x:\n${lines(6_000, (index) => `- &a${index} x`)}`, 'more than 5000 anchors and aliases'],
    ] as const) {
      const { status, body } = await harness.call('POST', `${api}/import/convert`, { source: 'litellm', text });
      expect([status, body.error.code, body.error.message]).toEqual([422, 'validation_failed', expect.stringContaining(says)]);
    }
  });

  test('a charset that is none of Unicode is refused, UTF-16 is read', async () => {
    const utf16 = await fetch(`${harness.url}${api}/import?dry_run=true`, {
      method: 'POST',
      headers: { authorization: 'Bearer console-secret-for-tests-0123456789', 'content-type': 'application/json; charset=utf-16le' },
      body: Buffer.from('{"key_groups":[{"name":"more"}]}', 'utf16le'),
    });
    expect(utf16.status).toBe(200);
    expect((await send('{}', 'application/json; charset=latin1')).status).toBe(415);
  });

  test('many long bodies at once wait for one another, and too many are refused', async () => {
    const text = stringify({ access_keys: keys(2_000) });
    const answers = await Promise.all(Array.from({ length: 14 }, () => send(text)));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(8);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(answers.find(({ status }) => status === 503)!.headers.get('retry-after')).toBe('5');
  });
});
