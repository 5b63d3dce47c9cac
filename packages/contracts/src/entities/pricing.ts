/** What a model costs, as an admin says it: all prices are whole millionths of the currency for a million units. */
import { z } from 'zod';
import { resourceName } from './name.ts';

/** Millionths of the currency for a million: 3,000,000 is 3 dollars for a million tokens. */
const price = z.int().min(0).max(1_000_000_000_000_000);
const optionalPrice = price.nullable().default(null);

export const pricingModes = ['per_token', 'per_request', 'per_second', 'per_image', 'per_character'] as const;
export type PricingMode = (typeof pricingModes)[number];

/** Of a million tokens; null: as the one it is a kind of (caches and audio as `input` or `output`, `reasoning` as `output`). */
const tokenPrices = {
  input: optionalPrice,
  output: optionalPrice,
  cache_read: optionalPrice,
  cache_write_5m: optionalPrice,
  cache_write_1h: optionalPrice,
  reasoning: optionalPrice,
  audio_input: optionalPrice,
  audio_output: optionalPrice,
};

/** Prices of requests that read more than `above_tokens`; what is null stays as in the record. They hold for the whole request. */
const tierSchema = z.strictObject({ above_tokens: z.int().min(1).max(1_000_000_000), ...tokenPrices });
export type PricingTier = z.output<typeof tierSchema>;

/** What an admin may send for a price (contract §4 model pricing). */
export const pricingSchema = z
  .strictObject({
    name: resourceName,
    /** A model by its canonical name or its upstream's id, or a pattern in which `*` stands for any run of characters: the most specific wins. */
    model: z.string().min(1).max(200),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
      .default('USD'),
    mode: z.enum(pricingModes).default('per_token'),
    ...tokenPrices,
    /** Of a million requests, seconds, images or characters: `per_token` has none, the other modes need it. */
    unit: optionalPrice,
    tiers: z.array(tierSchema).max(20).default([]),
    /** ISO 8601 instant from which it holds, or null for always; of several that hold, the latest does. */
    valid_from: z.iso.datetime({ offset: true }).nullable().default(null),
    enabled: z.boolean().default(true),
    description: z.string().max(2000).default(''),
  })
  .superRefine((record, context) => {
    const fail = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (record.mode === 'per_token') {
      if (record.input === null) fail('input', 'is needed for per_token');
      if (record.output === null) fail('output', 'is needed for per_token');
      if (record.unit !== null) fail('unit', 'is not for per_token');
    } else if (record.unit === null) fail('unit', `is needed for ${record.mode}`);
    const bounds = record.tiers.map((tier) => tier.above_tokens);
    if (new Set(bounds).size !== bounds.length) fail('tiers', 'two of them begin at the same number of tokens');
    if (record.mode !== 'per_token' && record.tiers.length > 0) fail('tiers', 'are for per_token alone');
  });
export type PricingInput = z.input<typeof pricingSchema>;
/** As stored and as snapshots carry it. */
export type Pricing = z.output<typeof pricingSchema>;
