/** Versions of the messages API: which one goes out, what a body may then hold, and what a login's token and an error carry. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [
      { name: 'vendor', protocol: 'beta', base_url: 'https://api.anthropic.test', api_keys: [{ key: 'sk-ant-api-1' }] },
      {
        name: 'newer',
        protocol: 'beta',
        base_url: 'https://api.anthropic.test',
        api_keys: [{ key: 'sk-ant-api-1' }],
        extra_config: { api_version: '2026-10-21' },
      },
      {
        name: 'custom',
        protocol: 'beta',
        base_url: 'https://api.anthropic.test',
        api_keys: [{ key: 'sk-ant-api-1' }],
        custom_headers: { 'Anthropic-Version': '2026-10-21' },
      },
      {
        name: 'template',
        protocol: 'beta',
        base_url: 'https://api.anthropic.test',
        api_keys: [{ key: 'sk-ant-api-1' }],
        custom_headers: { 'beta-version': '{{header:x-version}}' },
      },
      { name: 'login', protocol: 'beta', base_url: 'https://api.anthropic.com', api_keys: [{ key: 'sk-ant-oat01-token' }] },
      {
        name: 'google',
        protocol: 'beta',
        base_url: 'https://aiplatform.googleapis.test/v1/projects/p/locations/global/publishers/anthropic',
        api_keys: [{ key: 'ya29.token' }],
        extra_config: { api_version: '2026-10-21' },
      },
      { name: 'amazon', protocol: 'cloudhost_invoke', base_url: 'https://bedrock-runtime.us-east-1.amazonaws.test', api_keys: [{ key: 'bearer' }] },
    ],
    models: ['vendor', 'newer', 'custom', 'template', 'login', 'google', 'amazon'].map((upstream) => ({
      name: upstream,
      upstream,
      upstream_model_id: upstream === 'amazon' ? 'anthropic.claude-sonnet-4-5-20250929-v1:0' : 'claude-sonnet-4-5',
    })),
    outbound,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
  answer(400, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } });
});

const answer = (status: number, body: object) => {
  outbound.script = { status, contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(body))], ending: 'end' };
};

let asked = 0;
async function ask(path: string, body: object, headers: Record<string, string> = {}) {
  const id = `version-${++asked}`;
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id, ...headers },
    body: JSON.stringify({ max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], ...body }),
  });
  const json = (await reply.json()) as { error: { details?: unknown } };
  const { losses } = await gateway.row(id);
  const sent = outbound.sent[0]!;
  return { status: reply.status, json, url: sent.url, headers: sent.headers, body: JSON.parse(sent.body.toString()) as Record<string, unknown>, losses };
}
const sampling = { temperature: 1, top_p: 0.9, top_k: 5 };
const fields = (losses: { field: string }[]) => losses.map(({ field }) => field);
const newer = { 'anthropic-version': '2026-10-21' };

test.each(['/v1/messages', '/v1/chat/completions'])('Google has one version, in the body, and the model in the address: %s', async (path) => {
  const asked = { model: 'google', temperature: 0.5, stream: true };
  const { url, headers, body, losses } = await ask(path, asked, newer);
  expect(url).toBe('https://aiplatform.googleapis.test/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5:streamRawPredict');
  expect(headers).toMatchObject({ authorization: 'Bearer ya29.token' });
  for (const name of ['anthropic-version', 'beta-version', 'x-api-key']) expect(headers).not.toHaveProperty([name]);
  expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', temperature: 0.5, stream: true });
  expect(body).not.toHaveProperty('model');
  expect(fields(losses)).toEqual([]);
});

test('a caller’s own newer version is kept, and sampling is left out even at its default', async () => {
  const { headers, body, losses } = await ask('/v1/messages', { model: 'vendor', ...sampling }, newer);
  expect(headers['anthropic-version']).toBe('2026-10-21');
  expect(Object.keys(body)).toEqual(['max_tokens', 'messages', 'model']);
  expect(fields(losses)).toEqual(['temperature', 'top_p', 'top_k']);
});

test('a caller of the older version keeps its sampling, whatever the upstream’s setting', async () => {
  const { headers, body } = await ask('/v1/messages', { model: 'newer', temperature: 0.5 }, { 'anthropic-version': '2023-06-01' });
  expect([headers['anthropic-version'], body['temperature']]).toEqual(['2023-06-01', 0.5]);
});

test('requests that the gateway builds go out under the older version, with sampling', async () => {
  const { headers, body, losses } = await ask('/v1/chat/completions', { model: 'vendor', temperature: 0.5 }, newer);
  expect([headers['anthropic-version'], body['temperature'], fields(losses)]).toEqual(['2023-06-01', 0.5, []]);
});

test('… and under the newer one, without, where the upstream says so', async () => {
  const { headers, body, losses } = await ask('/v1/chat/completions', { model: 'newer', temperature: 0.5, top_p: 0.9, stop: ['x'] });
  expect(headers['anthropic-version']).toBe('2026-10-21');
  expect(body).not.toHaveProperty('temperature');
  expect(body).toMatchObject({ stop_sequences: ['x'] });
  expect(fields(losses)).toEqual(['temperature', 'top_p']);
});

test.each(['/v1/messages', '/v1/chat/completions'])('a custom header of the upstream decides over all else: %s', async (path) => {
  const { headers, body, losses } = await ask(path, { model: 'custom', temperature: 0.5 }, { 'anthropic-version': '2023-06-01' });
  expect(headers).toMatchObject({ 'anthropic-version': '2026-10-21', 'beta-version': '2026-10-21' });
  expect(body).not.toHaveProperty('temperature');
  expect(fields(losses)).toEqual(['temperature']);
});

test.each(['/v1/messages', '/v1/chat/completions'])('… by what its template becomes, where that is not empty: %s', async (path) => {
  const { headers, body } = await ask(path, { model: 'template', temperature: 0.5 }, { 'x-version': '2026-10-21' });
  expect(headers).toMatchObject({ 'anthropic-version': '2026-10-21', 'beta-version': '2026-10-21' });
  expect(body).not.toHaveProperty('temperature');
  outbound.sent.length = 0;
  const without = await ask(path, { model: 'template', temperature: 0.5 });
  expect(without.headers).toMatchObject({ 'anthropic-version': '2023-06-01', 'beta-version': '2023-06-01' });
  expect([without.body['temperature'], without.losses]).toEqual([0.5, []]);
});

test('a counter takes no sampling under the newer version either', async () => {
  const { body, losses } = await ask('/v1/messages/count_tokens', { model: 'newer', ...sampling });
  expect(Object.keys(body)).toEqual(['max_tokens', 'messages', 'model']);
  expect(fields(losses)).toEqual(['temperature', 'top_p', 'top_k']);
});

test('an empty version of a caller is none', async () => {
  const { headers, body } = await ask('/v1/messages', { model: 'vendor', temperature: 0.5 }, { 'anthropic-version': '', 'beta-version': '2026-10-21' });
  expect(headers).toMatchObject({ 'anthropic-version': '2026-10-21', 'beta-version': '2026-10-21' });
  expect(body).not.toHaveProperty('temperature');
  outbound.sent.length = 0;
  expect((await ask('/v1/messages', { model: 'vendor' }, { 'anthropic-version': '' })).headers['anthropic-version']).toBe('2023-06-01');
});

test('a host with a version of its own in the body takes sampling from callers of any version', async () => {
  for (const path of ['/v1/messages', '/v1/chat/completions']) {
    outbound.sent.length = 0;
    const { body } = await ask(path, { model: 'amazon', temperature: 0.5 }, newer);
    expect(body).toMatchObject({ anthropic_version: 'bedrock-2023-05-31', temperature: 0.5 });
  }
});

test('a login’s token goes as a bearer with its feature flag, beside those of the caller', async () => {
  const { headers } = await ask('/v1/messages', { model: 'login' }, { 'anthropic-beta': 'context-1m-2025-08-07' });
  expect(headers).toMatchObject({ authorization: 'Bearer sk-ant-oat01-token', 'anthropic-beta': 'context-1m-2025-08-07,oauth-2025-04-20' });
  expect(headers).not.toHaveProperty('x-api-key');
  outbound.sent.length = 0;
  expect((await ask('/v1/chat/completions', { model: 'login' })).headers['anthropic-beta']).toBe('oauth-2025-04-20');
});

test('details of an error reach callers of the same protocol, of a refusal and of a limit', async () => {
  const image = { error_code: 'image_dimensions_too_large', paths: ['messages.0.content.0'], max_side_length_pixels: 8000 };
  answer(400, { type: 'error', error: { type: 'invalid_request_error', message: 'too large', details: image } });
  expect((await ask('/v1/messages', { model: 'vendor' })).json.error.details).toEqual(image);
  const ramp = { error_code: 'ramp_limit_exceeded' };
  answer(429, { type: 'error', error: { type: 'rate_limit_error', message: 'slow down', details: ramp } });
  const limited = await ask('/v1/messages', { model: 'vendor' });
  expect([limited.status, limited.json.error.details]).toEqual([429, ramp]);
  expect((await ask('/v1/chat/completions', { model: 'vendor' })).json.error).not.toHaveProperty('details');
});
