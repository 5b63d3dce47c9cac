/** Streams that break after their first bytes: ended in the protocol's own words, or broken off so that the client repeats the turn, as is set. */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RequestRow } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { WebSocket } from 'ws';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';
import { type ClientProtocol, clientProtocols } from '../support/sdk-callers.ts';

const keys = { plain: mintAccessKey(), breaks: mintAccessKey(), finishes: mintAccessKey(), auto: mintAccessKey() };
type Key = keyof typeof keys;

const tools = {
  alpha: [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: { a: { type: 'string' } } } } }],
  alpha_response: [{ type: 'function', name: 'look', parameters: { type: 'object', properties: { a: { type: 'string' } } } }],
  beta: [{ name: 'look', input_schema: { type: 'object', properties: { a: { type: 'string' } } } }],
  gamma: [{ functionDeclarations: [{ name: 'look', parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }] }],
};

/** A streamed request of each client protocol. */
const calls: Record<ClientProtocol, (model: string, calling: boolean) => { path: string; body: Record<string, unknown> }> = {
  alpha: (model, calling) => ({
    path: '/v1/chat/completions',
    body: { model, stream: true, messages: [{ role: 'user', content: 'hi' }], ...(calling && { tools: tools.alpha }) },
  }),
  alpha_response: (model, calling) => ({
    path: '/v1/responses',
    body: { model, stream: true, store: false, input: 'hi', ...(calling && { tools: tools.alpha_response }) },
  }),
  beta: (model, calling) => ({
    path: '/v1/messages',
    body: { model, stream: true, max_tokens: 500, messages: [{ role: 'user', content: 'hi' }], ...(calling && { tools: tools.beta }) },
  }),
  gamma: (model, calling) => ({
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }], ...(calling && { tools: tools.gamma }) },
  }),
};

interface ReceivedRequest {
  status: number;
  text: string;
  /** The reply came to its end as HTTP has it. */
  complete: boolean;
  /** How its connection broke; null: it did not. */
  fault: string | null;
  id: string;
}

