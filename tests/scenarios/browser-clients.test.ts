/** Applications that run in a browser, on pages of another origin than the gateway's: what the browser asks beforehand, and which answers it lets the page read. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
const origin = 'https://chat.example';

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [
      { name: 'chat', protocol: 'alpha', base_url: 'http://chat.test', api_keys: [{ key: 'k' }] },
      { name: 'anything', protocol: 'passthrough', base_url: 'http://anything.test', api_keys: [{ key: 'k' }] },
    ],
    models: [
      { name: 'smart', upstream: 'chat', upstream_model_id: 'vendor-smart' },
      { name: 'anything', upstream: 'anything', upstream_model_id: 'vendor-anything' },
    ],
    outbound,
  });
  const completion = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'vendor-smart',
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  const body = { ...completion, choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }] };
  outbound.script = { contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' };
});
afterAll(() => gateway.stop());

const preflight = (path: string, method: string, headers: string) =>
  send(gateway.url, path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': headers },
  });
const ask = { method: 'POST', headers: { origin, 'content-type': 'application/json' } };
const chat = (model: string) => JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });

describe('what a browser asks before a call', () => {
  test.each([
    ['/v1/chat/completions', 'POST', 'authorization,content-type,x-stainless-lang'],
    ['/v1/responses/resp_1', 'DELETE', 'authorization'],
    ['/v1/messages', 'POST', 'anthropic-dangerous-direct-browser-access,anthropic-version,x-api-key'],
    ['/v1beta/models/smart:streamGenerateContent?alt=sse', 'POST', 'x-goog-api-client,x-goog-api-key'],
    ['/v1/models', 'GET', 'authorization'],
    ['/v1/audio/transcriptions', 'POST', 'authorization'],
    ['/openai/deployments/smart/chat/completions?api-version=2024-10-21', 'POST', 'api-key'],
    ['/v3/anything/files/1', 'PUT', 'authorization'],
    // Its answer names the address that was meant, and has to be read as well.
    ['/chat/completions', 'POST', 'authorization'],
    ['/api/tags', 'GET', 'authorization'],
  ])('%s by %s', async (path, method, headers) => {
    const answer = await preflight(path, method, headers);
    expect(answer).toMatchObject({ status: 204, text: '' });
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'access-control-allow-headers': headers });
    expect(answer.headers['access-control-allow-methods']?.split(', ')).toContain(method);
  });

  test('pages of other origins may not use the console, nor tools that no operator opened to them', async () => {
    for (const path of ['/console/api/models', '/console', '/healthz', '/', '/mcp'])
      expect((await preflight(path, 'GET', 'authorization')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  test('a head that two servers may read differently is refused, and a body is not waited for', async () => {
    const headers = { origin, 'access-control-request-method': 'POST' };
    const twice = await send(gateway.url, '/v1/chat/completions', { method: 'OPTIONS', headers: { ...headers, 'transfer-encoding': 'gzip, chunked' } });
    expect(twice.status).toBe(400);
    const long = await send(gateway.url, '/v1/chat/completions', { method: 'OPTIONS', headers: { ...headers, 'content-length': '2' }, body: '{}' });
    expect([long.status, long.headers['connection']]).toEqual([204, 'close']);
  });

  test('OPTIONS that no browser sends is still a method that is not allowed', async () => {
    const answer = await send(gateway.url, '/v1/chat/completions', { method: 'OPTIONS' });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
  });
});

test('a list of models, which browsers keep, differs by origin', async () => {
  const answer = await send(gateway.url, '/v1/models', { method: 'GET', headers: { origin, authorization: `Bearer ${gateway.key}` } });
  expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', vary: expect.stringMatching(/authorization.*, origin$/) });
});

describe('what a page may read', () => {
  const key = () => ({ authorization: `Bearer ${gateway.key}` });
  test.each([
    ['a reply', 200, '/v1/chat/completions', () => ({ headers: key(), body: chat('smart') })],
    ['a reply that is passed on', 200, '/v3/anything/chat/completions', () => ({ headers: key(), body: chat('vendor-anything') })],
    ['a refused key', 401, '/v1/chat/completions', () => ({ headers: { authorization: 'Bearer gk-wrong' }, body: chat('smart') })],
    ['an unknown model', 404, '/v1/chat/completions', () => ({ headers: key(), body: chat('other') })],
    ['a wrong address', 404, '/chat/completions', () => ({ headers: key(), body: chat('smart') })],
  ])('%s', async (_, status, path, more) => {
    const { headers, body } = more();
    const answer = await send(gateway.url, path, { ...ask, headers: { ...ask.headers, ...headers }, body });
    expect(answer.status).toBe(status);
    // Without `access-control-expose-headers` a page sees neither `retry-after` nor the id of its request.
    expect(answer.headers).toMatchObject({ 'access-control-allow-origin': '*', 'access-control-expose-headers': '*', vary: 'origin' });
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
  });

  test('callers without an origin get none of these headers', async () => {
    const answer = await send(gateway.url, '/v1/chat/completions', { headers: { ...key(), 'content-type': 'application/json' }, body: chat('smart') });
    expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-') || name === 'vary')).toEqual([]);
  });
});
