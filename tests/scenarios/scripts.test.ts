/** Scripts through the whole gateway, in both arrangements: three slots, another model half way, what fails and who decides. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';

const script = (statements: string): string => `function transform(body, context) {\n${statements}\n}`;
const words = (text: string) => [{ role: 'user', content: text }];

describe.each(arrangements('scripts'))('scripts, %s', (arrangement) => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement, scripts: true });
    const api_keys = [{ key: 'sk-up' }];
    await gateway.configure({
      upstreams: [
        { name: 'alpha', protocol: 'alpha', base_url: upstream.url, api_keys },
        { name: 'strict', protocol: 'alpha', base_url: upstream.url, api_keys, script_error_mode: 'log-and-reject' },
        {
          name: 'beta',
          protocol: 'beta',
          base_url: upstream.url,
          api_keys,
          request_transform_after: script('body.metadata = { user_id: "of-upstream" }; return body'),
        },
        { name: 'gamma', protocol: 'gamma', base_url: upstream.url, api_keys },
      ],
      models: [
        { name: 'plain', upstream: 'alpha', upstream_model_id: 'ok' },
        {
          name: 'after',
          upstream: 'alpha',
          upstream_model_id: 'ok',
          request_transform_after: script(
            'body.temperature = 0.25; body.stream = "yes"; body.user = [context.sourceProtocol, context.targetProtocol].join(); return body',
          ),
        },
        {
          name: 'to-gamma',
          upstream: 'beta',
          upstream_model_id: 'ok',
          request_transform_before: script('body.messages[0].content += " sent on"; context.useModel("flash"); return body'),
        },
        { name: 'flash', upstream: 'gamma', upstream_model_id: 'ok' },
        { name: 'inherits', upstream: 'beta', upstream_model_id: 'ok' },
        {
          name: 'overrides',
          upstream: 'beta',
          upstream_model_id: 'ok',
          request_transform_after: script('body.metadata = { user_id: "of-model" }; return body'),
        },
        {
          name: 'deferred',
          upstream: 'alpha',
          upstream_model_id: 'text:3',
          request_transform_after: script('context.useModel("plain"); body.seed = 7; return body'),
        },
        { name: 'wrong-way', upstream: 'strict', upstream_model_id: 'ok', request_transform_after: script('context.useModel("flash"); return body') },
        { name: 'nowhere', upstream: 'strict', upstream_model_id: 'ok', request_transform_before: script('context.useModel("nobody"); return body') },
        { name: 'ring-a', upstream: 'alpha', upstream_model_id: 'ok', request_transform_before: script('context.useModel("ring-b"); return body') },
        { name: 'ring-b', upstream: 'beta', upstream_model_id: 'ok', request_transform_before: script('context.useModel("ring-a"); return body') },
        { name: 'fails', upstream: 'alpha', upstream_model_id: 'ok', request_transform_before: script('body.x = 1;\nreturn body.nothing.at.all') },
        { name: 'fails-strictly', upstream: 'strict', upstream_model_id: 'ok', request_transform_after: script('while (true) {}') },
        {
          name: 'response',
          upstream: 'alpha',
          upstream_model_id: 'ok',
          response_transform: script(
            'body.choices[0].message.content += ` (${context.responseStatus}, ${typeof context.elapsedMs}, ${context.responseHeaders["content-type"].slice(0, 16)})`; return body',
          ),
        },
        { name: 'response-fails', upstream: 'strict', upstream_model_id: 'ok', response_transform: script('throw new Error("secret words")') },
        {
          name: 'sees',
          upstream: 'alpha',
          upstream_model_id: 'ok',
          request_transform_after: script('body.messages = [{ role: "user", content: JSON.stringify(context) }]; return body'),
        },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
  });

  async function ask(
    model: string,
    {
      path = '/v1/chat/completions',
      stream = false,
      headers = {},
      body = {},
    }: Partial<{ path: string; stream: boolean; headers: Record<string, string>; body: object }> = {},
  ) {
    upstream.requests.length = 0;
    const reply = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, stream, messages: words('hello'), ...body }),
    });
    const text = await reply.text();
    const row = await gateway.row(reply.headers.get('x-request-id') ?? '');
    const [received] = upstream.requests;
    return { status: reply.status, text, row, received: received ? JSON.parse(String(received.body)) : undefined };
  }

  test('after the translation: the body as the upstream gets it; what it says of streaming stays', async () => {
    const verbatim = await ask('after');
    expect(verbatim.status).toBe(200);
    expect(verbatim.received).toEqual({ model: 'ok', stream: false, messages: words('hello'), temperature: 0.25, user: 'alpha,alpha' });
    expect(verbatim.row.pipeline).toEqual(['script-after']);
    const translated = await ask('after', { path: '/v1/messages', stream: true, body: { max_tokens: 50 } });
    expect([translated.status, translated.received.temperature, translated.received.user, translated.received.stream]).toEqual([200, 0.25, 'beta,alpha', true]);
    expect(translated.text).toContain('event: message_stop');
    expect(translated.row.pipeline).toEqual(['translate', 'script-after']);
  });

  test('before it: a caller of one protocol streams from a model of another, and the row shows both routes', async () => {
    const { status, text, row, received } = await ask('to-gamma', { path: '/v1/messages', stream: true, body: { max_tokens: 50 } });
    expect(status).toBe(200);
    expect(received.contents[0].parts[0].text).toBe('hello sent on');
    expect(text).toContain('event: message_start');
    expect([...text.matchAll(/"text":"([^"]+)"/g)].map(([, piece]) => piece).join('')).toBe('hello sent on');
    expect(text.match(/event: message_stop/g)).toHaveLength(1);
    // The script after the translation of the route that was left did not run.
    expect(JSON.stringify(received)).not.toContain('of-upstream');
    expect(row).toMatchObject({
      routes: ['to-gamma', 'flash'],
      pipeline: ['script-before', 'translate'],
      upstream: 'gamma',
      upstream_protocol: 'gamma',
      status: 200,
    });
  });

  test('before it: a token count goes where the request would go', async () => {
    const { status, text, row, received } = await ask('to-gamma', { path: '/v1/messages/count_tokens' });
    expect([status, JSON.parse(text)]).toEqual([200, { input_tokens: expect.any(Number) }]);
    expect(JSON.stringify(received)).toContain('hello sent on');
    expect(row).toMatchObject({ routes: ['to-gamma', 'flash'], upstream: 'gamma' });
    expect(row.pipeline[0]).toBe('script-before');
  });

  test('a model has its own script or its upstream’s', async () => {
    const body = { max_tokens: 5 };
    expect((await ask('inherits', { path: '/v1/messages', body })).received.metadata).toEqual({ user_id: 'of-upstream' });
    expect((await ask('overrides', { path: '/v1/messages', body })).received.metadata).toEqual({ user_id: 'of-model' });
  });

  test('useModel after the translation: the body goes on as it is, to the same protocol alone', async () => {
    const { status, row, received } = await ask('deferred');
    expect([status, received.model, received.seed]).toEqual([200, 'ok', 7]);
    expect([row.routes, row.pipeline]).toEqual([['deferred', 'plain'], ['script-after']]);
    const translated = await ask('deferred', { path: '/v1/messages', stream: true, body: { max_tokens: 5 } });
    expect([translated.status, translated.received.seed]).toEqual([200, 7]);
    expect(translated.text).toContain('event: message_stop');
    expect((await ask('wrong-way')).row).toMatchObject({ status: 502, error_code: 'script_rejected' });
  });

  test('a name that is not there fails the script, a circle ends the request', async () => {
    expect((await ask('nowhere')).row).toMatchObject({ status: 502, error_code: 'script_rejected', attempts: [] });
    expect((await ask('ring-a')).row).toMatchObject({ status: 502, error_code: 'route_loop', attempts: [] });
  });

  test('a script that fails: the request goes on as it was, or is rejected', async () => {
    const on = await ask('fails');
    expect([on.status, on.received]).toEqual([200, { model: 'ok', stream: false, messages: words('hello') }]);
    const rejected = await ask('fails-strictly');
    expect([rejected.status, JSON.parse(rejected.text).error.code, rejected.received]).toEqual([502, 'script_rejected', undefined]);
  });

  test('over a whole reply, before it is translated; never over a stream', async () => {
    const whole = await ask('response', { path: '/v1/messages', body: { max_tokens: 5 } });
    expect(JSON.parse(whole.text).content[0].text).toBe('hello (200, number, application/json)');
    expect(whole.row.pipeline).toEqual(['translate', 'script-response']);
    expect(JSON.parse((await ask('response')).text).choices[0].message.content).toMatch(/^hello \(200/);
    expect((await ask('response', { stream: true })).text).not.toContain('(200');
    const failed = await ask('response-fails');
    expect([failed.status, failed.row.error_code]).toEqual([502, 'script_rejected']);
    expect(failed.text).not.toContain('secret words');
    expect(failed.row.attempts).toMatchObject([{ status: 200, error_code: null }]);
  });

  test('what it may know holds no credential', async () => {
    const { received } = await ask('sees', {
      path: '/v1/chat/completions?trace=1&key=ignored',
      headers: { cookie: 'a=b', 'x-api-key': 'sk-vendor', 'x-goog-api-key': 'sk-vendor', 'x-team': 'blue', 'z-request-id': 'mine' },
    });
    const context = JSON.parse(received.messages[0].content);
    expect(context).toMatchObject({
      clientModel: 'sees',
      upstreamModel: 'ok',
      upstreamName: 'alpha',
      stream: false,
      query: { trace: '1' },
      requestId: 'mine',
      accessKeyName: 'caller',
      accessKeyGroup: 'everyone',
    });
    expect(context.headers['x-team']).toBe('blue');
    for (const secret of ['sk-vendor', gateway.key, 'a=b', 'sk-up']) expect(received.messages[0].content).not.toContain(secret);
    expect(Object.keys(context.headers).filter((name) => /authorization|cookie|api-key/.test(name))).toEqual([]);
  });

  test('the console tries scripts, and refuses on save what is none', async () => {
    const tried = await gateway.console('POST', '/scripts/test', { script: script('body.n += 1; return body'), body: { n: 1 }, context: { stream: false } });
    expect([tried.status, tried.body]).toEqual([200, { result_body: { n: 2 }, execution_time_ms: expect.any(Number), operations: expect.any(Number) }]);
    const failed = await gateway.console('POST', '/scripts/test', { script: script('const a = 1;\nreturn body.x.y'), body: {}, context: {} });
    expect([failed.status, failed.body]).toEqual([422, { error: { code: 'TypeError', message: expect.stringContaining("reading 'y'"), line: 3 } }]);
    const seen = async (more: object) => {
      const { body } = await gateway.console('POST', '/scripts/test', { script: script('return { keys: Object.keys(context) }'), body: {}, ...more });
      return body.result_body.keys.filter((name: string) => /^response|^elapsed/.test(name));
    };
    expect([await seen({}), await seen({ slot: 'response_transform' }), await seen({ context: { responseStatus: 201 } })]).toEqual([
      [],
      ['responseStatus', 'responseHeaders', 'elapsedMs'],
      ['responseStatus', 'responseHeaders', 'elapsedMs'],
    ]);
    const silent = await gateway.console('POST', '/scripts/test', { script: script(''), body: {}, context: {} });
    expect(silent.body.error.message).toBe('transform() must return a value');
    const refused = await gateway.console('PATCH', '/models/plain', { request_script: script('retur body'), script_position: 'before' });
    expect([refused.status, refused.body.error.details]).toEqual([422, [{ field: 'request_transform_before', message: expect.stringContaining('line 2') }]]);
    const spelled = await gateway.console('PATCH', '/models/plain', { request_script: script('return body'), script_position: 'before' });
    expect([spelled.status, spelled.body.request_transform_before]).toEqual([200, script('return body')]);
    await gateway.console('PATCH', '/models/plain', { request_transform_before: '' });
  });

  test('a script that is tried sees no credential either', async () => {
    const carriers = Object.fromEntries(
      ['Authorization', 'Cookie', 'x-api-key', 'x-gamma-api-key', 'X-Goog-Api-Key', 'proxy-authorization', 'set-cookie'].map((name) => [name, 'secret']),
    );
    const context = { headers: { ...carriers, 'X-Team': 'blue' }, query: { key: 'secret', trace: '1' }, responseHeaders: { ...carriers, 'x-took': '5' } };
    const seen = async (slot: string) =>
      (await gateway.console('POST', '/scripts/test', { script: script('return { seen: context }'), body: {}, slot, context })).body.result_body.seen;
    expect(await seen('request_transform_before')).toMatchObject({ headers: { 'x-team': 'blue' }, query: { trace: '1' } });
    expect(await seen('response_transform')).toMatchObject({ headers: { 'x-team': 'blue' }, responseHeaders: { 'x-took': '5' } });
    for (const slot of ['request_transform_before', 'response_transform']) expect(JSON.stringify(await seen(slot))).not.toContain('secret');
  });

  if (arrangement === 'split')
    test('without a runner the mode decides', async () => {
      await gateway.processes['script-runner']!.kill('SIGTERM');
      const on = await ask('after');
      expect([on.status, on.received.temperature]).toEqual([200, undefined]);
      const rejected = await ask('fails-strictly');
      expect([rejected.status, rejected.row.error_code]).toEqual([503, 'service_unavailable']);
    });
});
