import type { ServedTier } from '../../kit/service-tier.ts';

/** What a reply may say of its tier, other vendors of this wire included. */
export const tiersRead: ReadonlyMap<string, ServedTier> = new Map<string, ServedTier>([
  ...(['default', 'flex', 'scale', 'priority', 'fast', 'ultrafast', 'batch'] as const).map((tier) => [tier, tier] as const),
  ['standard', 'default'],
  ['on_demand', 'default'],
  ['performance', 'priority'],
]);

/** What callers of chat completions know. */
export const tiersWritten: ReadonlyMap<ServedTier, string> = new Map((['default', 'flex', 'scale', 'priority', 'fast'] as const).map((tier) => [tier, tier]));
