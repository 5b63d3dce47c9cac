/** Sends one prepared request, and records how it went: in the request's record, in its trace, and for the routers. */
import { type AttemptRecord, type Job, sealedAs, withoutPath } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/contracts/errors';
import type { Lease } from '@model-gateway/distributed-state';
import type { UpstreamFault } from '@model-gateway/protocols';
import { NoAccessError } from '../access-tokens.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import { abandonAttempt, beginAttempt, endAttempt } from '../spans.ts';
import type { AttemptContext } from './attempt-context.ts';
import { noAccess, signOfCall } from './classify.ts';
import type { SecretDeps } from './deps.ts';
import type { AttemptWatch } from './outcomes.ts';
import type { AttemptEnd } from './result.ts';
import { sendAttempt } from './send.ts';

/** `isUnclear`: an end of which a repetition decides what it says of the upstream's health. The lease is released when the upstream's call is over, or given back when nothing was sent. */
export async function recordAttempt(
  attempt: AttemptContext,
  upstreamRequest: UpstreamRequest,
  lease: Lease,
  isUnclear: (end: AttemptEnd) => boolean = () => false,
): Promise<AttemptEnd> {
  const { request, record, route, node, plan, deps } = attempt;
  const began = performance.now();
  const watch = deps.balance.outcomes.begin(route, node, plan.plan.balanced);
  record.startSending(upstreamRequest.bytes, watch);
  const span = request.span && beginAttempt(request.span, request, upstreamRequest);
  let end: AttemptEnd;
  try {
    end = await sendAttempt(attempt, upstreamRequest, lease);
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
  record.endSending();
  const row = attemptRow(attempt, end, began);
  record.addAttempt(row);
  if (span) endAttempt(span, { request, record, attempt: row, began, complete: end.fault === null });
  // A caller who left, or a process that shuts down, says nothing of the upstream.
  if (end.fault && !request.cancellation.isOver && !isUnclear(end)) publishFault(watch, end, request.job);
  return end;
}

function attemptRow({ request, route, planned, deps }: AttemptContext, { status, fault }: AttemptEnd, began: number): AttemptRecord {
  const { secrets } = deps.send;
  return {
    upstream: route.upstream.name,
    key_index: planned.keyIndex,
    status,
    error_code: fault ? (isWithoutPath(request.job, status) ? withoutPath : faultName(fault, secrets)) : null,
    duration_ms: Math.round(performance.now() - began),
    model: route.model.name,
    key: route.key?.id ?? '',
    ...(fault && { message: sealMessage(request.job.id, fault, secrets) }),
  };
}

/** Where the caller chose the path, such an answer is about that path: an upstream is not called failing for it. */
const isWithoutPath = ({ operation }: Job, status: number | null): boolean => operation === 'passthrough' && (status === 404 || status === 405);

/** A connection that was not to be had says nothing of the upstream. */
function publishFault(watch: AttemptWatch, { fault }: AttemptEnd, { operation }: Job): void {
  if (fault === null || fault.class === 'busy') return;
  const sign = signOfCall(fault, operation);
  if (sign === 'none') watch.content();
  else watch.failed(sign, fault.retryAfterMs);
}

/** For an end that was unclear, when there was no repetition. */
export function publishRefused({ request, route, node, plan, deps }: AttemptContext, end: AttemptEnd): void {
  publishFault(deps.balance.outcomes.begin(route, node, plan.plan.balanced), end, request.job);
}

/** A stored key that does not open any more (its master key is gone) is a refused one: others may still work. null: it was something else. */
function unreadableKey(error: unknown): AttemptEnd | null {
  if (error instanceof NoAccessError) return { fault: noAccess(error), committed: false, status: null };
  if (!isGatewayError(error) || error.code !== 'upstream_credential') return null;
  return { fault: { class: 'credential', code: 'unreadable_key', message: 'the stored key cannot be opened' }, committed: false, status: null };
}

/** Longer than the sentence of any error; what follows is a stack or a page. */
const maxMessageLength = 1000;

/** The upstream's own message, for admins who look into the request: it may quote a prompt, so it is sealed. */
function sealMessage(requestId: string, { message }: UpstreamFault, { keyring, redactor }: SecretDeps): string {
  return keyring.seal(redactor.redact(message).slice(0, maxMessageLength), sealedAs.attemptMessage(requestId));
}

/** Longer than any code that a vendor means. */
const maxCodeLength = 64;

/** The upstream's own code for what went wrong. Not its message, which may hold our credential, and has no bound. */
const faultName = ({ code, class: kind }: UpstreamFault, { redactor }: SecretDeps): string =>
  code === undefined ? kind : redactor.redact(code).slice(0, maxCodeLength);
