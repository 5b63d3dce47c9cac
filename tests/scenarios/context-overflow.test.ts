/** Pain 21 through the gateway: a prompt that does not fit is told in the caller's words, and tried elsewhere only where more fits. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { readSse } from '../support/read-sse.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';

const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
const tooLong = {
  error: {
    message: "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
    code: 'context_length_exceeded',
  },
};
const fine = { model: 'x', choices: [{ index: 0, message: { role: 'assistant', content: 'fits' }, finish_reason: 'stop' }] };

beforeAll(async () => {
  const upstreams = ['alpha', 'beta'].map((protocol) => ({
    name: protocol,
    protocol: protocol as 'alpha',
    base_url: 'http://upstream.test',
    api_keys: [{ key: 'sk-1' }, { key: 'sk-2' }],
  }));
  gateway = await startInProcess({
    upstreams,
    models: [
      { name: 'narrow', upstream: 'alpha', upstream_model_id: 'gpt-4o' },
      { name: 'narrow-too', upstream: 'alpha', upstream_model_id: 'gpt-4o-mini' },
      { name: 'wide', upstream: 'alpha', upstream_model_id: 'gpt-4.1' },
      { name: 'compatible', upstream: 'beta', upstream_model_id: 'kimi-k2' },
    ],
    loadBalancers: [
      { name: 'mixed', strategy: 'priority', entries: [{ model: 'narrow' }, { model: 'narrow-too' }, { model: 'wide' }] },
      { name: 'equal', strategy: 'priority', entries: [{ model: 'narrow' }, { model: 'narrow-too' }] },
    ],
    outbound,
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
  outbound.answer = () => jsonScript(400, tooLong);
});

const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { input: 'Hi' },
  '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
};
let requests = 0;
async function ask(path: keyof typeof bodies, model: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  const id = `overflow-${++requests}`;
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id, ...headers },
    body: JSON.stringify({ model, ...bodies[path], ...more }),
  });
  return { status: reply.status, text: await reply.text(), row: await gateway.row(id) };
}

describe.each([false, true])('stream: %p', (stream) => {
  test('each caller reads its own words', async () => {
    const chat = await ask('/v1/chat/completions', 'narrow', { stream });
    expect([chat.status, JSON.parse(chat.text).error.code]).toEqual([400, 'context_length_exceeded']);
    const responses = await ask('/v1/responses', 'narrow', { stream });
    expect([responses.status, JSON.parse(responses.text).error.code]).toEqual([400, 'context_length_exceeded']);
    const messages = await ask('/v1/messages', 'narrow', { stream });
    expect([messages.status, JSON.parse(messages.text).error]).toEqual([
      400,
      { type: 'invalid_request_error', message: 'prompt is too long: 140000 tokens > 128000 maximum' },
    ]);
    expect(messages.row).toMatchObject({ status: 400, error_code: 'context_overflow', attempts: [{ status: 400 }] });
  });

  test('a compatible server of the same protocol that has words of its own is redrawn too', async () => {
    outbound.answer = () =>
      jsonScript(422, {
        type: 'error',
        error: { type: 'invalid_request_error', message: 'Your request exceeded model token limit: 262144 (requested: 300000)' },
      });
    const { status, text } = await ask('/v1/messages', 'compatible', { stream });
    expect([status, JSON.parse(text).error.message]).toEqual([400, 'prompt is too long: 300000 tokens > 262144 maximum']);
  });

  test('goes on to a larger window, past nodes that have none', async () => {
    outbound.answer = ({ body }) => (JSON.parse(body).model === 'gpt-4.1' ? jsonScript(200, fine) : jsonScript(400, tooLong));
    const { status, text, row } = await ask('/v1/chat/completions', 'mixed', { stream: false });
    expect(status).toBe(200);
    expect(text).toContain('fits');
    expect(outbound.sent.map(({ body }) => JSON.parse(body).model)).toEqual(['gpt-4o', 'gpt-4.1']);
    expect(row.attempts.map(({ status: one }) => one)).toEqual([400, 200]);
  });
});

test('no other key and no equal node is asked', async () => {
  const { status, text } = await ask('/v1/chat/completions', 'equal');
  expect([status, JSON.parse(text).error.code]).toEqual([400, 'context_length_exceeded']);
  expect(outbound.sent).toHaveLength(1);
});

test('what the larger one fails with does not hide that the prompt was too long', async () => {
  outbound.answer = ({ body }) => (JSON.parse(body).model === 'gpt-4.1' ? jsonScript(500, { error: { message: 'down' } }) : jsonScript(400, tooLong));
  const { status, text } = await ask('/v1/messages', 'mixed');
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'prompt is too long: 140000 tokens > 128000 maximum']);
});

test('the coding agent of Responses is told in the stream, where it looks', async () => {
  const { status, text, row } = await ask('/v1/responses', 'narrow', { stream: true }, { originator: 'codex_cli_rs' });
  expect(status).toBe(200);
  const events = readSse(text);
  expect(events.map(({ event }) => event)).toEqual(['response.created', 'response.in_progress', 'response.failed']);
  expect(events[2]?.json).toMatchObject({ sequence_number: 2, response: { status: 'failed', model: 'narrow', error: { code: 'context_length_exceeded' } } });
  expect(row).toMatchObject({ error_code: 'context_overflow' });
  expect((await ask('/v1/responses', 'narrow', { stream: false }, { originator: 'codex_cli_rs' })).status).toBe(400);
});
