/** Addresses, keys, routes, model lists, errors and token counts of this protocol. */
import { describe, expect, test } from '@jest/globals';
import { noUsage } from '@model-gateway/contracts';
import { findFamily, unknownFamily } from '@model-gateway/model-catalog';
import type { Target } from '../contract/index.ts';
import { alpha } from './index.ts';
import { readError, writeError } from './shared/errors.ts';
import { readUsage, writeUsage } from './shared/usage.ts';

const client = alpha.client!;
const upstream = alpha.upstream!;
const target = (baseUrl: string, directPath = false): Target => ({ baseUrl, directPath, upstreamModelId: 'm', neutralHeaders: false, extraConfig: null });

describe('routes', () => {
  const match = (path: string, rest: string, headers: Record<string, string> = {}) =>
    client.routes.find((route) => route.path === path)?.match(rest, new URLSearchParams(), headers);
  test('chat, list, and one model: one segment, whose name may hold encoded slashes', () => {
    expect(match('/v1/chat/completions', '')).toEqual({ operation: 'generate', stream: null });
    expect(match('/v1/models', '')).toEqual({ operation: 'list-models', stream: 'whole' });
    expect(match('/v1/models/', 'vendor/model')).toBeNull();
    expect(match('/v1/models/', 'vendor%2Fmodel%3Afast')).toMatchObject({ model: 'vendor/model:fast' });
    expect(match('/v1/models/', 'a%2Fb%252F')).toMatchObject({ model: 'a/b%2F' });
    expect(match('/v1/models/', '%zz')).toBeNull();
  });
  test.each(['anthropic-version', 'beta-version', 'x-goog-api-client'])('a caller with %s lists in its own shape', (header) => {
    expect(match('/v1/models', '', { [header]: '2023-06-01' })).toBeNull();
    expect(match('/v1/models/', 'x', { [header]: '2023-06-01' })).toBeNull();
  });
});

describe('upstream addresses', () => {
  const url = (base: string, direct = false) => upstream.request({ target: target(base, direct), operation: 'generate', stream: true }).url;
  test.each([
    ['https://h', 'https://h/v1/chat/completions'],
    ['https://h/v1', 'https://h/v1/chat/completions'],
    ['https://h/compatible-mode/v1', 'https://h/compatible-mode/v1/chat/completions'],
    ['https://h/api/paas/v4', 'https://h/api/paas/v4/chat/completions'],
    ['https://h/v1beta/openai', 'https://h/v1beta/openai/chat/completions'],
    ['https://h/v1/projects/p/locations/l/endpoints/openapi', 'https://h/v1/projects/p/locations/l/endpoints/openapi/chat/completions'],
    ['https://h/proxy', 'https://h/proxy/v1/chat/completions'],
    // https://docs.databricks.com/aws/en/machine-learning/model-serving/score-foundation-models, https://docs.github.com/en/rest/models/inference
    ['https://w.cloud.databricks.com/serving-endpoints', 'https://w.cloud.databricks.com/serving-endpoints/chat/completions'],
    ['https://models.github.ai/inference', 'https://models.github.ai/inference/chat/completions'],
    ['https://models.github.ai/orgs/o/inference/', 'https://models.github.ai/orgs/o/inference/chat/completions'],
  ])('%s', (base, expected) => expect(url(base)).toBe(expected));
  test('a whole endpoint is used as it is, and its neighbour lists models', () => {
    expect(url('https://h/x/chat/completions?api-version=1', true)).toBe('https://h/x/chat/completions?api-version=1');
    expect(upstream.listModels(target('https://h/x/chat/completions?api-version=1', true)).url).toBe('https://h/x/models?api-version=1');
    expect(upstream.listModels(target('https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=1', true)).url).toBe(
      'https://r.openai.azure.com/openai/models?api-version=1',
    );
    expect(upstream.listModels(target('https://h')).url).toBe('https://h/v1/models');
  });
  test('the key goes where the host wants it, and only allowed headers pass', () => {
    expect(upstream.credential('k', target('https://h'))).toEqual({ authorization: 'Bearer k' });
    expect(upstream.credential('k', target('https://r.openai.azure.com/openai/v1'))).toEqual({ 'api-key': 'k' });
    // https://learn.microsoft.com/azure/azure-government/compare-azure-government-global-azure
    for (const end of ['us', 'cn']) expect(upstream.credential('k', target(`https://r.openai.azure.${end}/openai/v1`))).toEqual({ 'api-key': 'k' });
    expect(upstream.credential('k', target('https://evil.test/?x=.openai.azure.com'))).toEqual({ authorization: 'Bearer k' });
    const { headers } = upstream.request({
      target: target('https://h'),
      operation: 'generate',
      stream: true,
      clientHeaders: { cookie: 'x', 'openai-beta': 'y' },
    });
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'text/event-stream', 'openai-beta': 'y' });
  });
  test.each([[{ data: [{ id: 'a' }, { id: 'b' }] }], [[{ id: 'a' }, 'b']], [{ models: [{ name: 'a' }, { id: 'b' }, null] }]])('model list %j', (body) =>
    expect(upstream.readModelList(body)).toEqual(['a', 'b']),
  );
});

