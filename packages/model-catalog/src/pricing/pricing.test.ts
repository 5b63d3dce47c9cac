import { describe, expect, test } from '@jest/globals';
import { newRequestRow, noUsage, type Pricing, type PricingInput, pricingSchema, type RequestRow } from '@model-gateway/contracts';
import { costOf, costOfRow, createPriceBook, fromRecord } from './index.ts';

const record = (input: Partial<PricingInput>): Pricing => pricingSchema.parse({ name: 'p', model: 'm', input: 3_000_000, output: 15_000_000, ...input });
const price = (input: Partial<PricingInput>) => fromRecord(record(input));
const unknown = () => null;
const counts = (over: object) => ({ ...noUsage, ...over });

describe('cost', () => {
  test('is rounded up once, and no odd count breaks it', () => {
    const own = price({ cache_read: 300_000 });
    expect(costOf(own, counts({ input: 1 }))).toBe(3);
    expect(costOf(own, counts({ cacheRead: 1 }))).toBe(1);
    expect(costOf(own, counts({ input: 1, cacheRead: 1, output: 1 }))).toBe(19);
    expect(costOf(own, counts({ input: 1e9, output: 1e9 }))).toBe(18_000_000_000);
    expect(costOf(own, counts({ input: Number.NaN, output: -5, cacheRead: 0.5 }))).toBe(1);
    expect(costOf(price({ input: 1e15, output: 1e15 }), counts({ input: 1e15 }))).toBe(Number.MAX_SAFE_INTEGER);
  });

  test.each([
    [
      'caches and audio read as input, reasoning and audio written as output',
      {},
      { input: 0, cacheRead: 1e6, cacheWrite5m: 1e6, cacheWrite1h: 1e6, reasoning: 1e6 },
      24_000_000,
    ],
    ['an hour of cache as five minutes of it', { cache_write_5m: 4_000_000 }, { cacheWrite1h: 1e6 }, 4_000_000],
    [
      'audio stands beside the text that was read and written',
      { audio_input: 10_000_000, audio_output: 20_000_000 },
      { input: 1e6, audioInput: 1e6, output: 1e6, audioOutput: 1e6 },
      48_000_000,
    ],
    [
      'images are among the tokens that were read and written',
      { image_input: 10_000_000, image_output: 40_000_000 },
      { input: 1e6, imageInput: 4e5, output: 1e6, imageOutput: 9e5 },
      1_800_000 + 4_000_000 + 1_500_000 + 36_000_000,
    ],
    ['images without a price of their own as the other tokens', {}, { input: 1e6, imageInput: 4e5, output: 1e6, imageOutput: 9e5 }, 18_000_000],
    ['more images than were counted in all', { image_output: 40_000_000 }, { output: 10, imageOutput: 1e9 }, 400],
    ['more audio than there is text', { audio_input: 10_000_000 }, { input: 0, audioInput: 1e6 }, 10_000_000],
  ])('%s', (_what, prices, used, micros) => expect(costOf(price(prices), counts(used))).toBe(micros));

  test('the highest tier that was passed holds for the whole request, by all that was read', () => {
    const tiered = price({
      tiers: [
        { above_tokens: 200_000, input: 6_000_000 },
        { above_tokens: 500_000, input: 9_000_000, output: 30_000_000 },
      ],
    });
    expect(costOf(tiered, counts({ input: 200_000 }))).toBe(600_000);
    expect(costOf(tiered, counts({ input: 1, cacheRead: 200_000, output: 1_000 }))).toBe(1_200_006 + 15_000);
    expect(costOf(tiered, counts({ input: 600_000, output: 1_000 }))).toBe(5_400_000 + 30_000);
  });

  test('the tier that served a request holds before its length; what it leaves out is as in the record', () => {
    const tiered = price({
      cache_read: 300_000,
      tiers: [{ above_tokens: 200_000, input: 6_000_000 }],
      service_tiers: [
        { service_tier: 'flex', input: 1_500_000, output: 7_500_000 },
        { service_tier: 'priority', input: 6_000_000, output: 30_000_000, cache_read: 600_000 },
        { service_tier: 'priority', above_tokens: 200_000, input: 12_000_000, output: 45_000_000 },
      ],
    });
    const used = { input: 100, cacheRead: 100, output: 100, reasoning: 100 };
    expect(costOf(tiered, counts(used))).toBe(300 + 30 + 1_500 + 1_500);
    expect(costOf(tiered, counts({ ...used, serviceTier: 'flex' }))).toBe(150 + 30 + 750 + 750);
    expect(costOf(tiered, counts({ ...used, serviceTier: 'priority' }))).toBe(600 + 60 + 3_000 + 3_000);
    expect(costOf(tiered, counts({ ...used, serviceTier: 'scale' }))).toBe(300 + 30 + 1_500 + 1_500);
    const long = { input: 300_000, output: 100 };
    expect(costOf(tiered, counts(long))).toBe(1_800_000 + 1_500);
    expect(costOf(tiered, counts({ ...long, serviceTier: 'flex' }))).toBe(450_000 + 750);
    expect(costOf(tiered, counts({ ...long, serviceTier: 'priority' }))).toBe(3_600_000 + 4_500);
    const row = (service_tier: string | null): RequestRow =>
      newRequestRow({ id: 'r', started_at: 1, authority: 2, status: 200, input_tokens: 100, usage_source: 'upstream', service_tier });
    expect([null, 'flex', 'priority'].map((tier) => costOfRow(tiered, row(tier), unknown))).toEqual([300, 150, 600]);
  });

  test('reference prices have those of the tiers that a vendor sells', () => {
    const cost = (id: string, serviceTier?: string): number | null =>
      costOf(
        createPriceBook([]).find({ name: id, upstreamModelId: id }, 0)!,
        counts({ input: 1_000_000, output: 1_000_000, ...(serviceTier && { serviceTier }) }),
      );
    expect([cost('o3'), cost('o3', 'flex'), cost('o3', 'priority')]).toEqual([10_000_000, 5_000_000, 17_500_000]);
    expect([cost('claude-opus-5-5'), cost('claude-opus-5-5', 'fast')]).toEqual([24_000_000, 48_000_000]);
    // Reasoning has no price of its own that a cheaper tier would keep.
    const flash = createPriceBook([]).find({ name: 'x', upstreamModelId: 'gemini-2.5-flash' }, 0)!;
    expect(costOf(flash, counts({ reasoning: 1_000_000, serviceTier: 'flex' }))).toBe(1_250_000);
  });

  test('a record of an earlier version has no such tiers', () => {
    const { service_tiers: _none, ...earlier } = record({});
    expect(costOf(fromRecord(earlier as Pricing), counts({ input: 100, serviceTier: 'flex' }))).toBe(300);
  });

  test.each([
    ['per_request', {}, 20_000],
    ['per_second', { seconds: 90 }, 1_800_000],
    ['per_image', { images: 3 }, 60_000],
    ['per_character', { characters: 1_000 }, 20_000_000],
    ['per_image', {}, null],
  ] as const)('%s %j', (mode, used, micros) => {
    const one = price({ mode, unit: 20_000_000_000, input: null, output: null });
    expect(costOf(one, counts(used))).toBe(micros);
  });

  test('a model that helped costs what its own price says, in the same currency; else as the one that answered', () => {
    const counted = { input_tokens: 1_000_000, output_tokens: 1_500_000, reasoning_tokens: 500_000 };
    const helpers = [{ model: 'writer', input: 400_000, output: 500_000, reasoning: 500_000 }];
    const helped = newRequestRow({ id: 'r', started_at: 1, authority: 2, status: 200, usage_source: 'upstream', ...counted, helpers });
    const own = price({});
    const alone = 3_000_000 + 1_500_000 * 15 + 500_000 * 15;
    expect(costOfRow(own, helped, unknown)).toBe(alone);
    const asked: string[] = [];
    const ofWriter = (over: object) => (model: { name: string }) => {
      asked.push(model.name);
      return price({ input: 1_000_000, output: 2_000_000, ...over });
    };
    expect(costOfRow(own, helped, ofWriter({}))).toBe(600_000 * 3 + 1_000_000 * 15 + 400_000 + 1_000_000 * 2);
    expect(asked).toEqual(['writer']);
    expect(costOfRow(own, helped, ofWriter({ currency: 'EUR' }))).toBe(alone);
    const perImage = price({ mode: 'per_image', unit: 20_000_000_000, input: null, output: null });
    expect(costOfRow(perImage, { ...helped, images: 1 }, ofWriter({}))).toBe(20_000 + 400_000 + 1_000_000 * 2);
  });

  test('a row costs what its caches were kept for; without usage nothing is known', () => {
    const row = {
      input_tokens: 0,
      output_tokens: 0,
      reasoning_tokens: 0,
      cache_read_tokens: 0,
      cache_write_tokens: 3_000_000,
      cache_write_1h_tokens: 1_000_000,
      usage_source: 'upstream',
    } as RequestRow;
    const own = price({ cache_write_5m: 1_000_000, cache_write_1h: 2_000_000 });
    expect(costOfRow(own, row, unknown)).toBe(4_000_000);
    expect(costOfRow(own, { ...row, usage_source: null }, unknown)).toBeNull();
    expect(costOfRow(price({ mode: 'per_image', unit: 20_000_000_000, input: null, output: null }), { ...row, images: 2 }, unknown)).toBe(40_000);
    expect(costOfRow(price({ mode: 'per_second', unit: 20_000_000_000, input: null, output: null }), { ...row, images: 2 }, unknown)).toBeNull();
    const { cache_write_1h_tokens: _unknown, ...older } = row;
    expect(costOfRow(own, older as RequestRow, unknown)).toBe(3_000_000);
  });
});

