import { describe, expect, test } from '@jest/globals';
import { newRequestRow, noUsage, type PricingInput, pricingSchema } from '@model-gateway/contracts';
import { fromRecord, type PriceOf } from '@model-gateway/model-catalog';
import { type PaidCall, priceReply } from '../src/request/price-reply.ts';

const price = (model: string, more: Partial<PricingInput>) => fromRecord(pricingSchema.parse({ name: model, model, input: 1_000_000, output: 0, ...more }));
const prices: Record<string, ReturnType<typeof price>> = {
  tiered: price('tiered', { tiers: [{ above_tokens: 100, input: 10_000_000 }], service_tiers: [{ service_tier: 'flex', input: 500_000 }] }),
  dear: price('dear', { input: 5_000_000 }),
  euros: price('euros', { currency: 'EUR' }),
  byRequest: price('byRequest', { mode: 'per_request', unit: 7_000_000, input: null, output: null }),
};
const priceOf: PriceOf = ({ name }) => prices[name] ?? null;
const call = (model: string, input: number): PaidCall => ({ model, upstreamModelId: null, tokens: { ...noUsage, input } });
const rowOf = (model: string, input: number) =>
  newRequestRow({ id: 'r', started_at: 1, authority: 2, status: 200, model, input_tokens: input, usage_source: 'upstream' });

describe('a reply over several calls', () => {
  test.each([
    ['a tier holds for each call, not for their sum', [call('tiered', 60), call('tiered', 80), call('tiered', 200)], 60 + 80 + 2_000],
    [
      'each has the price of the tier that served it',
      [{ ...call('tiered', 60), tokens: { ...noUsage, input: 60, serviceTier: 'flex' } }, call('tiered', 80)],
      30 + 80,
    ],
    ['a call that was given up costs what its own model does', [call('dear', 10), call('tiered', 20)], 50 + 20],
    ['one in another currency is not added', [call('euros', 10), call('tiered', 20)], 20],
    ['one without a price costs nothing', [call('unknown', 10), call('tiered', 20)], 20],
    ['what is priced by the request is so once', [call('byRequest', 10), call('byRequest', 20)], 7],
  ])('%s', (_what, calls, cost) => {
    const { model } = calls.at(-1)!;
    const row = rowOf(
      model,
      calls.reduce((sum, { tokens }) => sum + tokens.input, 0),
    );
    expect(priceReply(row, { calls, searched: null }, priceOf)).toMatchObject({ cost_micros: cost, currency: 'USD' });
    const searched = { micros: 5_000, currency: 'USD' };
    expect(priceReply(row, { calls, searched }, priceOf)).toMatchObject({ cost_micros: cost + 5_000, currency: 'USD' });
  });

  test('of a single call the row is priced where it is stored, but with its searches', () => {
    const row = rowOf('tiered', 20);
    expect(priceReply(row, { calls: [], searched: null }, priceOf)).toBe(row);
    expect(priceReply(row, { calls: [], searched: { micros: 5_000, currency: 'USD' } }, priceOf)).toMatchObject({ cost_micros: 5_020 });
    expect(priceReply(row, { calls: [], searched: { micros: 5_000, currency: 'EUR' } }, priceOf)).toBe(row);
  });
});
