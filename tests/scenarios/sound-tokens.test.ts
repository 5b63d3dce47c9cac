/** Tokens of sound in a chat, which cost many times what those of text do: rows count them apart, callers get sums that hold them. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';

const outbound = createScriptedOutbound();
let gateway: InProcessGateway;

const key = { api_keys: [{ key: 'sk-upstream' }] };
const vendors = ['alpha', 'alpha_response', 'gamma', 'delta'] as const;
type Vendor = (typeof vendors)[number];

beforeAll(async () => {
  gateway = await startInProcess({
    upstreams: vendors.map((protocol) => ({ name: protocol, protocol, base_url: `http://${protocol.replace('_', '-')}.test`, ...key })),
    models: vendors.map((protocol) => ({
      name: protocol,
      upstream: protocol,
      upstream_model_id: 'listens',
      ...(protocol === 'delta' && { kind: 'delta-multimodal' as const }),
    })),
    outbound,
  });
});
afterAll(() => gateway.stop());

/** Each vendor's words for 1,000 tokens read, of which 400 from a cache and 50 sound, and 300 written, of which 200 thinking and 30 sound. */
const message = { role: 'assistant', content: 'Hi' };
const replies: Record<Vendor, object> = {
  alpha: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'listens', choices: [{ index: 0, message, finish_reason: 'stop' }] },
    usage: {
      ...{ prompt_tokens: 1_000, completion_tokens: 300, total_tokens: 1_300 },
      prompt_tokens_details: { cached_tokens: 400, audio_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 30 },
    },
  },
  alpha_response: {
    ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'listens' },
    output: [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [{ type: 'output_text', text: 'Hi', annotations: [] }] }],
    usage: {
      ...{ input_tokens: 1_000, output_tokens: 300, total_tokens: 1_300 },
      input_tokens_details: { cached_tokens: 400, audio_tokens: 50 },
      output_tokens_details: { reasoning_tokens: 200, audio_tokens: 30 },
    },
  },
  gamma: {
    candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      ...{ promptTokenCount: 1_000, cachedContentTokenCount: 400, candidatesTokenCount: 100, thoughtsTokenCount: 200, totalTokenCount: 1_300 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 930 },
        { modality: 'AUDIO', tokenCount: 70 },
      ],
      cacheTokensDetails: [
        { modality: 'TEXT', tokenCount: 380 },
        { modality: 'AUDIO', tokenCount: 20 },
      ],
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 30 }],
    },
  },
  delta: {
    output: { choices: [{ message, finish_reason: 'stop' }] },
    usage: {
      ...{ input_tokens: 1_000, output_tokens: 300 },
      input_tokens_details: { cached_tokens: 400, audio_tokens: 50 },
      output_tokens_details: { reasoning_tokens: 200, audio_tokens: 30 },
    },
  },
};
const buckets = {
  ...{ input_tokens: 550, cache_read_tokens: 400, audio_input_tokens: 50, output_tokens: 70, audio_output_tokens: 30, reasoning_tokens: 200 },
  usage_source: 'upstream',
};

const messages = [{ role: 'user', content: 'Hi' }];
const callers = {
  alpha: {
    ask: (model: string) => ['/v1/chat/completions', { model, messages }] as const,
    usage: {
      usage: {
        ...{ prompt_tokens: 1_000, completion_tokens: 300, total_tokens: 1_300 },
        prompt_tokens_details: { cached_tokens: 400, audio_tokens: 50 },
        completion_tokens_details: { reasoning_tokens: 200, audio_tokens: 30 },
      },
    },
  },
  alpha_response: {
    ask: (model: string) => ['/v1/responses', { model, store: false, input: 'Hi' }] as const,
    usage: { usage: { input_tokens: 1_000, output_tokens: 300, total_tokens: 1_300 } },
  },
  beta: {
    ask: (model: string) => ['/v1/messages', { model, max_tokens: 9, messages }] as const,
    usage: { usage: { input_tokens: 600, cache_read_input_tokens: 400, output_tokens: 300 } },
  },
  gamma: {
    ask: (model: string) => [`/v1beta/models/${model}:generateContent`, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }] as const,
    usage: { usageMetadata: { promptTokenCount: 1_000, candidatesTokenCount: 100, thoughtsTokenCount: 200, totalTokenCount: 1_300 } },
  },
};

let asked = 0;
describe.each(vendors)('counted by %s', (vendor) => {
  test.each(Object.entries(callers))('for %s callers', async (_name, { ask, usage }) => {
    outbound.script = { contentType: 'application/json', chunks: [Buffer.from(JSON.stringify(replies[vendor]))], ending: 'end' };
    const id = `sound-${++asked}`;
    const [path, body] = ask(vendor);
    const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': id };
    const reply = await fetch(gateway.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await reply.json()).toMatchObject(usage);
    expect(await gateway.row(id)).toMatchObject(buckets);
  });
});
