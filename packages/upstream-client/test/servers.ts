/** Small servers of each kind that calls leave through: DNS over UDP, TCP, TLS and HTTPS, a CONNECT proxy, a SOCKS proxy. */
import { createSocket } from 'node:dgram';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { type Answer, decode, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet';
import type { Certificate } from './certificates.ts';

const cleanups: (() => Promise<unknown>)[] = [];
export const onCleanUp = (cleanUp: () => Promise<unknown>): void => void cleanups.push(cleanUp);
/** For `afterEach`. */
export async function cleanUp(): Promise<void> {
  for (const one of cleanups.splice(0).reverse()) await one();
}

/** Listens on loopback; closed with its connections by `cleanUp`. */
export async function listen(server: Server, port = 0): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  onCleanUp(
    () =>
      new Promise((resolve) => {
        server.close(resolve);
        for (const socket of sockets) socket.destroy();
      }),
  );
  return { port: (server.address() as AddressInfo).port, sockets };
}

export interface DnsAnswer {
  answers?: Answer[];
  authorities?: Answer[];
  /** 2 SERVFAIL, 3 NXDOMAIN. */
  rcode?: number;
  truncated?: boolean;
  /** Changes the reply before it leaves. */
  forge?: (reply: Packet) => Packet;
}
/** null: no reply at all. */
export type Answering = (name: string, type: string, over: string) => DnsAnswer | null;

export const address = (name: string, data: string, ttl = 60): Answer => ({ type: 'A', name, data, ttl });
export const alias = (name: string, data: string, ttl = 60): Answer => ({ type: 'CNAME', name, data, ttl });

export interface TestDns {
  port: number;
  /** `over name type`, in the order they came. */
  asked: string[];
}

type Over = 'udp' | 'tcp' | 'tls' | 'https';

function replyTo(bytes: Buffer, over: Over, answering: Answering, asked: string[]): Buffer | null {
  const query = decode(bytes);
  const [question] = query.questions ?? [];
  asked.push(`${over} ${question?.name} ${question?.type}`);
  const answer = answering(question?.name ?? '', question?.type ?? '', over);
  if (answer === null) return null;
  const reply: Packet = {
    type: 'response',
    id: query.id ?? 0,
    flags: (answer.rcode ?? 0) | (answer.truncated ? TRUNCATED_RESPONSE : 0),
    questions: query.questions ?? [],
    answers: answer.answers ?? [],
    authorities: answer.authorities ?? [],
  };
  return encode(answer.forge ? answer.forge(reply) : reply);
}

/** UDP and TCP on one port. */
export async function startDns(answering: Answering): Promise<TestDns> {
  const asked: string[] = [];
  for (;;) {
    const { port } = await listen(streamDns(createServer(), 'tcp', answering, asked));
    const udp = createSocket('udp4');
    udp.on('message', (bytes, from) => {
      const reply = replyTo(bytes, 'udp', answering, asked);
      if (reply) udp.send(reply, from.port, from.address);
    });
    onCleanUp(() => new Promise<void>((resolve) => udp.close(resolve)));
    // The number is free for TCP; somebody may hold it for UDP.
    const bound = await new Promise<boolean>((resolve) => udp.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true)));
    if (bound) return { port, asked };
  }
}

export async function startDnsOverTls(answering: Answering, { cert, key }: Certificate): Promise<TestDns> {
  const asked: string[] = [];
  const server = createTlsServer({ cert, key });
  server.on('tlsClientError', () => {});
  return { port: (await listen(streamDns(server, 'tls', answering, asked, 'secureConnection'))).port, asked };
}

function streamDns<S extends Server>(server: S, over: Over, answering: Answering, asked: string[], event = 'connection'): S {
  server.on(event, (socket: Socket) => {
    let held: Buffer = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      held = Buffer.concat([held, chunk]);
      if (held.length < 2 || held.length < held.readUInt16BE() + 2) return;
      const reply = replyTo(held.subarray(2), over, answering, asked);
      if (!reply) return;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(reply.length);
      // Cut where it hurts.
      socket.write(Buffer.concat([length.subarray(0, 1)]));
      setTimeout(() => socket.write(Buffer.concat([length.subarray(1), reply])), 5);
    });
  });
  return server;
}

export async function startDnsOverHttps(answering: Answering, { cert, key }: Certificate): Promise<TestDns> {
  const asked: string[] = [];
  const server = createHttpsServer({ cert, key }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      if (request.method !== 'POST' || request.url !== '/dns-query' || request.headers['content-type'] !== 'application/dns-message') {
        response.writeHead(400).end();
        return;
      }
      const reply = replyTo(Buffer.concat(parts), 'https', answering, asked);
      if (reply) response.writeHead(200, { 'content-type': 'application/dns-message' }).end(reply);
    });
  });
  server.on('tlsClientError', () => {});
  return { port: (await listen(server)).port, asked };
}

