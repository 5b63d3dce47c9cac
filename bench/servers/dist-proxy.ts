/**
 * The split path with no features, as the floor of the gateway on NATS: `--role edge|router|translator --nats URL [--port N] [--up URL]`.
 * The edge asks the router first, then sends the body to the translator. Frames come back on one wildcard inbox:
 * byte 0 is the kind, and a whole reply travels in one message (u32 length of the head, the head as JSON, the body). Bodies stay below max_payload.
 */
import { createServer, type ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { connect, createInbox, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { Pool } from 'undici';

const { values } = parseArgs({ options: { role: { type: 'string' }, nats: { type: 'string' }, port: { type: 'string' }, up: { type: 'string' } } });
const kinds = { head: 0, data: 1, end: 2, error: 3, whole: 4, request: 9 } as const;

interface Head {
  status: number;
  type: string;
}

const roles: Record<string, (bus: NatsConnection) => void> = { edge: runEdge, router: runRouter, translator: runTranslator };
roles[values.role!]!(await connect({ servers: values.nats! }));

function runRouter(bus: NatsConnection): void {
  bus.subscribe('floor.route', {
    queue: 'router',
    callback(_error, message) {
      const { model } = message.json<{ model: string }>();
      message.respond(JSON.stringify({ provider: 'mock', model, key: 'k1', attempts: [{ provider: 'mock' }] }));
    },
  });
}

function runTranslator(bus: NatsConnection): void {
  const pool = new Pool(values.up!, { connections: 512, pipelining: 1, keepAliveTimeout: 60_000 });
  bus.subscribe('floor.call', { queue: 'translator', callback: (_error, message) => call(bus, pool, message) });
}

function call(bus: NatsConnection, pool: Pool, message: Msg): void {
  const { head: meta, body } = unpack<{ path: string; headers: Record<string, string> }>(message);
  const to = message.reply!;
  let head: Head = { status: 502, type: 'application/json' };
  let streams = false;
  const parts: Buffer[] = [];
  pool.dispatch(
    { path: meta.path, method: 'POST', headers: meta.headers, body },
    {
      // undici takes no handler without it.
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        head = { status, type: String(headers['content-type']) };
        streams = head.type.startsWith('text/event-stream');
        if (streams) bus.publish(to, frame(kinds.head, Buffer.from(JSON.stringify(head))));
      },
      onResponseData(_controller, bytes) {
        if (streams) bus.publish(to, frame(kinds.data, bytes));
        else parts.push(bytes);
      },
      onResponseEnd: () => bus.publish(to, streams ? frame(kinds.end) : pack(kinds.whole, head, Buffer.concat(parts))),
      onResponseError: () => bus.publish(to, frame(kinds.error)),
    },
  );
}

function runEdge(bus: NatsConnection): void {
  const inbox = createInbox();
  const live = new Map<string, ServerResponse>();
  let count = 0;
  bus.subscribe(`${inbox}.*`, {
    callback(_error, message) {
      const response = live.get(message.subject.slice(inbox.length + 1));
      if (response) writeReply(response, message);
    },
  });
  createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (bytes: Buffer) => parts.push(bytes));
    request.on('end', async () => {
      const body = Buffer.concat(parts);
      const { authorization = '' } = request.headers;
      await bus.request('floor.route', JSON.stringify({ model: 'gpt-4o', path: request.url, key: authorization, bytes: body.length }), { timeout: 5000 });
      const id = (count++).toString(36);
      live.set(id, response);
      response.on('close', () => live.delete(id));
      const headers = { 'content-type': 'application/json', authorization, 'content-length': String(body.length) };
      bus.publish('floor.call', pack(kinds.request, { path: request.url, headers }, body), { reply: `${inbox}.${id}` });
    });
  }).listen(Number(values.port), '127.0.0.1');
}

function writeReply(response: ServerResponse, message: Msg): void {
  const bytes = bytesOf(message);
  if (bytes[0] === kinds.head) {
    const head = JSON.parse(bytes.toString('utf8', 1)) as Head;
    response.writeHead(head.status, { 'content-type': head.type, 'cache-control': 'no-cache' });
  } else if (bytes[0] === kinds.data) response.write(bytes.subarray(1));
  else if (bytes[0] === kinds.end) response.end();
  else if (bytes[0] === kinds.whole) {
    const { head, body } = unpack<Head>(message);
    response.writeHead(head.status, { 'content-type': head.type, 'content-length': body.length });
    response.end(body);
  } else {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  }
}

const frame = (kind: number, bytes: Buffer = Buffer.alloc(0)): Buffer => Buffer.concat([Buffer.from([kind]), bytes]);

function pack(kind: number, head: object, body: Buffer): Buffer {
  const json = Buffer.from(JSON.stringify(head));
  const prefix = Buffer.alloc(5);
  prefix[0] = kind;
  prefix.writeUInt32LE(json.length, 1);
  return Buffer.concat([prefix, json, body]);
}

function unpack<T>(message: Msg): { head: T; body: Buffer } {
  const bytes = bytesOf(message);
  const end = 5 + bytes.readUInt32LE(1);
  return { head: JSON.parse(bytes.toString('utf8', 5, end)) as T, body: bytes.subarray(end) };
}

const bytesOf = ({ data }: Msg): Buffer => Buffer.from(data.buffer, data.byteOffset, data.byteLength);
