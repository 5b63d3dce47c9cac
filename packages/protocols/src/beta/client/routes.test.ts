/** The small parts of both adapters: paths, headers, models, errors. */
import { describe, expect, test } from '@jest/globals';
import { unknownFamily } from '@model-gateway/model-catalog';
import { recorded, target } from '../../../test/support/beta.ts';
import type { ClientAdapter, ModelsAsked, UpstreamAdapter } from '../../contract/index.ts';
import { beta } from '../index.ts';

const client = beta.client as ClientAdapter;
const upstream = beta.upstream as UpstreamAdapter;
const none = new URLSearchParams();
const asked = (query = ''): ModelsAsked => ({ path: '/v1/models', query: new URLSearchParams(query) });

describe('paths', () => {
  const find = (method: string, path: string, headers: Record<string, string> = {}) =>
    client.routes.flatMap((route) => {
      if (!route.methods.includes(method)) return [];
      if (route.path === path) return [route.match('', none, headers)];
      return route.path.endsWith('/') && path.startsWith(route.path) ? [route.match(path.slice(route.path.length), none, headers)] : [];
    });

  test('messages and their counter', () => {
    expect(find('POST', '/v1/messages')).toEqual([{ operation: 'generate', stream: null }]);
    expect(find('POST', '/v1/messages/count_tokens')).toEqual([{ operation: 'count-tokens', stream: 'whole' }]);
  });

  test('models only for those who name a version', () => {
    expect(find('GET', '/v1/models')).toEqual([null]);
    for (const header of ['anthropic-version', 'beta-version']) {
      expect(find('GET', '/v1/models', { [header]: '2023-06-01' })).toEqual([{ operation: 'list-models', stream: 'whole' }]);
      expect(find('GET', '/v1/models/a%2Fb%3A1', { [header]: '2023-06-01' })).toEqual([{ operation: 'get-model', model: 'a/b:1', stream: 'whole' }]);
    }
    expect(find('GET', '/v1/models/%zz', { 'beta-version': 'x' })).toEqual([null]);
  });

  test('model lists', () => {
    const model = { name: 'claude-x', createdAt: 1_700_000_000, ownedBy: 'us', family: { ...unknownFamily, context: 250_000, input: 200_000 } };
    const listed = { type: 'model', id: 'claude-x', display_name: 'claude-x', created_at: '2023-11-14T22:13:20Z', max_input_tokens: 200_000 };
    expect(client.writeModels([model], asked())).toEqual({ data: [listed], has_more: false, first_id: 'claude-x', last_id: 'claude-x' });
    expect(client.writeModels([], asked())).toEqual({ data: [], has_more: false, first_id: null, last_id: null });
    const many = ['a', 'b', 'c', 'd'].map((name) => ({ ...model, name }));
    const page = (query: string) => {
      const { data, has_more, last_id } = client.writeModels(many, asked(query)) as { data: { id: string }[]; has_more: boolean; last_id: string | null };
      return [data.map(({ id }) => id).join(''), has_more, last_id];
    };
    expect(page('limit=1000')).toEqual(['abcd', false, 'd']);
    expect(page('limit=2')).toEqual(['ab', true, 'b']);
    expect(page('limit=2&after_id=b')).toEqual(['cd', false, 'd']);
    expect(page('limit=2&before_id=d')).toEqual(['bc', true, 'c']);
    expect(page('after_id=gone')).toEqual(['', false, null]);
    for (const limit of ['0', '1001', 'x', '1.5']) expect(() => page(`limit=${limit}`)).toThrow(/limit/);
    expect(upstream.readModelList({ data: [{ id: 'a' }, { id: 5 }, null, { id: 'b' }] })).toEqual(['a', 'b']);
  });

  test('replies', () => {
    expect(client.replyHeaders?.('r1')).toEqual({ 'request-id': 'r1' });
    expect([client.keepAlive('sse', {}), client.keepAlive('whole', {})]).toEqual([':keep-alive\n\n', null]);
    expect(client.writeTokenCount(5)).toEqual({ input_tokens: 5 });
  });
});

