/** One realtime session from a caller's side. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A handshake: its path with the query, and either headers or subprotocols. */
export interface Handshake {
  path: string;
  key?: string;
  headers?: Record<string, string>;
  offered?: string[];
}

export interface Talk {
  socket: WebSocket;
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  events: any[];
  send(event: unknown): void;
  closed: Promise<{ code: number; reason: string; at: number }>;
}

/** The answer to a handshake that was refused. */
export interface RefusedHandshake {
  status: number;
  message: string;
}

/** `url`: of the gateway. */
export async function shakeHands(url: string, { path, key, headers, offered }: Handshake): Promise<Talk | RefusedHandshake> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, offered ?? [], {
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  });
  const events: Talk['events'] = [];
  socket.on('message', (data) => events.push(JSON.parse(data.toString())));
  const closed = new Promise<Awaited<Talk['closed']>>((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString(), at: Date.now() }));
  });
  socket.on('error', () => socket.terminate());
  const refused = once(socket, 'unexpected-response').then(async ([request, reply]): Promise<RefusedHandshake> => {
    let body = '';
    for await (const part of reply) body += part;
    request.destroy();
    return { status: reply.statusCode as number, message: String(JSON.parse(body).error.message) };
  });
  refused.catch(() => {});
  const opened = await Promise.race([once(socket, 'open').then(() => null), refused]);
  return opened ?? { socket, events, send: (event) => socket.send(JSON.stringify(event)), closed };
}

/** Throws for a handshake that was refused. */
export async function openTalk(url: string, handshake: Handshake): Promise<Talk> {
  const talk = await shakeHands(url, handshake);
  if ('socket' in talk) return talk;
  throw new Error(`refused: ${talk.status} ${talk.message}`);
}

/** Throws for one that was accepted. */
export async function refusedTalk(url: string, handshake: Handshake): Promise<RefusedHandshake> {
  const talk = await shakeHands(url, handshake);
  if (!('socket' in talk)) return talk;
  talk.socket.terminate();
  throw new Error('the handshake was accepted');
}
