/** Paths, addresses, headers, errors, keep-alives and model lists. */
import { describe, expect, test } from '@jest/globals';
import { unknownFamily } from '@model-gateway/model-catalog';
import type { RouteMatch, Target } from '../../contract/index.ts';
import { gamma } from '../index.ts';
import { frameEnd, frameRecord } from './frame.ts';

const client = gamma.client!;
const upstream = gamma.upstream!;

describe('routes', () => {
  const match = (method: string, path: string, query = ''): RouteMatch | null => {
    for (const route of client.routes) {
      const rest = route.path.endsWith('/') && path.startsWith(route.path) ? path.slice(route.path.length) : path === route.path ? '' : undefined;
      const found = rest === undefined || !route.methods.includes(method) ? null : route.match(rest, new URLSearchParams(query), {});
      if (found) return found;
    }
    return null;
  };

  test.each<[string, string, string, RouteMatch | null]>([
    ['POST', '/v1beta/models/gemini-x:generateContent', '', { operation: 'generate', model: 'gemini-x', stream: 'whole' }],
    ['POST', '/v1beta/models/gemini-x:streamGenerateContent', 'alt=sse', { operation: 'generate', model: 'gemini-x', stream: 'sse' }],
    ['POST', '/v1beta/models/gemini-x:streamGenerateContent', 'key=k', { operation: 'generate', model: 'gemini-x', stream: 'json-array' }],
    ['POST', '/v1beta/models/a/b:c:countTokens', '', { operation: 'count-tokens', model: 'a/b:c', stream: 'whole' }],
    ['POST', '/v1beta/models/a%2Fb%20%2525:generateContent', '', { operation: 'generate', model: 'a/b %25', stream: 'whole' }],
    ['POST', '/v1beta/models/x%3AgenerateContent', '', { operation: 'generate', model: 'x', stream: 'whole' }],
    ['POST', '/v1beta/models/:generateContent', '', null],
    ['POST', '/v1beta/models/x:embedContent', '', { operation: 'embed', model: 'x', stream: 'whole' }],
    ['POST', '/v1beta/models/x:batchEmbedContents', '', { operation: 'embed', model: 'x', stream: 'whole' }],
    ['POST', '/v1beta/models/x:predict', '', { operation: 'image', model: 'x', stream: 'whole' }],
    ['POST', '/v1beta/models/x:predictLongRunning', '', null],
    ['POST', '/v1beta/models/x', '', null],
    ['POST', '/v1beta/models/%zz:generateContent', '', null],
    ['GET', '/v1beta/models', '', { operation: 'list-models', stream: 'whole' }],
    ['GET', '/v1beta/models/a/b:c', '', { operation: 'get-model', model: 'a/b:c', stream: 'whole' }],
    ['GET', '/v1beta/models/x:generateContent', '', null],
    ['GET', '/v1beta/models/%zz', '', null],
  ])('%s %s?%s', (method, path, query, expected) => {
    expect(match(method, path, query)).toEqual(expected);
  });
});

describe('the upstream address', () => {
  const target = (change: Partial<Target>): Target => ({
    baseUrl: 'https://h',
    directPath: false,
    upstreamModelId: 'm',
    neutralHeaders: false,
    extraConfig: null,
    ...change,
  });
  const url = (change: Partial<Target>, stream = false, operation: 'generate' | 'count-tokens' = 'generate'): string =>
    upstream.request({ target: target(change), operation, stream }).url;

  test('version, verb and encoding', () => {
    expect(url({})).toBe('https://h/v1beta/models/m:generateContent');
    expect(url({ baseUrl: 'https://h/v1' }, true)).toBe('https://h/v1/models/m:streamGenerateContent?alt=sse');
    expect(url({}, true, 'count-tokens')).toBe('https://h/v1beta/models/m:countTokens');
    expect(url({ upstreamModelId: 'models/a b?c#d' })).toBe('https://h/v1beta/models/a%20b%3Fc%23d:generateContent');
    expect(url({ upstreamModelId: 'tunedModels/x@001' })).toBe('https://h/v1beta/tunedModels/x@001:generateContent');
  });

  test('a direct path is used as it is, but for its verb', () => {
    expect(url({ baseUrl: 'https://h/any/path?x=1', directPath: true }, true)).toBe('https://h/any/path?x=1');
    const direct = { baseUrl: 'https://h/p/models/m:generateContent?x=1', directPath: true };
    expect([url(direct), url(direct, true), url(direct, false, 'count-tokens')]).toEqual([
      'https://h/p/models/m:generateContent?x=1',
      'https://h/p/models/m:streamGenerateContent?x=1&alt=sse',
      'https://h/p/models/m:countTokens?x=1',
    ]);
  });

  test('headers', () => {
    const clientHeaders = { 'x-goog-api-client': 'gl-node', 'x-goog-api-key': 'caller', authorization: 'Bearer x', 'x-goog-user-project': 'theirs' };
    expect(upstream.request({ target: target({}), operation: 'generate', stream: true, clientHeaders }).headers).toEqual({
      ...{ 'content-type': 'application/json', accept: 'text/event-stream', 'x-goog-api-client': 'gl-node' },
    });
    expect(upstream.credential('k', target({}))).toEqual({ 'x-goog-api-key': 'k' });
    expect(upstream.credential('k', target({ neutralHeaders: true }))).toEqual({ 'x-gamma-api-key': 'k' });
    const vertex = 'https://l-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers/google';
    expect(upstream.listModels(target({ baseUrl: vertex })).url).toBe('https://l-aiplatform.googleapis.com/v1beta1/publishers/google/models?pageSize=1000');
    expect(upstream.readModelList({ publisherModels: [{ name: 'publishers/google/models/gemini-2.5-pro', versionId: '1' }, {}] })).toEqual(['gemini-2.5-pro']);
    expect(upstream.listModels(target({ baseUrl: 'https://h/v1beta' })).url).toBe('https://h/v1beta/models?pageSize=1000');
  });
});