describe('the model list of callers', () => {
  const list = (path: string, query = '', family = findFamily('gpt-5.2')) =>
    client.writeModels([{ name: 'a', createdAt: 5, ownedBy: 'o', family }], { path, query: new URLSearchParams(query) }) as Record<string, unknown>;
  const entry = { id: 'a', object: 'model', created: 5, owned_by: 'o' };

  test('lists limits where they are known', () => {
    expect(list('/v1/models')).toEqual({
      object: 'list',
      data: [{ ...entry, context_window: 400_000, max_input_tokens: 272_000, max_completion_tokens: 128_000 }],
    });
    expect(list('/v1/models', '', unknownFamily)).toEqual({ object: 'list', data: [entry] });
  });

  test('an agent that sends its version gets its catalogue with the model list', () => {
    const { data, models } = list('/v1/models', 'client_version=0.99.0') as { data: unknown[]; models: Record<string, unknown>[] };
    expect(data).toHaveLength(1);
    expect(models).toHaveLength(1);
    const [model] = models as [Record<string, unknown>];
    expect(model).toMatchObject({
      ...{ slug: 'a', display_name: 'a', visibility: 'list', supported_in_api: true, context_window: 272_000, apply_patch_tool_type: 'freeform' },
      ...{ default_reasoning_level: 'medium', supports_parallel_tool_calls: true, input_modalities: ['text', 'image'], shell_type: 'default' },
    });
    expect((model['supported_reasoning_levels'] as { effort: string }[]).map(({ effort }) => effort)).toEqual(['low', 'medium', 'high', 'xhigh']);
    // What its reader demands and does not default.
    for (const key of [
      'base_instructions',
      'priority',
      'truncation_policy',
      'experimental_supported_tools',
      'support_verbosity',
      'supports_reasoning_summaries',
    ])
      expect(model[key] ?? undefined).toBeDefined();
  });

  test('a model that does not think or see says so; one that nothing is known of has no window', () => {
    const of = (id: string) => (list('/v1/models', 'client_version=1', findFamily(id))['models'] as Record<string, unknown>[])[0];
    expect(of('gpt-3.5-turbo')).toMatchObject({ supported_reasoning_levels: [], default_reasoning_level: null, input_modalities: ['text'] });
    expect(of('gemini-3-pro-preview')).toMatchObject({ supported_reasoning_levels: [{ effort: 'low' }, { effort: 'high' }], default_reasoning_level: null });
    expect(of('no-such')).toMatchObject({ context_window: null, default_reasoning_level: 'medium' });
    // A word that older readers do not know would cost the whole list.
    expect(JSON.stringify(of('claude-opus-4-8'))).not.toContain('"max"');
  });

  test('limits and prices under the names of one proxy', () => {
    expect(list('/v1/model/info')).toMatchObject({
      data: [
        { model_name: 'a', model_info: { max_input_tokens: 272_000, max_output_tokens: 128_000, input_cost_per_token: 0.00000175, supports_vision: true } },
      ],
    });
  });
});

test('keep-alives', () => {
  expect([client.keepAlive('sse', {}), client.keepAlive('whole', {})]).toEqual([':keep-alive\n\n', null]);
});

