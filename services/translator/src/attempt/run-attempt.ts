/** One attempt: a lease, the request in the upstream's protocol, the call, and once more without what the upstream refused to understand. */
import type { SignatureRefusal } from '@model-gateway/protocols';
import type { Admission, Lease } from '../limits/lease.ts';
import { prepare } from '../prepare/prepare.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import { strictRefusal } from '../receipt.ts';
import type { UnaryParts } from '../request/unary-parts.ts';
import { checkTaskStore, taskCodecOf } from '../tasks/begin-task.ts';
import { admit } from './admit.ts';
import type { AttemptContext } from './attempt-context.ts';
import { faultToError } from './classify.ts';
import { faultFacts } from './fault-facts.ts';
import { recordAttempt } from './record-attempt.ts';
import type { AttemptEnd, AttemptResult } from './result.ts';
import { withoutFlags } from './without-flags.ts';
import { withoutSignatures } from './without-signatures.ts';

/** Throws the caller's error where no other attempt may follow. */
export async function runAttempt(attempt: AttemptContext): Promise<AttemptResult> {
  attempt.record.startAttempt(attempt.route);
  attempt.request.cache.parts = undefined;
  if (taskCodecOf(attempt.request, attempt.route)) await checkTaskStore(attempt, attempt.deps.send.tasks);
  const admission = await admitOrStop(attempt);
  if (admission.limited) return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
  const preparing = prepareUnder(admission, attempt);
  let upstreamRequest = preparing instanceof Promise ? await preparing : preparing;
  // Another route is another account: a body with signatures opened for this one is prepared again without them.
  if (upstreamRequest.rerouteTo !== undefined && upstreamRequest.target.signatures.opened())
    upstreamRequest = await prepareUnder(admission, attempt, { about: 'signatures' });
  const unsent = judgeUnsent(attempt, upstreamRequest);
  if (unsent) {
    admission.giveBack();
    return unsent;
  }
  stopIfOver(attempt, admission);
  const first = await recordAttempt(attempt, upstreamRequest, admission);
  const parts = unfinishedParts(attempt);
  if (first.fault === null && parts) return sendRest(attempt, parts);
  return judge(attempt, first.fault === null ? first : await sendWithout(attempt, upstreamRequest, first));
}

const unfinishedParts = ({ request: { cache } }: AttemptContext): UnaryParts | undefined => (cache.parts?.isDone === false ? cache.parts : undefined);

/** The other calls of a question that its upstream takes in parts, each under a lease of its own. */
async function sendRest(attempt: AttemptContext, parts: UnaryParts): Promise<AttemptResult> {
  for (;;) {
    const admission = await admitOrStop(attempt);
    if (admission.limited) return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
    const upstreamRequest = await prepareUnder(admission, attempt);
    stopIfOver(attempt, admission);
    const end = await recordAttempt(attempt, upstreamRequest, admission);
    if (end.fault !== null || end.refusal || parts.isDone) return judge(attempt, end);
  }
}

/** The lease of this attempt, given back where the request is over. */
async function admitOrStop(attempt: AttemptContext): Promise<Admission> {
  const admitting = admit(attempt);
  const admission = admitting instanceof Promise ? await admitting : admitting;
  stopIfOver(attempt, admission);
  return admission;
}

/** No attempt for a caller who left, nor in a process that shuts down: the lease is given back, and the request's error thrown. */
function stopIfOver({ request: { cancellation } }: AttemptContext, admission: Admission): void {
  if (!cancellation.isOver) return;
  if (!admission.limited) admission.giveBack();
  cancellation.throwIfOver();
}

/** A request that cannot be made gives its lease back. */
function prepareUnder(lease: Lease, attempt: AttemptContext, signaturesRefused?: SignatureRefusal): UpstreamRequest | Promise<UpstreamRequest> {
  const giveBack = (error: unknown): never => {
    lease.giveBack();
    throw error;
  };
  try {
    const preparing = prepare(attempt, signaturesRefused);
    return preparing instanceof Promise ? preparing.catch(giveBack) : preparing;
  } catch (error) {
    return giveBack(error);
  }
}

/** What becomes of a request that is not sent to this route: a script rerouted it, or a strict group refuses its translation. undefined: it is sent. */
function judgeUnsent({ request, record, body, strict }: AttemptContext, upstreamRequest: UpstreamRequest): AttemptResult | undefined {
  const { rerouteTo } = upstreamRequest;
  if (rerouteTo !== undefined) return { kind: 'reroute', model: rerouteTo, body, carried: { request: upstreamRequest, losses: [...record.losses] } };
  // A node of another protocol may lose nothing.
  const refusal = strict ? strictRefusal(request, record) : null;
  return refusal ? { kind: 'refused', error: refusal } : undefined;
}

/**
 * When the upstream refuses thinking signatures or a feature flag, repeats the attempt once without them, unless the key group is strict about
 * losses; else returns the end as it was.
 */
async function sendWithout(attempt: AttemptContext, sent: UpstreamRequest, end: AttemptEnd): Promise<AttemptEnd> {
  if (sent.target.passed) return end;
  const { request, record, strict, route, deps } = attempt;
  const stripped = (await withoutSignatures(attempt, sent, end)) ?? (await withoutFlags(attempt, sent, end));
  if (!stripped || (strict && strictRefusal(request, record))) return end;
  request.cancellation.throwIfOver();
  const admission = await admitOrStop(attempt);
  if (admission.limited) return end;
  const repeated = await recordAttempt(attempt, stripped, admission);
  const { signaturesRefused } = stripped.target;
  if (repeated.fault === null && signaturesRefused) deps.prepare.signatures.refused.learn(route, signaturesRefused, sent.target.signatures.sent());
  return repeated;
}

/** Once the caller has seen content there is no further attempt. */
function judge({ request, route, deps }: AttemptContext, { refusal, fault, committed, body }: AttemptEnd): AttemptResult {
  if (refusal) throw refusal;
  if (fault === null) return { kind: 'done' };
  request.cancellation.throwIfOver();
  const error = faultToError(fault, faultFacts({ job: request.job, route, body }, deps.send.secrets.redactor));
  if (committed) throw error;
  return { kind: 'retry', fault, error };
}
