/** Both Bedrock protocols through the whole gateway: the vendor's own SDK judges what we send and what the fake upstream answers. */
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand, InvokeModelWithResponseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { verifySignature } from '../support/verify-signature.ts';

// biome-ignore lint/suspicious/noExplicitAny: bodies are read freely; a wrong guess shows as a failed comparison.
type Json = any;

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const token = 'FwoGZXIvYXdzEXAMPLETOKEN//////////wEaDL';
const profile = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/ok';
const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';

let fake: FakeUpstream;
let gateway: TestGateway;
const last = () => fake.requests.at(-1)!;

beforeAll(async () => {
  fake = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  const upstream = (name: string, protocol: 'cloudhost_converse' | 'cloudhost_invoke', key: string, region?: string) => ({
    name,
    protocol,
    base_url: fake.url,
    api_keys: [{ key }],
    ...(region !== undefined && { extra_config: { region } }),
  });
  await gateway.configure({
    upstreams: [
      upstream('converse', 'cloudhost_converse', `AKIAIOSFODNN7EXAMPLE:${secret}`, 'eu-west-1'),
      upstream('session', 'cloudhost_converse', `ASIAIOSFODNN7EXAMPLE:${secret}:${token}`),
      upstream('invoke', 'cloudhost_invoke', 'bedrock-api-key-YmVkcm9jaw=='),
    ],
    models: [
      { name: 'claude', upstream: 'converse', upstream_model_id: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0', inference_profile: 'ok' },
      { name: 'profile', upstream: 'session', upstream_model_id: 'anthropic.claude-opus-4-5', inference_profile: profile },
      { name: 'native', upstream: 'invoke', upstream_model_id: 'ok' },
      { name: 'late', upstream: 'invoke', upstream_model_id: 'midstream-error' },
      { name: 'skewed', upstream: 'session', upstream_model_id: 'err:403:InvalidSignatureException' },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
});
beforeEach(() => {
  fake.requests.length = 0;
});

const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01', ...headers },
    body: JSON.stringify({ max_tokens: 2000, ...body }),
  });

const client = () =>
  new BedrockRuntimeClient({
    endpoint: fake.url,
    region: 'us-east-1',
    maxAttempts: 1,
    // Its own choice is HTTP/2, which the fake upstream does not speak.
    requestHandler: new NodeHttpHandler(),
    credentials: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: secret },
  });

/** Base64 of the wire as the SDK takes it. */
function withBytes(value: Json): Json {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      (key === 'bytes' || key === 'redactedContent') && typeof inner === 'string' ? Buffer.from(inner, 'base64') : withBytes(inner),
    ]),
  );
}

const rich = {
  model: 'claude',
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
  tools: [
    { name: 'get_weather', description: 'The weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } },
    { name: 'now', input_schema: { type: 'object', properties: {} }, cache_control: { type: 'ephemeral' } },
    { name: 'a.name/this wire:refuses', input_schema: { type: 'object', properties: {} } },
  ],
  tool_choice: { type: 'auto' },
  temperature: 0.5,
  top_k: 40,
  stop_sequences: ['STOP'],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Weather?' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'Looking.' },
        { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Paris' } },
        { type: 'tool_use', id: 'toolu_2', name: 'a.name/this wire:refuses', input: {} },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } }] },
        { type: 'tool_result', tool_use_id: 'toolu_2', content: 'no such city', is_error: true },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0xLjQK' }, title: 'report_v2.final.pdf' },
        { type: 'text', text: 'Go on.', cache_control: { type: 'ephemeral' } },
      ],
    },
  ],
};

