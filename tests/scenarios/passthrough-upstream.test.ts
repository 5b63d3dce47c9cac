/** Upstreams of the protocol `passthrough`, which get the calls of every caller's protocol as they came, but for the model's name. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, AnsweringServer } from '../support/answering-server.ts';
import { type InProcessGateway, startInProcess, until } from '../support/in-process.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';

const upstream = new AnsweringServer();
const { received } = upstream;

const json =
  (body: unknown): Answer =>
  (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const arrangements = [{ name: 'in one process', nats: false }, ...(natsAvailable('passthrough upstreams') ? [{ name: 'over NATS', nats: true }] : [])];

beforeAll(() => upstream.start());
afterAll(() => upstream.stop());

describe.each(arrangements)('$name', ({ nats }) => {
  let server: NatsServer | undefined;
  let gateway: InProcessGateway;
  let id = '';

  beforeAll(async () => {
    server = nats ? await startNatsServer() : undefined;
    gateway = await startInProcess({
      upstreams: [{ name: 'as-is', protocol: 'passthrough', base_url: `${upstream.address}/base`, api_keys: [{ key: 'sk-of-as-is-upstream' }] }],
      models: [
        { name: 'org/any:1', upstream: 'as-is', upstream_model_id: 'real-any' },
        { name: 'keyed', upstream: 'as-is', upstream_model_id: 'real-keyed', extra_config: { auth: 'x-vendor-key' } },
        {
          name: 'ruled',
          upstream: 'as-is',
          upstream_model_id: 'real-ruled',
          request_body_rules: [{ mode: 'overwrite', path: 'user', value: 'ruled' }],
        },
        {
          name: 'shaped',
          upstream: 'as-is',
          upstream_model_id: 'real-shaped',
          request_body_rules: [
            { mode: 'inject-system-prompt', value: 'House rules.' },
            { mode: 'filter-content-types', value: 'image' },
            { mode: 'filter-tools', value: 'web_*' },
          ],
        },
      ],
      ...(server && { natsUrl: server.url }),
    });
    // Services find one another over NATS.
    upstream.answer = json({});
    await until(async () => (await call('/v3/ruled/x', {})).status === 200, 'an answer');
  });
  afterAll(async () => {
    await gateway?.stop();
    await server?.stop();
  });
  beforeEach(() => {
    received.length = 0;
    id = randomUUID();
  });

  async function call(path: string, body: object, headers: Record<string, string> = {}) {
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': id, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  }
  const row = () => gateway.row(id);

  test.each([404, 405])('a %i at a path that the caller chose is no failure of the upstream; at a path of ours it is', async (status) => {
    upstream.answer = (response) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { code: 'not_here' } }));
    expect((await call('/v3/ruled/no/such/path', {})).status).toBe(status);
    expect((await row()).attempts).toMatchObject([{ status, error_code: 'no_such_path' }]);
    id = randomUUID();
    await call('/v1/chat/completions', { model: 'ruled', messages: [] });
    expect((await row()).attempts[0]!.error_code).not.toBe('no_such_path');
  });

  test('a chat: same path, the model exchanged, the reply as it is but for that name, and its usage counted', async () => {
    const reply = {
      id: 'x',
      object: 'chat.completion',
      model: 'whatever',
      own: 1,
      choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    };
    upstream.answer = json(reply);
    const got = await call('/v1/chat/completions', { model: 'org/any:1', messages: [{ role: 'user', content: 'Hi' }], own: true });
    expect(JSON.parse(got.text)).toEqual({ ...reply, model: 'org/any:1' });
    expect(received).toMatchObject([{ path: '/base/v1/chat/completions', headers: { authorization: 'Bearer sk-of-as-is-upstream' } }]);
    expect(JSON.parse(received[0]!.body.toString())).toEqual({ model: 'real-any', messages: [{ role: 'user', content: 'Hi' }], own: true });
    expect(await row()).toMatchObject({
      client_protocol: 'alpha',
      upstream_protocol: 'passthrough',
      input_tokens: 5,
      output_tokens: 2,
      usage_source: 'upstream',
    });
  });

  test('a stream of it', async () => {
    const events = `: wait\n\ndata: {"model":"real-any","choices":[{"index":0,"delta":{"content":"a"}}]}\n\ndata: [DONE]\n\n`;
    upstream.answer = (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events);
    const got = await call('/v1/chat/completions', { model: 'org/any:1', stream: true, messages: [{ role: 'user', content: 'Hi' }] });
    expect([got.type, got.text]).toEqual(['text/event-stream', events.replace('real-any', 'org/any:1')]);
    expect(await row()).toMatchObject({ usage_source: null, error_code: null });
  });

  test('messages, generated content, vectors and forms: the same path each', async () => {
    upstream.answer = json({ ok: true });
    const headers = { 'anthropic-version': '2023-06-01' };
    expect(await call('/v1/messages', { model: 'org/any:1', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }] }, headers)).toMatchObject({
      status: 200,
    });
    expect(received.at(-1)).toMatchObject({ path: '/base/v1/messages', headers });
    expect(await call('/v1beta/models/org/any:1:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] })).toMatchObject({ status: 200 });
    expect(received.at(-1)!.path).toBe('/base/v1beta/models/real-any:generateContent');
    expect(JSON.parse(received.at(-1)!.body.toString())).toEqual({ contents: [{ parts: [{ text: 'Hi' }] }] });
    expect(await call('/v1/embeddings', { model: 'org/any:1', input: 'x' })).toMatchObject({ status: 200 });
    expect(received.at(-1)!.path).toBe('/base/v1/embeddings');
    const form = new FormData();
    form.append('model', 'org/any:1');
    form.append('image', new Blob(['x']), 'x.png');
    expect((await fetch(`${gateway.url}/v1/images/edits`, { method: 'POST', headers: { authorization: `Bearer ${gateway.key}` }, body: form })).status).toBe(
      200,
    );
    expect(received.at(-1)!.path).toBe('/base/v1/images/edits');
    expect(received.at(-1)!.body.toString()).toContain('\r\n\r\nreal-any\r\n');
  });

  test('rules about parts of a body know them by the caller’s protocol', async () => {
    upstream.answer = json({ ok: true });
    const last = () => JSON.parse(received.at(-1)!.body.toString()) as Record<string, unknown>;
    const tools = ['keep', 'web_get'].map((name) => ({ type: 'function', function: { name } }));
    const image = { type: 'image_url', image_url: { url: 'https://h/x.png' } };
    await call('/v1/chat/completions', { model: 'shaped', messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }, image] }], tools });
    expect(last()).toMatchObject({
      messages: [
        { role: 'system', content: 'House rules.' },
        { role: 'user', content: [{ text: 'Hi' }, { text: '[image removed]' }] },
      ],
      tools: [tools[0]],
    });
    await call('/v1/messages', { model: 'shaped', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], tools: [{ name: 'web_get' }] });
    expect(last()).toEqual({ model: 'real-shaped', max_tokens: 5, messages: [{ role: 'user', content: 'Hi' }], system: 'House rules.' });
    await call('/v1/responses', { model: 'shaped', input: 'Hi', instructions: 'Be brief.' });
    expect(last()).toMatchObject({ input: 'Hi', instructions: 'House rules.\n\nBe brief.' });
    await call('/v1beta/models/shaped:generateContent', { contents: [{ parts: [{ text: 'Hi' }] }] });
    expect(last()).toMatchObject({ systemInstruction: { parts: [{ text: 'House rules.' }] } });
    expect((await row()).pipeline).toEqual(['body-rules']);
  });

  test('the key in a header of the vendor, and rules of the model', async () => {
    upstream.answer = json({ ok: true });
    await call('/v1/chat/completions', { model: 'keyed', messages: [] });
    expect(received[0]!.headers).toMatchObject({ 'x-vendor-key': 'sk-of-as-is-upstream' });
    expect(received[0]!.headers['authorization']).toBeUndefined();
    await call('/v1/chat/completions', { model: 'ruled', messages: [] });
    expect(JSON.parse(received[1]!.body.toString())).toEqual({ model: 'real-ruled', messages: [], user: 'ruled' });
    await call('/v3/ruled/x', { model: 'ruled' });
    expect(JSON.parse(received[2]!.body.toString())).toEqual({ model: 'ruled' });
  });
});
