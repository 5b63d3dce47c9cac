/** The whole table of routes: what holds on one path holds on all of them. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type ClientRoute, clientProtocols, type RouteMatch } from '@model-gateway/protocols';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { MemoryTurns } from '../support/memory-turns.ts';

let calls = 0;
const upstream: Server = createServer((request, response) => {
  request.resume().on('end', () => {
    calls++;
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end('{"ok":true}');
  });
});

interface Case {
  name: string;
  method: string;
  path: string;
  headers: Record<string, string>;
  operation: RouteMatch['operation'];
  /** Of the model, where the call names one. */
  send: { body?: string | FormData };
}

const formOf = (model: string, files: readonly string[]): FormData => {
  const form = new FormData();
  form.append('model', model);
  for (const name of files) form.append(name, new Blob(['x']), 'x.bin');
  return form;
};

/** Headers by which callers of protocols that share a path are told apart. */
const headersOf: Readonly<Record<string, Record<string, string>>> = {
  beta: { 'anthropic-version': '2023-06-01' },
  gamma: { 'x-goog-api-client': 'google-genai-sdk/1.0' },
};
/** What follows a prefix. */
const restsOf: Readonly<Record<string, readonly string[]>> = {
  '/v1/services/': ['aigc/text-generation/generation', 'native/tasks/task_1', 'native/tasks/task_1/cancel'],
  '/api/v1/services/': ['aigc/text-generation/generation', 'native/tasks/task_1'],
  '/api/v1/tasks/': ['task_1', 'task_1/cancel'],
  '/v3/': ['any/some/path'],
  '/v1beta/models/': ['any:generateContent', 'any:countTokens', 'any'],
  '/v1/models/': ['any', 'any:generateContent'],
};
const anyRests = ['any', 'resp_1', 'conv_1', 'resp_1/cancel', 'resp_1/input_items', 'conv_1/items', 'conv_1/items/msg_1'];

function casesOf(protocol: string, route: ClientRoute): Case[] {
  const headers = headersOf[protocol] ?? {};
  const rests = route.path.endsWith('/') ? (restsOf[route.path] ?? anyRests) : [''];
  return route.methods.flatMap((method) =>
    rests.flatMap((rest): Case[] => {
      const match = route.match(rest, new URLSearchParams(), headers, method);
      if (!match) return [];
      const model = match.operation === 'native' ? 'native' : 'any';
      const isForm = match.body === 'form';
      const body = isForm
        ? formOf(model, match.files ?? [])
        : JSON.stringify({ model, input: 'x', query: 'x', documents: ['x'], messages: [], contents: [], prompt: 'x', max_tokens: 1 });
      return [
        {
          name: `${protocol} ${method} ${route.path}${rest}`,
          method,
          path: route.path + rest,
          headers: { ...headers, ...(method !== 'GET' && !isForm && { 'content-type': 'application/json' }) },
          operation: match.operation,
          send: method === 'GET' || method === 'DELETE' ? {} : { body },
        },
      ];
    }),
  );
}

const cases = clientProtocols.flatMap(({ id, client }) => client.routes.flatMap((route) => casesOf(id, route)));
const ofModels = cases.filter(({ operation }) => !['list-models', 'get-model', 'turns'].includes(operation));

type Kind = 'open' | 'ungranted' | 'ruled' | 'limited' | 'poor';
const gateways = {} as Record<Kind, InProcessGateway>;

beforeAll(async () => {
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', () => resolve()));
  const base_url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const options = {
    upstreams: [
      { name: 'as-is', protocol: 'passthrough' as const, base_url, api_keys: [{ key: 'sk-upstream' }] },
      { name: 'delta', protocol: 'delta' as const, base_url, api_keys: [{ key: 'sk-upstream' }] },
    ],
    models: [
      { name: 'any', upstream: 'as-is', upstream_model_id: 'real' },
      { name: 'native', upstream: 'delta', upstream_model_id: 'real' },
    ],
    turns: new MemoryTurns(),
  };
  gateways.open = await startInProcess(options);
  gateways.ungranted = await startInProcess({ ...options, turns: new MemoryTurns(), group: { models: ['other'] } });
  gateways.ruled = await startInProcess({
    ...options,
    turns: new MemoryTurns(),
    group: { header_acl: [{ header: 'x-banned', match: 'exists', action: 'deny' }] },
  });
  gateways.limited = await startInProcess({ ...options, turns: new MemoryTurns(), group: { rate_limit: { rpm: 1, window_secs: 3600 } } });
  gateways.poor = await startInProcess({ ...options, turns: new MemoryTurns(), group: { budget: { limit: 0, period: 'total', currency: 'USD' } } });
});
afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop();
  upstream.close();
});

