/** An upstream that speaks six protocols on one port, replays recordings, and breaks on request. What it heard is kept for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RefusedBy } from '../vendor-rules/index.ts';
import { type Delivery, deliver, type Reply } from './deliver.ts';
import { alpha } from './protocols/alpha.ts';
import { alphaResponse } from './protocols/alpha-response.ts';
import { createReply, failure, listReply, type Play } from './reply.ts';
import { readRoute } from './routes.ts';
import { readScript, type Script } from './script.ts';
import { createStoredResponses, type StoredResponses } from './stored-responses.ts';
import type { UpstreamRequest } from './upstream-request.ts';
import { createVendor, type Vendor } from './vendor.ts';

export type { UpstreamRequest };

export interface FakeUpstream {
  /** Without a trailing slash. */
  url: string;
  requests: UpstreamRequest[];
  /** Refusals since the last call: a suite that means them takes them. */
  takeRefusals(): RefusedBy[];
  /** Connections accepted so far. */
  readonly connections: number;
  /** Rejects when something was refused that the suite did not take. */
  close(): Promise<void>;
}

/** Gives signatures where nobody checks them. */
const unasked = createVendor();
const listed = ['ok', 'text:10', 'pump'];

function parse(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The script, and what goes wrong besides. */
function withFaults(script: Script, more: string): Script {
  const faults = readScript(more);
  if (!faults) throw new Error(`no script: ${more}`);
  return { ...script, fault: faults.fault, error: faults.error, slowMs: faults.slowMs };
}

/** What requests are answered from. */
interface Sources {
  play: Play | undefined;
  vendor: Vendor | null;
  stored: StoredResponses;
}

function replyTo(request: UpstreamRequest, { play, vendor, stored }: Sources): { reply: Reply | null; script: Script } {
  const plain = readScript('ok') as Script;
  const ofStored = stored.answer(request);
  if (ofStored !== null) return ofStored;
  const asking = readRoute(request.method, new URL(request.path, 'http://fake'), request.headers, request.json);
  if (asking === null) return { reply: failure(alpha, 404, 'not_found', `No such page: ${request.method} ${request.path}`), script: plain };
  if (asking.operation === 'list') return { reply: listReply(asking.protocol, listed), script: plain };
  const script = readScript(asking.model);
  if (script === null) return { reply: failure(asking.protocol, 404, 'error', `No such model: ${asking.model}`), script: plain };
  const refused = vendor?.refuse(request, asking, script);
  if (refused) {
    request.refusal = refused.refusal;
    return { reply: refused.reply, script: plain };
  }
  // A written model looks for its place in the whole conversation, and this server keeps none: what the vendor says where it cannot keep one, either.
  if (script.flags.has('play') && request.json['thread']) return { reply: threadRefusal(), script: plain };
  const issueSignature = (): string => (vendor ?? unasked).issueSignature(request, asking, script);
  const storing = asking.protocol === alphaResponse && asking.operation === 'generate';
  const background = storing && request.json['background'] === true;
  const body = storing ? stored.withHistory(request) : request.json;
  const said = script.flags.has('play') && asking.operation === 'generate' ? play?.(body, request.path) : undefined;
  const played = said?.script === undefined ? script : withFaults(script, said.script);
  const reply = createReply(background && script.fixture === null ? { ...asking, stream: true } : asking, body, played, issueSignature, said && (() => said));
  const remembered = reply && vendor ? vendor.remember(request, asking, script, reply) : reply;
  if (!storing || remembered === null) return { reply: remembered, script: played };
  return { reply: background ? stored.begin(request, played, remembered) : stored.keep(request, played, remembered), script: played };
}

/** After it the vendor's SDKs send the whole conversation. */
const threadRefusal = (): Reply => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  pieces: [
    JSON.stringify({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'thread: not supported for this request',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      },
    }),
  ],
});

function receive(incoming: IncomingMessage, response: ServerResponse, body: Buffer, delivery: Delivery): UpstreamRequest {
  let closed: () => void = () => {};
  const received: UpstreamRequest = {
    method: incoming.method ?? 'GET',
    path: incoming.url ?? '/',
    headers: incoming.headers,
    body,
    json: parse(body),
    refusal: null,
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
    received.closed = { reason: delivery.cut ? 'cut' : response.writableFinished ? 'finished' : 'left', at: performance.now() };
    closed();
  });
  return received;
}

export interface FakeUpstreamOptions {
  /** 0: any free one. */
  port?: number;
  host?: string;
  /** Answers for the model `play`. */
  play?: Play;
  /** `false`: it takes what no vendor would. Only for suites that send such things on purpose; they say why. */
  strict?: boolean;
}

/** Starts it, with a vendor's eyes unless told otherwise. */
export async function startFakeUpstream({ port = 0, host = '127.0.0.1', play, strict = true }: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
  const requests: UpstreamRequest[] = [];
  const sources: Sources = { play, vendor: strict ? createVendor() : null, stored: createStoredResponses() };
  // Apart from the requests, which suites empty.
  const refusals: RefusedBy[] = [];
  let connections = 0;
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part) => parts.push(part));
    incoming.on('end', () => {
      const delivery: Delivery = { bytes: 0, cut: false };
      const received = receive(incoming, response, Buffer.concat(parts), delivery);
      requests.push(received);
      const { reply, script } = replyTo(received, sources);
      if (received.refusal) refusals.push(received.refusal);
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
    takeRefusals: () => refusals.splice(0),
    get connections() {
      return connections;
    },
    async close() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      const [first, ...more] = refusals;
      if (first) throw new Error(`A vendor would have refused ${1 + more.length} of the requests, the first by ${first.rule}: ${first.message}`);
    },
  };
}
