/** What differs in a request by model, derived from the table of model families. */

import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

/** Refuses a reply that is not streamed. */
export const streamsOnly = (target: Target): boolean => familyOf(target).streamsOnly;

/** Always reasons, and refuses a request to switch reasoning off. */
export function alwaysThinks(target: Target): boolean {
  const { vendor, thinking } = familyOf(target);
  return vendor !== null && thinking.style !== 'none' && !thinking.optional;
}

/** Reasons where nobody said anything about it, so that a forced call of a tool is refused. */
export const thinksUnasked = (target: Target): boolean => familyOf(target).chat.refusesForcedThinking === 'unless-off';