describe('what we send', () => {
  test('a rich request is one that the SDK would have sent: no field of ours is unknown to it', async () => {
    const reply = await ask(rich);
    expect([reply.status, ((await reply.json()) as Json).stop_reason]).toEqual([200, 'end_turn']);
    const sent = last().json as Json;
    const [path, ours] = [last().path, last().body.length];
    expect(sent.toolConfig.tools.map((tool: Json) => Object.keys(tool)[0])).toEqual(['toolSpec', 'toolSpec', 'cachePoint', 'toolSpec']);
    expect(sent.messages.map((one: Json) => one.role)).toEqual(['user', 'assistant', 'user']);
    expect(JSON.stringify(sent)).not.toContain('a.name/');
    await client().send(new ConverseCommand({ modelId: 'ok', ...withBytes(sent) }));
    expect(last().json).toEqual(sent);
    expect([last().path, last().body.length]).toEqual([path, ours]);
  });

  test('the model’s call of a renamed tool comes back under the caller’s name', async () => {
    const body = { model: 'claude', tools: [rich.tools[2]], messages: [{ role: 'user', content: 'Do it.' }] };
    for (const stream of [false, true]) expect(await (await ask({ ...body, stream })).text()).toContain('"name":"a.name/this wire:refuses"');
  });

  test('signatures are what the cloud computes, with the region that was set; temporary credentials carry their token', async () => {
    await ask(rich);
    expect(verifySignature(last(), secret)).toMatchObject({ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', region: 'eu-west-1', service: 'bedrock', valid: true });
    await ask({ ...rich, model: 'profile' });
    expect(last().path).toBe(`/model/${encodeURIComponent(profile)}/converse`);
    expect(last().headers['x-amz-security-token']).toBe(token);
    const signature = verifySignature(last(), secret);
    expect(signature).toMatchObject({ accessKeyId: 'ASIAIOSFODNN7EXAMPLE', region: 'us-east-1', valid: true });
    expect(signature.signedHeaders).toEqual(expect.arrayContaining(['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-content-sha256']));
    // The judge is one: a changed byte is noticed.
    expect(verifySignature({ ...last(), body: Buffer.concat([last().body, Buffer.from(' ')]) }, secret).valid).toBe(false);
    await client()
      .send(new ConverseCommand({ modelId: 'a:b', messages: [{ role: 'user', content: [{ text: 'x' }] }] }))
      .catch(() => undefined);
    expect(verifySignature(last(), secret).valid).toBe(true);
  });

  test('a messages caller’s bytes pass to the same vendor’s models: only what must change is changed', async () => {
    const raw =
      '{ "model" : "native",\n "messages":[{"role":"user","content":"h\\u00e9 \\/ 1.0"}], "stream":true, "max_tokens":1e2, "service_tier":"auto", "metadata":{"user_id":"u"} }';
    const reply = await fetch(`${gateway.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': gateway.key,
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'context-1m-2025-08-07, claude-code-20250219',
      },
      body: raw,
    });
    const text = await reply.text();
    expect(reply.headers.get('content-type')).toContain('text/event-stream');
    expect(text).toContain('"model":"native"');
    expect(text).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/);
    expect(last().path).toBe('/model/ok/invoke-with-response-stream');
    expect(last().headers['authorization']).toBe('Bearer bedrock-api-key-YmVkcm9jaw==');
    expect(last().body.toString()).toBe(
      '{ "messages":[{"role":"user","content":"h\\u00e9 \\/ 1.0"}], "max_tokens":1e2, "metadata":{"user_id":"u"},"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07"] }',
    );
  });

  test('counting goes to the cloud’s own counter', async () => {
    for (const model of ['claude', 'native']) {
      const reply = await fetch(`${gateway.url}/v1/messages/count_tokens`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': gateway.key },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'count me please' }] }),
      });
      expect(await reply.json()).toEqual({ input_tokens: 5 });
      expect(last().path).toBe('/model/ok/count-tokens');
    }
  });
});

describe('what fails', () => {
  test('an exception inside a stream ends it in the caller’s terms', async () => {
    const text = await (await ask({ model: 'late', stream: true, messages: [{ role: 'user', content: 'x' }] })).text();
    expect(text).toContain('_gateway_warning');
    expect(text).toMatch(/event: message_stop\n/);
    expect(text).not.toContain('fake upstream');
  });

  test('no part of a credential is told to anyone', async () => {
    const reply = await ask({ model: 'skewed', messages: [{ role: 'user', content: 'x' }] });
    await until(async () => (await gateway.rows()).some((row) => row.model === 'skewed'), 'the row');
    const described = (await reply.text()) + JSON.stringify(await gateway.rows());
    expect(reply.status).toBe(502);
    for (const part of [secret, token, 'ASIAIOSFODNN7EXAMPLE']) expect(described).not.toContain(part);
  });
});

describe('the SDK reads the fake upstream', () => {
  test('Converse: whole, streamed, calls, exceptions', async () => {
    const messages = [{ role: 'user' as const, content: [{ text: 'Grüße 👋🏽' }] }];
    const whole = await client().send(new ConverseCommand({ modelId: 'ok', messages }));
    expect([whole.output?.message?.content, whole.stopReason]).toEqual([[{ text: 'Grüße 👋🏽' }], 'end_turn']);
    const toolConfig = { tools: [{ toolSpec: { name: 'now', inputSchema: { json: { type: 'object' } } } }] };
    const seen: string[] = [];
    let args = '';
    for await (const event of (await client().send(new ConverseStreamCommand({ modelId: 'ok:{"a":1}', messages, toolConfig }))).stream!) {
      seen.push(Object.keys(event)[0]!);
      args += event.contentBlockDelta?.delta?.toolUse?.input ?? '';
    }
    expect(JSON.parse(args)).toEqual({ a: 1 });
    expect(seen).toEqual(['messageStart', 'contentBlockStart', 'contentBlockDelta', 'contentBlockDelta', 'contentBlockStop', 'messageStop', 'metadata']);
    const broken = async (): Promise<void> => {
      for await (const _ of (await client().send(new ConverseStreamCommand({ modelId: 'midstream-error', messages }))).stream!);
    };
    await expect(broken()).rejects.toMatchObject({ name: 'ServiceUnavailableException' });
    await expect(client().send(new ConverseCommand({ modelId: 'err:429', messages }))).rejects.toMatchObject({ name: 'ThrottlingException' });
  });

  test('InvokeModel: chunks', async () => {
    const body = JSON.stringify({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 9, messages: [{ role: 'user', content: 'hello' }] });
    let text = '';
    for await (const { chunk } of (await client().send(new InvokeModelWithResponseStreamCommand({ modelId: 'ok', body }))).body!)
      text += (JSON.parse(Buffer.from(chunk!.bytes!).toString('utf8')) as Json).delta?.text ?? '';
    expect(text).toBe('hello');
  });
});
