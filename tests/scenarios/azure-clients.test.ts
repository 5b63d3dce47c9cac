/** Clients that are made for Azure OpenAI: the model is a deployment in the path, the key is in `api-key`, and calls beside deployments have a version in the query. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { AzureOpenAI, toFile } from 'openai';
import { WebSocket } from 'ws';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [
      { name: 'chat', protocol: 'alpha', base_url: 'http://chat.test', api_keys: [{ key: 'k' }] },
      { name: 'anything', protocol: 'passthrough', base_url: 'http://anything.test', api_keys: [{ key: 'k' }] },
      { name: 'responses', protocol: 'alpha_response', base_url: 'http://responses.test', api_keys: [{ key: 'k' }] },
    ],
    models: [
      { name: 'anything', upstream: 'anything', upstream_model_id: 'vendor-anything' },
      { name: 'team/small', upstream: 'chat', upstream_model_id: 'vendor-small' },
      { name: 'large', upstream: 'responses', upstream_model_id: 'vendor-large' },
    ],
    outbound,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

const json = (value: unknown) => {
  outbound.script = { contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(value))], ending: 'end' };
};
const completion = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'vendor-small',
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const said = { ...completion, choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }] };
const apiVersion = '2024-10-21';

/** By the resource's endpoint, and by a base address like that of other clients. */
const addresses = [{ endpoint: '' }, { baseURL: '/v1' }] as const;
const clientAt = (where: (typeof addresses)[number], deployment?: string) =>
  new AzureOpenAI({
    apiKey: gateway.key,
    apiVersion,
    maxRetries: 0,
    ...('endpoint' in where ? { endpoint: gateway.url } : { baseURL: `${gateway.url}/v1` }),
    ...(deployment !== undefined && { deployment }),
  });
const sentModel = () => JSON.parse(outbound.sent.at(-1)?.body ?? '{}').model;

test.each(addresses)('AzureOpenAI at %j: chat completions, embeddings, speech, transcriptions, responses and models', async (where) => {
  const client = clientAt(where);
  json(said);
  const messages = [{ role: 'user' as const, content: 'Hi' }];
  expect((await client.chat.completions.create({ model: 'team/small', messages })).choices[0]?.message.content).toBe('Hello');
  expect([outbound.sent[0]?.url, sentModel()]).toEqual(['http://chat.test/v1/chat/completions', 'vendor-small']);
  // The deployment is where the call goes, whatever the body says.
  await clientAt(where, 'team/small').chat.completions.create({ model: 'gpt-4o', messages });
  expect(sentModel()).toBe('vendor-small');

  json({ object: 'list', model: 'vendor-small', data: [{ object: 'embedding', index: 0, embedding: [0.5] }], usage: { prompt_tokens: 1, total_tokens: 1 } });
  expect((await client.embeddings.create({ model: 'team/small', input: 'a', encoding_format: 'float' })).data[0]?.embedding).toEqual([0.5]);
  json({ text: 'heard' });
  const file = await toFile(Buffer.from('RIFF'), 'a.wav');
  expect((await client.audio.transcriptions.create({ model: 'team/small', file })).text).toBe('heard');
  expect(outbound.sent.at(-1)?.body).toContain('vendor-small');

  json({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'vendor-large',
    output: [],
    usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
  });
  expect((await client.responses.create({ model: 'large', input: 'Hi', store: false })).status).toBe('completed');
  expect((await client.models.list()).data.map(({ id }) => id).sort()).toEqual(['anything', 'large', 'team/small']);
});

test('AzureOpenAI streams', async () => {
  const chunk = (delta: object, reason: string | null) => ({
    ...completion,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const events = [chunk({ role: 'assistant', content: 'Hel' }, null), chunk({ content: 'lo' }, null), chunk({}, 'stop')];
  const text = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
  outbound.script = { contentType: 'text/event-stream', chunks: [Buffer.from(text)], ending: 'end' };
  let all = '';
  const stream = await clientAt({ endpoint: '' }).chat.completions.create({ model: 'team/small', messages: [{ role: 'user', content: 'Hi' }], stream: true });
  for await (const { choices } of stream) all += choices[0]?.delta.content ?? '';
  expect(all).toBe('Hello');
});

const post = (path: string, body: string | FormData, key = gateway.key) =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { 'api-key': key, ...(typeof body === 'string' && { 'content-type': 'application/json' }) },
    body,
  });

