import type { ServedTier } from '../../kit/service-tier.ts';

/** What `usageMetadata` may say: one cloud of this vendor names the tier, the other the kind of traffic. */
export const tiersRead: ReadonlyMap<string, ServedTier> = new Map<string, ServedTier>([
  ['standard', 'default'],
  ['flex', 'flex'],
  ['priority', 'priority'],
  ['on_demand', 'default'],
  ['on_demand_flex', 'flex'],
  ['on_demand_priority', 'priority'],
]);

export const tiersWritten: ReadonlyMap<ServedTier, string> = new Map([
  ['default', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

/** Tells nothing. */
export const unspecifiedTiers: ReadonlySet<string> = new Set(['unspecified', 'traffic_type_unspecified']);

/** What is asked for by saying nothing, and what by its name. */
export const usualTiers: ReadonlySet<string> = new Set(['auto', 'default', 'standard_only']);
const named: ReadonlySet<string> = new Set(['flex', 'priority']);

/** Vertex knows the field and refuses every value of it: there a tier is asked for by a header. */
const takesTier = (baseUrl: string): boolean => !/(?:^|[.-])aiplatform\.googleapis\.com$/i.test(URL.parse(baseUrl)?.hostname ?? '');

/** The tier that a body asks of this upstream; undefined: none, whatever the caller wants. */
export const tierAsked = (wanted: string | undefined, baseUrl: string): string | undefined =>
  wanted !== undefined && named.has(wanted) && takesTier(baseUrl) ? wanted : undefined;
