/** A request that a script sent on after its translation: it goes as it is, under the new model's name where the body holds one. */
import type { Step } from '../draft.ts';

export const retarget: Step = {
  name: 'retarget',
  run(draft) {
    draft.edits = [{ path: ['model'], value: draft.context.target.upstreamModelId }];
    return undefined;
  },
};