describe('upstream calls', () => {
  const call = (changes: Partial<Parameters<typeof upstream.request>[0]> = {}) =>
    upstream.request({ target: target(), operation: 'generate', stream: true, ...changes });

  test('addresses', () => {
    expect(call().url).toBe('https://upstream.test/v1/messages');
    expect(call({ target: target({ baseUrl: 'https://h/anthropic/v1' }) }).url).toBe('https://h/anthropic/v1/messages');
    expect(call({ operation: 'count-tokens' }).url).toBe('https://upstream.test/v1/messages/count_tokens');
    expect(call({ target: target({ baseUrl: 'https://h/x', directPath: true }) }).url).toBe('https://h/x');
    const whole = target({ baseUrl: 'https://h/x/messages?api-version=1', directPath: true });
    expect(call({ target: whole, clientQuery: 'beta=true' }).url).toBe('https://h/x/messages?api-version=1&beta=true');
    expect(call({ target: whole, operation: 'count-tokens' }).url).toBe('https://h/x/messages/count_tokens?api-version=1');
    expect(call({ clientQuery: 'beta=true&key=secret' }).url).toBe('https://upstream.test/v1/messages?beta=true');
    expect(upstream.listModels(target()).url).toBe('https://upstream.test/v1/models?limit=1000');
  });

  test('headers: the default version, or the caller’s words unchanged; nothing else of the caller’s', () => {
    expect(call().headers).toEqual({
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'anthropic-version': '2023-06-01',
      'beta-version': '2023-06-01',
    });
    const clientHeaders = { 'anthropic-version': '2024-01-01', 'beta-beta': 'a-1, b-2', authorization: 'Bearer secret', cookie: 'c', 'x-app': 'cli' };
    const { headers } = call({ clientHeaders, target: target({ baseUrl: 'https://api.anthropic.com' }) });
    expect(headers).toMatchObject({ 'anthropic-version': '2024-01-01', 'anthropic-beta': 'a-1,b-2', 'beta-beta': 'a-1,b-2', 'x-app': 'cli' });
    expect(JSON.stringify(headers)).not.toMatch(/secret|cookie/);
    const narrowed = call({ clientHeaders, target: target({ extraConfig: { beta_flags: ['b-2'] } }) });
    expect(narrowed.headers['anthropic-beta']).toBe('b-2');
  });

  test('credentials', () => {
    expect(upstream.credential('sk-1', target())).toEqual({ 'x-api-key': 'sk-1' });
    const flag = 'oauth-2025-04-20';
    expect(upstream.credential('sk-ant-oat01-x', target())).toEqual({ authorization: 'Bearer sk-ant-oat01-x', 'anthropic-beta': flag, 'beta-beta': flag });
    // Beside the caller's own flags, and once.
    const flags = (wanted: string) => upstream.credential('sk-ant-oat01-x', target(), { 'anthropic-beta': wanted })['anthropic-beta'];
    expect(flags('a-1,b-2')).toBe(`a-1,b-2,${flag}`);
    expect(flags(`${flag},a-1`)).toBe(`${flag},a-1`);
  });

  test('the version: the caller’s own, else the upstream’s setting, else the one that still takes sampling', () => {
    const version = (changes: Parameters<typeof call>[0]) => call(changes).headers['anthropic-version'];
    const set = target({ extraConfig: { api_version: '2026-10-21' } });
    expect(version({ target: set })).toBe('2026-10-21');
    expect(version({ target: set, clientHeaders: { 'anthropic-version': '2023-06-01' } })).toBe('2023-06-01');
    expect(version({ clientHeaders: { 'beta-version': '2026-10-21' } })).toBe('2026-10-21');
    expect(upstream.listModels(set).headers['anthropic-version']).toBe('2026-10-21');
  });

  test.each([
    ['anthropic.claude-opus-4-6-v1', '2023-06-01'],
    ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', '2023-06-01'],
    ['anthropic.claude-opus-4-7', '2026-10-21'],
    ['anthropic.claude-opus-5-5', '2026-10-21'],
  ])('at Amazon %s is called with %s', (upstreamModelId, expected) => {
    const clientHeaders = { 'anthropic-version': '2026-10-21' };
    for (const baseUrl of ['https://bedrock-mantle.us-east-1.api.aws/anthropic', 'https://bedrock-runtime.eu-west-1.amazonaws.com'])
      expect(call({ clientHeaders, target: target({ baseUrl, upstreamModelId }) }).headers['anthropic-version']).toBe(expected);
    expect(call({ clientHeaders, target: target({ upstreamModelId }) }).headers['anthropic-version']).toBe('2026-10-21');
  });
});

describe('errors to callers', () => {
  test.each([
    [400, 'invalid_request_error'],
    [401, 'authentication_error'],
    [402, 'billing_error'],
    [403, 'permission_error'],
    [404, 'not_found_error'],
    [405, 'invalid_request_error'],
    [413, 'request_too_large'],
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'overloaded_error'],
    [504, 'timeout_error'],
  ])('%i is %s', (status, type) => {
    const { body } = client.writeError({ status, code: 'x', message: 'm', requestId: 'r1' });
    expect(JSON.parse(body)).toEqual({ type: 'error', error: { type, message: 'm' }, request_id: 'r1' });
  });

  test('error details are passed on unchanged', () => {
    const details = { error_code: 'image_dimensions_too_large', paths: ['messages.0.content.1'], max_side_length_pixels: 8000 };
    const { body } = client.writeError({ status: 400, code: 'x', message: 'm', requestId: 'r1', details });
    expect(JSON.parse(body)).toMatchObject({ error: { message: 'm', details } });
    const slow = client.writeError({ status: 408, code: 'request_timeout', message: 'm', requestId: 'r1' });
    expect(JSON.parse(slow.body)).toMatchObject({ error: { details: { error_code: 'request_body_timeout' } } });
  });

  test.each([
    [
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens.",
      'prompt is too long: 140000 tokens > 128000 maximum',
    ],
    ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', 'prompt is too long: 1200000 tokens > 1048576 maximum'],
    ['prompt is too long: 3 tokens > 2 maximum', 'prompt is too long: 3 tokens > 2 maximum'],
    ['Your input exceeds the context window of this model.', 'prompt is too long: Your input exceeds the context window of this model.'],
  ])('an overflow is said in this protocol’s words: %s', (message, said) => {
    const { body } = client.writeError({ status: 400, code: 'context_overflow', message, requestId: 'r' });
    expect((JSON.parse(body) as { error: { message: string } }).error.message).toBe(said);
  });
});

