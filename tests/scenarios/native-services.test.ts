/** Calls in an upstream's own terms: native services, and arbitrary paths. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, AnsweringServer } from '../support/answering-server.ts';
import { type InProcessGateway, type InProcessOptions, startInProcess, until } from '../support/in-process.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../support/nats-server.ts';

const upstream = new AnsweringServer();
const { received } = upstream;

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };

interface Got {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const arrangements = [{ name: 'in one process', nats: false }, ...(natsAvailable('native services') ? [{ name: 'over NATS', nats: true }] : [])];

beforeAll(() => upstream.start());
afterAll(() => upstream.stop());

describe.each(arrangements)('$name', ({ nats }) => {
  let server: NatsServer | undefined;
  let gateway: InProcessGateway;
  let closed: InProcessGateway;
  let asked = 0;
  let id = '';

  beforeAll(async () => {
    server = nats ? await startNatsServer() : undefined;
    const origin = upstream.address;
    const options: InProcessOptions = {
      upstreams: [
        { name: 'delta', protocol: 'delta' as const, base_url: origin, api_keys: [{ key: 'sk-of-delta-upstream' }], custom_headers: { 'x-of-admin': 'yes' } },
        { name: 'alpha', protocol: 'alpha' as const, base_url: `${origin}/v1`, api_keys: [{ key: 'sk-of-alpha-upstream' }] },
        { name: 'as-is', protocol: 'passthrough' as const, base_url: `${origin}/base`, api_keys: [{ key: 'sk-of-as-is-upstream' }] },
      ],
      models: [
        { name: 'qwen', upstream: 'delta', upstream_model_id: 'qwen-plus-latest' },
        { name: 'ranks', upstream: 'delta', upstream_model_id: 'gte-rerank-v2', kind: 'delta-rerank' },
        { name: 'speaker', upstream: 'delta', upstream_model_id: 'qwen3-tts', kind: 'delta-multimodal' },
        { name: 'video', upstream: 'delta', upstream_model_id: 'wan2.5', direct_path: true, base_url: `${origin}/x/video-synthesis` },
        { name: 'chat', upstream: 'alpha', upstream_model_id: 'gpt-5.1' },
        {
          name: 'open',
          upstream: 'alpha',
          upstream_model_id: 'gpt-5.1',
          extra_config: { passthrough_methods: ['GET'], passthrough_paths: ['files/*', 'models'] },
        },
        { name: 'org/any:1', upstream: 'as-is', upstream_model_id: 'real-any' },
      ],
      loadBalancers: [{ name: 'mixed', strategy: 'priority', entries: [{ model: 'chat' }, { model: 'org/any:1' }] }],
      ...(server && { natsUrl: server.url }),
    };
    gateway = await startInProcess(options);
    // Services find one another over NATS.
    upstream.answer = json({});
    await until(async () => (await send('POST', '/v3/org%2Fany:1/x')).status === 200, 'an answer');
    closed = nats ? gateway : await startInProcess({ ...options, group: { passthrough: 'off' } });
  });
  afterAll(async () => {
    await gateway?.stop();
    if (!nats) await closed?.stop();
    await server?.stop();
  });
  beforeEach(() => {
    received.length = 0;
    id = `native-${nats}-${++asked}`;
  });

  /** The path leaves as it is written. */
  function send(
    method: string,
    path: string,
    { body, headers = {}, at = gateway }: { body?: string | Buffer; headers?: Record<string, string>; at?: InProcessGateway } = {},
  ): Promise<Got> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = new URL(at.url);
      const call = httpRequest({ method, path, hostname, port, headers: { authorization: `Bearer ${at.key}`, 'z-request-id': id, ...headers } }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
      });
      call.on('error', reject);
      call.end(body);
    });
  }
  const row = () => gateway.row(id);
  const words = ({ body }: Got): { error: { message: string; code: string } } => JSON.parse(body.toString()) as never;

  describe('/v1/services', () => {
    const path = '/v1/services/aigc/text-generation/generation';
    const reply = {
      output: { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] },
      usage: { input_tokens: 11, output_tokens: 3, total_tokens: 14 },
      request_id: 'r',
    };

    test('the model alone changes in the body, headers of the vendor pass, credentials of the caller do not', async () => {
      upstream.answer = json(reply, 200, { 'x-dashscope-x': '1', 'set-cookie': 'a=b', 'x-request-id': 'theirs', connection: 'x-hop', 'x-hop': '1' });
      const body = '{ "input":{"model":"no","messages":[]} ,\n "model" : "qwen", "n":1.0, "u":"\\u00fc" }';
      const got = await send('POST', `${path}?a=%20b&c&key=${gateway.key}&d=1`, {
        body,
        headers: { 'content-type': 'application/json', 'x-dashscope-ossresourceresolve': 'enable', cookie: 's=1', 'x-api-key': gateway.key, te: 'trailers' },
      });
      expect(got).toMatchObject({ status: 200, headers: { 'content-type': 'application/json', 'x-dashscope-x': '1' } });
      expect(JSON.parse(got.body.toString())).toEqual(reply);
      expect(got.headers['set-cookie'] ?? got.headers['x-hop']).toBeUndefined();
      expect(got.headers['x-request-id']).not.toBe('theirs');
      expect(received).toMatchObject([
        { method: 'POST', path: `/api${path}?a=%20b&c&d=1`, headers: { authorization: 'Bearer sk-of-delta-upstream', 'x-of-admin': 'yes' } },
      ]);
      const { body: sent, headers } = received[0]!;
      expect(sent.toString()).toBe(body.replace('"qwen"', '"qwen-plus-latest"'));
      expect(headers).toMatchObject({ 'x-dashscope-ossresourceresolve': 'enable' });
      expect(headers['cookie'] ?? headers['x-api-key'] ?? headers['te'] ?? headers['z-request-id']).toBeUndefined();
      expect(await row()).toMatchObject({
        client_protocol: 'passthrough',
        upstream_protocol: 'delta',
        path: `POST ${path}`,
        model: 'qwen',
        status: 200,
        input_tokens: 11,
        output_tokens: 3,
        usage_source: 'upstream',
        losses: [],
      });
    });

    test('a stream passes event by event, with the last usage counted', async () => {
      const events = [1, 2, 3].map(
        (count) =>
          `id:${count}\nevent:result\n:HTTP_STATUS/200\ndata:${JSON.stringify({ output: { text: 'a'.repeat(count) }, usage: { input_tokens: 7, output_tokens: count } })}\n\n`,
      );
      let next: (() => void) | undefined;
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream;charset=UTF-8' });
        response.write(events[0]);
        next = () => void response.end(events.slice(1).join(''));
      };
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}`, 'z-request-id': id, 'content-type': 'application/json', 'x-dashscope-sse': 'enable' },
        body: JSON.stringify({ model: 'qwen', input: { prompt: 'x' } }),
      });
      expect(response.headers.get('content-type')).toBe('text/event-stream;charset=UTF-8');
      const reader = response.body!.getReader();
      // Before the upstream goes on.
      expect(Buffer.from((await reader.read()).value!).toString()).toBe(events[0]);
      next!();
      let text = '';
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += Buffer.from(read.value).toString();
      expect(text).toBe(events.slice(1).join(''));
      expect(received[0]!.headers['x-dashscope-sse']).toBe('enable');
      expect(await row()).toMatchObject({ input_tokens: 7, output_tokens: 3, usage_source: 'upstream' });
    });

    test('what is sold otherwise is counted, too, and what says nothing is not guessed', async () => {
      upstream.answer = json({ output: { results: [] }, usage: { total_tokens: 79 } });
      await send('POST', '/v1/services/rerank/text-rerank/text-rerank', { body: '{"model":"ranks","input":{}}' });
      expect(await row()).toMatchObject({ input_tokens: 79, usage_source: 'upstream' });
      id += '-speech';
      upstream.answer = json({ output: { audio: { url: 'https://x' } }, usage: { characters: 21 } });
      await send('POST', '/v1/services/aigc/multimodal-generation/generation', { body: '{"model":"speaker","input":{}}' });
      expect(await row()).toMatchObject({ characters: 21, usage_source: 'upstream' });
      id += '-bytes';
      upstream.answer = (response) => response.writeHead(200, { 'content-type': 'audio/wav' }).end(Buffer.alloc(1000, 200));
      const got = await send('POST', path, { body: '{"model":"qwen"}' });
      expect(got.body.equals(Buffer.alloc(1000, 200))).toBe(true);
      expect(await row()).toMatchObject({ input_tokens: 0, output_tokens: 0, usage_source: null });
    });

    test('a whole endpoint is called as it is', async () => {
      upstream.answer = json({ output: { task_id: 't' } });
      await send('POST', '/v1/services/aigc/video-generation/video-synthesis', { body: '{"model":"video"}' });
      expect(received).toMatchObject([{ path: '/x/video-synthesis' }]);
    });

    test("an error has the upstream's own words", async () => {
      upstream.answer = json({ code: 'InvalidParameter', message: 'qwen-plus-latest wants messages', request_id: 'r' }, 400);
      const got = await send('POST', path, { body: '{"model":"qwen"}' });
      expect(got.status).toBe(400);
      expect(JSON.parse(got.body.toString())).toMatchObject({ code: 'InvalidParameter', message: 'qwen wants messages', request_id: 'r' });
      upstream.answer = json({ code: 'InvalidApiKey', message: 'sk-of-delta-upstream is wrong' }, 401);
      const refused = await send('POST', path, { body: '{"model":"qwen"}' });
      expect(refused.status).toBe(502);
      expect(refused.body.toString()).not.toContain('sk-of');
    });

    test.each([
      ['no model', '{"input":{}}', 400],
      ['a model of another protocol', '{"model":"chat"}', 400],
      ['a model twice', '{"model":"qwen","model":"chat"}', 400],
      ['no JSON', 'model=qwen', 400],
      ['an unknown model', '{"model":"none"}', 404],
    ])('%s is refused before any call', async (_name, body, status) => {
      const got = await send('POST', path, { body });
      expect([got.status, typeof words(got).error.message]).toEqual([status, 'string']);
      expect(received).toEqual([]);
    });

    test('a form has no model at its top level; another method than POST is none', async () => {
      expect(await send('POST', path, { body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=x' } })).toMatchObject({ status: 415 });
      expect(await send('GET', path)).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    });

    test.each([
      '/v1/services/../../x',
      '/v1/services/%2e%2e/x',
      '/v1/services//host/x',
      '/v1/services/a%2fb',
      '/v1/services/a%0d%0aX:y',
      '/v1/services/',
      '//host/v1/services/x',
    ])('%s goes nowhere', async (unsafe) => {
      const got = await send('POST', unsafe, { body: '{"model":"qwen"}' });
      expect(got.status).toBe(404);
      expect(received).toEqual([]);
    });

    test('a line break inside the request line is none of a path', async () => {
      const { port } = new URL(gateway.url);
      const said = await new Promise<string>((resolve) => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(`POST /v1/services/a\r\nx: y HTTP/1.1\r\nhost: h\r\ncontent-length: 0\r\n\r\n`));
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk.toString();
        });
        socket.on('close', () => resolve(text));
      });
      expect(said).toMatch(/^HTTP\/1\.1 4/);
      expect(received).toEqual([]);
    });
  });

  describe('/v3', () => {
    test('no byte of body, path or query changes', async () => {
      upstream.answer = json({ ok: true });
      const body = Buffer.from([0, 255, 123, 34, 109, 111, 100, 101, 108, 34]);
      const got = await send('POST', '/v3/org%2Fany:1/a%2Fb/{c}?x=1&y&z=%41', {
        body,
        headers: { 'content-type': 'application/x-own', 'content-encoding': 'own' },
      });
      expect(got.status).toBe(200);
      expect(received).toMatchObject([
        { method: 'POST', path: '/base/a%2Fb/{c}?x=1&y&z=%41', headers: { 'content-type': 'application/x-own', 'content-encoding': 'own' } },
      ]);
      expect(received[0]!.body.equals(body)).toBe(true);
      expect(received[0]!.headers['authorization']).toBe('Bearer sk-of-as-is-upstream');
      expect(await row()).toMatchObject({
        path: 'POST /v3/org%2Fany:1/a%2Fb/{c}',
        model: 'org/any:1',
        requested_model: 'org/any:1',
        usage_source: null,
        request_bytes: body.length,
        losses: [],
      });
    });

    test('packed and chunked replies, other statuses and headers pass as they are', async () => {
      const packed = gzipSync('{"usage":{"prompt_tokens":5}}');
      upstream.answer = (response) => {
        response.writeHead(201, {
          'content-type': 'application/json',
          'content-encoding': 'gzip',
          etag: '"1"',
          'keep-alive': 'timeout=9',
          location: '/base/made',
        });
        response.write(packed.subarray(0, 5));
        response.end(packed.subarray(5));
      };
      const got = await send('POST', '/v3/chat/any', { body: '{}' });
      expect(got).toMatchObject({ status: 201, headers: { 'content-encoding': 'gzip', etag: '"1"', location: '/base/made' } });
      expect(got.headers['keep-alive']).not.toBe('timeout=9');
      expect(got.body.equals(packed)).toBe(true);
      expect(await row()).toMatchObject({ status: 201, usage_source: null });
    });

    test.each(['text/html', 'image/svg+xml', undefined])("a page of the upstream's (%s) runs nothing on the console's origin", async (type) => {
      upstream.answer = (response) => {
        const ofABrowser = { refresh: '0;url=/console', 'clear-site-data': '"*"', 'service-worker-allowed': '/', 'x-frame-options': 'ALLOWALL' };
        response.writeHead(200, { ...(type && { 'content-type': type }), 'content-security-policy': 'script-src *', ...ofABrowser });
        response.end('<script>alert(1)</script>');
      };
      const { headers } = await send('POST', '/v3/chat/page', { body: '{}' });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
      });
      expect(Object.keys(headers).filter((name) => /^(?:refresh|clear-site-data|service-worker-allowed|x-frame-options)$/.test(name))).toEqual([]);
    });

    test('usage is read where the family of the model is known', async () => {
      upstream.answer = json({
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      });
      await send('POST', '/v3/chat/chat/completions', { body: '{"model":"gpt-5.1"}' });
      expect(received).toMatchObject([{ path: '/v1/chat/completions' }]);
      expect(await row()).toMatchObject({ input_tokens: 5, output_tokens: 2, usage_source: 'upstream' });
    });

    test('a stream that counts nothing is not priced; one that is left before it does is estimated by its text', async () => {
      const event = `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'eight ch' } }] })}\n\n`;
      const body = '{"model":"gpt-5.1","stream":true}';
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.end(`${event}data: [DONE]\n\n`);
      };
      await send('POST', '/v3/chat/chat/completions', { body });
      expect(await row()).toMatchObject({ output_tokens: 0, usage_source: null });

      id = `${id}-left`;
      upstream.answer = (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event.repeat(2));
      };
      const leaving = new AbortController();
      const headers = { authorization: `Bearer ${gateway.key}`, 'z-request-id': id };
      const response = await fetch(`${gateway.url}/v3/chat/chat/completions`, { method: 'POST', headers, body, signal: leaving.signal });
      await response.body!.getReader().read();
      leaving.abort();
      await until(() => gateway.rows.some((one) => one.client_request_id === id && one.authority === 2), 'the row of the translator');
      expect(gateway.rows.find((one) => one.client_request_id === id && one.authority === 2)).toMatchObject({ status: 499, usage_source: 'estimated' });
    });

    test('a long answer is counted as well', async () => {
      const logprobs = { content: [{ token: 'x'.repeat(2 * 1024 * 1024) }] };
      upstream.answer = json({
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, logprobs, finish_reason: 'stop' }],
        usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      });
      await send('POST', '/v3/chat/chat/completions', { body: '{"model":"gpt-5.1","logprobs":true}' });
      expect(await row()).toMatchObject({ input_tokens: 5, output_tokens: 2, usage_source: 'upstream' });
    });

    test('methods: POST everywhere, others where the model takes them', async () => {
      upstream.answer = json({ ok: true });
      for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'])
        expect(await send(method, '/v3/org%2Fany:1/x', method === 'PUT' ? { body: 'b' } : {})).toMatchObject({ status: 200 });
      expect(received.map(({ method, body }) => `${method} ${body}`)).toEqual(['GET ', 'PUT b', 'PATCH ', 'DELETE ']);
      expect(await send('GET', '/v3/chat/models')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      expect(await send('DELETE', '/v3/open/models')).toMatchObject({ status: 405, headers: { allow: 'POST, GET' } });
      expect(await send('GET', '/v3/open/models')).toMatchObject({ status: 200 });
      const head = await send('HEAD', '/v3/open/models');
      expect([head.status, head.body.length, received.at(-1)?.method]).toEqual([200, 0, 'HEAD']);
    });

    test('a method that the upstream refuses is its caller’s choice', async () => {
      upstream.answer = json({ error: { message: 'not with DELETE' } }, 405, { allow: 'GET, POST' });
      for (const model of ['org%2Fany:1', 'open'])
        expect(await send(model === 'open' ? 'GET' : 'DELETE', `/v3/${model}/models`)).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
      expect(await send('POST', '/v1/services/a', { body: '{"model":"qwen"}' })).toMatchObject({ status: 405, headers: { allow: 'GET, POST' } });
      const chat = { body: '{"model":"chat","messages":[{"role":"user","content":"Hi"}]}', headers: { 'content-type': 'application/json' } };
      expect((await send('POST', '/v1/chat/completions', chat)).status).toBe(502);
    });

    test('paths: those that the configuration leaves', async () => {
      upstream.answer = json({ ok: true });
      expect(await send('POST', '/v3/open/files/a/b')).toMatchObject({ status: 200 });
      received.length = 0;
      expect(await send('POST', '/v3/open/admin')).toMatchObject({ status: 404 });
      expect(await send('POST', '/v3/open/%66iles/a')).toMatchObject({ status: 404 });
      expect(received).toEqual([]);
    });

    test.each(['/v3/chat/../x', '/v3/chat/%2e%2e/x', '/v3/chat//host/x', '/v3/chat/%2fhost', '/v3/chat/a%0d%0ax', '/v3/', '/v3/../x'])(
      '%s goes nowhere',
      async (unsafe) => {
        expect(await send('POST', unsafe, { body: '{}' })).toMatchObject({ status: 404 });
        expect(received).toEqual([]);
      },
    );

    test('a refused path tells nothing of the model, and a redirect is not followed', async () => {
      upstream.answer = json({ error: { message: 'no' } }, 500);
      for (let at = 0; at < 12; at++) expect((await send('POST', '/v3/chat/broken')).status).toBe(502);
      upstream.answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      expect(words(await send('POST', '/v3/chat/moved')).error.code).toBe('upstream_redirect');
      upstream.answer = json({ ok: true });
      expect(await send('POST', '/v3/chat/x')).toMatchObject({ status: 200 });
    });

    test('another node of a load balancer is tried only where it speaks the same', async () => {
      upstream.answer = json({ error: { message: 'no' } }, 503);
      expect((await send('POST', '/v3/mixed/x', { body: '{}' })).status).toBeGreaterThanOrEqual(500);
      expect(received.map(({ path }) => path)).toEqual(['/v1/x']);
    });

    test('a caller who leaves stops the upstream, and one whose upstream breaks is cut off', async () => {
      let left: Promise<unknown> = Promise.resolve();
      upstream.answer = (response) => {
        left = once(response, 'close');
        response.writeHead(200, { 'content-type': 'application/octet-stream' }).write('x');
      };
      const stop = new AbortController();
      const response = await fetch(`${gateway.url}/v3/org%2Fany:1/x`, {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.key}` },
        signal: stop.signal,
      });
      expect(response.status).toBe(200);
      stop.abort();
      await left;
      upstream.answer = (broken) => {
        broken.writeHead(200, { 'content-type': 'application/octet-stream' });
        broken.write('half', () => broken.destroy());
      };
      await expect(send('POST', '/v3/org%2Fany:1/x')).rejects.toThrow();
      expect(await row()).toMatchObject({ status: 200, error_code: 'upstream_broken', usage_source: null });
    });

    test('a key group may be without it', async () => {
      if (nats) return;
      const got = await send('POST', '/v3/chat/x', { at: closed, body: '{}' });
      expect(got.status).toBe(403);
      expect(await closed.row(id)).toMatchObject({ status: 403, path: 'POST /v3/chat/x' });
      upstream.answer = json({ output: {} });
      expect(await send('POST', '/v1/services/a', { at: closed, body: '{"model":"qwen"}' })).toMatchObject({ status: 200 });
    });
  });
});
