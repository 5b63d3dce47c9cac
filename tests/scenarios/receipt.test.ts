/** What a translation did is told: in the row, in a digest header that leaves with the head, and as a refusal where a group is strict. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound, type Script } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const whole: Script = {
  contentType: 'application/json',
  chunks: [
    Buffer.from(
      JSON.stringify({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude-opus-4-5',
        content: [{ type: 'text', text: 'fine' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    ),
  ],
  ending: 'end',
};
const stream: Script = {
  chunks: [
    Buffer.from(
      [
        {
          type: 'message_start',
          message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage: { input_tokens: 1, output_tokens: 0 } },
        },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'fine' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
        { type: 'message_stop' },
      ]
        .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
        .join(''),
    ),
  ],
  ending: 'end',
};

const outbound = createScriptedOutbound();
const settings = {
  outbound,
  upstreams: [
    { name: 'messages', protocol: 'beta', base_url: 'https://up.test', api_keys: [{ key: 'sk-one' }] },
    { name: 'chat', protocol: 'alpha', base_url: 'https://chat.test', api_keys: [{ key: 'sk-one' }] },
  ],
  models: [
    { name: 'house', upstream: 'messages', upstream_model_id: 'claude-opus-4-5' },
    { name: 'spare', upstream: 'chat', upstream_model_id: 'gpt-4o' },
  ],
  loadBalancers: [{ name: 'pool', strategy: 'priority', entries: [{ model: 'house' }, { model: 'spare' }] }],
} as const;
const start = (strict: boolean) =>
  startInProcess({
    outbound,
    upstreams: [...settings.upstreams].map((one) => ({ ...one, api_keys: [...one.api_keys] })),
    models: [...settings.models],
    loadBalancers: settings.loadBalancers.map((one) => ({ ...one, entries: [...one.entries] })),
    group: { strict_translation: strict },
  });

let plain: InProcessGateway;
let strict: InProcessGateway;
beforeAll(async () => {
  plain = await start(false);
  strict = await start(true);
});
afterAll(async () => {
  await plain.stop();
  await strict.stop();
});
beforeEach(() => {
  outbound.script = whole;
  outbound.sent.length = 0;
});

const chat = (gateway: InProcessGateway, body: object) =>
  send(gateway.url, '/v1/chat/completions', {
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
const messages = (gateway: InProcessGateway, body: object) =>
  send(gateway.url, '/v1/messages', {
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'house', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...body }),
  });
const chatReply: Script = {
  contentType: 'application/json',
  chunks: [
    Buffer.from(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'gpt-4o',
        choices: [{ index: 0, message: { role: 'assistant', content: 'fine' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    ),
  ],
  ending: 'end',
};
const lossy = { seed: 7, logit_bias: { 1: 2 }, tools: [{ type: 'custom', custom: { name: 'patch' } }] };

describe('receipt', () => {
  test('a translation that lost things says how many, in the header and in the row', async () => {
    const answer = await chat(plain, lossy);
    expect(answer.status).toBe(200);
    expect(answer.headers['x-gateway-translation']).toBe('alpha>beta; lost=2; emulated=1');
    const row = await plain.row(answer.headers['x-request-id'] as string);
    expect(row.losses.map(({ field, action }) => `${action} ${field}`).sort()).toEqual(['dropped logit_bias', 'dropped seed', 'emulated tools.custom']);
  });

  test('on a stream it leaves with the head', async () => {
    outbound.script = stream;
    const answer = await chat(plain, { ...lossy, stream: true });
    expect(answer.headers['x-gateway-translation']).toBe('alpha>beta; lost=2; emulated=1');
    expect(answer.text).toContain('fine');
  });

  test('what the reply said beyond what the caller’s protocol can tell is in the row, of a stream too', async () => {
    const kept = { container: { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' } };
    const changed = (script: Script, from: string): Script => {
      const text = script.chunks.map(String).join('');
      expect(text).toContain(from);
      return { ...script, chunks: [Buffer.from(text.replace(from, `${from},${JSON.stringify(kept).slice(1, -1)}`))] };
    };
    for (const asked of [{}, { stream: true }]) {
      outbound.script = changed('stream' in asked ? stream : whole, '"stop_reason":"end_turn"');
      const answer = await chat(plain, asked);
      expect(answer.text).toContain('fine');
      const row = await plain.row(answer.headers['x-request-id'] as string);
      expect(row.losses.map(({ field, action }) => `${action} ${field}`)).toEqual(['dropped reply.container']);
    }
  });

  test('a lossless translation names the pair alone', async () => {
    expect((await chat(plain, {})).headers['x-gateway-translation']).toBe('alpha>beta');
  });

  test('what passes verbatim and loses nothing has no receipt', async () => {
    const answer = await messages(plain, {});
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('x-gateway-translation');
  });
});

test('a node that passes the body as it is has lost nothing, whatever the node before it lost', async () => {
  const { send } = outbound;
  outbound.send = (request, handlers) => {
    outbound.script = String(request.url).includes('chat.test') ? chatReply : { ...whole, status: 500 };
    return send(request, handlers);
  };
  try {
    const answer = await chat(plain, { model: 'pool', of_tomorrow: 1 });
    expect([answer.status, outbound.sent.map(({ url }) => new URL(url).host)]).toEqual([200, ['up.test', 'chat.test']]);
    expect(answer.headers['x-gateway-translation']).toBeUndefined();
    expect((await plain.row(answer.headers['x-request-id'] as string)).losses ?? []).toEqual([]);
  } finally {
    outbound.send = send;
  }
});

describe('strict translation', () => {
  test('a lossy call is refused by name before anything is sent', async () => {
    const answer = await chat(strict, lossy);
    expect(answer.status).toBe(400);
    expect(answer.json.error).toMatchObject({ code: 'lossy_translation' });
    expect(answer.json.error.message).toMatch(/seed \(dropped: .*logit_bias \(dropped: /);
    expect(answer.headers['x-gateway-translation']).toBe('alpha>beta; lost=2; emulated=1');
    expect(outbound.sent).toEqual([]);
    const row = await strict.row(answer.headers['x-request-id'] as string);
    expect(row).toMatchObject({ status: 400, error_code: 'lossy_translation', attempts: [] });
    expect(row.losses).toHaveLength(3);
  });

  test('what is only renamed or emulated passes, and so does a lossless call', async () => {
    expect((await chat(strict, { tools: lossy.tools })).status).toBe(200);
    expect((await messages(strict, {})).status).toBe(200);
  });
});
