/** What a model costs. Inside, prices are whole micro-units (millionths of the currency) for a million units; people send and read decimal strings of the currency. */
import { z } from 'zod';
import { moneyFault, moneyPattern, parseMoney, printMoney } from '../money.ts';
import { standardServiceTiers } from '../usage.ts';
import { resourceName } from './name.ts';

/** The highest price that there is. */
export const maxPriceMicros = 1_000_000_000_000_000;

type Of = 'tokens' | 'units';
const priceIn: Readonly<Record<Of, string>> = {
  tokens: 'currency for a million tokens',
  units: 'currency for a million requests, seconds, images or characters',
};

/** As it is stored and carried: 3,000,000 is 3 dollars for a million tokens. */
const storedPrice = () => z.int().min(0).max(maxPriceMicros);

/**
 * Earlier versions read a bare number as micro-units, while most people who write one mean whole currency: so a number is refused, and the sender has
 * to name the unit.
 */
function refuseNumber(sent: number, of: Of): string {
  const micros = Number.isInteger(sent) && sent >= 0 && sent <= maxPriceMicros ? ` ("${printMoney(sent)}")` : '';
  return `is a number, which has two readings: "${sent}" (${priceIn[of]}), or ${sent} micro-units, as in files of version 1${micros}; send the one that is meant as a decimal string (${priceIn[of]})`;
}

/** As people send it: a decimal string. */
const sentPrice = (of: Of) =>
  z
    .string({ error: ({ input }) => (typeof input === 'number' ? refuseNumber(input, of) : `must be a decimal string in ${priceIn[of]}, such as "3.00"`) })
    .regex(moneyPattern, { error: ({ input }) => moneyFault(String(input)) ?? 'is not an amount' })
    .refine((text) => !moneyPattern.test(text) || parseMoney(text) <= maxPriceMicros, `must be at most ${printMoney(maxPriceMicros)}`)
    .transform((text) => (moneyPattern.test(text) ? parseMoney(text) : 0))
    .describe(`Decimal string, in ${priceIn[of]}, at most six decimals`);

/** As people read it. */
const shownPrice = (of: Of) => z.string().describe(`Decimal string, in ${priceIn[of]}`);

export const pricingModes = ['per_token', 'per_request', 'per_second', 'per_image', 'per_character'] as const;
export type PricingMode = (typeof pricingModes)[number];

/** How prices are spelled: stored, sent, or shown. */
type Spelling<T extends z.ZodType> = (of: Of) => T;

function shapeOf<T extends z.ZodType>(price: Spelling<T>) {
  const optional = (of: Of) =>
    price(of)
      .nullable()
      .default(null as z.output<z.ZodNullable<T>> & z.core.util.NoUndefined<z.output<z.ZodNullable<T>>>);
  /** Price of a million tokens. null: priced like the kind it belongs to (caches, audio and images as `input` or `output`, `reasoning` as `output`). */
  const tokenPrices = {
    input: optional('tokens'),
    output: optional('tokens'),
    cache_read: optional('tokens'),
    cache_write_5m: optional('tokens'),
    cache_write_1h: optional('tokens'),
    reasoning: optional('tokens'),
    audio_input: optional('tokens'),
    audio_output: optional('tokens'),
    image_input: optional('tokens'),
    image_output: optional('tokens'),
  };
  /** Prices of requests that read more than `above_tokens`; what is null stays as in the record. They hold for the whole request. */
  const tier = z.strictObject({ above_tokens: z.int().min(1).max(1_000_000_000), ...tokenPrices });
  /** Prices of requests that the upstream says it served in this tier, and that read more than `above_tokens`; what is null is as in the record. */
  const serviceTier = z.strictObject({
    service_tier: z
      .string()
      .regex(/^[a-z0-9_-]{1,40}$/, 'must be the word of the reply in lower case, such as flex or priority')
      .refine((word) => !standardServiceTiers.has(word), 'is the standard tier, whose prices are those of the record itself'),
    above_tokens: z.int().min(0).max(1_000_000_000).default(0),
    ...tokenPrices,
  });
  return {
    name: resourceName,
    /** A model by its canonical name or its upstream's id, or a pattern in which `*` stands for any run of characters: the most specific wins. */
    model: z.string().min(1).max(200),
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
      .default('USD'),
    mode: z.enum(pricingModes).default('per_token'),
    ...tokenPrices,
    /** Price of a million requests, seconds, images or characters; required by every mode but `per_token`, which has none. */
    unit: optional('units'),
    tiers: z.array(tier).max(20).default([]),
    /** They take the place of `tiers`, where the upstream names a tier that is listed. */
    service_tiers: z.array(serviceTier).max(20).default([]),
    /** ISO 8601 instant from which it holds, or null for always; of several that hold, the latest does. */
    valid_from: z.iso.datetime({ offset: true }).nullable().default(null),
    enabled: z.boolean().default(true),
    description: z.string().max(2000).default(''),
  };
}

