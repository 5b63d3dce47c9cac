/**
 * Searching the web for models whose provider has no search of its own: where to search (`search_provider`), and within which bounds (`search_config`).
 * Prices are whole micro-units inside; people send and read decimal strings of the currency.
 */
import { z } from 'zod';
import { moneyFault, moneyPattern, parseMoney, printMoney } from '../money.ts';
import { resourceName } from './name.ts';

export const searchKinds = ['http', 'brave', 'tavily', 'searxng'] as const;
export type SearchKind = (typeof searchKinds)[number];

/** Where a kind is served unless a provider says otherwise; a kind that stands here alone without one needs a `base_url`. */
export const searchAddresses: Readonly<Record<SearchKind, string | null>> = {
  http: null,
  brave: 'https://api.search.brave.com/res/v1/web/search',
  tavily: 'https://api.tavily.com/search',
  searxng: null,
};

/** The highest price of one search. */
const maxSearchMicros = 1_000_000_000;

const storedPrice = () => z.int().min(0).max(maxSearchMicros).default(0);
const sentPrice = () =>
  z
    .string('must be a decimal string in currency for one search, such as "0.005"')
    .regex(moneyPattern, { error: ({ input }) => moneyFault(String(input)) ?? 'is not an amount' })
    .refine((text) => !moneyPattern.test(text) || parseMoney(text) <= maxSearchMicros, `must be at most ${printMoney(maxSearchMicros)}`)
    .transform((text) => (moneyPattern.test(text) ? parseMoney(text) : 0))
    .default(0)
    .describe('Decimal string, in currency for one search, at most six decimals');
const shownPrice = () => z.string().default('0').describe('Decimal string, in currency for one search');

function shapeOf<T extends z.ZodType>(price: T) {
  return {
    name: resourceName,
    /** The shape of its API. `http`: POST of `{query, max_results}`, answered by `{results: [{url, title, content}]}`. */
    kind: z.enum(searchKinds),
    /** The whole address that is asked; null: the vendor's own, for kinds that have one. */
    base_url: z
      .string()
      .min(1)
      .max(2048)
      .regex(/^https?:\/\/[^\s?#@]+$/i, 'must be an http or https address without a query or credentials')
      .nullable()
      .default(null),
    price_per_search: price,
    currency: z
      .string()
      .regex(/^[A-Z]{3}$/, 'must be a currency code such as USD')
      .default('USD'),
    enabled: z.boolean().default(true),
    description: z.string().max(2000).default(''),
  };
}

/** A key in a request, or as a mask in replies; null: none. */
const apiKey = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
  .nullable()
  .default(null);

/** What an admin sends for a search provider. */
export const searchProviderSchema = z.strictObject({ ...shapeOf(sentPrice()), api_key: apiKey });
/** A search provider as replies and exports show it. */
export const searchProviderReplySchema = z.strictObject({ ...shapeOf(shownPrice()), api_key: apiKey });
export type SearchProviderInput = z.output<typeof searchProviderSchema>;

const storedProviderSchema = z.strictObject(shapeOf(storedPrice()));
/** A search provider as stored and as snapshots carry it: its price in micro-units, its key sealed. */
export type SearchProviderRecord = z.output<typeof storedProviderSchema> & { id: string; sealed_key: string | null };

export const showSearchProvider = <T extends { price_per_search: number }>(provider: T): Omit<T, 'price_per_search'> & { price_per_search: string } => ({
  ...provider,
  price_per_search: printMoney(provider.price_per_search),
});

/** Characters of one result that the model is shown. */
export const maxResultChars = 4_000;

/** There is one search configuration; this is the name of its row. */
export const searchConfigName = 'default';

/** Within which bounds the gateway searches and fetches for models. */
export const searchConfigSchema = z.strictObject({
  name: z.literal(searchConfigName, 'there is one search configuration, named default').default(searchConfigName),
  /** Name of a search provider; null: none, and nothing is searched. */
  default_provider: resourceName.nullable().default(null),
  /** Searches and fetches in one request; a caller's own maximum only lowers it. */
  max_uses: z.int().min(1).max(50).default(5),
  /** Calls of the upstream in one request. */
  max_rounds: z.int().min(1).max(20).default(8),
  /** Results of a search that the model is shown. */
  max_results: z.int().min(1).max(20).default(8),
  /** Milliseconds that one search or fetch may take. */
  timeout_ms: z.int().min(100).max(120_000).default(20_000),
  /** Whether pages may be fetched for models. */
  fetch_enabled: z.boolean().default(true),
  /** Bytes of a page that are read at most. */
  fetch_max_bytes: z
    .int()
    .min(1_024)
    .max(16 * 1_048_576)
    .default(2 * 1_048_576),
  /** Characters of a page's text that the model is shown. */
  fetch_max_chars: z.int().min(100).max(1_000_000).default(100_000),
  /** Redirects that are followed, each checked like the first address. */
  fetch_max_redirects: z.int().min(0).max(10).default(5),
});
export type SearchConfig = z.output<typeof searchConfigSchema>;
