/** The loop over a plan: keys of a node, then the next node, until one answers or nothing is left that may be tried. */
import type { PlannedNode, Snapshot } from '@model-gateway/contracts';
import { type ErrorCode, isGatewayError } from '@model-gateway/contracts/errors';
import { type PlannedAttempt, type Route, resolveTarget } from '@model-gateway/routing';
import { chooseRoute } from '../prepare/order.ts';
import { unservedBy } from '../prepare/verbatim.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { RequestBody } from '../request/body.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { RequestPlan } from '../request/plan.ts';
import type { AttemptContext, Run } from './attempt-context.ts';
import { AttemptCursor } from './attempt-cursor.ts';
import { nextStep, refusesKey, wasUnreached } from './classify.ts';
import type { AttemptDeps } from './deps.ts';
import { Failures } from './failures.ts';
import { planReroute } from './reroute.ts';
import type { AttemptResult, Reroute } from './result.ts';
import { runAttempt } from './run-attempt.ts';

/** Resolves when an attempt gave the reply; throws the error that the caller gets when none did. */
export async function runAttempts({ request, record, body }: CurrentRequest, sink: ReplySink, deps: AttemptDeps): Promise<void> {
  const { plan, keyGroup } = request.job;
  const known = deps.reroute.catalog.at(plan.revision);
  const snapshot = known instanceof Promise ? await known : known;
  const strict = snapshot.keyGroups.get(keyGroup)?.strict_translation === true;
  if (plan.nodes.length > 1) deps.balance.retries.enter();
  const run: Run = { request, record, sink, strict, deps };
  const failures = await runPlan({ plan, snapshot, body, routes: [plan.model], leftUpstreams: [], steps: [], carried: undefined }, run);
  if (failures) throw failures.error();
}

/**
 * Resolves with undefined when an attempt gave the reply, and with the failures when all nodes and keys are spent: then the plan that this one was
 * rerouted from may go on. Throws what ends the request for good.
 */
async function runPlan(plan: RequestPlan, run: Run): Promise<Failures | undefined> {
  const cursor = new AttemptCursor(plan.plan);
  const failures = new Failures(plan.plan);
  let node: PlannedNode | undefined;
  let body = plan.body;
  run.record.startPlan(plan);
  for (let planned = cursor.attempt; planned; planned = cursor.attempt) {
    run.request.cancellation.throwIfOver();
    const route = resolveTarget(plan.snapshot, planned);
    let result: AttemptResult | undefined;
    if (cursor.node !== node) {
      node = cursor.node;
      const entering = enterNode(plan, route, run);
      const entered = entering instanceof Promise ? await entering : entering;
      result = entered.result;
      body = entered.body;
    }
    const attempt = attemptOf(plan, run, { planned, node: node!, route, body });
    result ??= await runAttempt(attempt);
    switch (result.kind) {
      case 'done':
        return undefined;
      case 'refused':
        failures.refused ??= result.error;
        cursor.nextNode();
        break;
      case 'limited':
        failures.passOver(result.retryAfterMs);
        cursor.nextNode();
        break;
      case 'reroute': {
        const rerouted = await runReroute(attempt, result);
        if (!rerouted) return undefined;
        failures.addRoute(rerouted);
        // The budget bounds work that is done twice.
        if (!cursor.nextNode() || (failures.worked && !run.deps.balance.retries.take())) return failures;
        run.record.startPlan(plan);
        break;
      }
      case 'retry':
        failures.add(result.fault, result.error);
        // What does not fit here will not fit where it came from either.
        if (!moveOn(cursor, result, attempt) && (cursor.attempt || nextStep(result.fault) === 'larger')) throw failures.error();
    }
  }
  return failures;
}

/** Where the loop is: an attempt of the plan, and the body as route steps left it for this node. */
interface Candidate {
  planned: PlannedAttempt;
  node: PlannedNode;
  route: Route;
  body: RequestBody;
}

const attemptOf = (plan: RequestPlan, { request, record, sink, strict, deps }: Run, { planned, node, route, body }: Candidate): AttemptContext => ({
  request,
  record,
  body,
  plan,
  route,
  prepare: deps.prepare,
  sink,
  strict,
  deps,
  planned,
  node,
});

/** What rules and scripts made of a node before its first attempt. `result`: the request does not go there. */
interface EnteredNode {
  body: RequestBody;
  result: AttemptResult | undefined;
}

/** Asks once for each node, before its limits, whether the request goes there at all. */
function enterNode(plan: RequestPlan, route: Route, { request, record, deps }: Run): EnteredNode | Promise<EnteredNode> {
  record.startNode(plan.body);
  const judge = (body: RequestBody, rerouteTo: string | undefined): EnteredNode => {
    if (rerouteTo !== undefined) return { body, result: { kind: 'reroute', model: rerouteTo, body } };
    const unserved = unservedBy(request, route);
    return { body, result: unserved ? { kind: 'refused', error: unserved } : undefined };
  };
  // After a reroute by a post-translation script the body is not the caller's any more, so no route step runs.
  if (plan.carried) return judge(plan.body, undefined);
  const choosing = chooseRoute({ request, record, body: plan.body, plan, route, prepare: deps.prepare });
  return choosing instanceof Promise ? choosing.then(({ body, rerouteTo }) => judge(body, rerouteTo)) : judge(choosing.body, choosing.rerouteTo);
}

/** Why the router plans no attempt where upstreams are at fault, and not what was asked for. */
const unservable: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['upstream_unavailable', 'upstream_disabled', 'no_upstream']);

/** Runs the plan of another model; resolves as `runPlan` does. */
async function runReroute(attempt: AttemptContext, reroute: Reroute): Promise<Failures | undefined> {
  const { plan, deps } = attempt;
  let next: RequestPlan;
  try {
    next = await planReroute(attempt, reroute, deps.reroute);
  } catch (error) {
    if (!isGatewayError(error) || !unservable.has(error.code)) throw error;
    const failures = new Failures(plan.plan);
    failures.refused = error;
    return failures;
  }
  return runPlan(next, attempt);
}

/** Moves to what is tried after this fault. false: nothing may be. */
function moveOn(cursor: AttemptCursor, { fault }: Extract<AttemptResult, { kind: 'retry' }>, { request, plan, route, deps }: AttemptContext): boolean {
  const { retries } = deps.balance;
  const step = nextStep(fault);
  if (step === 'stop' || (step === 'larger' && route.target.family.context === null)) return false;
  if (refusesKey(fault)) cursor.refuseKey();
  const staysHere = step === 'key' || (step === 'node-or-key' && (cursor.isLastNode || !retries.hasLeft()));
  if (staysHere && cursor.nextKey()) return true;
  if (step === 'node-or-key') cursor.leaveKeys();
  do {
    if (!cursor.nextNode()) return false;
  } while (step === 'larger' && !isLarger(cursor, route, plan.snapshot));
  // Keys cost nothing of the budget, and a node that could not be reached had no work: it bounds work that is done twice.
  if (cursor.returned || wasUnreached(fault) || retries.take()) return true;
  deps.send.logger.warn({ request: request.job.id, model: plan.plan.model }, 'no other node is tried: the budget of retries is spent');
  return false;
}

/** Whether the model of the present node is known to take longer prompts than the one that was asked. */
function isLarger(cursor: AttemptCursor, { target }: Route, snapshot: Snapshot): boolean {
  const window = cursor.attempt && resolveTarget(snapshot, cursor.attempt).target.family.context;
  return (window ?? 0) > (target.family.context ?? Number.POSITIVE_INFINITY);
}
