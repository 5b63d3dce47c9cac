/** Windows and prices that the generated list has. */
import { describe, expect, test } from '@jest/globals';
import list from '../../data/models.json' with { type: 'json' };
import { findFamily } from './find.ts';
import { bareId } from './model-id.ts';
import { table } from './table.ts';

interface Rates {
  [kind: string]: string | number | undefined;
}
const models = Object.entries(list.models) as [
  string,
  { context?: number; output?: number; source?: number; prices?: Rates & { tiers?: Rates[]; service_tiers?: Rates[] } },
][];

describe('the list', () => {
  test('says where it is from', () => {
    expect(list).toMatchObject({
      list: expect.stringMatching(/^https:/),
      license: expect.stringContaining('MIT'),
      date: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
    });
    expect(list.sources.every((source) => source.startsWith('https://'))).toBe(true);
  });

  test('names models by the ids that are looked up, each of a known family, with whole limits and decimal prices', () => {
    const kinds = [
      'input',
      'output',
      'cache_read',
      'cache_write_5m',
      'cache_write_1h',
      'reasoning',
      'audio_input',
      'audio_output',
      'image_input',
      'image_output',
    ];
    for (const [id, { context, output, source, prices }] of models) {
      expect([id, bareId(id)]).toEqual([id, id]);
      expect([id, findFamily(id).vendor]).not.toEqual([id, null]);
      for (const limit of [context, output]) expect(limit === undefined || (Number.isSafeInteger(limit) && limit > 0)).toBe(true);
      if (context !== undefined && output !== undefined) expect([id, output <= context]).toEqual([id, true]);
      if (source !== undefined) expect(list.sources[source]).toBeDefined();
      if (!prices) continue;
      const { tiers = [], service_tiers = [], ...rates } = prices;
      expect(rates).toMatchObject({ input: expect.any(String), output: expect.any(String) });
      for (const { service_tier } of service_tiers) expect(['flex', 'priority', 'ultrafast', 'fast']).toContain(service_tier);
      const served = service_tiers.map(({ service_tier: _word, ...tier }) => ({ above_tokens: 0, ...tier }));
      for (const { above_tokens, ...tier } of [{ above_tokens: 1, ...rates }, ...tiers, ...served]) {
        expect(Number.isSafeInteger(above_tokens)).toBe(true);
        for (const [kind, price] of Object.entries(tier)) {
          expect(kinds).toContain(kind);
          expect([id, kind, price]).toEqual([id, kind, expect.stringMatching(/^\d+(\.\d{1,6})?$/)]);
        }
      }
    }
  });

  test('every model that stands for a family is in it, with a window', () => {
    const named = new Map(models);
    for (const [pattern, { row }] of Object.entries(table))
      if (row.like) expect([pattern, named.get(row.like)?.context]).toEqual([pattern, expect.any(Number)]);
  });

  test('no second table: rows say neither limits nor prices', () => {
    for (const { row } of Object.values(table)) for (const field of ['context', 'input', 'output', 'prices']) expect(row).not.toHaveProperty(field);
  });
});

describe('what a model has', () => {
  const micro = (price: number): number => Math.round(price * 1_000_000);

  test.each([
    // id, window, output, then dollars for a million tokens: input, output, cache read, cache write
    ['claude-opus-5-5', 1_000_000, 128_000, 4, 20, 0.2, 5],
    ['claude-sonnet-5-5', 1_000_000, 128_000, 2, 10, 0.1, 2.5],
    ['us.anthropic.claude-haiku-5-5', 1_000_000, 128_000, 0.1, 0.5, 0.01, 0.125],
    ['claude-opus-4-5-20251101', 200_000, 64_000, 5, 25, 0.5, 6.25],
    ['gpt-6-astra', 1_050_000, 128_000, 10, 50, 1, 12.5],
    ['gpt-6.1-sol', 1_050_000, 128_000, 2, 10, 0.1, 2.5],
    ['openai/gpt-6.1-terra', 1_050_000, 128_000, 1, 5, 0.05, 1.25],
    ['gpt-5.6-sol', 1_050_000, 128_000, 4, 20, 0.4, 5],
    ['gpt-5.6-cyber', 400_000, 128_000, 12.5, 75, 1.25, 15.625],
    ['gpt-5', 400_000, 128_000, 1.25, 10, 0.125, undefined],
    ['gpt-4o-2024-08-06', 128_000, 16_384, 2.5, 10, 1.25, undefined],
    ['models/gemini-3.8-flash', 1_048_576, 65_536, 0.75, 3.75, 0.075, undefined],
  ])('%s', (id, context, output, input, written, read, write) => {
    const { prices, ...family } = findFamily(id);
    expect(family).toMatchObject({ context, output });
    expect(prices).toMatchObject({ currency: 'USD', input: micro(input), output: micro(written), cacheRead: micro(read) });
    expect(prices?.cacheWrite5m).toBe(write === undefined ? undefined : micro(write));
  });

  test('long requests have their own rates', () => {
    expect(findFamily('gemini-2.5-pro').prices?.tiers).toEqual([{ aboveTokens: 200_000, input: 2_500_000, output: 15_000_000, cacheRead: 250_000 }]);
    expect(findFamily('gpt-6.1-sol').prices?.tiers).toEqual([expect.objectContaining({ aboveTokens: 272_000, input: 4_000_000, output: 15_000_000 })]);
  });

  test('a model that is not listed has the window of its family and no price', () => {
    expect(findFamily('gpt-6.1-luna')).toMatchObject({ context: 1_050_000, output: 128_000, prices: null });
    expect(findFamily('claude-fable-5-2')).toMatchObject({ context: 1_000_000, output: 128_000, prices: null });
    // Another version, not a release of the listed one.
    expect(findFamily('claude-opus-5-9').prices).toBeNull();
  });

  test('a name made of a listed one has its price and window, for budgets hold for it too', () => {
    expect(findFamily('gpt-4o-our-tenant')).toMatchObject({ context: 128_000, output: 16_384, prices: { input: 2_500_000 } });
    expect(findFamily('gpt-5.6-cyber-eu')).toMatchObject({ context: 400_000, prices: { input: 12_500_000 } });
    // A variant that its family's row knows to be smaller.
    expect(findFamily('gpt-5-chat-latest')).toMatchObject({ context: 128_000, output: 16_384 });
  });

  test.each([
    ['gpt-5', 272_000],
    ['gpt-5.2-2025-12-11', 272_000],
    ['gpt-5-pro', 128_000],
    ['gpt-6.1-sol', 922_000],
    // All others may fill the whole window.
    ['gpt-5-chat-latest', 128_000],
    ['gpt-4o', 128_000],
    ['o3', 200_000],
    ['claude-opus-4-8', 1_000_000],
    ['no-such', null],
  ])('a prompt of %s has at most %p tokens', (id, input) => expect(findFamily(id).input).toBe(input));

  test('what a reply is asked to be at most stays within what the model writes', () => {
    for (const [id] of models) {
      const { output, defaultOutput } = findFamily(id);
      expect([id, output === null || defaultOutput <= output]).toEqual([id, true]);
    }
  });
});

test.each([
  ['gemini-2.0-flash', 1_048_576, 8192],
  ['gpt-oss-20b', 131_072, 131_072],
  ['qwen3-8b', 131_072, 32_768],
])('%s, which the list does not name or names no window of, keeps its own and not that of its family’s newest', (id, context, output) => {
  expect(findFamily(id)).toMatchObject({ context, output });
});
