/** A price ready for use: every gap filled, tiers in order. */
import type { Pricing, PricingMode, priceFields, Usage } from '@model-gateway/contracts';
import type { ReferencePrices, TokenRates } from '../families/index.ts';

/** Millionths of the currency for a million tokens of each kind. */
export interface TokenPrices {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  reasoning: number;
  audioInput: number;
  audioOutput: number;
  imageInput: number;
  imageOutput: number;
}

export interface Tier {
  /** Holds when more than so many tokens were read. */
  aboveTokens: number;
  prices: TokenPrices;
}

/** Prices of what an upstream says it served in this tier. */
export interface ServiceTier extends Tier {
  serviceTier: string;
}

export interface Price extends TokenPrices {
  /** Name of the admin's record; null: the reference price of the family. */
  record: string | null;
  currency: string;
  mode: PricingMode;
  /** Millionths for a million requests, seconds, images or characters; 0 for `per_token`. */
  unit: number;
  /** Dearest threshold first. */
  tiers: readonly Tier[];
  /** Of each tier the dearest threshold first. They take the place of `tiers`. */
  serviceTiers: readonly ServiceTier[];
}

export interface PricedModel {
  /** Canonical. */
  name: string;
  /** As it was sent, or as the upstream calls what answered. */
  upstreamModelId: string;
  /** Where that is an inference profile: the id of the model behind it. */
  profiledId?: string | undefined;
}

/** What a model costs at a time (ms since the epoch; default now). null: not known, which reserves and costs nothing. */
export type PriceOf = (model: PricedModel, at?: number) => Price | null;

/** What a price goes by. */
export type UnitCounts = Usage;

type RecordPrices = Pick<Pricing, Exclude<(typeof priceFields)[number], 'unit'>>;

/** What a record leaves out falls back to what it is a kind of. */
function fill(prices: RecordPrices): TokenPrices {
  const input = prices.input ?? 0;
  const output = prices.output ?? 0;
  const cacheWrite5m = prices.cache_write_5m ?? input;
  return {
    input,
    output,
    cacheRead: prices.cache_read ?? input,
    cacheWrite5m,
    cacheWrite1h: prices.cache_write_1h ?? cacheWrite5m,
    reasoning: prices.reasoning ?? output,
    audioInput: prices.audio_input ?? input,
    audioOutput: prices.audio_output ?? output,
    imageInput: prices.image_input ?? input,
    imageOutput: prices.image_output ?? output,
  };
}

/** A tier says only what differs from the record. */
const over = (base: RecordPrices, tier: RecordPrices): RecordPrices => ({
  input: tier.input ?? base.input,
  output: tier.output ?? base.output,
  cache_read: tier.cache_read ?? base.cache_read,
  cache_write_5m: tier.cache_write_5m ?? base.cache_write_5m,
  cache_write_1h: tier.cache_write_1h ?? base.cache_write_1h,
  reasoning: tier.reasoning ?? base.reasoning,
  audio_input: tier.audio_input ?? base.audio_input,
  audio_output: tier.audio_output ?? base.audio_output,
  image_input: tier.image_input ?? base.image_input,
  image_output: tier.image_output ?? base.image_output,
});

const tierOver = (base: RecordPrices, aboveTokens: number, tier: RecordPrices): Tier => ({ aboveTokens, prices: fill(over(base, tier)) });
const byThreshold = (one: Tier, other: Tier): number => other.aboveTokens - one.aboveTokens;

export const fromRecord = (record: Pricing): Price =>
  Object.freeze({
    ...fill(record),
    record: record.name,
    currency: record.currency,
    mode: record.mode,
    unit: record.unit ?? 0,
    tiers: record.tiers.map((tier) => tierOver(record, tier.above_tokens, tier)).sort(byThreshold),
    // Records of earlier versions have none.
    serviceTiers: (record.service_tiers ?? [])
      .map((tier) => ({ serviceTier: tier.service_tier, ...tierOver(record, tier.above_tokens, tier) }))
      .sort(byThreshold),
  });

export function fromReference({ currency, tiers = [], serviceTiers = [], ...rates }: ReferencePrices): Price {
  const base = asRecord(rates);
  return Object.freeze({
    ...fill(base),
    record: null,
    currency,
    mode: 'per_token',
    unit: 0,
    tiers: tiers.map(({ aboveTokens, ...tier }) => tierOver(base, aboveTokens, asRecord(tier))).sort(byThreshold),
    serviceTiers: serviceTiers
      .map(({ serviceTier, aboveTokens, ...tier }) => ({ serviceTier, ...tierOver(base, aboveTokens, asRecord(tier)) }))
      .sort(byThreshold),
  });
}

const asRecord = (rates: Partial<TokenRates>): RecordPrices => ({
  input: rates.input ?? null,
  output: rates.output ?? null,
  cache_read: rates.cacheRead ?? null,
  cache_write_5m: rates.cacheWrite5m ?? null,
  cache_write_1h: rates.cacheWrite1h ?? null,
  reasoning: rates.reasoning ?? null,
  audio_input: rates.audioInput ?? null,
  audio_output: rates.audioOutput ?? null,
  image_input: rates.imageInput ?? null,
  image_output: rates.imageOutput ?? null,
});
