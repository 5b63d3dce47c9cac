/** The one attempt loop: keys of a node, then the next node, until one answers or nothing is left that may be tried. */
import { type AttemptRecord, type PlannedNode, type Snapshot, sealedAs } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { SignatureRefusal, UpstreamFault } from '@model-gateway/protocols';
import { type PlannedAttempt, type Route, resolveTarget } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';
import type { Admission, Lease } from '../limits/lease.ts';
import { chooseRoute } from '../prepare/order.ts';
import { type Prepared, prepare } from '../prepare.ts';
import { strictRefusal } from '../receipt.ts';
import type { ReplySink } from '../reply-sink.ts';
import { abandonAttempt, beginAttempt, endAttempt } from '../spans.ts';
import { admit } from './admit.ts';
import { AttemptCursor } from './attempt-cursor.ts';
import { faultToError, healthSign, nextStep, refusesKey, wasUnreached } from './classify.ts';
import { Failures } from './failures.ts';
import { faultFacts } from './fault-facts.ts';
import { RerouteStack } from './reroute-stack.ts';
import { type AttemptEnd, sendAttempt } from './send.ts';
import { unservedBy } from './unserved.ts';
import { withoutFlags } from './without-flags.ts';
import { withoutSignatures } from './without-signatures.ts';

/** Resolves when an attempt gave the reply; throws the error that the caller gets when none did. */
export async function walkAttempts(call: Call, sink: ReplySink, context: TranslatorContext): Promise<void> {
  const known = context.catalog.at(call.plan.revision);
  let snapshot = known instanceof Promise ? await known : known;
  const strict = snapshot.keyGroups.get(call.job.keyGroup)?.strict_translation === true;
  let path = new AttemptCursor(call.plan);
  let failures = new Failures(call.plan);
  let chosen: PlannedNode | undefined;
  let reroutes: RerouteStack | undefined;
  if (call.plan.nodes.length > 1) context.retries.enter();
  for (;;) {
    const planned = path.attempt;
    if (!planned) {
      if (!reroutes) break;
      ({ path, failures, snapshot } = reroutes.back(failures, call, context));
      chosen = undefined;
      continue;
    }
    stopIfOver(call);
    const route = resolveTarget(snapshot, planned);
    if (path.node !== chosen) {
      chosen = path.node;
      call.startNode();
      // After a reroute by a post-translation script the body is not the caller's any more, so no reroute step runs.
      const choosing = call.carried ? undefined : chooseRoute({ call, route, snapshot, translatorContext: context });
      const rerouteTo = choosing instanceof Promise ? await choosing : choosing;
      if (rerouteTo !== undefined) {
        reroutes ??= new RerouteStack();
        ({ path, failures, snapshot } = await reroutes.reroute({ path, failures, snapshot }, call, route, rerouteTo, context));
        chosen = undefined;
        continue;
      }
      const unserved = unservedBy(call, route);
      if (unserved) {
        failures.refused ??= unserved;
        path.nextNode();
        continue;
      }
    }
    call.startAttempt(route);
    const admitting = admit(call, route, sink, context);
    const admission = admitting instanceof Promise ? await admitting : admitting;
    stopIfOver(call, admission);
    if (admission.limited) {
      failures.passOver(admission.retryAfterMs);
      path.nextNode();
      continue;
    }
    const preparing = prepareWith(admission, call, route, context);
    let prepared = preparing instanceof Promise ? await preparing : preparing;
    // Another route is another account: a body with signatures opened for this one is prepared again without them.
    if (prepared.rerouteTo !== undefined && prepared.signatures.opened())
      prepared = await prepareWith(admission, call, route, context, { about: 'signatures' });
    if (prepared.rerouteTo !== undefined) {
      admission.giveBack();
      reroutes ??= new RerouteStack();
      call.carry(prepared);
      ({ path, failures, snapshot } = await reroutes.reroute({ path, failures, snapshot }, call, route, prepared.rerouteTo, context));
      chosen = undefined;
      continue;
    }
    const refusal = strict ? strictRefusal(call) : null;
    if (refusal) {
      admission.giveBack();
      failures.refused ??= refusal;
      // Nothing was sent; a node of another protocol may lose nothing.
      path.nextNode();
      continue;
    }
    stopIfOver(call, admission);
    const first = await attempt(call, prepared, planned, path.node!, sink, context, admission);
    const end = first.fault === null ? first : await tryWithout(first, call, prepared, planned, path.node!, sink, context, strict);
    if (end.refusal) throw end.refusal;
    if (end.fault === null) return;
    stopIfOver(call);
    const error = faultToError(end.fault, faultFacts(call, route, end, context));
    // Once the caller has seen content there is no further attempt.
    if (end.committed) throw error;
    failures.add(end.fault, error);
    // What does not fit here will not fit where it came from either.
    if (!goOn(path, end.fault, { route, snapshot, call, context }) && (path.attempt || nextStep(end.fault) === 'larger')) break;
  }
  throw failures.error();
}

/** A request that cannot be made gives its lease back. */
function prepareWith(lease: Lease, call: Call, route: Route, context: TranslatorContext, signaturesRefused?: SignatureRefusal): Prepared | Promise<Prepared> {
  const giveBack = (error: unknown): never => {
    lease.giveBack();
    throw error;
  };
  try {
    const preparing = prepare(call, route, context, signaturesRefused);
    return preparing instanceof Promise ? preparing.catch(giveBack) : preparing;
  } catch (error) {
    return giveBack(error);
  }
}

