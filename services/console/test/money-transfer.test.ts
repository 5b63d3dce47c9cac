/** Money in configuration files: version 1 is read in micro-units as ever, version 2 comes back as it went. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { printMoney } from '@model-gateway/contracts';
import fc from 'fast-check';
import { parse as parseYaml } from 'yaml';
import { resolveReferences } from './document.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

let harness: FreshHarness;
beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness.close());

const micros = fc.oneof(fc.constantFrom(0, 1, 300_000, 3_000_000, 1e15), fc.integer({ min: 0, max: 1e15 }));
const optional = fc.option(micros);
const tokens = { input: optional, output: optional, cache_read: optional, cache_write_5m: optional, cache_write_1h: optional, reasoning: optional };
const prices = fc.record({ ...tokens, input: micros, output: micros, audio_input: optional, audio_output: optional });
const tiers = fc.uniqueArray(fc.record({ above_tokens: fc.integer({ min: 1, max: 1e9 }), ...tokens }), { maxLength: 3, selector: (tier) => tier.above_tokens });
const byTokens = fc.tuple(prices, tiers).map(([price, own]) => ({ mode: 'per_token', ...price, tiers: own }));
const byUnits = fc.record({ mode: fc.constantFrom('per_request', 'per_second', 'per_image', 'per_character'), unit: micros });
const budget = fc.record({ limit: micros.map((amount) => printMoney(amount)), period: fc.constantFrom('day', 'week', 'month', 'total') });
const configuration = fc.record({
  pricing: fc.array(fc.oneof(byTokens, byUnits), { maxLength: 4 }).map((list) => list.map((price, at) => ({ ...price, name: `p${at}`, model: `m${at}*` }))),
  key_groups: fc.array(fc.record({ budget: fc.option(budget) }), { maxLength: 3 }).map((list) => list.map((group, at) => ({ ...group, name: `g${at}` }))),
});

const priceKeys = new Set(['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning', 'audio_input', 'audio_output', 'unit']);
/** The same with the prices as version 2 writes them. */
const asDecimals = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asDecimals);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, priceKeys.has(key) && typeof child === 'number' ? printMoney(child) : asDecimals(child)]),
  );
};
const send = (path: string, body: unknown) => harness.call('POST', `${api}/${path}`, body);
const exported = async () => (await harness.call('GET', `${api}/export?format=json`)).body as { version: number; pricing: object[]; key_groups: object[] };

async function clear(): Promise<void> {
  for (const path of ['pricing', 'key-groups'])
    for (const { name } of (await harness.call('GET', `${api}/${path}`)).body.items) await harness.call('DELETE', `${api}/${path}/${encodeURIComponent(name)}`);
}

test('a file of version 1 becomes the same micro-units, and what is exported changes nothing when it comes back', async () => {
  await fc.assert(
    fc.asyncProperty(configuration, async (file) => {
      await clear();
      const first = await send('import', { version: 1, ...file });
      expect([first.status, first.body.error]).toEqual([200, undefined]);
      const stored = (await harness.storage.catalog.load()).pricing ?? [];
      for (const price of file.pricing) expect(stored.find(({ name }) => name === price.name)).toMatchObject(price);
      const out = await exported();
      expect(out.version).toBe(2);
      expect(out.pricing).toMatchObject(asDecimals(file.pricing) as object[]);
      expect(out.key_groups).toMatchObject(file.key_groups);
      const yaml = (await harness.call('GET', `${api}/export?format=yaml`)).text;
      expect(parseYaml(yaml)).toEqual(out);
      const again = await harness.call('POST', `${api}/import`, yaml, { 'content-type': 'application/yaml' });
      expect([again.status, again.body.revision, again.body.changes]).toEqual([200, null, []]);
      await clear();
      expect((await send('import', out)).status).toBe(200);
      expect(await exported()).toEqual(out);
      expect((await harness.storage.catalog.load()).pricing).toEqual(stored);
    }),
    { numRuns: 15 },
  );
}, 120_000);

const price = (fields: object) => ({ pricing: [{ model: 'm', output: 1, ...fields }] });
test.each([
  ['version 1 with a decimal string', { version: 1, ...price({ input: '3.00' }) }, 'pricing.0.input', /micro-units/],
  ['version 1 with a fraction', { version: 1, ...price({ input: 1.5 }) }, 'pricing.0.input', /micro-units/],
  ['version 1 with a negative price', { version: 1, ...price({ input: -1 }) }, 'pricing.0.input', /micro-units/],
  ['version 1 with an odd tier', { version: 1, ...price({ input: 1, tiers: [{ above_tokens: 1, input: '1' }] }) }, 'pricing.0.tiers.0.input', /micro-units/],
  ['version 1 with an unknown field', { version: 1, ...price({ input: 1, colour: 'red' }) }, 'pricing.0.colour', /known/],
  ['version 2 with a number', { version: 2, ...price({ input: 3 }) }, 'pricing.0.input', /"3" .*"0\.000003"/],
  ['no version with a number', price({ input: 3_000_000 }), 'pricing.0.input', /"3000000" .*"3"/],
  ['another version', { version: 3 }, 'version', /must be 2, or 1/],
])('%s is refused by its field', async (_what, file, field, message) => {
  const { status, body } = await send('import', file);
  expect(status).toBe(422);
  expect(body.error.details).toContainEqual({ field, message: expect.stringMatching(message) });
});

test('the document names the unit of every amount of money', async () => {
  const { body } = await harness.call('GET', `${api}/openapi.json`);
  const schemaOf = (path: string, method: string, at: 'body' | 'answer') => {
    const operation = body.paths[`${api}/${path}`][method];
    const { schema } = (at === 'body' ? operation.requestBody : (operation.responses[200] ?? operation.responses[201])).content['application/json'];
    return (resolveReferences(schema, body) as { properties: Record<string, unknown> & { tiers: unknown; budget: unknown; cost: unknown; items: unknown } })
      .properties;
  };
  for (const at of ['body', 'answer'] as const) {
    const fields = schemaOf('pricing', 'post', at);
    for (const name of priceKeys)
      expect([at, name, JSON.stringify(fields[name])]).toEqual([at, name, expect.stringMatching(/(?=.*"type":"string").*currency for a million/)]);
    expect(JSON.stringify(fields.tiers)).toContain('currency for a million tokens');
    expect(JSON.stringify(schemaOf('key-groups', 'post', at).budget)).toContain('hole currency');
  }
  expect(JSON.stringify(schemaOf('stats/summary', 'get', 'answer').cost)).toMatch(/"cost":\{[^}]*Decimal string.*"cost_micros":\{[^}]*Micro-units/);
  expect(JSON.stringify(schemaOf('logs', 'get', 'answer').items)).toMatch(/"cost":\{[^}]*Decimal string.*"cost_micros":\{[^}]*Micro-units/);
});
