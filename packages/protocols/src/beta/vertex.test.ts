/** Claude on Vertex AI: addresses, credentials and bodies as @anthropic-ai/vertex-sdk 1.1 and LiteLLM's `VertexAIAnthropicConfig` send them. */
import { describe, expect, test } from '@jest/globals';
import type { Operation } from '@model-gateway/contracts';
import { applyEdits } from '@model-gateway/json-bytes';
import { open, target, writeContext } from '../../test/support/beta.ts';
import type { Conversation } from '../chat/conversation.ts';
import type { UpstreamAdapter, VerbatimRequestContext } from '../contract/index.ts';
import { beta } from './index.ts';

const upstream = beta.upstream as UpstreamAdapter;
const publisher = 'https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/us-east5/publishers/anthropic';
const model = 'claude-sonnet-4-5@20250929';
const vertex = target({ baseUrl: publisher, upstreamModelId: model });
const version = 'vertex-2023-10-16';

describe('addresses', () => {
  const url = (baseUrl: string, stream = false, operation: Operation = 'generate'): string =>
    upstream.request({ target: { ...vertex, baseUrl }, operation, stream, clientQuery: 'beta=true' }).url;

  test.each([
    [publisher, false, `${publisher}/models/${model}:rawPredict`],
    [publisher, true, `${publisher}/models/${model}:streamRawPredict`],
    [`${publisher}/models/`, true, `${publisher}/models/${model}:streamRawPredict`],
    [`${publisher}/models/claude-opus-4-5:rawPredict`, true, `${publisher}/models/claude-opus-4-5:streamRawPredict`],
    [
      'https://relay.test/v1/projects/p/locations/global/publishers/anthropic',
      false,
      `https://relay.test/v1/projects/p/locations/global/publishers/anthropic/models/${model}:rawPredict`,
    ],
  ])('%s, streamed: %s', (baseUrl, stream, expected) => expect(url(baseUrl, stream)).toBe(expected));

  test('the counter and the list', () => {
    expect(url(publisher, false, 'count-tokens')).toBe(`${publisher}/models/count-tokens:rawPredict`);
    expect(upstream.listModels?.(vertex).url).toBe('https://us-east5-aiplatform.googleapis.com/v1beta1/publishers/anthropic/models?pageSize=1000');
    expect(upstream.readModelList?.({ publisherModels: [{ name: 'publishers/anthropic/models/claude-opus-4-5' }] })).toEqual(['claude-opus-4-5']);
  });

  test('an access token as a bearer, flags in their header, the version in none', () => {
    const { headers } = upstream.request({
      target: vertex,
      operation: 'generate',
      stream: false,
      clientHeaders: { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'context-1m-2025-08-07' },
    });
    expect(headers).toMatchObject({ 'anthropic-beta': 'context-1m-2025-08-07' });
    expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['anthropic-version']));
    expect(upstream.credential('ya29.token', vertex, {})).toEqual({ authorization: 'Bearer ya29.token' });
  });
});

describe('bodies', () => {
  const conversation: Conversation = {
    system: [],
    turns: [{ role: 'user', parts: [{ type: 'text', text: 'q' }] }],
    tools: [],
    sampling: { maxTokens: 100, stop: [] },
    serviceTier: 'auto',
  } as unknown as Conversation;

  test('written: without the model, with the version, without a tier', () => {
    const { body, losses } = upstream.writeRequest(conversation, { ...writeContext(), target: vertex, stream: true });
    expect(body).toMatchObject({ anthropic_version: version, max_tokens: 100, stream: true });
    for (const key of ['model', 'service_tier']) expect(body).not.toHaveProperty(key);
    expect(losses).toEqual([{ field: 'service_tier', action: 'dropped', detail: 'this host does not take it in the body' }]);
    const counted = upstream.writeRequest(conversation, { ...writeContext(), target: vertex, operation: 'count-tokens' }).body;
    expect(counted).toEqual({ model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: expect.anything() }] });
  });

  function pass(asked: object, operation: Operation = 'generate'): { sent: unknown; losses: unknown } {
    const text = JSON.stringify(asked);
    const context: VerbatimRequestContext = {
      ...writeContext(),
      target: vertex,
      operation,
      openPage: open,
      contains: (wanted) => text.includes(wanted),
      parse: () => JSON.parse(text) as unknown,
    };
    const { edits, losses } = upstream.verbatim!.requestEdits(context);
    const sent: unknown = applyEdits(text, edits);
    return { sent: JSON.parse(typeof sent === 'string' ? sent : Buffer.from(sent as Uint8Array).toString()), losses };
  }

  test('passed: the same, and every other field as it came', () => {
    const rest = { max_tokens: 5, messages: [{ role: 'user', content: 'q' }], metadata: { user_id: 'u' } };
    expect(pass({ model: 'm', service_tier: 'auto', ...rest })).toEqual({
      sent: { ...rest, anthropic_version: version },
      losses: [{ field: 'service_tier', action: 'dropped', detail: 'this host does not take it in the body' }],
    });
    expect(pass({ model: 'm', anthropic_version: 'x', ...rest }).sent).toEqual({ ...rest, anthropic_version: version });
    expect(pass({ model: 'm', messages: rest.messages }, 'count-tokens').sent).toEqual({ model: 'claude-sonnet-4-5', messages: rest.messages });
  });

  test('media by address are the gateway’s to fetch', () => {
    const image = { type: 'media', kind: 'image', url: 'https://x.test/a.png' } as const;
    expect([upstream.opensUrl?.(image, vertex), upstream.opensUrl?.(image, target())]).toEqual([false, true]);
  });
});

test('an error of Google’s own, which a streamed call is answered in a list', () => {
  const message = 'Quota exceeded for aiplatform.googleapis.com/online_prediction_requests_per_base_model. Please submit a quota increase request.';
  const error = { error: { code: 429, message, status: 'RESOURCE_EXHAUSTED' } };
  for (const body of [error, [error]]) expect(upstream.readError(429, {}, JSON.stringify(body))).toMatchObject({ class: 'rate', message });
});
