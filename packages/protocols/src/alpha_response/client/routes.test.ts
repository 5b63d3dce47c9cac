/** The small parts of both adapters: errors, addresses, credentials, routes, lists, usage. */
import { describe, expect, test } from '@jest/globals';
import { recorded, target } from '../../../test/support/alpha-response.ts';
import { own } from '../../kit/read.ts';
import { alphaResponse } from '../index.ts';
import { readError, writeError } from '../shared/errors.ts';
import { readUsage, writeUsage } from '../shared/usage.ts';
import { credential, listModels, readModelList, request } from '../upstream/endpoint.ts';

const error = (body: object): string => JSON.stringify({ error: body });

describe('errors of an upstream', () => {
  test.each<[number, string, string]>([
    [400, error({ message: 'm', code: 'context_length_exceeded' }), 'context'],
    [400, error({ message: "This model's maximum context length is 8192 tokens.", code: null }), 'context'],
    [400, error({ message: 'm', code: 'model_not_found', param: 'model' }), 'not-found'],
    [400, error({ message: 'm', type: 'invalid_request_error' }), 'caller'],
    [404, error({ message: "Item with id 'rs_1' not found.", type: 'invalid_request_error', param: 'input' }), 'caller'],
    [404, 'Not Found', 'not-found'],
    [401, error({ message: 'Incorrect API key provided: sk-abc', code: 'invalid_api_key' }), 'credential'],
    [403, '<html>', 'credential'],
    [429, error({ message: 'm', code: 'insufficient_quota' }), 'account'],
    [429, error({ message: 'm', type: 'requests', code: 'rate_limit_exceeded' }), 'rate'],
    [402, '', 'account'],
    [500, error({ message: 'm', type: 'server_error' }), 'server'],
    [503, error({ message: 'The engine is currently overloaded' }), 'overloaded'],
    [503, 'unavailable', 'overloaded'],
    [503, error({ message: 'm', type: 'server_error' }), 'overloaded'],
    [500, error({ message: 'm', type: 'invalid_request_error' }), 'server'],
    [401, error({ message: 'm', type: 'invalid_request_error' }), 'credential'],
    [529, '', 'overloaded'],
    [504, '', 'timeout'],
    [422, '{"detail":"bad"}', 'caller'],
    [400, '[{"error":{"message":"m","code":400}}]', 'caller'],
    [418, 'null', 'caller'],
    [
      400,
      error({
        code: 'OperationNotSupported',
        message: 'The responses operation does not work with the specified model, gpt-5.1-codex. Please choose different model and try again.',
      }),
      'not-found',
    ],
    [
      429,
      error({
        message:
          'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 61337. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      }),
      'too-large',
    ],
    [
      429,
      error({
        message:
          'Rate limit reached for gpt-4o-mini in organization org-1 on tokens per min (TPM): Limit 200000, Used 195663, Requested 7592. Please try again in 976ms.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      }),
      'rate',
    ],
  ])('%d %s is %s', (status, body, expected) => {
    expect(readError(status, {}, body)).toMatchObject({ class: expected, status });
  });

  // Servers of other vendors, in the words that they use for chat completions: xAI, OpenRouter, Fireworks, TGI, LM Studio.
  test.each([
    [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***.' }, 'credential'],
    [403, { code: 'The caller does not have permission', error: "Your newly created team doesn't have any credits or licenses yet." }, 'account'],
    [429, { code: 'Some resource has been exhausted', error: 'Your team has either used all available credits or reached its spending limit.' }, 'account'],
    [403, { code: 'The caller does not have permission', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM' }, 'caller'],
    [403, { error: { code: 403, message: 'Your input was flagged for "violence".', metadata: { reasons: ['violence'] } } }, 'caller'],
    [412, { error: { message: 'Account acme is suspended, possibly due to reaching the monthly spending limit.' } }, 'account'],
    [424, { error: 'Request failed during generation', error_type: 'generation' }, 'server'],
    // What the caller named, or wrote, says nothing of our key, account or upstream.
    [
      424,
      {
        error: {
          message: "Error retrieving tool list from MCP server: 'billing'. Http status code: 424 (Failed Dependency)",
          type: 'external_connector_error',
        },
      },
      'caller',
    ],
    [400, { error: { message: "Unknown parameter: 'no api key'.", type: 'invalid_request_error', code: 'unknown_parameter' } }, 'caller'],
    [400, { error: { message: "Unknown parameter: 'model has crashed'.", type: 'invalid_request_error', code: 'unknown_parameter' } }, 'caller'],
    [422, { error: { message: "Unknown field 'billing'." } }, 'caller'],
    [400, { error: 'The model has crashed without additional information. (Exit code: 6)' }, 'server'],
    [400, { error: { message: 'The model `x` does not exist', type: 'invalid_request_error' } }, 'not-found'],
  ])('%i %j is %s', (status, body, expected) => expect(readError(status, {}, JSON.stringify(body)).class).toBe(expected));

  test('words and waits are kept, but never part of a key', () => {
    expect(readError(422, {}, '{"detail":"bad"}').message).toBe('bad');
    expect(readError(429, { 'retry-after': '7' }, '').retryAfterMs).toBe(7000);
    expect(readError(401, {}, error({ message: 'Incorrect API key provided: sk-abc', code: 'invalid_api_key' })).message).not.toContain('sk-');
  });

  const errors = recorded('response.json').filter(({ name }) => name.startsWith('err-'));
  const classes: Record<string, [number, string]> = { 'err-400': [400, 'not-found'], 'err-400-context': [400, 'context'], 'err-401': [401, 'credential'] };
  (errors.length > 0 ? test.each(errors) : test.skip.each([{ name: 'none', text: '' }]))('recorded: $name', ({ name, text }) => {
    const [status, expected] = classes[name.split('/')[0] ?? ''] ?? [0, ''];
    expect(readError(status, {}, text).class).toBe(expected);
  });
});

describe('errors to a caller', () => {
  const written = (code: string, status: number, message = 'm'): unknown =>
    own(JSON.parse(writeError({ code, status, message, requestId: 'r' }).body), 'error');

  test('the shape', () => {
    expect(JSON.parse(writeError({ code: 'invalid_request', status: 400, message: 'm', requestId: 'r', param: 'input' }).body)).toEqual({
      error: { message: 'input: m', type: 'invalid_request_error', param: 'input', code: 'invalid_request' },
    });
  });

  test('a message names the field once: clients show nothing else', () => {
    const said = (message: string, code = 'invalid_request') =>
      own(own(JSON.parse(writeError({ code, status: 400, message, requestId: 'r', param: 'tools.0.name' }).body), 'error'), 'message');
    expect(said('must be a string')).toBe('tools.0.name: must be a string');
    expect(said('tools.0.name must be a string')).toBe('tools.0.name must be a string');
    expect(said('Said by an upstream.', 'upstream_rejected')).toBe('Said by an upstream.');
  });

  test('codes that coding agents act on', () => {
    expect(written('rate_limited', 429)).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded', param: null });
    expect(written('budget_exhausted', 402)).toMatchObject({ code: 'insufficient_quota' });
    expect(written('upstream_failed', 502)).toMatchObject({ type: 'server_error', code: 'upstream_failed' });
    expect(written('context_overflow', 400, 'prompt is too long: 210000 tokens > 200000 maximum')).toMatchObject({ code: 'context_length_exceeded' });
    expect(written('constructor', 400)).toMatchObject({ code: 'constructor' });
  });
});

describe('addresses and credentials', () => {
  const at = (baseUrl: string, operation: 'generate' | 'count-tokens' = 'generate', directPath = false): string =>
    request({ target: { ...target, baseUrl, directPath }, operation, stream: true }).url;

  test('the version is added once', () => {
    expect(at('https://h')).toBe('https://h/v1/responses');
    expect(at('https://h/openai/v1')).toBe('https://h/openai/v1/responses');
    expect(at('https://h', 'count-tokens')).toBe('https://h/v1/responses/input_tokens');
    expect(at('https://h/x', 'generate', true)).toBe('https://h/x');
    const whole = { ...target, baseUrl: 'https://h/v1/responses?api-version=1', directPath: true };
    expect(request({ target: whole, operation: 'count-tokens', stream: false }).url).toBe('https://h/v1/responses/input_tokens?api-version=1');
    expect(request({ target: whole, operation: 'generate', stream: false }).url).toBe(whole.baseUrl);
    expect(listModels({ ...target, baseUrl: 'https://h/v1/responses', directPath: true }).url).toBe('https://h/v1/models');
    expect(listModels({ ...target, baseUrl: 'https://r.openai.azure.com/openai/responses?api-version=1', directPath: true }).url).toBe(
      'https://r.openai.azure.com/openai/models?api-version=1',
    );
  });

  test('only headers that mean something upstream are passed', () => {
    const { headers } = request({
      target,
      operation: 'generate',
      stream: true,
      clientHeaders: { 'openai-beta': 'x', 'user-agent': 'y', 'openai-organization': 'z' },
    });
    expect(headers).toEqual({ 'content-type': 'application/json', accept: 'text/event-stream', 'openai-beta': 'x' });
  });

  test('where the key goes', () => {
    expect(credential('k', target)).toEqual({ authorization: 'Bearer k' });
    expect(credential('k', { ...target, baseUrl: 'https://res.openai.azure.com/openai/v1' })).toEqual({ 'api-key': 'k' });
    expect(credential('k', { ...target, baseUrl: 'https://res.openai.azure.us/openai/v1' })).toEqual({ 'api-key': 'k' });
    expect(credential('k', { ...target, baseUrl: 'https://evil.test/x.openai.azure.com' })).toEqual({ authorization: 'Bearer k' });
  });

  test('model lists of either kind', () => {
    expect(readModelList({ data: [{ id: 'a' }, {}, null] })).toEqual(['a']);
    expect(readModelList({ models: [{ slug: 'b' }] })).toEqual(['b']);
    expect(readModelList(null)).toEqual([]);
  });
});

describe('the adapter', () => {
  const { client, upstream } = alphaResponse;

  test('route, counts, keep-alive', () => {
    expect(client?.routes.slice(0, 3).map((route) => [route.methods, route.path, route.match('', new URLSearchParams(), {})])).toEqual([
      [['POST'], '/v1/responses', { operation: 'generate', stream: null }],
      [['POST'], '/v1/responses/input_tokens', { operation: 'count-tokens', stream: 'whole' }],
      [['POST'], '/v1/responses/compact', { operation: 'compact', stream: 'whole' }],
    ]);
    expect(client?.writeTokenCount(3)).toEqual({ object: 'response.input_tokens', input_tokens: 3 });
    expect(upstream?.readTokenCount({ object: 'response.input_tokens', input_tokens: 51 })).toBe(51);
    expect(upstream?.readTokenCount({})).toBeNull();
    expect(client?.keepAlive('sse', {})).toBe(':keep-alive\n\n');
    expect(client?.keepAlive('whole', {})).toBeNull();
  });

  test('usage there and back', () => {
    const wire = {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 15 },
      total_tokens: 120,
    };
    expect(readUsage(wire)).toEqual({ input: 10, cacheRead: 60, cacheWrite5m: 30, cacheWrite1h: 0, output: 5, reasoning: 15 });
    expect(writeUsage(readUsage(wire)!)).toEqual(wire);
    expect(readUsage(null)).toBeNull();
    expect(readUsage({ input_tokens: 1, input_tokens_details: { cached_tokens: 5 }, output_tokens: -3 })).toEqual({
      input: 0,
      cacheRead: 1,
      cacheWrite5m: 0,
      cacheWrite1h: 0,
      output: 0,
      reasoning: 0,
    });
  });
});
