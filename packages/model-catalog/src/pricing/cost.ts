/** From counts and a price to money. */
import { type HelperUsage, inputTokensOf, noUsage, type PricingMode, type RequestRow, type Usage } from '@model-gateway/contracts';
import type { Price, PriceOf, Tier, TokenPrices, UnitCounts } from './price.ts';

/** Which count a mode goes by; undefined where nobody counted it. */
const units: Readonly<Record<Exclude<PricingMode, 'per_token'>, (counts: UnitCounts) => number | undefined>> = {
  per_request: () => 1,
  per_second: (counts) => counts.seconds,
  per_image: (counts) => counts.images,
  per_character: (counts) => counts.characters,
};

/** In millionths, rounded up once: a budget never gains by rounding. null: the price goes by a figure that is not known. */
export function costOf(price: Price, counts: UnitCounts): number | null {
  if (price.mode === 'per_token') return toMicros(tokensCost(pricesFor(price, counts), counts));
  const count = units[price.mode](counts);
  return count === undefined ? null : toMicros(times(count, price.unit));
}

function tokensCost(prices: TokenPrices, counts: UnitCounts): bigint {
  const imageInput = Math.min(counts.input, counts.imageInput ?? 0);
  const imageOutput = Math.min(counts.output, counts.imageOutput ?? 0);
  return (
    times(counts.input - imageInput, prices.input) +
    times(imageInput, prices.imageInput) +
    times(counts.audioInput ?? 0, prices.audioInput) +
    times(counts.output - imageOutput, prices.output) +
    times(imageOutput, prices.imageOutput) +
    times(counts.audioOutput ?? 0, prices.audioOutput) +
    times(counts.reasoning, prices.reasoning) +
    times(counts.cacheRead, prices.cacheRead) +
    times(counts.cacheWrite5m, prices.cacheWrite5m) +
    times(counts.cacheWrite1h, prices.cacheWrite1h)
  );
}

/** The prices that hold for a request as it was served: those of the tier that its upstream names, else those for its length. */
export function pricesFor(price: Price, counts: UnitCounts): TokenPrices {
  if (price.tiers.length === 0 && price.serviceTiers.length === 0) return price;
  const read = inputTokensOf(counts);
  const passed = ({ aboveTokens }: Tier): boolean => aboveTokens === 0 || read > aboveTokens;
  const served = counts.serviceTier === undefined ? undefined : price.serviceTiers.find((tier) => tier.serviceTier === counts.serviceTier && passed(tier));
  return (served ?? price.tiers.find(passed))?.prices ?? price;
}

/** Counts come from upstreams: one that is not a whole number must not break a bill. */
const times = (count: number, price: number): bigint => (count > 0 && Number.isFinite(count) ? BigInt(Math.ceil(count)) * BigInt(Math.round(price)) : 0n);

/** Beyond what a row can hold exactly, the largest number that it can. */
const toMicros = (sum: bigint): number => Math.min(Number((sum + 999_999n) / 1_000_000n), Number.MAX_SAFE_INTEGER);

/**
 * What a finished request cost; null when it used nothing that anybody counted, or the price goes by what rows do not hold. A model that helped costs what
 * its own price says, in the same currency; without one its tokens cost what those of the model that answered do.
 */
export function costOfRow(price: Price, row: RequestRow, priceOf: PriceOf): number | null {
  return row.usage_source === null ? null : costOfCounts(price, { counts: countsOf(row), helpers: row.helpers ?? [] }, { priceOf, at: row.started_at });
}

/** The same of one call of an upstream, where a reply took several: a tier holds for each of them by itself. */
export const costOfCall = (price: Price, { helper, ...counts }: Usage, book: BookAt): number | null =>
  costOfCounts(price, { counts, helpers: helper ? [helper] : [] }, book);

/** Prices as they were at a time, in ms since the epoch. */
interface BookAt {
  priceOf: PriceOf;
  at: number;
}

function costOfCounts(price: Price, used: { counts: UnitCounts; helpers: readonly HelperUsage[] }, { priceOf, at }: BookAt): number | null {
  let { counts } = used;
  let ofHelpers = 0;
  for (const { model, input, output, reasoning } of used.helpers) {
    const own = priceOf({ name: model, upstreamModelId: model }, at);
    if (own?.mode !== 'per_token' || own.currency !== price.currency) continue;
    ofHelpers += costOf(own, { ...noUsage, input, output, reasoning }) ?? 0;
    counts = { ...counts, input: counts.input - input, output: counts.output - output, reasoning: counts.reasoning - reasoning };
  }
  const cost = costOf(price, counts);
  return cost === null ? null : Math.min(cost + ofHelpers, Number.MAX_SAFE_INTEGER);
}

function countsOf(row: RequestRow): UnitCounts {
  // Rows of earlier versions do not tell.
  const cacheWrite1h = row.cache_write_1h_tokens ?? 0;
  return {
    input: row.input_tokens,
    output: row.output_tokens,
    reasoning: row.reasoning_tokens,
    cacheRead: row.cache_read_tokens,
    cacheWrite5m: row.cache_write_tokens - cacheWrite1h,
    cacheWrite1h,
    audioInput: row.audio_input_tokens ?? 0,
    audioOutput: row.audio_output_tokens ?? 0,
    imageInput: row.image_input_tokens ?? 0,
    imageOutput: row.image_output_tokens ?? 0,
    ...(typeof row.images === 'number' && { images: row.images }),
    ...(typeof row.seconds === 'number' && { seconds: row.seconds }),
    ...(typeof row.characters === 'number' && { characters: row.characters }),
    ...(typeof row.service_tier === 'string' && { serviceTier: row.service_tier }),
  };
}