describe.each(arrangements('broken-streams'))('a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [
        { name: 'up', protocol: 'beta', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] },
        { name: 'responses', protocol: 'alpha_response', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] },
        { name: 'breaking', protocol: 'beta', base_url: fake.url, api_keys: [{ key: 'sk-fake' }], on_break: 'break' },
      ],
      models: [
        { name: 'cut', upstream: 'up', upstream_model_id: 'text:50+cut@1500' },
        { name: 'cut-there', upstream: 'breaking', upstream_model_id: 'text:50+cut@1500' },
        // Behind the call's last block, before the message's end.
        { name: 'cut-after-call', upstream: 'up', upstream_model_id: 'ok:{"a":"b"}+cut@900' },
        { name: 'cut-after-item', upstream: 'responses', upstream_model_id: 'ok:{"a":"b"}+cut@2200' },
        { name: 'whole', upstream: 'breaking', upstream_model_id: 'text:5' },
      ],
      key_groups: [
        { name: 'breaks', models: ['*'], on_break: 'break' },
        { name: 'finishes', models: ['*'], on_break: 'finish' },
        { name: 'auto', models: ['*'], on_break: 'auto' },
      ],
      access_keys: [
        { name: 'plain', group: 'everyone', key: keys.plain },
        { name: 'breaks', group: 'breaks', key: keys.breaks },
        { name: 'finishes', group: 'finishes', key: keys.finishes },
        { name: 'auto', group: 'auto', key: keys.auto },
      ],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  const ask = (path: string, body: unknown, key: Key, userAgent = 'test'): Promise<ReceivedRequest> =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const request = httpRequest(`${gateway.url}${path}`, {
        method: 'POST',
        agent: false,
        headers: { 'x-api-key': keys[key], 'content-type': 'application/json', 'user-agent': userAgent, 'content-length': Buffer.byteLength(text) },
      });
      let fault: string | null = null;
      let begun = false;
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (!begun) return reject(error);
        fault = error.code ?? error.message;
      });
      request.on('response', (response) => {
        begun = true;
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        // The request says what it was.
        response.on('error', () => {});
        response.on('close', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(parts).toString('utf8'),
            complete: response.complete,
            fault,
            id: String(response.headers['x-request-id']),
          }),
        );
      });
      request.end(text);
    });
  const stream = (client: ClientProtocol, model: string, key: Key, { userAgent, calling = false }: { userAgent?: string; calling?: boolean } = {}) => {
    const { path, body } = calls[client](model, calling);
    return ask(path, body, key, userAgent);
  };
  const rowOf = async (id: string): Promise<RequestRow> => {
    let row: RequestRow | undefined;
    await until(async () => {
      row = (await gateway.rows()).find((one) => one.id === id);
      return row !== undefined;
    }, 'the row');
    return row!;
  };

  const finished = (received: ReceivedRequest) => {
    expect([received.status, received.complete]).toEqual([200, true]);
    expect(received.text).toContain('_gateway_warning');
  };
  const broken = (received: ReceivedRequest) => {
    // A reset: Gemini CLI takes no other end of a connection for a reason to ask again.
    expect([received.status, received.complete, received.fault]).toEqual([200, false, 'ECONNRESET']);
    expect(received.text).not.toContain('_gateway_warning');
    // What was said before arrived.
    expect(received.text).toContain('word0');
  };

  test.each(clientProtocols)('%s: finished in its own words, unless the upstream or, before it, the group says otherwise', async (client) => {
    const plain = await stream(client, 'cut', 'plain');
    finished(plain);
    finished(await stream(client, 'cut-there', 'finishes'));
    const there = await stream(client, 'cut-there', 'plain');
    broken(there);
    const group = await stream(client, 'cut', 'breaks');
    broken(group);
    expect([(await rowOf(plain.id)).ending, (await rowOf(there.id)).ending, (await rowOf(group.id)).ending]).toEqual(['finish', 'break', 'break']);
    expect(await rowOf(group.id)).toMatchObject({ status: 200, error_code: 'upstream_broken' });
    const whole = await stream(client, 'whole', 'breaks');
    expect([whole.complete, (await rowOf(whole.id)).ending]).toEqual([true, null]);
  });

  test.each(clientProtocols)('%s: auto breaks for clients that retry by themselves, and finishes for others', async (client) => {
    broken(await stream(client, 'cut', 'auto', { userAgent: 'codex_cli_rs/0.99.0 (Debian 12; x86_64)' }));
    broken(await stream(client, 'cut', 'auto', { userAgent: 'GeminiCLI/0.61.0/cut (linux; x64; terminal)' }));
    finished(await stream(client, 'cut', 'auto', { userAgent: 'curl/8.0' }));
  });

  test.each(clientProtocols)('%s: a reply whose call the caller may have run is never broken off', async (client) => {
    // Items of Responses are done only when the reply's end is near, so that an upstream of the same protocol has to send one.
    const received = await stream(client, client === 'alpha_response' ? 'cut-after-item' : 'cut-after-call', 'breaks', { calling: true });
    finished(received);
    expect(received.text).toContain('"look"');
    expect((await rowOf(received.id)).ending).toBe('finish');
  });

  test('Responses: a call that is not complete for its caller yet is no reason to finish', async () => {
    const received = await stream('alpha_response', 'cut-after-call', 'breaks', { calling: true });
    expect([received.complete, (await rowOf(received.id)).ending]).toEqual([false, 'break']);
    expect(received.text).not.toContain('output_item.done');
  });

  test('a JSON array is always finished', async () => {
    const received = await ask('/v1beta/models/cut:streamGenerateContent', calls.gamma('cut', false).body, 'breaks');
    finished(received);
    expect(() => JSON.parse(received.text)).not.toThrow();
  });

  test('a WebSocket is closed with 1011', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${keys.breaks}` } });
    const events: string[] = [];
    socket.on('message', (data) => events.push(JSON.parse(data.toString()).type));
    await once(socket, 'open');
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ type: 'response.create', model: 'cut', input: 'hi' }));
    expect((await closed)[0]).toBe(1011);
    expect(events).toContain('response.output_text.delta');
    expect(events.filter((type) => /incomplete|failed|completed|error/.test(type))).toEqual([]);
  });

  test('a caller of HTTP/1.0, to whom the end of the connection is the end of the reply, sees a reset', async () => {
    const { connect } = await import('node:net');
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const body = JSON.stringify(calls.alpha('cut', false).body);
    socket.resume();
    socket.write(
      `POST /v1/chat/completions HTTP/1.0\r\nHost: gateway\r\nX-Api-Key: ${keys.breaks}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const fault = await new Promise<string>((resolve) => {
      socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
      socket.on('end', () => resolve('end'));
    });
    expect(fault).toBe('ECONNRESET');
  });
});
