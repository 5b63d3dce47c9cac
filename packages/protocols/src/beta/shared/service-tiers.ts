import type { ServedTier } from '../../kit/service-tier.ts';

export const tiersRead: ReadonlyMap<string, ServedTier> = new Map<string, ServedTier>([
  ['standard', 'default'],
  ['priority', 'priority'],
  ['batch', 'batch'],
]);

export const tiersWritten: ReadonlyMap<ServedTier, string> = new Map([...tiersRead].map(([word, tier]) => [tier, word]));
