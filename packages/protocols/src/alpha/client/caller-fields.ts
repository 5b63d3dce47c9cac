/** What callers of this protocol call the fields that losses of a translation name. */
import type { CallerFields } from '../../kit/caller-fields.ts';

export const callerFields: CallerFields = {
  'reasoning.effort': 'reasoning_effort',
};