describe('errors', () => {
  const read = (status: number, error: unknown, headers = {}): string => upstream.readError(status, headers, JSON.stringify({ error })).class;
  const info = (reason: string): unknown => ({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason });

  test.each<[string, string]>([
    [read(400, { message: 'bad field', status: 'INVALID_ARGUMENT' }), 'caller'],
    [read(400, { message: 'x', status: 'INVALID_ARGUMENT', details: [info('API_KEY_INVALID')] }), 'credential'],
    [read(400, { message: 'API key expired. Please renew the API key.' }), 'credential'],
    [read(400, { message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).' }), 'context'],
    [read(400, { message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' }), 'account'],
    [read(401, { status: 'UNAUTHENTICATED' }), 'credential'],
    [read(403, { status: 'PERMISSION_DENIED', message: 'no' }), 'credential'],
    [read(403, { status: 'PERMISSION_DENIED', message: 'You do not have permission to access the File abc or it may not exist.' }), 'not-found'],
    [read(403, { status: 'PERMISSION_DENIED', message: 'CachedContent not found (or permission denied)' }), 'not-found'],
    [read(403, { status: 'PERMISSION_DENIED', message: 'a@b.iam.gserviceaccount.com does not have storage.objects.get access to the object.' }), 'not-found'],
    [read(403, { status: 'PERMISSION_DENIED', message: 'This API method requires billing to be enabled.' }), 'account'],
    [read(404, { status: 'NOT_FOUND' }), 'not-found'],
    [read(429, { status: 'RESOURCE_EXHAUSTED', message: 'Resource has been exhausted (e.g. check quota).' }), 'rate'],
    [read(429, { status: 'RESOURCE_EXHAUSTED', message: 'Your prepay credits are depleted.' }), 'account'],
    [
      read(429, {
        message: 'q',
        details: [
          { '@type': 'x/google.rpc.QuotaFailure', violations: [{ quotaId: 'GenerateRequestsPerDayPerProject' }] },
          { '@type': 'x/google.rpc.RetryInfo', retryDelay: '48s' },
        ],
      }),
      'account',
    ],
    [read(500, { status: 'INTERNAL' }), 'server'],
    [read(503, { status: 'UNAVAILABLE' }), 'overloaded'],
    [read(504, { status: 'DEADLINE_EXCEEDED' }), 'timeout'],
    [read(502, null), 'server'],
  ])('%s is %s', (actual, expected) => {
    expect(actual).toBe(expected);
  });

  test('bodies that are no Google error', () => {
    expect(upstream.readError(502, {}, '<html>Bad Gateway</html>')).toEqual({ class: 'server', status: 502, message: 'The upstream answered 502.' });
    expect(upstream.readError(400, {}, 'plain words')).toEqual({ class: 'caller', status: 400, message: 'plain words' });
    expect(upstream.readError(429, { 'retry-after': '7' }, '')).toMatchObject({ class: 'rate', retryAfterMs: 7000 });
    expect(
      upstream.readError(
        400,
        {},
        JSON.stringify([{ error: { message: 'm', details: [{ '@type': 'x.BadRequest', fieldViolations: [{ field: 'contents' }] }] } }]),
      ),
    ).toMatchObject({ param: 'contents' });
  });

  test('a key is never repeated', () => {
    const key = `AIza${'x'.repeat(35)}`;
    const { message } = upstream.readError(
      403,
      {},
      JSON.stringify({ error: { status: 'PERMISSION_DENIED', message: `Consumer 'api_key:${key}' has been suspended. Also ${key}` } }),
    );
    expect(message).toBe("Consumer 'api_key:[redacted]' has been suspended. Also [redacted]");
  });

  test('ours', () => {
    const write = (status: number, more = {}): unknown =>
      JSON.parse(client.writeError({ status, code: 'c', message: 'm', requestId: 'r', ...more }).body) as unknown;
    expect(write(404)).toEqual({ error: { code: 404, message: 'm', status: 'NOT_FOUND' } });
    expect(write(400, { param: 'contents' })).toEqual({ error: { code: 400, message: 'contents: m', status: 'INVALID_ARGUMENT' } });
    expect(write(429, { retryAfter: 2.2 })).toEqual({
      error: { code: 429, message: 'm', status: 'RESOURCE_EXHAUSTED', details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '3s' }] },
    });
    const words = [401, 403, 413, 499, 500, 502, 503, 504].map((status) => (write(status) as { error: { status: string } }).error.status);
    expect(words).toEqual([
      'UNAUTHENTICATED',
      'PERMISSION_DENIED',
      'INVALID_ARGUMENT',
      'CANCELLED',
      'INTERNAL',
      'UNAVAILABLE',
      'UNAVAILABLE',
      'DEADLINE_EXCEEDED',
    ]);
  });
});

describe('small things of the client adapter', () => {
  test('keep-alives by form and SDK', () => {
    expect(client.keepAlive('sse', {})).toBe(':keep-alive\n\n');
    const of = (headers: Record<string, string>) => client.keepAlive('sse', headers);
    for (const language of ['gl-python/3.12', 'gl-node/v20.20.2', 'gl-java/21', 'gl-dart/3.9'])
      expect(of({ 'x-goog-api-client': `google-genai-sdk/1.30.0 ${language}` })).toBe('\n');
    expect(of({ 'user-agent': 'google-genai-sdk/1.30.0 gl-node/v20.20.2' })).toBe('\n');
    expect(of({ 'user-agent': 'GeminiCLI/0.61.0/gemini-3-pro (linux; x64; terminal)' })).toBe('\n');
    // A blank line is an event of its own there, and a lone line break would become part of the next event.
    expect(of({ 'x-goog-api-client': 'google-genai-sdk/1.30.0 gl-go/go1.25' })).toBe('\r\n\r\n');
    expect(of({ 'x-goog-api-client': 'genai-js/0.24.1' })).toBe(null);
    expect(of({ 'user-agent': 'ai-sdk/google/3.0.1 ai-sdk/provider-utils/4.0.1 runtime/node.js/22' })).toBe(':keep-alive\n\n');
    expect([client.keepAlive('json-array', {}), client.keepAlive('whole', {})]).toEqual([null, null]);
  });

  test('content types, counts and model lists', () => {
    expect([client.contentType('sse'), client.contentType('json-array')]).toEqual(['text/event-stream', 'application/json; charset=UTF-8']);
    expect(client.writeTokenCount(8)).toEqual({ totalTokens: 8 });
    const model = { name: 'a/b', createdAt: 1, ownedBy: 'o', family: { ...unknownFamily, context: 110, input: 100, output: 10 } };
    const written = {
      name: 'models/a/b',
      displayName: 'a/b',
      inputTokenLimit: 100,
      outputTokenLimit: 10,
      thinking: true,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    };
    expect(client.writeModel(model)).toEqual(written);
    const list = (query: string) => client.writeModels([model, { ...model, name: 'c' }], { path: '/v1beta/models', query: new URLSearchParams(query) });
    expect(list('')).toEqual({ models: [written, { ...written, name: 'models/c', displayName: 'c' }] });
    expect(list('pageSize=1')).toEqual({ models: [written], nextPageToken: 'a/b' });
    expect(list('pageSize=1&pageToken=a/b')).toEqual({ models: [{ ...written, name: 'models/c', displayName: 'c' }] });
    expect(() => list('pageToken=nowhere')).toThrow(/pageToken/);
  });

  test('records are framed for either form', () => {
    const array = [frameRecord('{\n"a":1}', 0, 'json-array'), frameRecord('{"b":2}', 1, 'json-array'), frameEnd('json-array')].join('');
    expect(array).toBe('[{\n"a":1}\n,\r\n{"b":2}\n]');
    expect(frameRecord('{\r\n  "a": "\\n"\n}', 0, 'sse')).toBe('data: {   "a": "\\n" }\r\n\r\n');
    expect(frameEnd('sse')).toBe('');
    expect(frameRecord('{"a":"\u2028b\u2029"}', 0, 'sse')).toBe('data: {"a":"\\u2028b\\u2029"}\r\n\r\n');
  });
});