describe('errors of upstreams', () => {
  const error = (code: unknown, message = 'x', type = '') => JSON.stringify({ error: { code, message, type } });
  test.each([
    [400, error('context_length_exceeded'), 'context'],
    [400, error(null, "This model's maximum context length is 8 tokens. However, you requested 9"), 'context'],
    [400, error(400, 'prompt is too long: 9 tokens > 8 maximum'), 'context'],
    [413, error(null, 'Please reduce the length of the messages'), 'context'],
    [429, error('insufficient_quota'), 'account'],
    [402, error(402, 'Insufficient credits'), 'account'],
    [400, error('Arrearage'), 'account'],
    [401, 'nope', 'credential'],
    [400, error(null, 'Incorrect API key provided: ab***'), 'credential'],
    [403, error('unsupported_country_region_territory'), 'credential'],
    [403, error(403, 'Your input was flagged'), 'caller'],
    [429, error('rate_limit_exceeded'), 'rate'],
    [429, error('RateLimitReached'), 'rate'],
    [429, error(null, 'The engine is currently overloaded', 'engine_overloaded_error'), 'overloaded'],
    [503, '<html>busy</html>', 'overloaded'],
    [529, error(null), 'overloaded'],
    [404, error('model_not_found'), 'not-found'],
    [400, error('model_not_found'), 'not-found'],
    [404, '<html>nginx</html>', 'server'],
    [408, '', 'timeout'],
    [504, '', 'timeout'],
    [500, 'Internal', 'server'],
    [502, 'maximum context length', 'server'],
    [422, JSON.stringify({ detail: [{ loc: ['body', 'n'], msg: 'too big' }] }), 'caller'],
    [400, JSON.stringify([{ error: { code: 400, message: 'bad', status: 'INVALID_ARGUMENT' } }]), 'caller'],
    [400, JSON.stringify({ object: 'error', message: 'bad', type: 'BadRequestError', code: 400 }), 'caller'],
  ])('%i %s is %s', (status, body, expected) => expect(readError(status, {}, body).class).toBe(expected));

  test('messages: the words of any shape, never a page', () => {
    expect(readError(422, {}, JSON.stringify({ detail: [{ loc: ['body', 'n'], msg: 'too big' }] })).message).toBe('body.n: too big');
    // Mistral wraps the list once more, in its message.
    const extra = {
      type: 'extra_forbidden',
      loc: ['body', 'messages', 3, 'assistant', 'reasoning_content'],
      msg: 'Extra inputs are not permitted',
      input: 'x',
    };
    expect(
      readError(422, {}, JSON.stringify({ object: 'error', message: { detail: [extra] }, type: 'invalid_request_error', param: null, code: null })).message,
    ).toBe('body.messages.3.assistant.reasoning_content: Extra inputs are not permitted');
    expect(readError(400, {}, 'plain words').message).toBe('plain words');
    expect(readError(500, {}, '<html>secret</html>').message).toBe('The upstream answered with status 500.');
    expect(readError(500, {}, 'x'.repeat(9999)).message).toHaveLength(2000);
  });

  test.each([
    [{ 'retry-after': '2' }, '', 2000],
    [{ 'retry-after-ms': '150', 'retry-after': '9' }, '', 150],
    [{ 'retry-after': '20ms' }, '', 20],
    [{ 'retry-after': 'Wed, 21 Oct 2026 07:28:10 GMT', date: 'Wed, 21 Oct 2026 07:28:00 GMT' }, '', 10_000],
    [{}, 'Please try again in 1m2.5s.', 62_500],
    // https://github.com/vanderschaarlab/climb/issues/1 (Azure)
    [{}, 'have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds. Please go here', 26_000],
    [{}, 'You have exceeded your rate limit, try again in 2 hours 5 minutes', 7_500_000],
    [{}, 'try again in 3 months', undefined],
    // https://github.com/MiniMax-AI/MiniMax-M2.7/issues/36
    [
      { date: 'Fri, 15 May 2026 12:00:00 GMT' },
      '5-hour usage limit reached for Token Plan Starter (0/0 used), resets at 2026-05-15T15:00:00Z (2056)',
      10_800_000,
    ],
    // https://github.com/can1357/oh-my-pi/issues/11014: the vendor's clock is Beijing's, in either language.
    [{ date: 'Fri, 11 Sep 2026 16:19:02 GMT' }, '[1308][Usage limit reached for 5 hour. Your limit will reset at 2026-09-12 00:35:41]', 999_000],
    [{ date: 'Mon, 24 Aug 2026 23:41:14 GMT' }, '已达到 5\n小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。', 30_000],
    [{ date: 'Mon, 19 Jan 2026 00:00:00 GMT' }, 'Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-01-26 15:13:31', 86_400_000],
    [{}, 'Your limit will reset at 2026-01-26 15:13:31', undefined],
    [{ 'retry-after': '-5' }, '', undefined],
    [{}, 'later', undefined],
  ])('retry after %j %s', (headers, message, expected) => expect(readError(429, headers, JSON.stringify({ error: { message } })).retryAfterMs).toBe(expected));
});

describe('errors for callers', () => {
  const written = (status: number, code: string, message = 'm') => JSON.parse(writeError({ status, code, message, requestId: 'r' }).body) as unknown;
  test.each([
    [400, 'invalid_request', 'invalid_request_error', 'invalid_request'],
    [401, 'unauthorized', 'authentication_error', 'invalid_api_key'],
    [404, 'model_not_found', 'invalid_request_error', 'model_not_found'],
    [429, 'upstream_rate_limited', 'rate_limit_error', 'rate_limit_exceeded'],
    [502, 'upstream_failed', 'server_error', 'upstream_failed'],
  ])('%i %s', (status, code, type, expected) => expect(written(status, code)).toEqual({ error: { message: 'm', type, param: null, code: expected } }));
  test('an overflow found by any vendor is named as callers know it', () => {
    expect(written(400, 'context_overflow', 'prompt is too long: 9 tokens > 8 maximum')).toMatchObject({ error: { code: 'context_length_exceeded' } });
  });
  test('retry-after is whole seconds, at least one', () =>
    expect(writeError({ status: 429, code: 'x', message: 'm', requestId: 'r', retryAfter: 0.2 }).headers).toEqual({ 'retry-after': '1' }));
});

