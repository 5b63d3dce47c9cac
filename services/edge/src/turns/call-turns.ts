/** Calls on stored turns and conversations: a translator answers them, and the edge passes the answer on. They reach no model, so they leave no row. */
import type { TurnsCall } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Admission, Entering } from '../admission/admit.ts';
import { ownerOf } from '../admission/owner.ts';
import { innerHeaders } from '../admission/request-headers.ts';
import type { EdgeContext } from '../context.ts';
import { RelayedReply } from '../reply/relayed-reply.ts';

type AdmittedTurnsCall = Extract<Admission, { kind: 'turns' }>;

/** Seconds after which a caller may ask again whom nobody can answer. */
const retryAfter = 5;

/** Throws where nothing can be asked. */
export function callTurns({ exchange, entry, query }: Entering, { principal, asked, body }: AdmittedTurnsCall, context: EdgeContext): void {
  if (exchange.left) throw new GatewayError('client_gone');
  const owner = ownerOf(principal);
  if (owner === undefined) throw new GatewayError('storage_unavailable', { retryAfter });
  query.delete('key');
  const { traceparent } = entry;
  const deadlineMs = context.config.maxRequestMs;
  const call: TurnsCall = {
    id: exchange.id,
    clientRequestId: exchange.clientRequestId,
    owner,
    accessKey: principal.key.name,
    keyGroup: principal.group.name,
    clientProtocol: exchange.protocol.id,
    ...asked,
    query: query.size === 0 ? '' : query.toString(),
    headers: innerHeaders(exchange.request),
    deadlineMs,
    ...(traceparent !== undefined && { traceparent }),
  };
  const reply = new RelayedReply<'translator.turns'>(exchange, context);
  reply.start(context.bus.open('translator.turns', call, reply, { ...(body && { body: body.bytes }), deadlineMs }));
}