describe('price book', () => {
  const at = Date.UTC(2026, 5, 1);
  const book = (...inputs: Partial<PricingInput>[]) => createPriceBook(inputs.map((input, index) => record({ name: `r${index}`, ...input })));
  const found = (own: ReturnType<typeof book>, name: string, upstreamModelId: string, when = at) => own.find({ name, upstreamModelId }, when)?.record;

  test('the most specific wins: a whole name, then the most literal characters; of equals the own name, then the latest', () => {
    const own = book({ model: '*' }, { model: 'claude-*' }, { model: 'claude-opus-*' }, { model: 'Fast' }, { model: 'gpt-4o' });
    expect(found(own, 'claude-opus-4', 'x')).toBe('r2');
    expect(found(own, 'house', 'us.anthropic.claude-opus-4-v1:0')).toBe('r2');
    expect(found(own, 'house', 'other')).toBe('r0');
    expect(found(own, 'fast', 'gpt-4o')).toBe('r3');
    expect(found(own, 'other', 'gpt-4o')).toBe('r4');
  });

  test('a record holds from its date; before it the next one does, and then the family', () => {
    const own = book({ model: 'gpt-4o', valid_from: '2026-07-01T00:00:00Z' }, { model: 'gpt-4o', valid_from: '2026-05-01T00:00:00Z' });
    expect(found(own, 'gpt-4o', 'gpt-4o')).toBe('r1');
    expect(found(own, 'gpt-4o', 'gpt-4o', Date.UTC(2026, 6, 1))).toBe('r0');
    const early = own.find({ name: 'gpt-4o', upstreamModelId: 'gpt-4o' }, 0);
    expect(early).toMatchObject({ record: null, currency: 'USD', mode: 'per_token' });
  });

  test('an inference profile costs what the model behind it does, unless it has a price of its own', () => {
    const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456';
    const model = { name: 'house', upstreamModelId: profile, profiledId: 'anthropic.claude-opus-4-5-20251101-v1:0' };
    expect(createPriceBook([]).find(model, at)).toMatchObject({ record: null, input: 5_000_000, output: 25_000_000 });
    expect(book({ model: 'claude-opus-*' }).find(model, at)?.record).toBe('r0');
    expect(book({ model: 'anthropic.claude-opus-4-5-20251101-v1:0' }).find(model, at)?.record).toBe('r0');
    expect(book({ model: 'claude-opus-*' }, { model: profile }).find(model, at)?.record).toBe('r1');
    expect(createPriceBook([]).find({ name: 'house', upstreamModelId: profile }, at)).toBeNull();
  });

  test('what is disabled or unknown costs nothing that anybody knows', () => {
    expect(found(book({ model: 'own', enabled: false }), 'own', 'own')).toBeUndefined();
    expect(createPriceBook([]).find({ name: '__proto__', upstreamModelId: '' }, at)).toBeNull();
  });
});

describe('what may be saved', () => {
  test.each([
    [{ input: null }, 'input'],
    [{ unit: 5 }, 'unit'],
    [{ mode: 'per_image' }, 'unit'],
    [{ mode: 'per_image', unit: 5, tiers: [{ above_tokens: 5 }] }, 'tiers'],
    [{ tiers: [{ above_tokens: 5 }, { above_tokens: 5 }] }, 'tiers'],
    [{ mode: 'per_image', unit: 5, input: null, output: null, service_tiers: [{ service_tier: 'flex' }] }, 'service_tiers'],
    [{ service_tiers: [{ service_tier: 'flex' }, { service_tier: 'flex', above_tokens: 0 }] }, 'service_tiers'],
    [{ service_tiers: [{ service_tier: 'Flex' }] }, 'service_tiers'],
    [{ service_tiers: [{ service_tier: 'default', input: 1 }] }, 'service_tiers'],
    [{ input: 0.5 }, 'input'],
    [{ currency: 'usd' }, 'currency'],
  ] as const)('%j names %s', (input, field) => {
    const answer = pricingSchema.safeParse({ name: 'p', model: 'm', input: 1, output: 1, ...input });
    expect(answer.error?.issues[0]?.path[0]).toBe(field);
  });
});
