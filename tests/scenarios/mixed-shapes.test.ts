/** Pain 27 through the gateway: bodies of other shapes on the chat path, whole and in parts, are answered in chat shape by any upstream. */
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

const readFile = { name: 'read', description: 'd', input_schema: { type: 'object', properties: { path: { type: 'string' } } } };

test.each(['alpha', 'beta'])('tools and blocks of the messages shape among chat messages, to %s', async (model) => {
  const { status, json, sent } = await ask({
    model,
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'text of a' }] },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
          { type: 'text', text: 'Now sum up.' },
        ],
      },
    ],
    tools: [readFile, { ...readFile, type: 'custom', name: 'again' }],
    tool_choice: { type: 'tool', name: 'read' },
  });
  expect([status, json.object, json.choices?.[0]?.message.content]).toEqual([200, 'chat.completion', 'ok']);
  if (model === 'beta') {
    expect(sent.tools).toEqual([readFile, { ...readFile, name: 'again' }]);
    expect(sent.tool_choice).toEqual({ type: 'tool', name: 'read' });
    expect(sent.messages[1].content[1]).toMatchObject({ type: 'tool_use', id: 'toolu_1', input: { path: 'a' } });
    expect(sent.messages[2].content.map(({ type }: { type: string }) => type)).toEqual(['tool_result', 'image', 'text']);
    return;
  }
  const { name, description, input_schema: parameters } = readFile;
  expect(sent.tools[0]).toEqual({ type: 'function', function: { name, description, parameters } });
  expect(sent.tool_choice).toEqual({ type: 'function', function: { name } });
  expect(sent.messages.slice(2)).toMatchObject([
    { role: 'assistant', content: 'I look.', tool_calls: [{ id: 'toolu_1', function: { name, arguments: '{"path":"a"}' } }] },
    { role: 'tool', tool_call_id: 'toolu_1', content: 'text of a' },
    { role: 'user', content: [{ type: 'image_url' }, { type: 'text', text: 'Now sum up.' }] },
  ]);
});

test('arguments that are called like parts of another shape change nothing', async () => {
  const parameters = { type: 'object', properties: { input_schema: { type: 'string' }, tool_use_id: { type: 'string' } } };
  const body = {
    model: 'alpha',
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
    x_of_upstream: 1,
  };
  const { sent } = await ask(body);
  expect(sent).toEqual({ ...body, model: 'x' });
});