let asked = 0;
async function ask({ method, path, headers, send }: Case, kind: Kind, more: Record<string, string> = {}): Promise<{ status: number; id: string }> {
  const gateway = gateways[kind];
  const id = `route-${++asked}`;
  const response = await fetch(gateway.url + path, {
    method,
    headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': id, ...headers, ...more },
    ...send,
  });
  await response.arrayBuffer();
  return { status: response.status, id };
}

test('every door of the gateway is in the table', () => {
  const paths = new Set(cases.map(({ path }) => path));
  for (const path of [
    '/v1/chat/completions',
    '/v1/messages',
    '/v1/responses',
    '/v1/embeddings',
    '/v1/images/edits',
    '/v1/rerank',
    '/v1/moderations',
    '/v1/decisions',
    '/v3/any/some/path',
  ])
    expect(paths).toContain(path);
  expect(ofModels.length).toBeGreaterThan(15);
});

describe.each(cases)('$name', (one) => {
  test('no key and an unknown key are 401, a denied header 403, a spent limit 429', async () => {
    calls = 0;
    expect((await ask(one, 'open', { authorization: '' })).status).toBe(401);
    expect((await ask(one, 'open', { authorization: 'Bearer gk-unknown' })).status).toBe(401);
    expect((await ask(one, 'ruled', { 'x-banned': '1' })).status).toBe(403);
    await ask(one, 'limited');
    calls = 0;
    expect((await ask(one, 'limited')).status).toBe(429);
    expect(calls).toBe(0);
  });
});

describe.each(ofModels)('$name', (one) => {
  test('a model that is not granted is 403, a spent budget 402, each with its row', async () => {
    calls = 0;
    const ungranted = await ask(one, 'ungranted');
    expect(ungranted.status).toBe(403);
    expect(await gateways.ungranted.row(ungranted.id)).toMatchObject({ status: 403, error_code: 'model_not_granted' });
    if (one.operation !== 'count-tokens') {
      const poor = await ask(one, 'poor');
      expect(poor.status).toBe(402);
      expect(await gateways.poor.row(poor.id)).toMatchObject({ status: 402, error_code: 'budget_exhausted' });
    }
    expect(calls).toBe(0);
  });

  test('a call that is let in has its row', async () => {
    const { status, id } = await ask(one, 'open');
    expect(status).toBeLessThan(500);
    expect(await gateways.open.row(id)).toMatchObject({ access_key: 'caller', key_group: 'group', status, requested_model: expect.any(String) });
  });
});

describe('what official SDKs offer as well', () => {
  test.each([
    ['/v1/files', 'Files'],
    ['/v1/files/file-1/content', 'Files'],
    ['/v1/uploads', 'Files'],
    ['/v1/agents/agent_1/runs', 'Agents'],
    ['/v1/batches', 'Batches'],
    ['/v1/messages/batches', 'Batches'],
    ['/v1/messages/batches/b/results', 'Batches'],
    ['/v1/videos', 'Videos'],
    ['/v1/videos/v/content', 'Videos'],
  ])('%s is a 404 with one sentence', async (path, word) => {
    const { url, key } = gateways.open;
    for (const method of ['GET', 'POST']) {
      const response = await fetch(url + path, { method, headers: { authorization: `Bearer ${key}` } });
      const body = (await response.json()) as { type?: string; error: { message: string } };
      expect([response.status, body.error.message.split(' ')[0], body.type]).toEqual([404, word, path.startsWith('/v1/messages') ? 'error' : undefined]);
    }
  });

  test.each([
    ['batchGenerateContent', 'Batches'],
    ['asyncBatchEmbedContent', 'Batches'],
    ['predictLongRunning', 'Videos'],
  ])('Gemini: %s', async (verb, word) => {
    const response = await fetch(`${gateways.open.url}/v1beta/models/any:${verb}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': gateways.open.key },
      body: '{}',
    });
    const { error } = (await response.json()) as { error: { status: string; message: string } };
    expect([response.status, error.status, error.message.split(' ')[0]]).toEqual([404, 'NOT_FOUND', word]);
  });
});
