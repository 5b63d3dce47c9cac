/** A request that a post-translation script rerouted: the body is sent as it is, with the new model's name where it holds one. */
import type { Step } from '../step.ts';

export const retarget: Step = {
  name: 'retarget',
  run: ({ target }) => ({ edits: [{ path: ['model'], value: target.context.target.upstreamModelId }] }),
};
