/** One attempt: a lease, the request in the upstream's protocol, the call, and once more without what the upstream refused to understand. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Admission, Lease } from '@model-gateway/distributed-state';
import type { SignatureRefusal, UpstreamFault } from '@model-gateway/protocols';
import { UploadFailure } from '../media/upload-file.ts';
import { prepare } from '../prepare/prepare.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import { strictRefusal } from '../receipt.ts';
import type { UnaryParts } from '../request/unary-parts.ts';
import { checkTaskStore, taskCodecOf } from '../tasks/begin-task.ts';
import { admit } from './admit.ts';
import type { AttemptContext } from './attempt-context.ts';
import { faultToError } from './classify.ts';
import { faultFacts } from './fault-facts.ts';
import { publishRefused, recordAttempt } from './record-attempt.ts';
import type { AttemptEnd, AttemptResult } from './result.ts';
import { mayRenew, withRenewedToken } from './with-renewed-token.ts';
import { withoutFlags } from './without-flags.ts';
import { withoutSignatures } from './without-signatures.ts';

/** Throws the caller's error where no other attempt may follow. */
export async function runAttempt(attempt: AttemptContext): Promise<AttemptResult> {
  // Of a question in parts some were answered, and paid for, before its upstream failed.
  if (attempt.request.cache.parts?.answered && attempt.record.meter.usage) attempt.record.nextCall();
  attempt.record.startAttempt(attempt.route);
  attempt.request.cache.parts = undefined;
  attempt.request.cache.hosted = undefined;
  attempt.request.cache.hostedReply = undefined;
  if (taskCodecOf(attempt.request, attempt.route)) await checkTaskStore(attempt, attempt.deps.send.tasks);
  const admission = await admitOrStop(attempt);
  if (admission.limited) return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
  let upstreamRequest: UpstreamRequest;
  try {
    const preparing = prepareUnder(admission, attempt);
    upstreamRequest = preparing instanceof Promise ? await preparing : preparing;
  } catch (error) {
    // With this account the file could not be uploaded: as if the call had failed.
    if (error instanceof UploadFailure) return judge(attempt, { fault: error.fault, committed: false, status: error.status });
    throw error;
  }
  // Another route is another account: a body with signatures opened for this one is prepared again without them.
  if (upstreamRequest.rerouteTo !== undefined && upstreamRequest.target.signatures.opened())
    upstreamRequest = await prepareUnder(admission, attempt, { about: 'signatures' });
  const unsent = judgeUnsent(attempt, upstreamRequest);
  if (unsent) {
    admission.giveBack();
    return unsent;
  }
  stopIfOver(attempt, admission);
  const first = await sendOnce(attempt, upstreamRequest, admission);
  const parts = unfinishedParts(attempt);
  if (first.fault === null && !first.refusal && parts) return sendRest(attempt, parts, first);
  const end = first.fault === null ? first : await sendWithout(attempt, upstreamRequest, first);
  return hasWaitingTools(attempt) ? sendRounds(attempt, end) : judge(attempt, end);
}

const hasWaitingTools = ({ request: { cache } }: AttemptContext): boolean => cache.hosted?.waits === true;

/** With the token of a login that the upstream refuses: twice, the second time with a renewed one. */
function sendOnce(attempt: AttemptContext, upstreamRequest: UpstreamRequest, lease: Lease): Promise<AttemptEnd> {
  const { route, request, record, deps } = attempt;
  const isRefused = (end: AttemptEnd): boolean => !end.committed && mayRenew(route, end);
  return withRenewedToken({
    route,
    deps: deps.send,
    caller: request.job,
    subject: { request: request.job.id },
    isRefused,
    send: () => recordAttempt(attempt, upstreamRequest, lease, isRefused),
    async sendAgain() {
      request.cancellation.throwIfOver();
      const admission = await admitOrStop(attempt);
      if (admission.limited) return null;
      record.meter.forgetCall();
      return recordAttempt(attempt, upstreamRequest, admission);
    },
    refusalStands(refusal) {
      request.cancellation.throwIfOver();
      publishRefused(attempt, refusal);
    },
  });
}

const unfinishedParts = ({ request: { cache } }: AttemptContext): UnaryParts | undefined => (cache.parts?.isDone === false ? cache.parts : undefined);

const noAnswer: UpstreamFault = { class: 'broken', code: 'unreadable', message: 'the upstream sent a reply that is not an answer' };

/** The other calls of a question that its upstream takes in parts, each under a lease of its own. `first`: how the call before them ended. */
async function sendRest(attempt: AttemptContext, parts: UnaryParts, first: AttemptEnd): Promise<AttemptResult> {
  if (parts.answered === 0) return judge(attempt, { ...first, fault: noAnswer });
  for (;;) {
    const { answered } = parts;
    const admission = await admitOrStop(attempt);
    if (admission.limited) return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
    const upstreamRequest = await prepareUnder(admission, attempt);
    stopIfOver(attempt, admission);
    const end = await sendOnce(attempt, upstreamRequest, admission);
    if (end.fault !== null || end.refusal || parts.isDone) return judge(attempt, end);
    // Whatever came, it was not part of the answer: asked again, the upstream would say the same.
    if (parts.answered === answered) return judge(attempt, { ...end, fault: noAnswer });
  }
}

/** Hosted tools were called: they are run, and the upstream is asked again with what they found, until it answers without them. */
async function sendRounds(attempt: AttemptContext, first: AttemptEnd): Promise<AttemptResult> {
  const { request, record, sink } = attempt;
  const { hosted, hostedReply } = request.cache;
  let end = first;
  while (end.fault === null && !end.refusal && hosted?.waits && hostedReply) {
    const shown = await hosted.answer(request.cancellation.signal());
    record.addSearches(hosted.takeSearches(), hosted.searchPrice);
    request.cancellation.throwIfOver();
    hostedReply.deliver(shown, sink, request.job.stream);
    if (hosted.isOver) return { kind: 'done' };
    record.nextCall();
    const admission = await admitOrStop(attempt);
    if (admission.limited) {
      // What the caller has seen cannot go on at another node.
      if (sink.committed) throw new GatewayError('upstream_rate_limited');
      return { kind: 'limited', retryAfterMs: admission.retryAfterMs };
    }
    const upstreamRequest = await prepareUnder(admission, attempt);
    stopIfOver(attempt, admission);
    end = await sendOnce(attempt, upstreamRequest, admission);
    if (sink.committed) end = { ...end, committed: true };
  }
  return judge(attempt, end);
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
