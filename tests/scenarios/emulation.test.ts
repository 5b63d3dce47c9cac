/** Structured output and prompt caching where the upstream has neither by itself, through the whole data plane. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;
beforeAll(async () => {
  const api_keys = [{ key: 'sk-one' }];
  const base_url = 'https://up.test';
  gateway = await startInProcess({
    outbound,
    upstreams: [
      { name: 'messages', protocol: 'beta', base_url, api_keys },
      { name: 'chat', protocol: 'alpha', base_url, api_keys },
      { name: 'converse', protocol: 'cloudhost_converse', base_url, api_keys },
      { name: 'invoke', protocol: 'cloudhost_invoke', base_url, api_keys },
    ],
    models: [
      { name: 'older', upstream: 'messages', upstream_model_id: 'claude-3-5-haiku-20241022' },
      { name: 'uncached', upstream: 'messages', upstream_model_id: 'claude-3-5-haiku-20241022', extra_config: { cache_injection: 'off' } },
      { name: 'compatible', upstream: 'messages', upstream_model_id: 'house-server' },
      { name: 'aggregated', upstream: 'chat', upstream_model_id: 'anthropic/claude-sonnet-4-5' },
      { name: 'converse', upstream: 'converse', upstream_model_id: 'anthropic.claude-3-5-haiku-20241022-v1:0' },
      { name: 'converse-plain', upstream: 'converse', upstream_model_id: 'meta.llama3-1-70b-instruct-v1:0' },
      { name: 'invoke', upstream: 'invoke', upstream_model_id: 'anthropic.claude-3-5-haiku-20241022-v1:0' },
      { name: 'plain', upstream: 'chat', upstream_model_id: 'gpt-4o' },
    ],
  });
});
afterAll(() => gateway.stop());
beforeEach(() => {
  outbound.sent.length = 0;
});

type Json = Record<string, unknown>;
const usage = { input_tokens: 1, output_tokens: 1 };
const message = (content: Json[], stop_reason: string): Script => ({
  contentType: 'application/json',
  chunks: [Buffer.from(JSON.stringify({ id: 'm', type: 'message', role: 'assistant', model: 'x', content, stop_reason, usage }))],
  ending: 'end',
});
const events = (...list: Json[]): Script => ({
  chunks: list.map((event) => Buffer.from(`event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)),
  ending: 'end',
});

async function chat(body: Json): Promise<{ answer: Awaited<ReturnType<typeof send>>; sent: Json }> {
  const answer = await send(gateway.url, '/v1/chat/completions', {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
  return { answer, sent: JSON.parse(outbound.sent.at(-1)?.body ?? '{}') as Json };
}

const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const response_format = { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } };

describe('field notes 17: structured output of a model that has none', () => {
  test('whole: the forced tool is unwrapped, and the reply says so', async () => {
    outbound.script = message([{ type: 'tool_use', id: 'toolu_1', name: 'structured_output', input: { city: 'Oslo' } }], 'tool_use');
    const { answer, sent } = await chat({ model: 'older', response_format });
    expect(sent).toMatchObject({ tools: [{ name: 'structured_output', input_schema: schema }], tool_choice: { type: 'tool', name: 'structured_output' } });
    const [choice] = answer.json.choices;
    expect(JSON.parse(choice.message.content)).toEqual({ city: 'Oslo' });
    expect(choice.message).not.toHaveProperty('tool_calls');
    expect(choice.finish_reason).toBe('stop');
    expect(answer.headers['x-gateway-translation']).toBe('alpha>beta; emulated=1; renamed=2');
  });

  test('streamed: as text, piece by piece', async () => {
    outbound.script = events(
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_1', name: 'structured_output', input: {} } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage },
      { type: 'message_stop' },
    );
    const { answer } = await chat({ model: 'older', response_format, stream: true });
    const chunks = answer.text.split('\n\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
    const deltas = chunks.flatMap((chunk) => chunk.choices ?? []);
    expect(deltas.map(({ delta }) => delta.content ?? '').join('')).toBe('{"city":"Oslo"}');
    expect(deltas.some(({ delta }) => delta.tool_calls)).toBe(false);
    expect(deltas.at(-1).finish_reason).toBe('stop');
  });

  test('in words where tools stand against it: the fence is taken off and a wrong answer declared', async () => {
    outbound.script = message([{ type: 'text', text: '```json\n{"town":"Oslo"}\n```' }], 'end_turn');
    const tools = [{ type: 'function', function: { name: 'own', parameters: { type: 'object' } } }];
    const { answer } = await chat({ model: 'older', response_format, tools });
    expect(answer.json.choices[0].message.content).toBe('{"town":"Oslo"}');
    const row = await gateway.row(answer.headers['x-request-id'] as string);
    expect(row.losses).toContainEqual({ field: 'response_format', action: 'downgraded', detail: 'The answer does not fit the schema that was asked for.' });
    expect(answer.headers['x-gateway-translation']).toContain('lost=1');
  });
});

describe('cache injection', () => {
  const long = 'x'.repeat(9000);
  const turns = ['system', 'user', 'assistant', 'user', 'assistant', 'user'].map((role, at) => ({ role, content: `${at} ${at === 0 ? long : ''}` }));
  const marks = (sent: Json): string[] => {
    const found: string[] = [];
    JSON.stringify(sent, function (this: Json, key, value) {
      if (key === 'cache_control')
        found.push(
          String(this['text'] ?? this['name'])
            .slice(0, 2)
            .trim(),
        );
      return value as unknown;
    });
    return found.sort();
  };
  beforeEach(() => {
    outbound.script = message([{ type: 'text', text: 'ok' }], 'end_turn');
  });

  test('system end and the last two user turns of a family that needs marks', async () => {
    expect(marks((await chat({ model: 'older', messages: turns })).sent)).toEqual(['0', '3', '5']);
  });
  test('through an aggregator too', async () => {
    expect(marks((await chat({ model: 'aggregated', messages: [...turns], temperature: 0.5 })).sent)).toEqual([]);
    const answer = await send(gateway.url, '/v1/responses', {
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'aggregated', instructions: `0 ${long}`, input: 'x' }),
    });
    expect(answer.status).toBeGreaterThan(0);
    expect(marks(JSON.parse(outbound.sent.at(-1)?.body ?? '{}') as Json)).toEqual(['0', 'x']);
  });
  test('as points of their own in the cloud, where the model takes them', async () => {
    const points = (sent: Json): number => JSON.stringify(sent).split('"cachePoint"').length - 1;
    const { sent } = await chat({ model: 'converse', messages: turns });
    expect((sent['system'] as Json[]).at(-1)).toEqual({ cachePoint: { type: 'default' } });
    expect(points(sent)).toBe(3);
    expect(points((await chat({ model: 'converse-plain', messages: turns })).sent)).toBe(0);
    expect(marks((await chat({ model: 'invoke', messages: turns })).sent)).toEqual(['0', '3', '5']);
  });
  test('not where it is switched off, not needed, too short, or the caller marks by itself', async () => {
    expect(marks((await chat({ model: 'uncached', messages: turns })).sent)).toEqual([]);
    expect(marks((await chat({ model: 'compatible', messages: turns })).sent)).toEqual([]);
    expect(marks((await chat({ model: 'older' })).sent)).toEqual([]);
    const own = [{ role: 'system', content: [{ type: 'text', text: `0 ${long}`, cache_control: { type: 'ephemeral' } }] }, ...turns.slice(1)];
    expect(marks((await chat({ model: 'older', messages: own })).sent)).toEqual(['0']);
  });
  test('field notes 20: two calls of one conversation mark the same prefix, byte for byte', async () => {
    const first = (await chat({ model: 'older', messages: turns.slice(0, 4) })).sent;
    const second = (await chat({ model: 'older', messages: turns })).sent;
    expect(JSON.stringify(second['system'])).toBe(JSON.stringify(first['system']));
    expect(JSON.stringify((second['messages'] as Json[])[2])).toBe(JSON.stringify((first['messages'] as Json[])[2]));
  });
});

describe('field notes 16: schemas that an upstream refuses', () => {
  const messagesCall = async (model: string, tool: Json): Promise<Json> => {
    await send(gateway.url, '/v1/messages', {
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content: 'x' }], tools: [tool] }),
    });
    return JSON.parse(outbound.sent.at(-1)?.body ?? '{}') as Json;
  };
  const loose = { type: 'object', properties: { a: { type: 'string' }, b: { oneOf: [{ type: 'string' }, { type: 'number' }] } }, required: ['a'] };
  const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

  test('strict is given up where the schema is outside its dialect, and kept inside', async () => {
    const strictOf = async (input_schema: Json): Promise<unknown> =>
      ((await messagesCall('plain', { name: 't', strict: true, input_schema }))['tools'] as { function: Json }[])[0]?.function['strict'];
    expect(await strictOf(loose)).toBe(false);
    expect(await strictOf(closed)).toBe(true);
  });
});
