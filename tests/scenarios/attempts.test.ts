/** Key rotation and the error table of contract §3, through the whole data plane, with an upstream that answers by key. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';

const keys = ['sk-canary-first-000000', 'sk-canary-second-11111', 'sk-canary-third-222222'] as const;
const standby = 'sk-canary-standby-3333';
const allKeys: readonly string[] = [...keys, standby];
const modelId = 'vendor-internal-model-id';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const json = (status: number, body: unknown): Script => ({ status, contentType: 'application/json', chunks: [bytes(JSON.stringify(body))], ending: 'end' });
const good = json(200, {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: modelId,
  choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});
/** What chat completions say of an error; the text holds what must never reach a caller. */
const alphaError = (status: number, code: string | null, type: string, message = `no: key ${keys[0]} of ${keys[1]} at ${modelId}`): Script =>
  json(status, { error: { message, type, param: null, code } });
const refused = alphaError(401, 'invalid_api_key', 'invalid_request_error');

const outbound = createScriptedOutbound();
/** Answers by the key of the call; `fallback` where none is named. */
let byKey: Record<string, Script> = {};
let fallback: Script = good;
const used: string[] = [];
const plainSend = outbound.send;
outbound.send = (request, handlers) => {
  const key = Object.values(request.headers)
    .map((value) => value.replace(/^Bearer /, ''))
    .find((value) => allKeys.includes(value));
  used.push(key ?? 'none');
  outbound.script = (key !== undefined ? byKey[key] : undefined) ?? fallback;
  return plainSend(request, handlers);
};

let gateway: InProcessGateway;
beforeAll(async () => {
  const api_keys = [...keys.map((key) => ({ key, weight: 1 })), { key: standby, weight: 0 }];
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'up-alpha', protocol: 'alpha', base_url: 'https://up.test', api_keys },
      { name: 'up-beta', protocol: 'beta', base_url: 'https://up.test', api_keys: [{ key: keys[0] }] },
      { name: 'up-single', protocol: 'alpha', base_url: 'https://up.test', api_keys: [{ key: keys[0] }] },
    ],
    models: [
      { name: 'many', upstream: 'up-alpha', upstream_model_id: modelId },
      { name: 'single', upstream: 'up-single', upstream_model_id: modelId },
      { name: 'beta-single', upstream: 'up-beta', upstream_model_id: modelId },
    ],
    loadBalancers: [{ name: 'pool', strategy: 'priority', entries: [{ model: 'many' }, { model: 'single' }] }],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  byKey = {};
  fallback = good;
  used.length = 0;
});

