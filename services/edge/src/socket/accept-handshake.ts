/** The answer to a handshake that is accepted: it carries what every other reply does. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientAdapter } from '@model-gateway/protocols';
import type { WebSocket, WebSocketServer } from 'ws';
import { headerLines, idHeaders, type RequestIds } from '../http/request-ids.ts';

/** A handshake with the caller's connection. */
export interface Opening {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** A WebSocket that is to be accepted: what it is called, and the protocol's own headers. */
export interface Acceptance {
  readonly ids: RequestIds;
  readonly client: ClientAdapter | undefined;
}

/** `accepted` is called before this returns, or not at all: what came is not a handshake, or nobody is there any more. */
export function acceptHandshake(
  server: WebSocketServer,
  { request, socket, head }: Opening,
  { ids, client }: Acceptance,
  accepted: (webSocket: WebSocket) => void,
): void {
  const addIds = (lines: string[]): void => void lines.push(...headerLines(idHeaders(ids, client)));
  server.once('headers', addIds);
  server.handleUpgrade(request, socket, head, accepted);
  server.off('headers', addIds);
}
