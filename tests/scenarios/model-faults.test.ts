/** What a vendor refuses with a 400 because of what its model wrote: no call that could be read, or no JSON. Another model is asked; a lone one's words reach the caller. */
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

const error = {
  message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
  type: 'invalid_request_error',
  code: 'tool_use_failed',
  failed_generation: '<function=read={"path": "a.txt"}</function>',
};
let failing: Server;
let asked = 0;
let second: FakeUpstream;
let gateway: InProcessGateway;

beforeAll(async () => {
  failing = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked += 1;
      const { stream } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { stream?: boolean };
      if (stream !== true) return void response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
      // In a stream the same comes as an event.
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`event: error\ndata: ${JSON.stringify({ error: { ...error, status_code: 400 } })}\n\n`);
    });
  });
  await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
  second = await startFakeUpstream();
  gateway = await startInProcess({
    upstreams: [
      { name: 'failing', protocol: 'alpha', base_url: `http://127.0.0.1:${(failing.address() as { port: number }).port}`, api_keys: [{ key: 'k' }] },
      { name: 'second', protocol: 'alpha', base_url: second.url, api_keys: [{ key: 'k' }] },
    ],
    models: [
      { name: 'fails', upstream: 'failing', upstream_model_id: 'llama' },
      { name: 'fails too', upstream: 'failing', upstream_model_id: 'qwen' },
      { name: 'ok', upstream: 'second', upstream_model_id: 'ok' },
    ],
    loadBalancers: [
      { name: 'failing', strategy: 'priority', entries: [{ model: 'fails' }, { model: 'fails too' }] },
      { name: 'balanced', strategy: 'priority', entries: [{ model: 'fails' }, { model: 'ok' }] },
    ],
  });
});
afterAll(async () => {
  await gateway.stop();
  failing.closeAllConnections();
  await new Promise((resolve) => failing.close(resolve));
  await second.close();
});
beforeEach(() => {
  asked = 0;
});

async function ask(path: string, body: object) {
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], max_tokens: 50, ...body }),
  });
  return { status: reply.status, text: await reply.text(), row: await gateway.row(reply.headers.get('x-request-id') ?? '') };
}

describe.each(['/v1/chat/completions', '/v1/messages'])('a caller at %s', (path) => {
  test.each([false, true])('gets the next model’s reply (stream: %p)', async (stream) => {
    const { status, text, row } = await ask(path, { model: 'balanced', stream });
    expect([status, text.includes('tool_use_failed')]).toEqual([200, false]);
    expect(row).toMatchObject({
      upstream: 'second',
      error_code: null,
      attempts: [{ upstream: 'failing', error_code: 'tool_use_failed' }, { upstream: 'second' }],
    });
  });

  test.each(['fails', 'failing'])('reads the words of a lone one, and of the last where all say so: %s', async (model) => {
    const { status, text, row } = await ask(path, { model });
    expect([status, text.includes('Failed to call a function.')]).toEqual([400, true]);
    const attempts = Array.from({ length: model === 'fails' ? 1 : 2 }, () => ({ error_code: 'tool_use_failed' }));
    expect(row).toMatchObject({ status: 400, error_code: 'upstream_rejected', attempts });
  });
});

test('a caller of the same protocol reads what the model wrote', async () =>
  expect(JSON.parse((await ask('/v1/chat/completions', { model: 'fails' })).text)).toMatchObject({ error }));

test('however often it happens, the upstream is not left out for it', async () => {
  for (let turn = 0; turn < 8; turn++) await ask('/v1/chat/completions', { model: 'balanced' });
  expect(asked).toBe(8);
});
