/** A price in the form (numbers, or what was typed) and in the API (decimal strings of the currency). */

export const modes = ['per_token', 'per_request', 'per_second', 'per_image', 'per_character'] as const;
export const tokenPrices = [
  ...(['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning'] as const),
  ...(['audio_input', 'audio_output', 'image_input', 'image_output'] as const),
];

type Prices<T> = Record<(typeof tokenPrices)[number], T>;

/** A price, as the API returns it. */
export interface Price extends Prices<string | null> {
  name: string;
  model: string;
  currency: string;
  mode: (typeof modes)[number];
  unit: string | null;
  tiers: ({ above_tokens: number } & Prices<string | null>)[];
  service_tiers?: ({ service_tier: string; above_tokens: number } & Prices<string | null>)[];
  valid_from: string | null;
  enabled: boolean;
  description: string;
}

/** An empty field is an empty text. */
type Amount = number | string;

/** A price, as the form holds it. */
export interface PriceForm extends Record<string, unknown>, Prices<Amount> {
  name: string;
  model: string;
  currency: string;
  mode: (typeof modes)[number];
  unit: Amount;
  tiers: ({ above_tokens: Amount } & Prices<Amount>)[];
  service_tiers: ({ service_tier: string; above_tokens: Amount } & Prices<Amount>)[];
  valid_from: string;
  enabled: boolean;
  description: string;
}

const each = <T>(make: (kind: (typeof tokenPrices)[number]) => T): Prices<T> => Object.fromEntries(tokenPrices.map((kind) => [kind, make(kind)])) as Prices<T>;
const noPrices = each<Amount>(() => '');

export const emptyTier: PriceForm['tiers'][number] = { above_tokens: 200_000, ...noPrices };
export const emptyServiceTier: PriceForm['service_tiers'][number] = { service_tier: '', above_tokens: 0, ...noPrices };
export const emptyPrice: PriceForm = {
  name: '',
  model: '',
  currency: 'USD',
  mode: 'per_token',
  ...noPrices,
  unit: '',
  tiers: [],
  service_tiers: [],
  valid_from: '',
  enabled: true,
  description: '',
};

const shown = (amount: string | null): Amount => amount ?? '';
const sent = (amount: Amount): string | null => (amount === '' ? null : String(amount));

export const toForm = ({ name, model, currency, mode, unit, tiers, service_tiers, valid_from, enabled, description, ...prices }: Price): PriceForm => ({
  name,
  model,
  currency,
  mode,
  ...each((kind) => shown(prices[kind])),
  unit: shown(unit),
  tiers: tiers.map((tier) => ({ above_tokens: tier.above_tokens, ...each((kind) => shown(tier[kind])) })),
  // A console of an earlier version answers without them.
  service_tiers: (service_tiers ?? []).map((tier) => ({
    service_tier: tier.service_tier,
    above_tokens: tier.above_tokens,
    ...each((kind) => shown(tier[kind])),
  })),
  valid_from: valid_from ?? '',
  enabled,
  description,
});

export const toBody = ({ name, model, currency, mode, unit, tiers, service_tiers, valid_from, enabled, description, ...prices }: PriceForm) => {
  const perToken = mode === 'per_token';
  return {
    name: name.trim() || model.trim(),
    model: model.trim(),
    currency: currency.trim().toUpperCase(),
    mode,
    ...each((kind) => (perToken ? sent(prices[kind]) : null)),
    unit: perToken ? null : sent(unit),
    tiers: perToken ? tiers.map((tier) => ({ above_tokens: Number(tier.above_tokens), ...each((kind) => sent(tier[kind])) })) : [],
    service_tiers: perToken
      ? service_tiers.map((tier) => ({
          service_tier: tier.service_tier.trim().toLowerCase(),
          above_tokens: Number(tier.above_tokens),
          ...each((kind) => sent(tier[kind])),
        }))
      : [],
    valid_from: valid_from.trim() || null,
    enabled,
    description,
  };
};
