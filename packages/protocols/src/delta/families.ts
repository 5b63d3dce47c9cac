/** What must differ in a request by the model behind it, told from the one table of model families. */
import { familyOf } from '../kit/family.ts';
import type { Target } from '../protocol.ts';

/** Refuses a reply that is not streamed. */
export const streamsOnly = (target: Target): boolean => familyOf(target).streamsOnly;

/** Always reasons, and refuses to be told not to. */
export function alwaysThinks(target: Target): boolean {
  const { vendor, thinking } = familyOf(target);
  return vendor !== null && thinking.style !== 'none' && !thinking.optional;
}