interface Checked {
  mode: PricingMode;
  input: unknown;
  output: unknown;
  unit: unknown;
  tiers: readonly { above_tokens: number }[];
  service_tiers: readonly { service_tier: string; above_tokens: number }[];
}

/** Checks that span several fields. */
function checkRecord(record: Checked, context: z.RefinementCtx): void {
  const fail = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
  if (record.mode === 'per_token') {
    if (record.input === null) fail('input', 'is needed for per_token');
    if (record.output === null) fail('output', 'is needed for per_token');
    if (record.unit !== null) fail('unit', 'is not for per_token');
  } else if (record.unit === null) fail('unit', `is needed for ${record.mode}`);
  const bounds = record.tiers.map((tier) => tier.above_tokens);
  if (new Set(bounds).size !== bounds.length) fail('tiers', 'two of them begin at the same number of tokens');
  const served = record.service_tiers.map((tier) => `${tier.service_tier} ${tier.above_tokens}`);
  if (new Set(served).size !== served.length) fail('service_tiers', 'two of one tier begin at the same number of tokens');
  if (record.mode !== 'per_token')
    for (const field of ['tiers', 'service_tiers'] as const) if (record[field].length > 0) fail(field, 'are for per_token alone');
}

/** As stored and as snapshots carry it: in whole micro-units. */
export const pricingSchema = z.strictObject(shapeOf(storedPrice)).superRefine(checkRecord);
/** What an admin sends for a price: decimal strings of the currency, which become micro-units. */
export const pricingRequestSchema = z.strictObject(shapeOf(sentPrice)).superRefine(checkRecord);
/** The fields of such a request by themselves, for changes that name some of them. */
export const pricingRequestFields = z.strictObject(shapeOf(sentPrice));
/** A price as replies and exports show it. */
export const pricingReplySchema = z.strictObject(shapeOf(shownPrice));

export type PricingInput = z.input<typeof pricingSchema>;
export type Pricing = z.output<typeof pricingSchema>;
export type PricingReply = z.output<typeof pricingReplySchema>;

/** The fields of a record that are prices; a tier has all of them but `unit`. */
export const priceFields = [
  ...(['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const),
  ...(['audio_input', 'audio_output', 'image_input', 'image_output', 'unit'] as const),
];

/** The same object with its prices, in micro-units, as decimal strings. Of a field that is not there nothing is said. */
function showFields(prices: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...prices };
  for (const field of priceFields) if (typeof shown[field] === 'number') shown[field] = printMoney(shown[field]);
  return shown;
}

/** A stored price as people read it, and may send it back. */
export const showPricing = (price: Pricing): PricingReply =>
  ({
    ...showFields(price),
    tiers: price.tiers.map(showFields),
    // Records of earlier versions have none.
    service_tiers: (price.service_tiers ?? []).map(showFields),
  }) as PricingReply;