/** No attempt for a caller who left, nor in a process that leaves. */
function stopIfOver(call: Call, admission?: Admission): void {
  if (call.cancelled === null && call.interrupted === null) return;
  if (admission && !admission.limited) admission.giveBack();
  if (call.cancelled !== null) throw new GatewayError('client_gone');
  if (call.interrupted !== null) throw call.interrupted;
}

/**
 * When the upstream refuses thinking signatures or a feature flag, repeats the attempt once without them, unless the key group is strict about
 * losses; else returns the end as it was.
 */
async function tryWithout(
  end: AttemptEnd,
  call: Call,
  prepared: Prepared,
  planned: PlannedAttempt,
  node: PlannedNode,
  sink: ReplySink,
  context: TranslatorContext,
  strict: boolean,
): Promise<AttemptEnd> {
  const stripped = (await withoutSignatures(call, prepared, end, context)) ?? (await withoutFlags(call, prepared, end, context));
  if (!stripped || (strict && strictRefusal(call))) return end;
  stopIfOver(call);
  const admission = await admit(call, prepared.route, sink, context);
  stopIfOver(call, admission);
  if (admission.limited) return end;
  const healed = await attempt(call, stripped, planned, node, sink, context, admission);
  if (healed.fault === null && stripped.signaturesRefused)
    context.refusedSignatures.learn(prepared.route, stripped.signaturesRefused, prepared.signatures.sent());
  return healed;
}

async function attempt(
  call: Call,
  prepared: Prepared,
  planned: PlannedAttempt,
  node: PlannedNode,
  sink: ReplySink,
  context: TranslatorContext,
  lease: Lease,
): Promise<AttemptEnd> {
  if (call.job.trace) call.sentBody = prepared.body;
  const began = performance.now();
  const watch = context.outcomes.begin(prepared.route, node, call.plan.balanced);
  call.watch = watch;
  const span = call.span && beginAttempt(call.span, call, prepared);
  let end: AttemptEnd;
  try {
    end = await sendAttempt(call, prepared, sink, context, lease);
  } catch (error) {
    // Thrown before anything was sent.
    lease.giveBack();
    const unreadable = unreadableKey(error);
    if (!unreadable) {
      if (span) abandonAttempt(span, error);
      throw error;
    }
    end = unreadable;
  }
  call.watch = null;
  const record: AttemptRecord = {
    upstream: prepared.route.upstream.name,
    key_index: planned.keyIndex,
    status: end.status,
    error_code: end.fault ? faultName(end.fault, context) : null,
    duration_ms: Math.round(performance.now() - began),
    model: prepared.route.model.name,
    key: prepared.route.key?.id ?? '',
    ...(end.fault && { message: sealedWords(call, end.fault, context) }),
  };
  call.attempts.push(record);
  if (span) endAttempt(span, call, record, began, end.fault === null);
  // A caller who left, a process that leaves, or a connection that was not to be had says nothing of the upstream.
  if (end.fault && end.fault.class !== 'busy' && call.cancelled === null && call.interrupted === null) {
    const sign = healthSign(end.fault);
    if (sign === 'none') watch.content();
    else watch.failed(sign, end.fault.retryAfterMs);
  }
  return end;
}

/** A stored key that does not open any more (its master key is gone) is a refused one: others may still work. null: it was something else. */
function unreadableKey(error: unknown): AttemptEnd | null {
  if (!isGatewayError(error) || error.code !== 'upstream_credential') return null;
  return { fault: { class: 'credential', code: 'unreadable_key', message: 'the stored key cannot be opened' }, committed: false, status: null };
}

interface Tried {
  route: Route;
  snapshot: Snapshot;
  call: Call;
  context: TranslatorContext;
}

/** Moves to what is tried after this fault. false: nothing may be. */
function goOn(path: AttemptCursor, fault: UpstreamFault, { route, snapshot, call, context }: Tried): boolean {
  const step = nextStep(fault);
  if (step === 'stop' || (step === 'larger' && route.target.family.context === null)) return false;
  if (refusesKey(fault)) path.refuseKey();
  const staysHere = step === 'key' || (step === 'node-or-key' && (path.isLastNode || !context.retries.hasLeft()));
  if (staysHere && path.nextKey()) return true;
  if (step === 'node-or-key') path.leaveKeys();
  do {
    if (!path.nextNode()) return false;
  } while (step === 'larger' && !isLarger(path, route, snapshot));
  // Keys cost nothing of the budget, and a node that could not be reached had no work: it bounds work that is done twice.
  if (path.returned || wasUnreached(fault) || context.retries.take()) return true;
  context.logger.warn({ request: call.job.id, model: call.plan.model }, 'no other node is tried: the budget of retries is spent');
  return false;
}

/** Whether the model of the present node is known to take longer prompts than the one that was asked. */
function isLarger(path: AttemptCursor, { target }: Route, snapshot: Snapshot): boolean {
  const window = path.attempt && resolveTarget(snapshot, path.attempt).target.family.context;
  return (window ?? 0) > (target.family.context ?? Number.POSITIVE_INFINITY);
}

/** Longer than the sentence of any error; what follows is a stack or a page. */
const maxWords = 1000;

/** The upstream's own words for what went wrong, for admins who look into the request: they may quote a prompt, so they are sealed. */
function sealedWords({ job }: Call, { message }: UpstreamFault, { keyring, redactor }: TranslatorContext): string {
  return keyring.seal(redactor.redact(message).slice(0, maxWords), sealedAs.attemptMessage(job.id));
}

/** Longer than any code that a vendor means. */
const maxCodeLength = 64;

/** The upstream's own code for what went wrong. Its words: they may hold our credential, and have no bound. */
const faultName = ({ code, class: kind }: UpstreamFault, context: TranslatorContext): string =>
  code === undefined ? kind : context.redactor.redact(code).slice(0, maxCodeLength);
