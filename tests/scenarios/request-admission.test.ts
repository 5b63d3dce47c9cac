/** What the edge admits and how it refuses: credentials, header rules, paths, bodies, ids and caps, in each client protocol's shape, in both arrangements. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import type { ClientProtocol } from '../support/sdk-callers.ts';
import { clientProtocols } from '../support/sdk-callers.ts';
import { type Answer, type Sent, send } from '../support/send.ts';

const keys = {
  expired: mintAccessKey(),
  soon: mintAccessKey(),
  off: mintAccessKey(),
  ofOffGroup: mintAccessKey(),
  ruled: mintAccessKey(),
  toggled: mintAccessKey(),
};
const maxBodyBytes = 200_000;

/** A minimal call of each client protocol. */
const calls: Record<ClientProtocol, { path: (model: string, stream: boolean) => string; body: (model: string, stream: boolean) => Record<string, unknown> }> = {
  alpha: { path: () => '/v1/chat/completions', body: (model, stream) => ({ model, stream, messages: [{ role: 'user', content: 'hi' }] }) },
  alpha_response: { path: () => '/v1/responses', body: (model, stream) => ({ model, stream, input: 'hi', store: false }) },
  beta: { path: () => '/v1/messages', body: (model, stream) => ({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }) },
  gamma: {
    path: (model, stream) => `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: () => ({ contents: [{ parts: [{ text: 'hi' }] }] }),
  },
};

/** Whether an error has the shape of the client protocol, with this status. */
function expectShape(client: ClientProtocol, answer: Answer, status: number): void {
  expect(answer.status).toBe(status);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  const message = expect.stringMatching(/./);
  if (client === 'beta') {
    // Where the vendor has a code of its own, it stands in the details.
    const { details, ...error } = answer.json.error;
    expect({ ...answer.json, error }).toEqual({ type: 'error', error: { type: expect.any(String), message }, request_id: answer.headers['x-request-id'] });
    if (details !== undefined) expect(details).toEqual({ error_code: expect.any(String) });
  } else if (client === 'gamma') expect(answer.json).toMatchObject({ error: { code: status, message, status: expect.stringMatching(/^[A-Z_]+$/) } });
  else expect(answer.json).toEqual({ error: { message, type: expect.any(String), param: answer.json.error.param, code: expect.any(String) } });
}

describe.each(arrangements('request admission'))('the client endpoints of a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await startGateway({
      arrangement,
      toml: { server: { max_body_bytes: maxBodyBytes, max_global_concurrency: 8 }, streaming: { max_concurrent_streams: 3 } },
    });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: ['ok', 'hang', 'pump+slow:20'].map((script) => ({ name: script.replace(/\W.*/, ''), upstream: 'up', upstream_model_id: script })),
      key_groups: [
        { name: 'off', models: ['*'], enabled: false },
        {
          name: 'ruled',
          models: ['*'],
          header_acl: [
            { header: 'x-banned', match: 'exists', action: 'deny' },
            { header: 'user-agent', match: 'regex', value: '^(evil|bad)-bot', action: 'deny' },
            { header: 'x-team', match: 'equals', value: 'red', action: 'allow' },
            { header: 'x-team', match: 'prefix', value: 'blue-', action: 'allow' },
          ],
        },
      ],
      access_keys: [
        { name: 'expired', group: 'everyone', key: keys.expired, expires_at: '2020-01-01T00:00:00Z' },
        { name: 'off', group: 'everyone', key: keys.off, enabled: false },
        { name: 'of-off-group', group: 'off', key: keys.ofOffGroup },
        { name: 'ruled', group: 'ruled', key: keys.ruled },
        { name: 'toggled', group: 'everyone', key: keys.toggled },
      ],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });
  beforeEach(() => {
    fake.requests.length = 0;
  });

  const json = { 'content-type': 'application/json' };
  const call = (client: ClientProtocol, headers: Sent['headers'], model = 'ok', stream = false): Promise<Answer> =>
    send(gateway.url, calls[client].path(model, stream), { headers: { ...json, ...headers }, body: JSON.stringify(calls[client].body(model, stream)) });
  const bearer = (key = gateway.key) => ({ authorization: `Bearer ${key}` });
  const post = (body: string | Buffer, headers: Sent['headers'] = {}, path = '/v1/chat/completions') =>
    send(gateway.url, path, { headers: { ...json, ...bearer(), ...headers }, body });

  describe('credentials', () => {
    test.each(clientProtocols)('%s: every carrier is accepted', async (client) => {
      for (const headers of [
        bearer(),
        { authorization: `bearer ${gateway.key}` },
        { 'x-api-key': gateway.key },
        { 'x-gamma-api-key': gateway.key },
        { 'x-goog-api-key': gateway.key },
      ])
        expect((await call(client, headers as Sent['headers'])).status).toBe(200);
      const path = calls[client].path('ok', false);
      const inQuery = await send(gateway.url, `${path}?key=${gateway.key}`, { headers: json, body: JSON.stringify(calls[client].body('ok', false)) });
      expect(inQuery.status).toBe(200);
      expect(fake.requests.every((one) => !JSON.stringify(one.headers).includes(gateway.key) && !one.path.includes(gateway.key))).toBe(true);
    });

    test.each(clientProtocols)('%s: none, unknown, disabled and expired keys are 401 in its shape, told apart by nothing', async (client) => {
      const texts = new Set<string>();
      for (const headers of [
        {},
        bearer(mintAccessKey()),
        bearer('sk-other'),
        bearer(keys.expired),
        bearer(keys.off),
        bearer(keys.ofOffGroup),
        { authorization: `Basic ${gateway.key}` },
      ]) {
        const answer = await call(client, headers as Sent['headers']);
        expectShape(client, answer, 401);
        texts.add(JSON.stringify(answer.json).replace(answer.headers['x-request-id'] as string, ''));
      }
      expect(texts.size).toBe(1);
      expect(fake.requests).toEqual([]);
    });

    test('conflicts: the same key twice is fine, two of ours or one header twice is 401, a vendor token beside ours is ignored', async () => {
      const other = keys.toggled;
      expect((await call('beta', { ...bearer(), 'x-api-key': gateway.key })).status).toBe(200);
      expect((await call('beta', { ...bearer('sk-ant-vendor-token'), 'x-api-key': gateway.key })).status).toBe(200);
      expectShape('beta', await call('beta', { ...bearer(), 'x-api-key': other }), 401);
      expectShape('alpha', await call('alpha', { authorization: [`Bearer ${gateway.key}`, `Bearer ${gateway.key}`] }), 401);
      expectShape('beta', await call('beta', { 'x-api-key': [gateway.key, gateway.key] }), 401);
      const twice = await send(gateway.url, `/v1beta/models/ok:generateContent?key=${gateway.key}&key=${gateway.key}`, {
        headers: json,
        body: '{"contents":[]}',
      });
      expectShape('gamma', twice, 401);
    });

    test('a key stops when it is disabled or expires, and works again', async () => {
      const asks = () => call('alpha', bearer(keys.toggled));
      expect((await asks()).status).toBe(200);
      expect((await gateway.console('PATCH', '/access-keys/toggled', { enabled: false })).status).toBe(200);
      await gateway.settle();
      expect((await asks()).status).toBe(401);
      const expireIn = async (ms: number) => {
        await gateway.console('PATCH', '/access-keys/toggled', { enabled: true, expires_at: new Date(Date.now() + ms).toISOString() });
        await gateway.settle();
      };
      await expireIn(600_000);
      expect((await asks()).status).toBe(200);
      await expireIn(1500);
      await until(async () => (await asks()).status === 401, 'the key to expire');
    });

    test('header rules: the first match decides, and with an allow rule somebody must match', async () => {
      const as = async (headers: Sent['headers']) => (await call('alpha', { ...bearer(keys.ruled), ...headers })).status;
      expect(await as({ 'x-team': 'red' })).toBe(200);
      expect(await as({ 'x-team': 'blue-7' })).toBe(200);
      expect(await as({})).toBe(403);
      expect(await as({ 'x-team': 'green' })).toBe(403);
      expect(await as({ 'x-team': 'red', 'x-banned': '1' })).toBe(403);
      expect(await as({ 'x-team': 'red', 'user-agent': 'evil-bot/1' })).toBe(403);
      for (const client of clientProtocols) expectShape(client, await call(client, bearer(keys.ruled)), 403);
    });
  });

  describe('paths and methods', () => {
    const nowhere: [ClientProtocol, string][] = [
      ['alpha', '/v1/nothing'],
      ['alpha', '/v1/chat/completions/more'],
      ['beta', '/v1/messages/nothing'],
      ['gamma', '/v1beta/nothing'],
      ['gamma', '/v1beta/models/ok:asyncBatchEmbedContent'],
      ['alpha_response', '/v1/responses/resp_1/nothing'],
    ];
    test.each(nowhere)('an unknown path is 404 in the shape of %s: %s', async (client, path) => {
      expectShape(client, await send(gateway.url, path, { headers: { ...json, ...bearer() }, body: '{}' }), 404);
    });

    const wrong: [ClientProtocol, string, string][] = [
      ['alpha', 'GET', '/v1/chat/completions'],
      ['beta', 'PUT', '/v1/messages'],
      ['beta', 'GET', '/v1/messages/count_tokens'],
      ['gamma', 'GET', '/v1beta/models/ok:generateContent'],
      ['alpha_response', 'PATCH', '/v1/responses'],
      ['alpha', 'DELETE', '/v1/models'],
    ];
    test.each(wrong)('a wrong method is 405 in the shape of %s: %s %s', async (client, method, path) => {
      const answer = await send(gateway.url, path, { method, headers: bearer() });
      expectShape(client, answer, 405);
      expect(answer.headers.allow).toMatch(/^(?:GET|POST)(?:, \w+)*$/);
    });

    test('what can be read answers HEAD: its head alone', async () => {
      for (const path of ['/v1/models', '/v1/models/ok', '/v1beta/models']) {
        const answer = await send(gateway.url, path, { method: 'HEAD', headers: bearer() });
        expect([answer.status, answer.text]).toEqual([200, '']);
        expect(Number(answer.headers['content-length'])).toBeGreaterThan(10);
      }
      expect((await send(gateway.url, '/v1/models', { method: 'DELETE', headers: bearer() })).headers.allow).toBe('GET, HEAD');
    });

    test.each([
      ['alpha', 'POST', '/chat/completions', '/v1/chat/completions', 'must end in /v1'],
      ['alpha', 'GET', '/models', '/v1/models', 'must end in /v1'],
      ['beta', 'POST', '/v1/v1/messages', '/v1/messages', 'must not end in /v1'],
      ['gamma', 'POST', '/v1beta/v1beta/models/ok:generateContent', '/v1beta/models/ok:generateContent', 'must not end in /v1beta'],
      ['alpha', 'POST', '/openai/v1/chat/completions', '/v1/chat/completions', 'must not have /openai in it'],
      ['alpha', 'POST', '/v1beta/openai/chat/completions', '/v1/chat/completions', 'must not have /v1beta/openai in it'],
      ['alpha', 'POST', '/api/v1/chat/completions', '/v1/chat/completions', 'must not have /api in it'],
      ['beta', 'POST', '/anthropic/v1/messages', '/v1/messages', 'must not have /anthropic in it'],
      ['alpha', 'POST', '/v1/chat/completions/chat/completions', '/v1/chat/completions', 'must not end in /chat/completions'],
      ['beta', 'POST', '//v1/messages', '/v1/messages', 'must not end in a slash'],
      ['alpha', 'POST', '/v1//chat/completions', '/v1/chat/completions', 'must not end in a slash'],
      ['gamma', 'POST', '//v1beta/models/ok:generateContent', '/v1beta/models/ok:generateContent', 'must not end in a slash'],
      ['beta', 'POST', '/v1/messages/v1/messages', '/v1/messages', 'must not end in /v1/messages'],
    ] as const)('a base address with too little or too much is 404 with the remedy in the shape of %s: %s %s', async (client, method, path, meant, remedy) => {
      const answer = await send(gateway.url, path, { method, headers: bearer() });
      expectShape(client, answer, 404);
      expect(answer.json.error.message).toBe(`There is nothing at ${path}, but at ${meant}: the base address that the client was given ${remedy}.`);
    });

    test.each([
      ['alpha', 'POST', '/v1/chat/completions/', '/v1/chat/completions', 'the path must not end in a slash'],
      ['alpha', 'GET', '/v1/models/', '/v1/models', 'the path must not end in a slash'],
      ['beta', 'POST', '/v1/messages/', '/v1/messages', 'the path must not end in a slash'],
      ['alpha', 'GET', '/api/tags', '/v1/models', expect.stringContaining('not for Ollama')],
      ['alpha', 'GET', '/api/version', '/v1/models', expect.stringContaining('not for Ollama')],
      ['alpha', 'POST', '/api/chat', '/v1/chat/completions', expect.stringContaining('not for Ollama')],
    ] as const)('a client set up for another kind of server learns it in the shape of %s: %s %s', async (client, method, path, meant, remedy) => {
      const answer = await send(gateway.url, path, { method, headers: bearer() });
      expectShape(client, answer, 404);
      const [where, what] = answer.json.error.message.split(': ');
      expect(where).toBe(`There is nothing at ${path}, but at ${meant}`);
      expect(what.replace(/\.$/, '')).toEqual(remedy);
    });

    test('the console and unknown everyday paths answer in their own words', async () => {
      for (const path of ['/v1beta/interactions', '/v1beta/interactions/abc/cancel'])
        expect((await send(gateway.url, path, { method: 'POST' })).json).toEqual({
          error: { code: 404, status: 'NOT_FOUND', message: expect.stringContaining(':generateContent') },
        });
      const google = { 'x-goog-api-client': 'google-genai-sdk/3.6.1 gl-python/3.11' };
      for (const path of ['/v1/interactions', '/v1beta/decisions', '/v1/cachedContents', '/upload/v1beta/files', '/v1/batches', '/v1alpha/auth_tokens'])
        expect((await send(gateway.url, path, { method: 'POST', headers: google })).json).toEqual({
          error: { code: 404, status: 'NOT_FOUND', message: expect.stringMatching(/\bnot\b.* here: /) },
        });
      expect((await send(gateway.url, '/v1/files?beta=true', { method: 'POST', headers: { 'anthropic-version': '2023-06-01' } })).json).toMatchObject({
        type: 'error',
        error: { type: 'not_found_error', message: 'Files are not kept here: send them inside the request that is about them.' },
      });
      const refused = async (path: string, headers = {}) => (await send(gateway.url, path, { method: 'POST', headers })).json.error.message;
      expect(await refused('/v1/agents')).toContain('/v1/responses');
      expect(await refused('/v1/agents', { 'anthropic-version': '2023-06-01' })).toContain('/v1/messages');
      expect(await refused('/v1beta/agents', google)).toContain(':generateContent');
      for (const path of ['/v1/threads/x/runs', '/v1/assistants', '/v1/vector_stores', '/v1/skills', '/v1beta/files:register', '/v1beta/fileSearchStores'])
        expect(await refused(path)).toMatch(/\bnot\b.* here: /);
      expect((await send(gateway.url, '/nothing', { method: 'GET' })).json).toEqual({ error: { code: 'not_found', message: 'Not found.' } });
      expect((await gateway.console('GET', '/nothing')).body).toMatchObject({ error: { code: 'not_found' } });
      // An access key is no console token.
      expect((await gateway.console('GET', '/models', undefined, bearer())).status).toBe(401);
    });
  });

  test.each([
    ['/', 302],
    ['/healthz', 200],
    ['/readyz', 200],
    ['/nothing-here', 404],
    ['/console/', 200],
    ['/console/api/me', 401],
  ])('what a browser may come upon is sent so that no page can frame or sniff it: %s', async (path, status) => {
    const answer = await send(gateway.url, path, { method: 'GET' });
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    });
    if (status === 302) expect([answer.headers.location, answer.text]).toEqual(['/console', '']);
  });

  describe('bodies', () => {
    const deep = (depth: number) => `{"model":"ok","messages":[{"role":"user","content":"hi"}],"metadata":${'['.repeat(depth)}${']'.repeat(depth)}}`;

    test.each(clientProtocols)('%s: malformed JSON, wrong shapes and empty bodies are 400', async (client) => {
      const path = calls[client].path('ok', false);
      for (const body of [
        '',
        '{',
        'null',
        '[]',
        '"text"',
        '{"model":"ok",}',
        '\u0000',
        '{"model":"ok"} more',
        '{"model":"\ud800"',
        Buffer.from([0x7b, 0xff, 0x7d]),
      ]) {
        const answer = await post(body, {}, path);
        expectShape(client, answer, 400);
      }
      expect(fake.requests).toEqual([]);
    });

    test('a wrong field is named', async () => {
      const ask = async (path: string, body: Record<string, unknown>) => (await post(JSON.stringify({ model: 'ok', ...body }), {}, path)).json.error;
      expect(await ask('/v1/chat/completions', { messages: [], stream: 'yes' })).toMatchObject({ param: 'stream' });
      // Between equal protocols the upstream judges; in a translation the gateway must understand.
      expect(await ask('/v1/responses', { input: 7 })).toMatchObject({ param: 'input' });
      expect((await ask('/v1/messages', { max_tokens: 1, messages: 'hi' })).message).toContain('messages');
      expect((await ask('/v1beta/models/ok:generateContent', { contents: [{ parts: 7 }] })).message).toContain('parts');
      expect((await post('{"messages":[]}')).json.error).toMatchObject({ param: 'model', message: 'model is required.' });
    });

    test.each(clientProtocols)('%s: keys that a reader without regard to case takes for one are 400, and no upstream sees them', async (client) => {
      const path = calls[client].path('ok', false);
      const whole = JSON.stringify(calls[client].body('ok', false));
      const more = [
        '"Model":"hang"',
        '"mod\\u0045l":"hang"',
        '"MESSAGES":[],"messageS":[]',
        '"tools":[],"tool\u017f":[]',
        '"top_k":1,"top_\u212a":2',
        '"user":"a","user":"b"',
      ];
      // A model that stands in the path and in no key of the body is still not to be read from another.
      if (client !== 'gamma') more.push('"STREAM":true', '"model":"hang"');
      for (const one of more) {
        const answer = await post(`${whole.slice(0, -1)},${one}}`, {}, path);
        expectShape(client, answer, 400);
        if (client === 'alpha' || client === 'alpha_response') expect(answer.json.error.code).toBe('duplicate_key');
      }
      expect(fake.requests).toEqual([]);
    });

    test('a repeated model or stream key is 400, however it is spelt', async () => {
      for (const body of [
        '{"model":"ok","messages":[],"model":"hang"}',
        '{"model":"ok","messages":[],"\\u006dodel":"hang"}',
        '{"model":"ok","stream":false,"messages":[],"stream":true}',
      ]) {
        const answer = await post(body);
        expectShape('alpha', answer, 400);
        expect(answer.json.error.code).toBe('duplicate_key');
      }
      // Deeper keys of that name are the caller's own.
      expect((await post('{"model":"ok","metadata":{"model":"hang","stream":"x"},"messages":[{"role":"user","content":"hi"}]}')).status).toBe(200);
    });

    test.each(clientProtocols)('%s: a body that is no UTF-8 is 400, also where it would pass as it is', async (client) => {
      const whole = Buffer.from(JSON.stringify(calls[client].body('ok', false)));
      whole[whole.indexOf('hi')] = 0xff;
      const answer = await post(whole, {}, calls[client].path('ok', false));
      expectShape(client, answer, 400);
      expect(fake.requests).toEqual([]);
    });

    test('deep nesting is refused or carried, quickly, and breaks nothing', async () => {
      for (const depth of [50, 5000, 90_000]) {
        const started = performance.now();
        const answer = await post(deep(depth));
        expect([200, 400]).toContain(answer.status);
        if (depth > 1000) expect(answer.status).toBe(400);
        expect(performance.now() - started).toBeLessThan(10_000);
      }
      expect((await call('alpha', bearer())).status).toBe(200);
    });

    test.each(clientProtocols)('%s: too large is 413, announced or not', async (client) => {
      const path = calls[client].path('ok', false);
      const large = JSON.stringify({ ...calls[client].body('ok', false), metadata: { pad: 'x'.repeat(maxBodyBytes) } });
      expectShape(client, await post(large, {}, path), 413);
      const unannounced = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { ...json, ...bearer() },
        body: new Blob([large]).stream(),
        duplex: 'half',
      } as RequestInit);
      expect(unannounced.status).toBe(413);
    });

    const begin = async (key: string, length: number): Promise<Socket> => {
      const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
      await once(socket, 'connect');
      socket.write(`POST /v1/messages HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`);
      return socket;
    };

    test.each([
      [413, () => gateway.key],
      [401, () => 'sk-wrong'],
    ])('who is refused with %i may write a large body to its end, as most clients do before they read, and then reads why', async (status, key) => {
      const body = Buffer.alloc(16 * 1024 * 1024, 0x20);
      const socket = await begin(key(), body.length);
      await new Promise<void>((resolve, reject) => socket.write(body, (error) => (error ? reject(error) : resolve())));
      const parts: Buffer[] = [];
      socket.on('data', (part) => parts.push(part));
      await once(socket, 'close');
      const [head = '', described = ''] = Buffer.concat(parts).toString('utf8').split('\r\n\r\n');
      expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(JSON.parse(described)).toMatchObject({ type: 'error' });
    });

    test('refused callers who do not finish their bodies take no places', async () => {
      // Twice as many as there are places.
      const sockets = await Promise.all(Array.from({ length: 16 }, () => begin('sk-wrong', 5_000_000)));
      try {
        for (const socket of sockets) expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 401 /);
        expect((await call('alpha', bearer())).status).toBe(200);
      } finally {
        for (const socket of sockets) socket.destroy();
      }
    });

    test.each(clientProtocols)('%s: other content types and encodings are 415', async (client) => {
      const path = calls[client].path('ok', false);
      const body = JSON.stringify(calls[client].body('ok', false));
      for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded'])
        expectShape(client, await post(body, { 'content-type': type }, path), 415);
      for (const encoding of ['gzip', 'br']) expectShape(client, await post(body, { 'content-encoding': encoding }, path), 415);
      expect((await post(body, { 'content-type': 'application/json; charset=utf-8' }, path)).status).toBe(200);
    });
  });

  describe('ids', () => {
    test.each(clientProtocols)('%s: every answer has a minted id, and echoes the caller’s own', async (client) => {
      for (const [model, key] of [
        ['ok', gateway.key],
        ['no-such', gateway.key],
        ['ok', 'sk-wrong'],
      ] as const) {
        const answer = await call(client, { ...bearer(key), 'z-request-id': `mine-${client}`, 'x-request-id': 'forged' }, model);
        expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
        expect(answer.headers['z-request-id']).toBe(`mine-${client}`);
        expect(answer.headers['request-id']).toBe(client === 'beta' ? answer.headers['x-request-id'] : undefined);
      }
      const streamed = await call(client, { ...bearer(), 'z-request-id': 'streamed' }, 'ok', true);
      expect(streamed.headers).toMatchObject({ 'z-request-id': 'streamed', 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/) });
    });

    test('what is no plain token is not echoed', async () => {
      for (const id of ['two words', 'x'.repeat(129), ''])
        expect((await call('alpha', { ...bearer(), 'z-request-id': id })).headers['z-request-id']).toBeUndefined();
    });
  });

  describe('caps', () => {
    /** Opens calls that stay open, and waits until the upstream has them. */
    async function hold(count: number, model: string, stream: boolean): Promise<() => Promise<void>> {
      const leave = new AbortController();
      const one = () =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { ...json, ...bearer() },
          body: JSON.stringify(calls.alpha.body(model, stream)),
          signal: leave.signal,
        }).catch(() => undefined);
      // The place of a call whose reply was just read may not be free yet.
      const stay = async (): Promise<void> => {
        while ((await one())?.status === 503);
      };
      const open = Array.from({ length: count }, stay);
      await until(async () => fake.requests.length === count, 'the upstream to hold the calls');
      const held = [...fake.requests];
      return async () => {
        leave.abort();
        await Promise.all([...open, ...held.map((one) => one.whenClosed)]);
      };
    }

    test('one stream too many is 503 at once; whole calls go on; the place is free again', async () => {
      const letGo = await hold(3, 'pump', true);
      for (const client of clientProtocols) {
        const started = performance.now();
        expectShape(client, await call(client, bearer(), 'ok', true), 503);
        expect(performance.now() - started).toBeLessThan(5000);
        expect((await call(client, bearer(), 'ok', false)).status).toBe(200);
      }
      await letGo();
      await until(async () => (await call('alpha', bearer(), 'ok', true)).status === 200, 'a free place');
    });

    test('one request too many is 503 at once in each shape; the console still answers; the place is free again', async () => {
      const letGo = await hold(8, 'hang', false);
      for (const client of clientProtocols) expectShape(client, await call(client, bearer()), 503);
      expect((await gateway.console('GET', '/models')).status).toBe(200);
      await letGo();
      await until(async () => (await call('alpha', bearer())).status === 200, 'a free place');
    });
  });
});
