/** Callers who name further models for their upstream to answer with: no group granted these. What an administrator names goes up. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ModelInput, RequestRow } from '@model-gateway/contracts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
const base_url = 'https://up.test';
const api_keys = [{ key: 'sk-one' }];
const models: ModelInput[] = ['alpha', 'alpha_response', 'beta', 'passthrough', 'ruled'].map((name) => ({
  name,
  upstream: name,
  upstream_model_id: 'upstream-model',
}));
beforeAll(async () => {
  gateway = await startInProcess({
    outbound,
    upstreams: [
      ...(['alpha', 'alpha_response', 'beta', 'passthrough'] as const).map((protocol) => ({ name: protocol, protocol, base_url, api_keys })),
      { name: 'ruled', protocol: 'alpha', base_url, api_keys, request_body_rules: [{ mode: 'add-if-absent', path: 'models', value: ['approved'] }] },
    ],
    models,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.script = { status: 400, contentType: 'application/json', chunks: [Buffer.from('{"error":{"message":"no"}}')], ending: 'end' };
  outbound.sent.length = 0;
});

const others = {
  models: ['costly'],
  route: 'fallback',
  fallbacks: ['costly'],
  context_window_fallbacks: [{ x: ['costly'] }],
  content_policy_fallbacks: [{ x: ['costly'] }],
  providerOptions: { gateway: { models: ['costly'], order: ['host'] } },
};
const fields = ['models', 'route', 'fallbacks', 'context_window_fallbacks', 'content_policy_fallbacks', 'providerOptions.gateway.models'];
const messages = [{ role: 'user', content: 'hello' }];

async function ask(path: string, body: object): Promise<{ sent: Record<string, unknown>; row: RequestRow }> {
  const { headers } = await send(gateway.url, path, {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const row = await until(() => gateway.rows.find(({ id, authority }) => id === headers['x-request-id'] && authority === 2), 'the row');
  return { sent: JSON.parse(outbound.sent[0]?.body ?? '{}') as Record<string, unknown>, row };
}

describe.each([
  ['/v1/chat/completions', 'alpha', { messages }],
  ['/v1/chat/completions', 'beta', { messages }],
  ['/v1/responses', 'alpha_response', { input: 'hello', store: false }],
  ['/v1/messages', 'beta', { messages, max_tokens: 9 }],
  ['/v1/embeddings', 'alpha', { input: 'hello' }],
])('%s to %s', (path, model, body) => {
  test('no other model is named upstream, and the row says so', async () => {
    const { sent, row } = await ask(path, { model, ...body, ...others });
    expect(sent['model']).toBe('upstream-model');
    expect(JSON.stringify(sent)).not.toContain('costly');
    const lost = row.losses.filter(({ action }) => action === 'dropped').map(({ field }) => field);
    for (const field of fields) expect(lost).toContain(path === '/v1/chat/completions' && model === 'beta' ? field.split('.')[0] : field);
  });
});

test('what else stands beside the list stays, byte by byte', async () => {
  const { sent } = await ask('/v1/chat/completions', { model: 'alpha', messages, provider: { order: ['host'] }, ...others });
  expect(sent).toEqual({ model: 'upstream-model', messages, provider: { order: ['host'] }, providerOptions: { gateway: { order: ['host'] } } });
});

test('a rule of the administrator’s names others, whatever the caller named', async () => {
  expect((await ask('/v1/chat/completions', { model: 'ruled', messages, ...others })).sent['models']).toEqual(['approved']);
});

test('an upstream that gets calls as they are gets these, too', async () => {
  expect((await ask('/v1/chat/completions', { model: 'passthrough', messages, ...others })).sent).toMatchObject(others);
});

test.each(['Models', 'FALLBACKS'])('%s, which some upstreams read as the same: 400', async (key) => {
  const body = `{"model":"alpha","messages":[{"role":"user","content":"hi"}],"${key}":["costly"]}`;
  const reply = await send(gateway.url, '/v1/chat/completions', {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  });
  expect(reply.status).toBe(400);
  expect(outbound.sent).toEqual([]);
});