test('bodies that name no model, as in the documentation of Azure', async () => {
  json(said);
  const reply = await post(`/openai/deployments/team%2Fsmall/chat/completions?api-version=${apiVersion}`, '{"messages":[{"role":"user","content":"Hi"}]}');
  expect([reply.status, ((await reply.json()) as typeof said).model, sentModel()]).toEqual([200, 'team/small', 'vendor-small']);
  json({ text: 'heard' });
  const form = new FormData();
  form.append('file', new Blob(['RIFF']), 'a.wav');
  expect((await post(`/openai/deployments/team%2Fsmall/audio/transcriptions?api-version=${apiVersion}`, form)).status).toBe(200);
  expect(outbound.sent.at(-1)?.body).toMatch(/name="model"\r\n\r\nvendor-small\r\n/);
});

test.each([
  ['/openai/deployments/unknown/chat/completions', 404, 'model'],
  ['/openai/deployments/team%2Fsmall/nothing', 404, 'There is nothing at /openai/deployments/team%2Fsmall/nothing.'],
  ['/openai/deployments/%zz/chat/completions', 404, 'There is nothing at'],
  ['/openai/v1/chat/completions', 404, 'must not have /openai in it'],
])('%s is %i: %s', async (path, status, words) => {
  const reply = await post(path, '{"messages":[{"role":"user","content":"Hi"}]}');
  expect([reply.status, ((await reply.json()) as { error: { message: string } }).error.message]).toEqual([status, expect.stringContaining(words)]);
});

test('the call is the one of other clients: its path and query, and what is not served', async () => {
  json(said);
  const body = '{"messages":[{"role":"user","content":"Hi"}]}';
  expect((await post(`/openai/deployments/anything/chat/completions?api-version=${apiVersion}`, body)).status).toBe(200);
  expect(outbound.sent.at(-1)?.url).toBe('http://anything.test/v1/chat/completions');
  const unserved = async (path: string) => ((await (await post(path, '{}')).json()) as { error: { message: string } }).error.message;
  expect(await unserved(`/openai/files?api-version=${apiVersion}`)).toBe((await unserved('/v1/files')).replace('/v1/files', '/openai/files'));
});

test('a key that is none is refused, and the key is not sent on', async () => {
  expect((await post('/openai/deployments/large/chat/completions', '{"messages":[]}', 'wrong')).status).toBe(401);
  json(said);
  await post('/v1/chat/completions', '{"model":"team/small","messages":[{"role":"user","content":"Hi"}]}');
  expect(JSON.stringify(outbound.sent.at(-1))).not.toContain(gateway.key);
});

test('a realtime session is looked for at each of its paths', async () => {
  const refusalAt = (path: string) =>
    new Promise<string>((resolve) => {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}${path}`, { headers: { 'api-key': gateway.key } });
      socket.on('unexpected-response', (_request, response) => {
        let body = `${response.statusCode} `;
        response.on('data', (bytes: Buffer) => {
          body += bytes.toString();
        });
        response.on('end', () => resolve(body));
      });
      socket.on('error', () => {});
    });
  const refusal = await refusalAt('/v1/realtime?model=unknown');
  expect(refusal).toMatch(/^404 .*unknown/);
  expect(await refusalAt('/openai/v1/realtime?model=unknown')).toBe(refusal);
  expect(await refusalAt('/openai/realtime?api-version=2025-04-01-preview&deployment=unknown')).toBe(refusal);
  expect((await fetch(`${gateway.url}/openai/v1/realtime`)).status).toBe(426);
});