describe('usage', () => {
  test.each([
    [
      'more cached than prompt, and a total that leaves no room for it',
      { prompt_tokens: 10, completion_tokens: 213, total_tokens: 223, prompt_tokens_details: { cached_tokens: 161 } },
      { input: 0, cacheRead: 10, output: 213 },
    ],
    [
      'the same with reasoning beside the completion',
      {
        prompt_tokens: 10,
        completion_tokens: 13,
        total_tokens: 223,
        prompt_tokens_details: { cached_tokens: 161 },
        completion_tokens_details: { reasoning_tokens: 200 },
      },
      { input: 0, cacheRead: 10, output: 13, reasoning: 200 },
    ],
    [
      'more written to the cache than there was prompt',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 90 } },
      { cacheRead: 4, cacheWrite5m: 6, output: 5 },
    ],
    [
      'cached beside prompt, in the total: not taken for reasoning',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 176, prompt_tokens_details: { cached_tokens: 161 } },
      { input: 10, cacheRead: 161, output: 5 },
    ],
    [
      'cached beside prompt, without a total',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 161 } },
      { input: 10, cacheRead: 161, output: 5 },
    ],
    ['cached inside prompt', { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4 } }, { input: 6, cacheRead: 4, output: 5 }],
    [
      'cache writes',
      { prompt_tokens: 10, completion_tokens: 0, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 3 } },
      { input: 3, cacheRead: 4, cacheWrite5m: 3 },
    ],
    [
      'cache writes of two lifetimes',
      {
        prompt_tokens: 10,
        completion_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 7, cache_write_tokens_details: { ttl_30m_tokens: 5, ttl_12h_tokens: 2 } },
      },
      { input: 3, cacheWrite5m: 5, cacheWrite1h: 2 },
    ],
    // https://www.npmjs.com/package/@ai-sdk/alibaba (2.0.58), https://www.npmjs.com/package/@ai-sdk/mistral (4.0.84)
    [
      'cache writes of Qwen',
      { prompt_tokens: 10, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 3, cache_type: 'ephemeral' } },
      { input: 3, cacheRead: 4, cacheWrite5m: 3 },
    ],
    ['cached at Mistral', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, num_cached_tokens: 8 }, { input: 2, cacheRead: 8, output: 5 }],
    ['cached at Mistral, in details', { prompt_tokens: 10, completion_tokens: 5, prompt_token_details: { cached_tokens: 8 } }, { input: 2, cacheRead: 8 }],
    ['hit and miss', { prompt_tokens: 10, completion_tokens: 5, prompt_cache_hit_tokens: 8 }, { input: 2, cacheRead: 8 }],
    [
      'reasoning inside completion',
      { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 4 } },
      { output: 5, reasoning: 4 },
    ],
    [
      'reasoning beside completion',
      { prompt_tokens: 307, completion_tokens: 26, total_tokens: 560, completion_tokens_details: { reasoning_tokens: 227 } },
      { output: 26, reasoning: 227 },
    ],
    // https://docs.mistral.ai/studio/audio/overview: with the details or without them, sound is in the total alone.
    [
      'sound beside the prompt of Voxtral',
      { prompt_audio_seconds: 30, prompt_tokens: 6, completion_tokens: 2, total_tokens: 383, prompt_tokens_details: { cached_tokens: 0, audio_tokens: 375 } },
      { input: 6, audioInput: 375, output: 2, reasoning: 0 },
    ],
    [
      'the same without details',
      { prompt_audio_seconds: 203, prompt_tokens: 4, completion_tokens: 635, total_tokens: 3264 },
      { input: 4, audioInput: 2625, output: 635, reasoning: 0 },
    ],
    ['no sound at Voxtral', { prompt_audio_seconds: null, prompt_tokens: 4, completion_tokens: 5, total_tokens: 11 }, { input: 4, output: 5, reasoning: 2 }],
    ['reasoning only in the total', { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 }, { input: 35, output: 12, reasoning: 62 }],
    ['wrong types', { prompt_tokens: '9', completion_tokens: -3, total_tokens: 1 }, { input: 0, output: 0 }],
  ])('%s', (_name, wire, expected) => expect(readUsage(wire)).toMatchObject(expected));

  test('nothing counted is no usage; what is written reads back', () => {
    for (const value of [null, undefined, {}, [], 'x', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }]) expect(readUsage(value)).toBeUndefined();
    const usage = { ...noUsage, input: 3, cacheRead: 4, cacheWrite5m: 5, output: 6, reasoning: 7 };
    expect(readUsage(writeUsage(usage))).toEqual(usage);
  });
});
