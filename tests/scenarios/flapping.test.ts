/**
 * Nodes that come and go under load: whatever breaks where, a caller sees the text of one node alone, a prefix of it at least, and no key of a node
 * is tried twice. `FLAPPING_REQUESTS=10000` for the long run.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

const requests = Number(process.env['FLAPPING_REQUESTS'] ?? 1000);
const atOnce = 40;
const nodes = ['a', 'b', 'c', 'd'];
const words = 6;

/** A seeded generator, so that a failing run can be run again. */
let seed = Number(process.env['FLAPPING_SEED'] ?? 4711);
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const textOf = (node: string, nonce: string): string => Array.from({ length: words }, (_, at) => `${node}.${nonce}.${at} `).join('');
const chunk = (content: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'x', choices: [{ index: 0, delta: content === null ? {} : { content }, finish_reason: content === null ? 'stop' : null }] })}\n\n`;

/** What a node does with a request: about half of them fail, somewhere. */
const behaviours: readonly ((request: IncomingMessage, response: ServerResponse, pieces: string[]) => void)[] = [
  (_request, response) => response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"down","type":"server_error"}}'),
  (request) => request.socket.resetAndDestroy(),
  (_request, response) => response.writeHead(429, { 'content-type': 'application/json' }).end('{"error":{"message":"slow","code":"rate_limit_exceeded"}}'),
  (request, response, pieces) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    // Only the role: a lifecycle event that callers must not see of this node.
    response.write(chunk(''));
    if (pieces.length > 0) setTimeout(() => request.socket.resetAndDestroy(), 2);
  },
  (request, response, pieces) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(pieces.slice(0, 3).map(chunk).join(''));
    setTimeout(() => request.socket.resetAndDestroy(), 2);
  },
];
const works = (_request: IncomingMessage, response: ServerResponse, pieces: string[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const piece of pieces) response.write(chunk(piece));
  response.end(`${chunk(null)}data: [DONE]\n\n`);
};

let server: Server;
let gateway: InProcessGateway;
beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString()) as { model: string; messages: { content: string }[] };
      const nonce = body.messages[0]!.content;
      const pieces = Array.from({ length: words }, (_, at) => `${body.model}.${nonce}.${at} `);
      const behaviour = random() < 0.5 ? behaviours[Math.floor(random() * behaviours.length)]! : works;
      behaviour(request, response, pieces);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  gateway = await startInProcess({
    edge: { maxConcurrentStreams: 1000 },
    strict: false,
    upstreams: nodes.map((name) => ({ name, protocol: 'alpha', base_url, api_keys: [{ key: 'one' }, { key: 'two' }] })),
    models: nodes.map((name) => ({ name, upstream: name, upstream_model_id: name })),
    loadBalancers: [{ name: 'pool', entries: nodes.map((model) => ({ model })) }],
  });
});
afterAll(async () => {
  await gateway.stop();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
});

async function ask(index: number): Promise<'whole' | 'cut' | 'refused'> {
  const nonce = `n${index}`;
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': nonce },
    body: JSON.stringify({ model: 'pool', stream: true, messages: [{ role: 'user', content: nonce }] }),
  });
  const text = await reply.text();
  const row = await gateway.row(nonce);
  const tried = row.attempts.map(({ upstream, key_index }) => `${upstream} ${key_index}`);
  expect(new Set(tried).size).toBe(tried.length);
  if (reply.status !== 200) {
    expect([reply.status, row.status]).toEqual([503, 503]);
    return 'refused';
  }
  const said = [...text.matchAll(/^data: (\{.*\})$/gm)]
    .map(([, json]) => (JSON.parse(json!) as { choices: { delta?: { content?: string } }[] }).choices[0]?.delta?.content ?? '')
    .join('');
  const node = row.attempts.at(-1)!.upstream;
  const cut = text.includes('_gateway_warning');
  if (cut) expect(textOf(node, nonce).startsWith(said)).toBe(true);
  else expect(said).toBe(textOf(node, nonce));
  expect(row.model).toBe(node);
  expect(text.match(/data: \[DONE\]/g)).toHaveLength(1);
  return cut ? 'cut' : 'whole';
}

test(`${requests} requests over flapping nodes: one node's text each, nothing twice`, async () => {
  const counts = { whole: 0, cut: 0, refused: 0 };
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < requests) counts[await ask(next++)]++;
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  expect(counts.whole + counts.cut + counts.refused).toBe(requests);
  expect(counts.whole).toBeGreaterThan(requests / 2);
  expect(counts.cut).toBeGreaterThan(0);
}, 300_000);
