/** What stands before many vendors: TLS and HTTP/2 towards the caller, HTTP/1.1 towards the (fake) upstream behind it. */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { constants, createSecureServer, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import { cert, key } from '../../packages/upstream-client/test/fixed-certificate.ts';

export interface Http2Front {
  /** `https`, without a trailing slash. */
  url: string;
  /** How an upstream's record trusts it. */
  tls: { ca: string; server_name: string };
  /** Connections that spoke HTTP/2 so far. */
  readonly sessions: number;
  /** Versions of HTTP by which requests came. */
  versions: string[];
  /** Codes by which callers reset their streams. */
  resets: number[];
  /** Streams under way. */
  readonly open: number;
  /** From now on requests are taken and not answered; false: again as ever. */
  mute: boolean;
  /** Says GOAWAY on every connection. */
  goAway(): void;
  /** Cuts every connection. */
  cut(): void;
  close(): Promise<void>;
}

const own = (headers: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => !name.startsWith(':'))
      .map(([name, value]) => [name, String(value)]),
  );

/** `allowHttp1`: whether callers may choose HTTP/1.1, which is then answered by 200 and an empty object. */
export async function startHttp2Front(upstream: string, { allowHttp1 = false } = {}): Promise<Http2Front> {
  const server = createSecureServer({ key, cert, allowHTTP1: allowHttp1 });
  const sockets = new Set<Socket>();
  const sessions = new Set<Http2Session>();
  const streams = new Set<ServerHttp2Stream>();
  let count = 0;
  const front = {
    versions: [] as string[],
    resets: [] as number[],
    mute: false,
    goAway: () => sessions.forEach((session) => session.goaway(constants.NGHTTP2_NO_ERROR, 2 ** 31 - 1)),
    cut: () => sockets.forEach((socket) => socket.destroy()),
  };
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {})));
  server.on('sessionError', () => {});
  server.on('session', (session) => {
    count++;
    sessions.add(session.on('error', () => {}));
    session.on('close', () => sessions.delete(session));
  });
  server.on('request', (incoming: IncomingMessage & { stream?: ServerHttp2Stream }, response) => {
    front.versions.push(incoming.httpVersion);
    if (incoming.httpVersion !== '2.0')
      pass(
        request(upstream + incoming.url, { method: incoming.method ?? 'GET', headers: incoming.headers }),
        incoming,
        (reply) => {
          response.writeHead(reply.statusCode ?? 502, reply.headers);
          reply.pipe(response);
        },
        () => response.destroy(),
      );
  });
  server.on('stream', (stream, headers) => {
    streams.add(stream);
    stream.on('error', () => {});
    const onward = front.mute ? undefined : request(upstream + headers[':path'], { method: String(headers[':method']), headers: own(headers) });
    stream.on('close', () => {
      streams.delete(stream);
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) front.resets.push(stream.rstCode);
      onward?.destroy();
    });
    if (onward === undefined) return void stream.resume();
    pass(
      onward,
      stream,
      (reply) => {
        const { connection, 'transfer-encoding': coding, 'keep-alive': keep, ...rest } = reply.headers;
        stream.respond({ ':status': reply.statusCode, ...rest });
        reply.on('data', (chunk) => stream.write(chunk));
        reply.on('end', () => stream.end());
        // As a proxy says it when what is behind it broke off.
        reply.on('error', () => stream.destroy(new Error('broke off')));
      },
      () => stream.destroy(new Error('broke off')),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.defineProperties(front, {
    url: { value: `https://127.0.0.1:${(server.address() as AddressInfo).port}` },
    tls: { value: { ca: cert, server_name: 'upstream.test' } },
    sessions: { get: () => count },
    open: { get: () => streams.size },
    close: {
      value: async () => {
        front.cut();
        await new Promise<void>((closed) => server.close(() => closed()));
      },
    },
  }) as unknown as Http2Front;
}

function pass(onward: ClientRequest, body: NodeJS.ReadableStream, answered: (reply: IncomingMessage) => void, failed: () => void): void {
  onward.on('response', answered).on('error', failed);
  body.pipe(onward);
}
