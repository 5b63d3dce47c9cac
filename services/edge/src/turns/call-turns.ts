/** Calls on stored turns and conversations: a translator answers them, and the edge passes the answer on. They reach no model, so they leave no row. */
import type { TurnsCall, TurnsCallTail } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import type { Admission, Entering } from '../admission/admit.ts';
import type { Principal } from '../admission/credentials.ts';
import { ownerOf } from '../admission/owner.ts';
import { innerHeaders } from '../admission/request-headers.ts';
import type { EdgeContext } from '../context.ts';
import { RelayedReply } from '../reply/relayed-reply.ts';
import { takeUp } from '../resume/take-up.ts';

type AdmittedTurnsCall = Extract<Admission, { kind: 'turns' }>;

/** Seconds after which a caller may ask again whom nobody can answer. */
const retryAfter = 5;

/** Throws where nothing can be asked. */
export function callTurns(entering: Entering, { principal, asked, body }: AdmittedTurnsCall, context: EdgeContext): void {
  const { exchange, entry, query } = entering;
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
  const goesOn = ({ resume }: TurnsCallTail): boolean => {
    if (!resume) return false;
    goOn(entering, { principal, stream: resume.stream, number: resume.after }, context);
    return true;
  };
  const reply = new RelayedReply<'translator.turns'>(exchange, context, { goesOn });
  reply.start(context.bus.open('translator.turns', call, reply, { ...(body && { body: body.bytes }), deadlineMs }));
}

/** The turn's events come from the edge that keeps them. */
function goOn({ exchange }: Entering, { principal, stream, number }: { principal: Principal; stream: string; number: number }, context: EdgeContext): void {
  try {
    takeUp({ exchange }, { principal, stream, position: { number }, gone: 'stream_expired' }, context);
  } catch (error) {
    const refusal = toGatewayError(error);
    // The stream's id names another owner: its key has been given another id since.
    exchange.writeError(refusal.code === 'not_found' ? new GatewayError('stream_expired') : refusal);
  }
}
