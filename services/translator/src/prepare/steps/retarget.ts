/** A request that a post-translation script rerouted: the body is sent as it is, with the new model's name where it holds one. */
import type { Step } from '../draft.ts';

export const retarget: Step = {
  name: 'retarget',
  run(draft) {
    draft.edits = [{ path: ['model'], value: draft.context.target.upstreamModelId }];
    return undefined;
  },
};
