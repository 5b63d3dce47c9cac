/**
 * The specification's two pipeline orders as two arrays of named steps; which one a request takes is decided by where its scripts run.
 * A step that a request does not need returns at once.
 */
import { isInUpstreamTerms } from '@model-gateway/contracts';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { PrepareContext, RouteChoice, RouteStep, Step } from './step.ts';
import { bodyRules } from './steps/body-rules.ts';
import { cacheInjection } from './steps/cache-injection.ts';
import { fetchMedia } from './steps/fetch-media.ts';
import { normalize } from './steps/normalize.ts';
import { retarget } from './steps/retarget.ts';
import { scriptAfter } from './steps/script-after.ts';
import { scriptBefore } from './steps/script-before.ts';
import { switchRoute } from './steps/switch-route.ts';
import { translate } from './steps/translate.ts';
import type { RequestContent } from './upstream-request.ts';

export const order: {
  readonly after: readonly Step[];
  readonly before: readonly Step[];
  readonly carried: readonly Step[];
  readonly untouched: readonly Step[];
} = {
  after: [fetchMedia, translate, normalize, bodyRules, scriptAfter, cacheInjection],
  /** The script has run when the route was chosen (`routeSteps`). */
  before: [fetchMedia, translate, normalize, bodyRules, cacheInjection],
  /** For a request that a post-translation script rerouted. */
  carried: [retarget, cacheInjection],
  /** For bodies that no rule and no script sees. */
  untouched: [translate],
};

/** Forms, and calls in the upstream's own terms, pass without rules and scripts: both are written for JSON that the gateway knows. */
export const isUntouched = ({ request: { job }, body }: Pick<CurrentRequest, 'request' | 'body'>): boolean =>
  body.kind !== 'json' || isInUpstreamTerms(job.operation);

/** What may reroute the request to another model before it is translated, in order. Each sees the body in the caller's protocol. */
export const routeSteps: readonly RouteStep[] = [switchRoute, scriptBefore];

/** What the route steps decided together. */
export interface DecidedRoute {
  /** The body for this route, in the caller's protocol. */
  readonly body: RequestBody;
  /** The model or load balancer to reroute to; undefined: the request stays on this route. */
  readonly rerouteTo: string | undefined;
}

/** Asked once for each node, before its limits. A promise only where a step has to wait. */
export function chooseRoute(context: PrepareContext, from = 0): DecidedRoute | Promise<DecidedRoute> {
  if (isUntouched(context)) return { body: context.body, rerouteTo: undefined };
  for (let at = from; at < routeSteps.length; at++) {
    const step = routeSteps[at] as RouteStep;
    const choice = step.choose(context);
    if (choice instanceof Promise) return choice.then((made) => judge(context, step, made) ?? chooseRoute(withBody(context, made), at + 1));
    const decided = judge(context, step, choice);
    if (decided) return decided;
    if (choice) context = withBody(context, choice);
  }
  return { body: context.body, rerouteTo: undefined };
}

const withBody = (context: PrepareContext, choice: RouteChoice | undefined): PrepareContext => (choice?.body ? { ...context, body: choice.body } : context);

/** What a step names ends the choice, a reroute to the model that is already selected too: the request then stays on this route. */
function judge({ body, plan, record, route }: PrepareContext, step: RouteStep, choice: RouteChoice | undefined): DecidedRoute | undefined {
  if (choice?.rerouteTo === undefined) return undefined;
  const isHere = choice.rerouteTo === route.model.name || choice.rerouteTo === plan.plan.model;
  if (!isHere) record.addStep(step.name);
  return { body: choice.body ?? body, rerouteTo: isHere ? undefined : choice.rerouteTo };
}

/** Runs the steps one after the other; a promise only when one of them has to wait. */
export function runSteps(content: RequestContent, context: PrepareContext, steps: readonly Step[], from = 0): RequestContent | Promise<RequestContent> {
  for (let at = from; at < steps.length; at++) {
    const patch = steps[at]?.run(content, context);
    if (patch instanceof Promise) return patch.then((made) => runSteps(made ? { ...content, ...made } : content, context, steps, at + 1));
    if (patch) content = { ...content, ...patch };
  }
  return content;
}
