import { describe, expect, test } from '@jest/globals';
import { noUsage, type PricingInput, pricingSchema } from '@model-gateway/contracts';
import fc from 'fast-check';
import { findFamily, unknownFamily } from '../families/index.ts';
import { costOf, expectTokens, fromRecord, reservationOf, reservationOfCalls } from './index.ts';

const price = (input: Partial<PricingInput>) =>
  fromRecord(pricingSchema.parse({ name: 'p', model: 'm', input: 3_000_000, output: 15_000_000, ...input } satisfies PricingInput));
const one = { replies: 1 };

describe('how many tokens', () => {
  const claude = findFamily('claude-opus-4-5');
  const qwen = findFamily('qwen-plus');
  test.each([
    ["the caller's own cap", { ...one, output: 300 }, claude, 300],
    ['no more than the model writes', { ...one, output: 1e15 }, claude, 64_000],
    ['no less than it takes', { ...one, output: 1 }, { ...claude, minOutput: 16 }, 16],
    ['no cap: what the model writes', one, claude, 64_000],
    ['no cap, nothing known', one, unknownFamily, 32_768],
    ['a cap, nothing known', { ...one, output: 100_000 }, unknownFamily, 100_000],
    ['a figure beyond all reason, nothing known', { ...one, output: 1e15 }, unknownFamily, 1_000_000],
    ['several replies', { replies: 4, output: 300 }, claude, 1_200],
    ['thinking is part of the cap', { ...one, output: 4_000, thinking: 2_000 }, claude, 4_000],
    ['thinking comes on top of it', { ...one, output: 4_000, thinking: 2_000 }, qwen, 6_000],
    ['thinking that is not limited', { ...one, output: 4_000 }, qwen, 4_000 + 81_920],
    ['thinking that is not wanted', { ...one, output: 4_000, thinking: 0 }, qwen, 4_000],
    ['a model of the same house that does not think', { ...one, output: 4_000, thinking: 9_000 }, findFamily('qwen3-coder-plus'), 4_000],
  ])('%s', (_what, said, family, output) => expect(expectTokens(0, said, family).output).toBe(output));

  test('a file counts by what vendors charge for it, beside the text', () => {
    expect(expectTokens(5_003_000, one, claude, { bytes: 5_000_000, tokens: 1_600 }).input).toBe(1_000 + 1_600 + 1_000);
  });

  test('a large body is no longer than the window', () => {
    expect(expectTokens(3_000, one, claude).input).toBe(2_000);
    expect(expectTokens(64 * 1024 * 1024, one, claude).input).toBe(200_000);
  });
});

describe('how much money', () => {
  test('the dearest kind of each token, in the tier that it may reach', () => {
    const own = price({ cache_write_5m: 3_750_000, cache_write_1h: 6_000_000, reasoning: 20_000_000 });
    expect(reservationOf(own, { input: 1_000, output: 1_000 })).toBe(6_000 + 20_000);
    const tiered = price({ tiers: [{ above_tokens: 10_000, input: 6_000_000, output: 30_000_000 }] });
    expect(reservationOf(tiered, { input: 10_000, output: 1_000 })).toBe(30_000 + 15_000);
    expect(reservationOf(tiered, { input: 20_000, output: 1_000 })).toBe(120_000 + 30_000);
    expect(reservationOf(price({ mode: 'per_request', unit: 20_000_000_000, input: null, output: null }), { input: 1, output: 1 })).toBe(20_000);
    expect(reservationOf(price({ mode: 'per_second', unit: 20_000_000_000, input: null, output: null }), { input: 1, output: 1 })).toBe(0);
  });

  test('of a tier that is asked for and may be had, or may not', () => {
    const own = price({
      service_tiers: [
        { service_tier: 'flex', input: 1_500_000, output: 7_500_000 },
        { service_tier: 'priority', input: 6_000_000, output: 30_000_000 },
        { service_tier: 'priority', above_tokens: 10_000, input: 9_000_000, output: 45_000_000 },
      ],
    });
    const asked = (serviceTiers: string[], input = 1_000) => reservationOf(own, { input, output: 1_000, serviceTiers });
    expect(asked([])).toBe(3_000 + 15_000);
    expect(asked(['flex'])).toBe(3_000 + 15_000);
    expect(asked(['fast', 'priority'])).toBe(6_000 + 30_000);
    expect(asked(['priority'], 20_000)).toBe(180_000 + 45_000);
    expect(expectTokens(0, { ...one, serviceTiers: ['priority'] }, findFamily('gpt-4o')).serviceTiers).toEqual(['priority']);
  });

  test('of sound at the price of sound, which the reply may be as well', () => {
    const speaking = price({ audio_input: 40_000_000, audio_output: 80_000_000 });
    const expected = expectTokens(33_000, { ...one, output: 100 }, findFamily('gpt-4o'), { bytes: 30_000, tokens: 320, seconds: 10 });
    expect(expected).toMatchObject({ input: 1_000 + 1_000, audioInput: 320, output: 100 });
    expect(reservationOf(speaking, expected)).toBe(2_000 * 3 + 320 * 40 + 100 * 80);
  });

  test('of several calls for one reply: each reads what was found, within the window', () => {
    const own = price({});
    const expected = { input: 1_000, output: 100 };
    expect(reservationOfCalls(own, expected, { calls: 1, found: 9_000 }, { context: null })).toBe(3_000 + 1_500);
    expect(reservationOfCalls(own, expected, { calls: 3, found: 9_000 }, { context: null })).toBe(3_000 + 2 * 30_000 + 3 * 1_500);
    expect(reservationOfCalls(own, expected, { calls: 3, found: 9_000 }, { context: 5_000 })).toBe(3_000 + 2 * 15_000 + 3 * 1_500);
    const byRequest = price({ mode: 'per_request', unit: 20_000_000_000, input: null, output: null });
    expect(reservationOfCalls(byRequest, expected, { calls: 3, found: 0 }, { context: null })).toBe(20_000);
  });

  test('of images is by their number, where that is what they are priced by', () => {
    const byImage = price({ mode: 'per_image', unit: 40_000_000_000, input: null, output: null });
    expect(reservationOf(byImage, { input: 5, output: 5, images: 3 })).toBe(120_000);
    expect(reservationOf(byImage, { input: 5, output: 5 })).toBe(0);
  });

  test('is never less than what such a request costs, however its tokens are counted', () => {
    const money = fc.integer({ min: 0, max: 100_000_000 });
    const parts = fc.array(fc.nat({ max: 1_000 }), { minLength: 6, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.record({ input: money, output: money, cache_read: money, cache_write_5m: money, cache_write_1h: money, reasoning: money }),
        fc.option(fc.record({ above_tokens: fc.integer({ min: 1, max: 5_000 }), factor: fc.integer({ min: 1, max: 4 }) })),
        parts,
        fc.nat({ max: 1_000 }),
        (prices, tier, [input = 0, cacheRead = 0, cacheWrite5m = 0, cacheWrite1h = 0, output = 0, reasoning = 0], slack) => {
          const tiers = tier ? [{ above_tokens: tier.above_tokens, input: prices.input * tier.factor, output: prices.output * tier.factor }] : [];
          const own = price({ ...prices, tiers });
          const expected = { input: input + cacheRead + cacheWrite5m + cacheWrite1h + slack, output: output + reasoning + slack };
          const cost = costOf(own, { ...noUsage, input, cacheRead, cacheWrite5m, cacheWrite1h, output, reasoning });
          expect(reservationOf(own, expected)).toBeGreaterThanOrEqual(cost ?? 0);
        },
      ),
    );
  });
});
