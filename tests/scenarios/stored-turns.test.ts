/** Stored turns in real processes with a real database: chains, conversations, runs without a caller, and one key's turns hidden from another. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Arrangement, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';

// biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
type Json = any;

const bodies: Json[] = [];
/** Says how many messages it got; where the last one is `hang`, a word and nothing more. */
const upstream: Server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'));
    bodies.push(body);
    const chunk = (delta: object, finish_reason: string | null): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const hangs = body.messages.at(-1).content === 'hang';
    if (body.stream) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(chunk({ role: 'assistant', content: 'Half' }, null));
      if (!hangs) response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`);
      return;
    }
    const message = { role: 'assistant', content: `got ${body.messages.length}` };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }));
  });
});

describe.each<Arrangement>(['embedded', 'split'])('%s', (arrangement) => {
  let gateway: TestGateway;
  let other = '';
  beforeAll(async () => {
    if (!upstream.listening) await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'chat', protocol: 'alpha', base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`, api_keys: [{ key: 'sk-1' }] }],
      models: [{ name: 'm', upstream: 'chat', upstream_model_id: 'm' }],
    });
    const made = await gateway.console('POST', '/access-keys', { name: 'other', group: 'everyone' });
    other = made.body.key;
    await until(async () => (await call('/v1/models', undefined, 'GET', other)).status === 200, 'the other key');
  });
  afterAll(async () => {
    await gateway?.stop();
    if (arrangement === 'split') {
      upstream.closeAllConnections();
      upstream.close();
    }
  });

  async function call(
    path: string,
    body?: unknown,
    method = body === undefined ? 'GET' : 'POST',
    key = gateway.key,
  ): Promise<{ status: number; body: Json; text: string }> {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  }
  const contents = (): string[] => bodies.at(-1).messages.map(({ content }: Json) => content);

  test('a chain, read again with and without the prefix; for another key it is not there', async () => {
    const first = (await call('/v1/responses', { model: 'm', input: 'one' })).body;
    const second = (await call('/v1/responses', { model: 'm', input: 'two', previous_response_id: first.id })).body;
    expect(contents()).toEqual(['one', 'got 1', 'two']);
    expect((await call(`/v1/responses/${second.id}`)).body).toEqual(second);
    expect((await call(`/v1/responses/${second.id.slice(5)}`)).body).toEqual(second);
    expect((await call(`/v1/responses/${second.id}/input_items`)).body.data).toHaveLength(1);
    // Side by side: what is not there is looked for again for some seconds.
    const [read, deleted] = await Promise.all([
      ...['GET', 'DELETE'].map((method) => call(`/v1/responses/${second.id}`, undefined, method, other)),
      call('/v1/responses', { model: 'm', input: 'three', previous_response_id: second.id }, 'POST', other),
    ]);
    expect([read?.status, deleted?.status]).toEqual([404, 404]);
    expect(contents()).toEqual(['three']);
    expect((await call(`/v1/responses/${first.id}`, undefined, 'DELETE')).body.deleted).toBe(true);
    await call('/v1/responses', { model: 'm', input: 'four', previous_response_id: second.id });
    expect(contents()).toEqual(['two', 'got 3', 'four']);
  });

  test('a stream is there as its last event says', async () => {
    const { text } = await call('/v1/responses', { model: 'm', input: 'one', stream: true });
    const [last] = text.split('\n').flatMap((line) => (line.startsWith('data: {"type":"response.completed"') ? [JSON.parse(line.slice(6))] : []));
    expect((await call(`/v1/responses/${last.response.id}`)).body).toEqual(last.response);
  });

  test('a conversation and a run without a caller', async () => {
    const { id } = (await call('/v1/conversations', {})).body;
    await call('/v1/responses', { model: 'm', input: 'one', conversation: id });
    await call('/v1/responses', { model: 'm', input: 'two', conversation: id });
    expect(contents()).toEqual(['one', 'got 1', 'two']);
    // A busy machine answers while the turn still lies in its outbox.
    await until(async () => (await call(`/v1/conversations/${id}/items?order=asc`)).body.data.length === 4, 'the items of both turns');
    const run = (await call('/v1/responses', { model: 'm', input: 'three', background: true })).body;
    expect(run.status).toBe('queued');
    const ended = await until(async () => {
      const { body } = await call(`/v1/responses/${run.id}`);
      return body.status === 'completed' && body;
    }, 'the end of the run');
    expect(ended.output[0].content[0].text).toBe('Half');
  });
});
