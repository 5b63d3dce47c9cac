/** What a model accepts besides the conversation, derived from the table of model families. */

import type { Target } from '../../contract/index.ts';
import { familyOf } from '../../kit/family.ts';

/** Rules for requests of one model family. */
export interface ModelFamily {
  /** Takes `additionalModelRequestFields`: effort, thinking and a limit. */
  takesFields: boolean;
  /** Whether the model knows the word between `high` and `max`. */
  knowsXhigh: boolean;
  /** Refuses earlier reasoning without its signature. */
  checksSignatures: boolean;
}

/** The service chooses the model itself; the models it chooses check signatures. */
const chosenByService = 'auto';

export function assistantFamily(target: Target): ModelFamily {
  const { vendor, thinking } = familyOf(target);
  const claude = vendor === 'anthropic';
  return {
    // The fields are those of the service's own list of models: it began with the generation that decides itself how much it thinks.
    takesFields: claude && thinking.style === 'adaptive',
    knowsXhigh: thinking.efforts.includes('xhigh'),
    checksSignatures: claude || target.upstreamModelId.toLowerCase() === chosenByService,
  };
}
