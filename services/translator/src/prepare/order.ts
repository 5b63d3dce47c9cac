/**
 * The specification's two pipeline orders as two arrays of named steps; which one a request takes is decided by where its scripts run.
 * A step that a request does not need returns at once.
 */
import type { Draft, RouteChoice, RouteStep, Step } from './draft.ts';
import { bodyRules } from './steps/body-rules.ts';
import { cacheInjection } from './steps/cache-injection.ts';
import { fetchMedia } from './steps/fetch-media.ts';
import { normalize } from './steps/normalize.ts';
import { retarget } from './steps/retarget.ts';
import { scriptAfter } from './steps/script-after.ts';
import { scriptBefore } from './steps/script-before.ts';
import { switchRoute } from './steps/switch-route.ts';
import { translate } from './steps/translate.ts';

export const order: { readonly after: readonly Step[]; readonly before: readonly Step[]; readonly carried: readonly Step[] } = {
  after: [fetchMedia, translate, normalize, bodyRules, scriptAfter, cacheInjection],
  /** The script has run when the route was chosen (`routeSteps`). */
  before: [fetchMedia, translate, normalize, bodyRules, cacheInjection],
  /** For a request that a post-translation script rerouted. */
  carried: [retarget, cacheInjection],
};

/** What may send the request on to another model before it is translated, in order. Each sees the body in the caller's protocol. */
export const routeSteps: readonly RouteStep[] = [switchRoute, scriptBefore];

/**
 * Where a request goes on to; undefined: it stays on this route. Asked once for each node, before its limits. A promise only where a step has to wait.
 */
export function chooseRoute(choice: RouteChoice, from = 0): undefined | string | Promise<undefined | string> {
  for (let at = from; at < routeSteps.length; at++) {
    const step = routeSteps[at] as RouteStep;
    const chosen = step.choose(choice);
    if (typeof chosen === 'string') return rerouteTo(choice, step, chosen);
    if (chosen) return chosen.then((name) => (name === undefined ? chooseRoute(choice, at + 1) : rerouteTo(choice, step, name)));
  }
  return undefined;
}

/** Who is sent where he is stays there. */
function rerouteTo({ call, route }: RouteChoice, { name: step }: RouteStep, name: string): string | undefined {
  if (name === route.model.name || name === call.plan.model) return undefined;
  call.did(step);
  return name;
}

/** Runs the steps one after the other; a promise only when one of them has to wait. */
export function runSteps(draft: Draft, steps: readonly Step[], from = 0): undefined | Promise<undefined> {
  for (let at = from; at < steps.length; at++) {
    const waiting = steps[at]?.run(draft);
    if (waiting) return waiting.then(() => runSteps(draft, steps, at + 1));
  }
  return undefined;
}
