/** Pain 27 through the gateway: bodies of the Responses shape on the chat path, whole and in parts, are answered in chat shape by any upstream. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createAnsweringOutbound, jsonScript } from '../support/scripted-upstream.ts';

const outbound = createAnsweringOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [
      { name: 'alpha', protocol: 'alpha', base_url: 'http://upstream.test', api_keys: [{ key: 'sk-1' }] },
      { name: 'beta', protocol: 'beta', base_url: 'http://upstream.test', api_keys: [{ key: 'sk-1' }] },
    ],
    models: ['alpha', 'beta'].map((name) => ({ name, upstream: name, upstream_model_id: 'x' })),
    outbound,
  });
  const usage = { input_tokens: 1, output_tokens: 1 };
  outbound.answer = ({ url }) =>
    url.endsWith('/messages')
      ? jsonScript(200, {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'x',
          content: [{ type: 'text', text: 'ok' }],
          stop_reason: 'end_turn',
          usage,
        })
      : jsonScript(200, {
          id: 'c',
          object: 'chat.completion',
          created: 1,
          model: 'x',
          choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
        });
});
afterAll(() => gateway.stop());

const ask = async (body: Record<string, unknown>) => {
  outbound.sent.length = 0;
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const json = (await reply.json()) as { object?: string; choices?: { message: { content: string } }[] };
  return { status: reply.status, json, sent: outbound.sent[0] && JSON.parse(outbound.sent[0].body) };
};
const flat = {
  type: 'function',
  name: 'read',
  description: 'd',
  parameters: { type: 'object', properties: { type: { type: 'string', enum: ['function'] } } },
  strict: false,
};
const nested = { type: 'function', function: { name: 'write', parameters: { type: 'object' } } };

test.each(['alpha', 'beta'])('a whole body of the other shape, to %s', async (model) => {
  const { status, json, sent } = await ask({
    model,
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'text' },
    ],
    tools: [flat],
    reasoning: { effort: 'low' },
  });
  expect([status, json.object, json.choices?.[0]?.message.content]).toEqual([200, 'chat.completion', 'ok']);
  expect(sent.input).toBeUndefined();
  expect(JSON.stringify(sent.messages)).toContain('Hi');
  expect(JSON.stringify(sent.messages)).toContain('call_1');
});

test('tools of both forms in one list: only the flat ones are touched', async () => {
  const { status, sent } = await ask({
    model: 'alpha',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [nested, flat],
    tool_choice: { type: 'function', name: 'read' },
    odd: 1,
  });
  expect(status).toBe(200);
  const { type: _, ...definition } = flat;
  expect(sent).toMatchObject({
    tools: [nested, { type: 'function', function: definition }],
    tool_choice: { type: 'function', function: { name: 'read' } },
    odd: 1,
  });
});

test('a body of its own shape passes byte for byte but for the model', async () => {
  const body = `{"model": "alpha",  "messages":[{"role":"user","content":"say \\"input_text\\" and \\"function\\""}], "tools":[${JSON.stringify(nested)}], "input": null}`;
  outbound.sent.length = 0;
  await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body,
  });
  expect(outbound.sent[0]?.body).toBe(body.replace('"alpha"', '"x"'));
});

test('parts of the other spelling inside messages; only a user message', async () => {
  const { status, sent } = await ask({ model: 'alpha', messages: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] });
  expect(status).toBe(200);
  expect(JSON.stringify(sent.messages)).not.toContain('input_text');
});
