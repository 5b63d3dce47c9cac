/** Which replies are kept for their callers, and how one begins to be. */
import { ServerResponse } from 'node:http';
import type { Principal } from '../admission/credentials.ts';
import { mayStay, streamOwnerOf } from '../admission/owner.ts';
import type { Wanted } from '../admission/read-wanted.ts';
import type { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import type { ReplyBody } from '../reply/reply-body.ts';
import type { KeptStream, StreamFacts } from './kept-stream.ts';
import type { KeptStreams } from './kept-streams.ts';
import { ConnectionReader } from './readers.ts';

/** What it takes to keep a reply. */
export interface Keeping extends Omit<StreamFacts, 'background'> {
  /** Whether the caller would still be let in. */
  mayStay(): boolean;
}

/** undefined: neither did the caller ask for it, nor can the translator come to want it. */
export function keepingOf(
  { request, response, protocol }: ClientExchange,
  principal: Principal,
  { stream, places }: Pick<Wanted, 'stream' | 'places'>,
  { streams, catalog }: Pick<EdgeContext, 'streams' | 'catalog'>,
): Keeping | undefined {
  const { turns, eventNumber } = protocol.client;
  // A whole reply has no events, unless it runs in the background.
  if (stream === 'whole' && !places.words.includes('background')) return undefined;
  // Turns of a WebSocket have none of their own.
  if (!(response instanceof ServerResponse) || (!turns && request.headers['x-gateway-resume'] !== '1')) return undefined;
  const owner = streamOwnerOf(principal);
  return { id: streams.mintId(owner), owner, eventNumber, mayStay: () => mayStay(principal, catalog.current(), Date.now()) };
}

/** From now on the reply is written to the kept stream, whose first reader is the caller. `body`: what has written to the caller so far. */
export function keepFor(exchange: ClientExchange, keeping: Keeping, streams: KeptStreams, body?: ReplyBody): KeptStream {
  const stream = streams.keep({ ...keeping, background: false }, keeping.mayStay);
  stream.attach(new ConnectionReader(exchange.response, stream, body), 0);
  exchange.replaceResponse(stream.asServerResponse());
  return stream;
}

/** The same of a run whose caller has its whole answer already, or reads the stream like anybody else. */
export function keepInBackground(exchange: ClientExchange, keeping: Keeping, streams: KeptStreams, body: ReplyBody | null): void {
  const known = streams.find(keeping.id);
  if (known) return known.runInBackground();
  if (body) return keepFor(exchange, keeping, streams, body).runInBackground();
  const stream = streams.keep({ ...keeping, background: true }, keeping.mayStay);
  exchange.replaceResponse(stream.asServerResponse());
}
