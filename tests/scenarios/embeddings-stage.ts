/** What suites of embeddings and rerank share: a real upstream server that answers with what a test sets, one gateway, and calls of it. */
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export let gateway: InProcessGateway;
let upstream: Server;
interface Vendor {
  received: Received[];
  /** What it answers with. */
  reply: { status: number; body: unknown | ((asked: Record<string, unknown>) => unknown) };
}
export const vendor: Vendor = { received: [], reply: { status: 200, body: {} } };

const model = (name: string, protocol: string, more: Record<string, unknown> = {}) => ({
  name,
  upstream: protocol,
  upstream_model_id: `vendor-${name}`,
  ...more,
});

export async function startVectors(): Promise<void> {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      vendor.received.push({
        path: request.url ?? '',
        headers: request.headers,
        body: JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>,
      });
      response.writeHead(vendor.reply.status, { 'content-type': 'application/json' });
      const body = typeof vendor.reply.body === 'function' ? (vendor.reply.body(vendor.received.at(-1)!.body) as unknown) : vendor.reply.body;
      response.end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const at = (name: string, protocol = name, base = address) => ({ name, protocol: protocol as 'alpha', base_url: base, api_keys: [{ key: `sk-of-${name}` }] });
  gateway = await startInProcess({
    upstreams: [
      at('alpha'),
      at('alpha_embeddings'),
      at('alpha_rerank'),
      at('cohere', 'alpha_embeddings', `${address}/v2`),
      at('gamma'),
      at('vertex', 'gamma', `${address}/v1/projects/p/locations/l/publishers/google`),
      at('delta'),
      at('beta'),
      at('cloudhost_invoke'),
    ],
    models: [
      model('chat', 'alpha'),
      model('vectors', 'alpha_embeddings', { request_body_rules: [{ mode: 'overwrite', path: 'user', value: 'a-tenant' }] }),
      model('ranks', 'alpha_rerank'),
      model('cohere-vectors', 'cohere'),
      model('cohere-ranks', 'cohere', { protocol: 'alpha_rerank' }),
      model('gemini', 'gamma'),
      model('vertex-vectors', 'vertex', { upstream_model_id: 'gemini-embedding-001' }),
      model('vertex-older', 'vertex', { upstream_model_id: 'text-embedding-005' }),
      model('vertex-newer', 'vertex', { upstream_model_id: 'gemini-embedding-2' }),
      model('qwen-vectors', 'delta', { kind: 'delta-text-embedding' }),
      { name: 'qwen-v2', upstream: 'delta', upstream_model_id: 'text-embedding-v2', kind: 'delta-text-embedding' },
      model('qwen-ranks', 'delta', { kind: 'delta-rerank' }),
      model('qwen-vl-ranks', 'delta', { kind: 'delta-rerank' }),
      model('qwen-chat', 'delta'),
      model('claude', 'beta'),
      { name: 'titan', upstream: 'cloudhost_invoke', upstream_model_id: 'amazon.titan-embed-text-v2:0' },
      { name: 'bedrock-ranks', upstream: 'cloudhost_invoke', upstream_model_id: 'cohere.rerank-v3-5:0' },
    ],
    loadBalancers: [{ name: 'either-vectors', strategy: 'priority', entries: [{ model: 'qwen-vectors' }, { model: 'vectors' }] }],
  });
}

export async function stopVectors(): Promise<void> {
  await gateway.stop();
  upstream.close();
}

/** What the suites read of answers. */
interface Answer {
  error: { code: string; param: string; message: string };
  id: string;
  data: { embedding: number[] }[];
  results: { index: number; relevance_score: number; document?: unknown }[];
}

let asked = 0;
export async function post(path: string, body: object): Promise<{ status: number; json: Answer; row: Awaited<ReturnType<InProcessGateway['row']>> }> {
  const id = `unary-${++asked}`;
  vendor.received = [];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify(body),
  });
  return { status: answer.status, json: (await answer.json()) as Answer, row: await gateway.row(id) };
}
export const sdk = () => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.key, maxRetries: 0 });
export const vectorsReply = (...vectors: number[][]) => ({
  object: 'list',
  data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
  model: 'vendor-name',
  usage: { prompt_tokens: 7, total_tokens: 7 },
});
