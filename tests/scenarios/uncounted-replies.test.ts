/** Servers that speak a vendor's protocol and count nothing, or no prompt: zeros are no figures, so that what was answered is estimated, and costs something. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
const upstreams = ['alpha', 'alpha_response', 'beta', 'gamma'] as const;
type Family = (typeof upstreams)[number];
let gateway: InProcessGateway;
let asked = 0;

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: upstreams.map((protocol) => ({ name: protocol, protocol, base_url: 'http://upstream.test', api_keys: [{ key: 'k' }] })),
    models: upstreams.map((protocol) => ({ name: `to-${protocol}`, upstream: protocol, upstream_model_id: 'model' })),
    outbound,
  });
});
afterAll(() => gateway.stop());

const said = 'Four words were said.';
const sse = (...events: object[]) =>
  events.map((event) => `${'type' in event ? `event: ${event.type}\n` : ''}data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join('');

/** A reply of each protocol, by its tokens of output; those of its prompt are zero. */
const replies: Record<Family, (output: number) => { whole: object; stream: string }> = {
  alpha(output) {
    const usage = { prompt_tokens: 0, completion_tokens: output, total_tokens: output };
    const chunk = (delta: object, finish_reason: string | null, more = {}) => ({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'model',
      choices: [{ index: 0, delta, finish_reason }],
      ...more,
    });
    const message = { role: 'assistant', content: said };
    return {
      whole: { id: 'c', object: 'chat.completion', created: 1, model: 'model', choices: [{ index: 0, message, finish_reason: 'stop' }], usage },
      stream: `${sse(chunk(message, null), chunk({}, 'stop', { usage }))}data: [DONE]\n\n`,
    };
  },
  alpha_response(output) {
    const usage = { input_tokens: 0, output_tokens: output, total_tokens: output };
    const part = { type: 'output_text', text: said, annotations: [] };
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [part] };
    const whole = { id: 'resp_1', object: 'response', created_at: 1, model: 'model', status: 'completed', output: [item], usage };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const events = [
      { type: 'response.created', response: { ...whole, status: 'in_progress', output: [], usage: null } },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...place, delta: said },
      { type: 'response.output_text.done', ...place, text: said },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: whole },
    ];
    return { whole, stream: sse(...events.map((event, sequence_number) => ({ ...event, sequence_number }))) };
  },
  beta(output) {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'model', content: [] as object[], stop_reason: null, stop_sequence: null };
    const usage = { input_tokens: 0, output_tokens: output };
    return {
      whole: { ...message, content: [{ type: 'text', text: said }], stop_reason: 'end_turn', usage },
      stream: sse(
        { type: 'message_start', message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: output } },
        { type: 'message_stop' },
      ),
    };
  },
  gamma(output) {
    const usageMetadata = { promptTokenCount: 0, candidatesTokenCount: output, totalTokenCount: output };
    const whole = {
      candidates: [{ index: 0, content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP' }],
      usageMetadata,
      modelVersion: 'model',
    };
    return { whole, stream: sse(whole) };
  },
};

const bodies: Record<Family, object> = {
  alpha: { messages: [{ role: 'user', content: 'Hi' }] },
  alpha_response: { input: 'Hi', store: false },
  beta: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
  gamma: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
};
const paths = { alpha: '/v1/chat/completions', alpha_response: '/v1/responses', beta: '/v1/messages' };

async function rowOf(client: Family, upstream: Family, stream: boolean, output: number) {
  const reply = replies[upstream](output);
  const [contentType, text] = stream ? ['text/event-stream', reply.stream] : ['application/json', JSON.stringify(reply.whole)];
  outbound.script = { status: 200, contentType, chunks: [Buffer.from(text)], ending: 'end' };
  const id = `uncounted-${++asked}`;
  const path = client === 'gamma' ? `/v1beta/models/to-${upstream}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}` : paths[client];
  const answer = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify(client === 'gamma' ? bodies.gamma : { model: `to-${upstream}`, stream, ...bodies[client] }),
  });
  expect(answer.status).toBe(200);
  await answer.text();
  return gateway.row(id);
}

const pairs = upstreams.flatMap((upstream) => [upstream, upstream === 'beta' ? 'alpha' : 'beta'].map((client) => [upstream, client as Family] as const));

describe.each(pairs)('%s, asked by %s', (upstream, client) => {
  test.each([false, true])('a prompt of no tokens was not counted (stream: %p)', async (stream) => {
    const row = await rowOf(client, upstream, stream, 54);
    expect(row).toMatchObject({ output_tokens: 54, usage_source: 'estimated' });
    expect(row.input_tokens).toBeGreaterThan(0);
  });

  test.each([false, true])('nor was a text of no tokens (stream: %p)', async (stream) => {
    const row = await rowOf(client, upstream, stream, 0);
    expect(row).toMatchObject({ output_tokens: Math.ceil(said.length / 4), usage_source: 'estimated' });
    expect(row.input_tokens).toBeGreaterThan(0);
  });
});
