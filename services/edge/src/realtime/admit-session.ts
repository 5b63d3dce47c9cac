/** Admission of a realtime session: what holds for requests, but for what is about bodies and replies. */
import type { Plan, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { isGranted, resolveName } from '@model-gateway/routing';
import { isBudgeted } from '../admission/budgets.ts';
import type { Slot } from '../admission/capacity.ts';
import { maskOfCaller, type Principal } from '../admission/credentials.ts';
import { isViolation } from '../admission/violations.ts';
import type { EdgeContext } from '../context.ts';
import type { SessionEntry } from './session-entry.ts';

/** A session that may be opened; who takes it gives the place back. */
export interface AdmittedSession {
  readonly slot: Slot;
  readonly plan: Plan;
}

/** Without replies whose length somebody would have to guess. */
const noReplies = { readReplyLimits: () => ({ output: 0, thinking: 0, replies: 1 }) };

/** `model`: as the caller named it. The caller is known, and its key has been counted. */
export async function admitSession(entry: SessionEntry, snapshot: Snapshot, principal: Principal, context: EdgeContext): Promise<AdmittedSession> {
  const { capacity, budgets } = context.admission;
  const model = entry.requestedModel ?? '';
  const named = resolveName(snapshot, model);
  entry.named = named;
  if (!isGranted(principal.group, named.canonical)) throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${model}.` });
  budgets.refuseUnpriced(principal, { snapshot, named });
  if (isBudgeted(principal)) {
    const asked = { snapshot, named, body: Buffer.alloc(0), values: {}, client: noReplies };
    // Whether anything is left; what responses cost is found in their rows.
    (await budgets.reserve(principal, asked, (leave) => entry.request.socket.once('close', leave))).settleByRows();
  }
  const slot = await capacity.enter();
  try {
    const plan = await context.bus.ask('router.plan', {
      requestId: entry.id,
      revision: snapshot.revision,
      model,
      accessKey: principal.key.name,
      keyGroup: principal.group.name,
      clientProtocol: entry.protocol.id,
      operation: 'realtime',
      stream: true,
      ...(entry.traceparent !== undefined && { traceparent: entry.traceparent }),
    });
    return { slot, plan };
  } catch (error) {
    slot.release();
    throw error;
  }
}

/** Whether an open session would still be granted its model, if it has named one, to its caller as it is by now; the model may be disabled. */
export function isStillGranted({ requestedModel }: SessionEntry, { group }: Principal, snapshot: Snapshot): boolean {
  if (requestedModel === null) return true;
  try {
    return isGranted(group, resolveName(snapshot, requestedModel).canonical);
  } catch {
    // The name means nothing any more.
    return false;
  }
}

/** Refusals for the audit log are recorded as those of requests are. */
export function noteViolation(entry: SessionEntry, { code }: GatewayError, { admission }: EdgeContext): void {
  const { principal, request, requestedModel, clientIp, clientRequestId } = entry;
  if (!principal || !isViolation(code)) return;
  const { key, group } = principal;
  const mask = maskOfCaller(request, new URLSearchParams(), principal);
  const model = code === 'model_not_granted' ? requestedModel : null;
  admission.violations.note({ key: key.hash, mask, keyName: key.name, group: group.name, code, model, clientIp, requestId: clientRequestId });
}
