/** What a row counts where a vendor asked models more than once for one reply. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: [{ name: 'vendor', protocol: 'beta', base_url: 'http://upstream.test', api_keys: [{ key: 'sk-upstream' }] }],
    models: [{ name: 'fable', upstream: 'vendor', upstream_model_id: 'claude-fable-5' }],
    outbound,
  });
});
afterAll(() => gateway.stop());

const counts = (input: number, output: number, cached = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: 0,
});
const replies = {
  compaction: {
    usage: {
      ...counts(181, 8),
      iterations: [
        { ...counts(100, 83, 55_096), type: 'compaction' },
        { ...counts(181, 8), type: 'message' },
      ],
    },
    row: { upstream_model_id: 'claude-fable-5', input_tokens: 281, output_tokens: 91, cache_read_tokens: 55_096, usage_source: 'upstream' },
  },
  'a faster reply': {
    usage: { ...counts(100, 10), speed: 'fast', service_tier: 'standard' },
    row: { service_tier: 'fast', input_tokens: 100, output_tokens: 10, usage_source: 'upstream' },
  },
  'a tier that was bought': {
    usage: { ...counts(100, 10), speed: 'standard', service_tier: 'priority' },
    row: { service_tier: 'priority' },
  },
  'the standard tier': {
    usage: { ...counts(100, 10), speed: 'standard', service_tier: 'standard' },
    row: { service_tier: null },
  },
  fallback: {
    usage: {
      ...counts(412, 264),
      iterations: [
        { ...counts(408, 0), type: 'message', model: 'claude-fable-5' },
        { ...counts(412, 264), type: 'fallback_message', model: 'claude-opus-4-8' },
      ],
    },
    row: { upstream_model_id: 'claude-opus-4-8', input_tokens: 412, output_tokens: 264, cache_read_tokens: 0, usage_source: 'upstream' },
  },
};

const event = (data: { type: string; [key: string]: unknown }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-fable-5', content: [], stop_reason: null, stop_sequence: null };
const asStream = (usage: object) =>
  [
    { type: 'message_start', message: { ...message, usage: counts(100, 1) } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
    .map(event)
    .join('');
const asWhole = (usage: object) => JSON.stringify({ ...message, content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage });

let asked = 0;
async function rowOf(path: string, stream: boolean, usage: object) {
  outbound.script = {
    status: 200,
    contentType: stream ? 'text/event-stream' : 'application/json',
    chunks: [Buffer.from(stream ? asStream(usage) : asWhole(usage))],
    ending: 'end',
  };
  const id = `billed-${++asked}`;
  const reply = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id },
    body: JSON.stringify({ model: 'fable', stream, max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  expect(reply.status).toBe(200);
  await reply.text();
  return gateway.row(id);
}

describe.each(Object.entries(replies))('%s', (_name, { usage, row }) => {
  test.each([
    ['/v1/messages', false],
    ['/v1/messages', true],
    ['/v1/chat/completions', false],
    ['/v1/chat/completions', true],
  ] as const)('%s (stream: %p)', async (path, stream) => {
    expect(await rowOf(path, stream, usage)).toMatchObject(row);
  });
});
