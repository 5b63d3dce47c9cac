import type { ServedTier } from '../kit/service-tier.ts';

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
