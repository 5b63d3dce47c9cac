import { tiersWritten as chatTiers } from '../../alpha/index.ts';
import type { ServedTier } from '../../kit/service-tier.ts';

/** What callers of Responses know. */
export const tiersWritten: ReadonlyMap<ServedTier, string> = new Map<ServedTier, string>([...chatTiers, ['ultrafast', 'ultrafast']]);