export interface TestProxy {
  port: number;
  /** What it was asked for: `host:port`, with the credentials it was given before an `@`. */
  asked: string[];
}

/** Where a proxy connects to instead, so that names need not exist. */
export type Sending = (host: string, port: number) => { host: string; port: number };
const straight: Sending = (host, port) => ({ host, port });

function splice(a: Socket, b: Socket): void {
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const) {
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
    one.pipe(other);
  }
}

/** An HTTP proxy that knows CONNECT alone. `want`: `user:password` it insists on. */
export async function startConnectProxy({
  want,
  sending = straight,
  tls,
  answer,
}: {
  want?: string;
  sending?: Sending;
  tls?: Certificate;
  /** Raw bytes instead of a connection. */
  answer?: string;
} = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const server = tls ? createHttpsServer({ cert: tls.cert, key: tls.key }) : createHttpServer();
  server.on('tlsClientError', () => {});
  server.on('request', (_request, response) => response.writeHead(405).end());
  server.on('connect', (request, socket: Socket) => {
    socket.on('error', () => {});
    const given = Buffer.from((request.headers['proxy-authorization'] ?? '').replace(/^Basic /, ''), 'base64').toString();
    asked.push(`${given === '' ? '' : `${given}@`}${request.url}`);
    if (answer !== undefined) return void socket.write(answer);
    if (want !== undefined && given !== want)
      return void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-length: 0\r\n\r\n');
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = sending(hostname, Number(port || 80));
    const onward = connect(target.port, target.host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      splice(socket, onward);
    });
    onward.once('error', () => socket.end('HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n'));
  });
  return { port: (await listen(server)).port, asked };
}

/** A SOCKS proxy, version 4, 4a and 5, as the first byte says. */
export async function startSocksProxy({ want, sending = straight }: { want?: string; sending?: Sending } = {}): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    const onward = (who: string, host: string, port: number, yes: Buffer, no: Buffer): void => {
      asked.push(`${who === '' ? '' : `${who}@`}${host}:${port}`);
      const target = sending(host, port);
      const out = connect(target.port, target.host, () => {
        socket.write(yes);
        splice(socket, out);
      });
      out.once('error', () => socket.end(no));
    };
    socket.once('data', (hello: Buffer) => {
      if (hello[0] === 4) return socks4(hello, onward);
      socks5(socket, hello, want, onward);
    });
  });
  return { port: (await listen(server)).port, asked };
}

type Onward = (who: string, host: string, port: number, yes: Buffer, no: Buffer) => void;

function socks4(hello: Buffer, onward: Onward): void {
  const [user = '', name = ''] = hello.subarray(8).toString('latin1').split('\0');
  const [a, b, c, d] = hello.subarray(4, 8);
  const host = a === 0 && b === 0 && c === 0 ? name : [a, b, c, d].join('.');
  onward(user, host, hello.readUInt16BE(2), Buffer.from([0, 90, 0, 0, 0, 0, 0, 0]), Buffer.from([0, 91, 0, 0, 0, 0, 0, 0]));
}

function socks5(socket: Socket, hello: Buffer, want: string | undefined, onward: Onward): void {
  const readRequest = (who: string): void => {
    socket.once('data', (request: Buffer) => {
      const kind = request[3];
      const end = kind === 1 ? 8 : kind === 4 ? 20 : 5 + (request[4] ?? 0);
      const host =
        kind === 1
          ? request.subarray(4, 8).join('.')
          : kind === 4
            ? (request.subarray(4, 20).toString('hex').match(/.{4}/g) ?? []).join(':')
            : request.subarray(5, end).toString('latin1');
      const reply = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
      onward(who, host, request.readUInt16BE(end), reply(0), reply(5));
    });
  };
  if (want === undefined) {
    socket.write(Buffer.from([5, 0]));
    return readRequest('');
  }
  if (!hello.subarray(2).includes(2)) return void socket.end(Buffer.from([5, 255]));
  socket.write(Buffer.from([5, 2]));
  socket.once('data', (auth: Buffer) => {
    const length = auth[1] ?? 0;
    const given = `${auth.subarray(2, 2 + length)}:${auth.subarray(3 + length)}`;
    if (given !== want) return void socket.end(Buffer.from([1, 1]));
    socket.write(Buffer.from([1, 0]));
    readRequest(given);
  });
}
