/** A caller goes on with a stream that an edge keeps: this one, or another that the stream's id names. */
import { type ErrorCode, GatewayError } from '@model-gateway/contracts/errors';
import type { Entering } from '../admission/admit.ts';
import type { Principal } from '../admission/credentials.ts';
import { streamOwnerOf } from '../admission/owner.ts';
import type { EdgeContext } from '../context.ts';
import { RelayedReply } from '../reply/relayed-reply.ts';
import { processOf } from './stream-id.ts';

/** From where on: behind this many events, or behind the event that the protocol gave this number. */
export type Position = { after: number } | { number: number };

const wholeNumber = /^\d{1,15}$/;
/** What the bus says of a process that is not there. */
const nobodyThere: ReadonlySet<ErrorCode> = new Set(['service_unavailable', 'service_lost']);

/** Throws GatewayError 400. */
export function readPosition({ exchange, query }: Pick<Entering, 'exchange' | 'query'>): Position {
  // A client that lost its connection again repeats the address it first asked for.
  const given = [exchange.request.headers['last-event-id'], ...query.getAll('after')].filter((value) => value !== undefined);
  for (const value of given) {
    if (typeof value !== 'string' || !wholeNumber.test(value))
      throw new GatewayError('invalid_request', {
        message: 'The position in a stream is the number of events that were received: a whole number.',
        param: 'after',
      });
  }
  return { after: Number(given[0] ?? 0) };
}

/** `gone`: what is answered when the stream is no longer kept. Throws GatewayError where that is known at once. */
export function takeUp(
  { exchange }: Pick<Entering, 'exchange'>,
  { principal, stream, position, gone }: { principal: Principal; stream: string; position: Position; gone: 'stream_gone' | 'stream_expired' },
  context: EdgeContext,
): void {
  if (exchange.left) throw new GatewayError('client_gone');
  const owner = streamOwnerOf(principal);
  const process = processOf(stream, owner);
  if (process === null) throw new GatewayError('not_found', { message: 'There is no such stream.' });
  const refusal = (error: GatewayError): GatewayError => {
    const isGone = error.code === 'stream_gone' || (nobodyThere.has(error.code) && context.bus.connected);
    if (!isGone) return error;
    // What the edge that has the stream says of it, for callers who asked for the stream itself.
    return gone === 'stream_gone' && error.code === 'stream_gone' ? error : new GatewayError(gone);
  };
  const reply = new RelayedReply<'edge.stream'>(exchange, context, { refusal });
  const look = exchange.request.method === 'HEAD';
  reply.start(
    context.bus.open('edge.stream', { stream, owner, ...position, ...(look && { look }) }, reply, { to: process, deadlineMs: context.config.maxRequestMs }),
  );
}