describe('faults of upstreams', () => {
  const fault = (status: number, type: string, message = 'm', headers = {}) =>
    upstream.readError(status, headers, JSON.stringify({ type: 'error', error: { type, message } }));

  test.each([
    [400, 'invalid_request_error', 'bad', 'caller'],
    [400, 'invalid_request_error', 'prompt is too long: 5 tokens > 4 maximum', 'context'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.', 'account'],
    // https://github.com/MiniMax-AI/MiniMax-M2/issues/62
    [500, 'api_error', 'insufficient balance (1008)', 'account'],
    [401, 'authentication_error', 'invalid x-api-key', 'credential'],
    [402, 'billing_error', 'pay', 'account'],
    [403, 'permission_error', 'no', 'credential'],
    [404, 'not_found_error', 'model: x', 'not-found'],
    [413, 'request_too_large', 'Request exceeds the maximum size', 'caller'],
    [429, 'rate_limit_error', 'slow', 'rate'],
    [500, 'api_error', 'Internal', 'server'],
    [529, 'overloaded_error', 'Overloaded', 'overloaded'],
    [503, 'api_error', 'Service unavailable', 'overloaded'],
    [500, 'invalid_request_error', 'odd', 'server'],
    [401, 'invalid_request_error', 'odd', 'credential'],
    [403, 'invalid_request_error', 'odd', 'credential'],
    [429, 'invalid_request_error', 'odd', 'rate'],
  ])('%i %s "%s" is %s', (status, type, message, expected) => {
    expect(fault(status, type, message)).toMatchObject({ class: expected, status, code: type, message });
  });

  // Servers of other vendors, in the words that they use for chat completions: xAI, Z.ai, Fireworks, LM Studio.
  test.each([
    [400, { code: 'Client specified an invalid argument', error: 'Incorrect API key provided: xa***.' }, 'credential'],
    [403, { code: 'The caller does not have permission', error: "Your newly created team doesn't have any credits or licenses yet." }, 'account'],
    [403, { code: 'The caller does not have permission', error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_CSAM' }, 'caller'],
    [429, { error: { code: '1305', message: 'The service may be temporarily overloaded, please try again later' } }, 'overloaded'],
    [412, { error: { message: 'Account acme is suspended, possibly due to reaching the monthly spending limit.' } }, 'account'],
    // Relays name types of their own.
    [400, { error: { type: 'new_api_error', message: 'Your credit balance is too low to access the API.' } }, 'account'],
    [500, { error: { type: 'upstream_error', message: 'Overloaded' } }, 'overloaded'],
    [403, { error: { type: 'upstream_error', code: 'insufficient_quota', message: 'm' } }, 'account'],
    [400, { error: 'The model has crashed without additional information. (Exit code: 6)' }, 'server'],
  ])('%i %j is %s', (status, body, expected) => expect(upstream.readError(status, {}, JSON.stringify(body)).class).toBe(expected));

  test('details', () => {
    const details = { error_code: 'ramp_limit_exceeded' };
    const said = (value: unknown) =>
      upstream.readError(429, {}, JSON.stringify({ type: 'error', error: { type: 'rate_limit_error', message: 'm', details: value } }));
    expect(said(details).details).toEqual(details);
    for (const odd of [null, 'text', 5, ['a']]) expect(said(odd)).not.toHaveProperty('details');
  });

  test('waiting, and bodies of other shapes', () => {
    expect(fault(429, 'rate_limit_error', 'm', { 'retry-after': '7' }).retryAfterMs).toBe(7000);
    expect(upstream.readError(429, {}, '{"error":{"message":"slow","code":"1302"}}')).toMatchObject({ class: 'rate', message: 'slow' });
    expect(upstream.readError(502, {}, '<html>nginx</html>')).toMatchObject({ class: 'server', message: 'The upstream reported an error.' });
    expect(upstream.readError(400, {}, 'plain words')).toMatchObject({ class: 'caller', message: 'plain words' });
    expect(upstream.readError(503, {}, '{"detail":"No capacity"}')).toMatchObject({ class: 'overloaded' });
    expect(upstream.readError(503, {}, '')).toMatchObject({ class: 'overloaded', status: 503 });
    expect(upstream.readError(500, {}, 'x'.repeat(9999)).message).toHaveLength(2000);
  });

  for (const { name, text } of recorded('response.json').filter((file) => file.name.startsWith('err-'))) {
    test(`recorded ${name}`, () => {
      const status = Number(/err-(\d+)/.exec(name)?.[1]);
      const expected = name.includes('too-long') ? 'context' : { 400: 'caller', 401: 'credential', 404: 'not-found' }[status];
      expect(upstream.readError(status, {}, text)).toMatchObject({ class: expected, status });
    });
  }
});
