/** Admission of a realtime session, before its handshake is accepted: what holds for requests, but for what is about bodies and replies. */
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

/** `principal` has been found by the handshake's own checks. */
export async function admitSession(entry: SessionEntry, snapshot: Snapshot, principal: Principal, context: EdgeContext): Promise<AdmittedSession> {
  const { capacity, rateLimits, budgets } = context.admission;
  entry.principal = principal;
  await rateLimits.admitKey(principal);
  const model = readModel(entry);
  entry.requestedModel = model;
  const named = resolveName(snapshot, model);
  entry.named = named;
  if (!isGranted(principal.group, named.canonical)) throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${model}.` });
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
    });
    return { slot, plan };
  } catch (error) {
    slot.release();
    throw error;
  }
}

/** What the caller asks for, by the query alone. */
function readModel({ request }: SessionEntry): string {
  const query = new URLSearchParams(request.url?.split('?', 2)[1]);
  if (query.has('call_id'))
    throw new GatewayError('invalid_request', { message: 'Calls over WebRTC or SIP cannot be joined: open a session by model.', param: 'call_id' });
  if (query.has('intent'))
    throw new GatewayError('invalid_request', { message: 'Sessions that only transcribe are not served: open a session by model.', param: 'intent' });
  const models = query.getAll('model');
  const [model] = models;
  if (!model) throw new GatewayError('invalid_request', { message: 'The query parameter model is missing.', param: 'model' });
  if (models.length > 1) throw new GatewayError('invalid_request', { message: 'The query parameter model was sent twice.', param: 'model' });
  return model;
}

/** Whether an open session would still be granted its model; the model may be disabled by now. */
export function isStillGranted({ requestedModel }: SessionEntry, principal: Principal, snapshot: Snapshot): boolean {
  if (requestedModel === null) return false;
  const group = snapshot.keyGroups.get(principal.group.name);
  try {
    return group !== undefined && isGranted(group, resolveName(snapshot, requestedModel).canonical);
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
