/** An upstream that speaks six protocols on one port, replays recordings, and breaks on request. What it heard is kept for tests. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Delivery, deliver, type Reply } from './deliver.ts';
import { alpha } from './protocols/alpha.ts';
import { createReply, failure, listReply, type Play } from './reply.ts';
import { readRoute } from './routes.ts';
import { readScript, type Script } from './script.ts';

/** One request as it arrived, and how its reply went. */
export interface HeardRequest {
  method: string;
  /** Path and query as sent. */
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** Parsed body, when it is a JSON object. */
  json: Record<string, unknown>;
  /** Monotonic, in ms. */
  at: number;
  /** Bytes of the reply's body written so far. */
  readonly bytesWritten: number;
  /** null while the reply is under way. `left`: the caller closed before the end; `cut`: the script broke it. */
  closed: { reason: 'finished' | 'left' | 'cut'; at: number } | null;
  /** Resolves when `closed` is set. */
  whenClosed: Promise<void>;
}

export interface FakeUpstream {
  /** Without a trailing slash. */
  url: string;
  requests: HeardRequest[];
  /** Connections accepted so far. */
  readonly connections: number;
  close(): Promise<void>;
}

const listed = ['ok', 'text:10', 'pump'];

function parse(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function replyTo(request: HeardRequest, play: Play | undefined): { reply: Reply | null; script: Script } {
  const plain = readScript('ok') as Script;
  const asking = readRoute(request.method, new URL(request.path, 'http://fake'), request.headers, request.json);
  if (asking === null) return { reply: failure(alpha, 404, 'not_found', `No such page: ${request.method} ${request.path}`), script: plain };
  if (asking.operation === 'list') return { reply: listReply(asking.protocol, listed), script: plain };
  const script = readScript(asking.model);
  if (script === null) return { reply: failure(asking.protocol, 404, 'error', `No such model: ${asking.model}`), script: plain };
  return { reply: createReply(asking, request.json, script, play && (() => play(request.json, request.path))), script };
}

function hear(incoming: IncomingMessage, response: ServerResponse, body: Buffer, delivery: Delivery): HeardRequest {
  let closed: () => void = () => {};
  const heard: HeardRequest = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body,
    json: parse(body),
    at: performance.now(),
    get bytesWritten() {
      return delivery.bytes;
    },
    closed: null,
    whenClosed: new Promise((resolve) => {
      closed = resolve;
    }),
  };
  response.on('close', () => {
    heard.closed = { reason: delivery.cut ? 'cut' : response.writableFinished ? 'finished' : 'left', at: performance.now() };
    closed();
  });
  return heard;
}

/** Starts it; port 0 (the default) takes any free one on 127.0.0.1. `play` answers for the model `play`. */
export async function startFakeUpstream({ port = 0, host = '127.0.0.1', play }: { port?: number; host?: string; play?: Play } = {}): Promise<FakeUpstream> {
  const requests: HeardRequest[] = [];
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part) => parts.push(part));
    incoming.on('end', () => {
      const delivery: Delivery = { bytes: 0, cut: false };
      const heard = hear(incoming, response, Buffer.concat(parts), delivery);
      requests.push(heard);
      const { reply, script } = replyTo(heard, play);
      // A reply that cannot be written is a defect of this server: breaking the connection makes the test see it.
      if (reply !== null) deliver(response, reply, script, delivery).catch((error) => response.destroy(error as Error));
    });
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    requests,
    get connections() {
      return connections;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