const clients = {
  alpha: (model: string, stream: boolean) => ({ path: '/v1/chat/completions', body: { model, stream, messages: [{ role: 'user', content: 'x' }] } }),
  alpha_response: (model: string, stream: boolean) => ({ path: '/v1/responses', body: { model, stream, input: 'x' } }),
  beta: (model: string, stream: boolean) => ({ path: '/v1/messages', body: { model, stream, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] } }),
  gamma: (model: string, stream: boolean) => ({
    path: `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  }),
};
type ClientName = keyof typeof clients;
const clientNames = Object.keys(clients) as ClientName[];

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  id: string;
}
async function ask(client: ClientName, model: string, stream = false): Promise<Answer> {
  const { path, body } = clients[client](model, stream);
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text(), id: reply.headers.get('x-request-id') ?? '' };
}
/** Nothing of the inside in what the caller got, nor in a log line, nor in the row. */
async function expectClean(answer: Answer): Promise<void> {
  const row = await gateway.row(answer.id);
  for (const key of allKeys) {
    expect(answer.text).not.toContain(key);
    expect(JSON.stringify([...answer.headers])).not.toContain(key);
    expect(JSON.stringify(row)).not.toContain(key);
    expect(gateway.logs.join('')).not.toContain(key);
  }
}
const first = async (): Promise<string> => {
  await ask('alpha', 'many');
  const key = used[0] as string;
  used.length = 0;
  return key;
};

describe('key rotation', () => {
  test.each([
    ['401', refused],
    ['403', alphaError(403, null, 'permission_error')],
    ['429', alphaError(429, 'rate_limit_exceeded', 'requests')],
    ['an empty account', alphaError(429, 'insufficient_quota', 'insufficient_quota')],
  ])('%s: the next key answers, and the row lists both attempts', async (_what, failure) => {
    const chosen = await first();
    byKey = { [chosen]: failure };
    const answer = await ask('alpha', 'many');
    expect(answer.status).toBe(200);
    expect(used).toHaveLength(2);
    expect(used[0]).toBe(chosen);
    const row = await gateway.row(answer.id);
    expect(row).toMatchObject({ status: 200, error_code: null, input_tokens: 3, output_tokens: 1, usage_source: 'upstream' });
    expect(row.attempts).toMatchObject([
      { upstream: 'up-alpha', status: failure.status },
      { upstream: 'up-alpha', status: 200, error_code: null },
    ]);
    await expectClean(answer);
  });

  test('every key once, the standby last, then a 502 that names none', async () => {
    fallback = refused;
    const answer = await ask('alpha', 'many');
    expect(answer.status).toBe(502);
    expect([...used].sort()).toEqual([...allKeys].sort());
    expect(used.at(-1)).toBe(standby);
    expect((await gateway.row(answer.id)).attempts).toHaveLength(4);
    await expectClean(answer);
  });

  test('the standby answers when all weighted keys are refused, for a stream too', async () => {
    for (const key of keys) byKey[key] = refused;
    const answer = await ask('beta', 'many', true);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('fine');
    expect(answer.text).not.toContain('_gateway_warning');
    expect(used.at(-1)).toBe(standby);
  });

  test.each([
    [400, 'the caller’s fault', alphaError(400, null, 'invalid_request_error', 'temperature is too high')],
    [422, 'the caller’s fault', alphaError(422, null, 'invalid_request_error', 'bad field')],
    [413, 'the caller’s fault', alphaError(413, null, 'invalid_request_error', 'too large')],
    [404, 'not there', alphaError(404, 'model_not_found', 'invalid_request_error', 'no such model')],
  ])('%d, %s: no other key is tried', async (status, _what, failure) => {
    fallback = failure;
    const answer = await ask('alpha', 'many');
    expect(used).toHaveLength(1);
    expect(answer.status).toBe(status);
    await expectClean(answer);
  });

  test.each([
    [502, 'a failure of the server', alphaError(500, null, 'server_error')],
    [503, 'overload', alphaError(503, null, 'server_error', 'overloaded')],
  ])('%d, %s: with no other node, each other key is tried once, the standby last', async (status, _what, failure) => {
    fallback = failure;
    const answer = await ask('alpha', 'many');
    expect([...used].sort()).toEqual([...allKeys].sort());
    expect(used.at(-1)).toBe(standby);
    expect(answer.status).toBe(status);
    await expectClean(answer);
  });

  test('nothing is tried again once the caller has seen content', async () => {
    const chunk = {
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: modelId,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'half' } }],
    };
    fallback = {
      chunks: [bytes(`data: ${JSON.stringify(chunk)}\n\n`), bytes('data: {"error":{"message":"limit","type":"rate_limit_error","code":"429"}}\n\n')],
      ending: 'end',
    };
    const answer = await ask('alpha', 'many', true);
    expect(used).toHaveLength(1);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('half');
    expect(answer.text).toContain('_gateway_warning');
    expect(await gateway.row(answer.id)).toMatchObject({ status: 200, usage_source: 'estimated' });
  });

  test('a limit told inside the stream before content rotates the key, invisibly', async () => {
    const chosen = await first();
    byKey = {
      [chosen]: { chunks: [bytes('data: {"error":{"message":"slow down","type":"rate_limit_error","code":"rate_limit_exceeded"}}\n\n')], ending: 'end' },
    };
    const answer = await ask('alpha', 'many', true);
    expect(used).toHaveLength(2);
    expect(answer.text).toContain('fine');
    expect(answer.text).not.toContain('_gateway_warning');
  });
});

test('a balancer asks the other node before the other keys of an ill one, and these before it gives up', async () => {
  const start = await first();
  const healthy = keys.find((key) => key !== start && key !== keys[0]) as string;
  fallback = alphaError(500, null, 'server_error');
  byKey = { [healthy]: good };
  const answer = await ask('alpha', 'pool');
  expect([answer.status, used[0], used[1], used.at(-1)]).toEqual([200, start, keys[0], healthy]);
  expect((await gateway.row(answer.id)).attempts.slice(0, 2).map(({ upstream }) => upstream)).toEqual(['up-alpha', 'up-single']);
  // With no good key at all each is tried once, the standby last.
  byKey = {};
  used.length = 0;
  expect((await ask('alpha', 'pool')).status).toBe(503);
  expect([used.length, used.at(-1)]).toEqual([5, standby]);
});

describe('the error table of a single upstream', () => {
  const message = `the words with ${keys[0]} and ${modelId}`;
  const cases: [string, Script, number, boolean][] = [
    ['400 of the caller', alphaError(400, null, 'invalid_request_error', message), 400, true],
    ['404', alphaError(404, 'model_not_found', 'invalid_request_error', message), 404, true],
    ['422', alphaError(422, null, 'invalid_request_error', message), 422, true],
    ['401 about our key', refused, 502, false],
    ['403 about our key', alphaError(403, null, 'permission_error', message), 502, false],
    ['429', { ...alphaError(429, 'rate_limit_exceeded', 'requests', message) }, 429, false],
    ['429 that breaks off in its words', { ...alphaError(429, null, 'requests', message), chunks: [bytes('{"error":{"mess')], ending: 'reset' }, 429, false],
    [
      '400 that breaks off in its words',
      { ...refused, status: 400, chunks: [bytes(`{"error":{"message":"the words with ${keys[0].slice(0, -2)}`)], ending: 'reset' },
      400,
      false,
    ],
    ['400 that breaks off after its words', { ...alphaError(400, null, 'invalid_request_error', message), ending: 'reset' }, 400, true],
    ['401 that breaks off in its words', { ...refused, chunks: [bytes('{"error"')], ending: 'reset' }, 502, false],
    ['500', alphaError(500, null, 'server_error', message), 502, false],
    ['HTML from a proxy', { status: 502, contentType: 'text/html', chunks: [bytes(`<html>${message}</html>`)], ending: 'end' }, 502, false],
    ['a redirect', { status: 302, contentType: 'text/plain', chunks: [], ending: 'end' }, 502, false],
    ['200 that is not JSON', { status: 200, contentType: 'application/json', chunks: [bytes('{"half"')], ending: 'end' }, 502, false],
    ['a reset in the body', { status: 200, contentType: 'application/json', chunks: [bytes('{"half"')], ending: 'reset' }, 502, false],
  ];
  describe.each(clientNames)('%s', (client) => {
    test.each(cases)('%s', async (_what, script, status, wordsPass) => {
      fallback = script;
      const answer = await ask(client, 'single');
      expect(answer.status).toBe(status);
      const body = JSON.parse(answer.text) as { error: Record<string, unknown>; type?: string; request_id?: string };
      expect(typeof body.error['message']).toBe('string');
      if (client === 'gamma') expect(body.error).toMatchObject({ code: status, status: expect.any(String) });
      else if (client === 'beta') expect(body).toMatchObject({ type: 'error', request_id: answer.id, error: { type: expect.any(String) } });
      else expect(body.error).toMatchObject({ type: expect.any(String) });
      expect(answer.text.includes('the words')).toBe(wordsPass);
      expect(answer.text).not.toContain(modelId);
      expect(answer.text).not.toContain('sk-canary');
      expect(await gateway.row(answer.id)).toMatchObject({ status, attempts: [expect.anything()] });
      await expectClean(answer);
    });
  });

  test('a byte order mark before a reply is no part of it', async () => {
    fallback = { ...good, chunks: [Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), ...good.chunks])] };
    for (const client of clientNames) {
      const answer = await ask(client, 'single');
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, expect.any(Object)]);
      expect(answer.text).toContain('fine');
    }
  });

  test('529 and overloaded are 503 in the caller’s native words', async () => {
    fallback = json(529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } });
    const own = await ask('beta', 'beta-single');
    expect(own.status).toBe(503);
    expect(JSON.parse(own.text)).toMatchObject({ type: 'error', error: { type: 'overloaded_error' } });
    const other = await ask('gamma', 'beta-single');
    expect(other.status).toBe(503);
    expect(JSON.parse(other.text)).toMatchObject({ error: { code: 503, status: 'UNAVAILABLE' } });
  });
});
