/** Prices by the newest configuration. */
import { expect, test } from '@jest/globals';
import { modelSchema, pricingSchema, type Snapshot } from '@model-gateway/contracts';
import { createPriceOf } from '../src/price-of.ts';

const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc123def456';
const model = modelSchema.parse({ name: 'house', upstream: 'cloud', upstream_model_id: 'anthropic.claude-opus-4-5-20251101-v1:0', inference_profile: profile });
const snapshotOf = (prices: object[]) =>
  ({ models: new Map([[model.name, model]]), pricing: new Map(prices.map((price, at) => [String(at), pricingSchema.parse(price)])) }) as unknown as Snapshot;

test('a model that is called by an inference profile costs what its own id does', () => {
  let snapshot = snapshotOf([]);
  const priceOf = createPriceOf(() => ({ current: () => snapshot }));
  expect(priceOf({ name: 'house', upstreamModelId: profile })).toMatchObject({ record: null, input: 5_000_000 });
  expect(priceOf({ name: 'another', upstreamModelId: profile })).toBeNull();
  // Another model answered than the one that was asked.
  expect(priceOf({ name: 'house', upstreamModelId: 'anthropic.claude-haiku-4-5-20251001-v1:0' })).toMatchObject({ input: 1_000_000 });
  snapshot = snapshotOf([{ name: 'ours', model: 'claude-opus-*', input: 7, output: 9 }]);
  expect(priceOf({ name: 'house', upstreamModelId: profile })).toMatchObject({ record: 'ours', input: 7 });
});
