/**
 * The specification's two pipeline orders as two arrays of named steps; which one a request takes is decided by where its scripts run.
 * A step that a request does not need returns at once.
 */
import type { Draft, Step } from './draft.ts';
import { cacheInjection } from './steps/cache-injection.ts';
import { fetchMedia } from './steps/fetch-media.ts';
import { normalize } from './steps/normalize.ts';
import { translate } from './steps/translate.ts';

export const order: { readonly after: readonly Step[]; readonly before: readonly Step[] } = {
  after: [fetchMedia, translate, normalize, cacheInjection],
  before: [fetchMedia, translate, normalize, cacheInjection],
};

/** Runs the steps one after the other; a promise only when one of them has to wait. */
export function runSteps(draft: Draft, steps: readonly Step[], from = 0): undefined | Promise<undefined> {
  for (let at = from; at < steps.length; at++) {
    const waiting = steps[at]?.run(draft);
    if (waiting) return waiting.then(() => runSteps(draft, steps, at + 1));
  }
  return undefined;
}
