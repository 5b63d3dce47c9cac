import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Bus } from '@model-gateway/bus';
import { GatewayError } from '@model-gateway/contracts/errors';
import { openStorage, type Storage } from '@model-gateway/storage';
import { silent } from '../../../packages/storage/test/engines.ts';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { api, type Harness, secretKey, seed, startConsole } from './harness.ts';

let storage: Storage;
let harness: Harness;
beforeEach(async () => {
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  harness = await startConsole(storage);
});
afterEach(async () => {
  await harness.close();
  await storage.close();
});

/** Ways to a credential. */
const publicRoutes = new Set(
  ['GET sign-in-options', 'POST login', 'GET oidc/start', 'GET oidc/callback', 'POST oidc/exchange'].map((one) => one.replace(' ', ` ${api}/`)),
);

describe('who gets in', () => {
  test.each([
    ['no credential', {}],
    ['another secret', { authorization: 'Bearer wrong' }],
    ['the secret and more', { authorization: `Bearer ${secretKey}x` }],
    ['another scheme', { authorization: `Basic ${secretKey}` }],
    ['another header', { 'x-api-key': secretKey }],
  ])('%s is 401, everywhere', async (_title, headers) => {
    const paths = Object.keys((await harness.call('GET', `${api}/openapi.json`)).body.paths);
    expect(paths.length).toBeGreaterThan(12);
    for (const path of [...paths, `${api}/nothing`, '/elsewhere']) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
        if (publicRoutes.has(`${method} ${path}`)) continue;
        const response = await fetch(harness.url + path, { method, headers: headers as Record<string, string> });
        expect([path, method, response.status]).toEqual([path, method, 401]);
        expect(await response.json()).toMatchObject({ error: { code: 'unauthorized' } });
      }
    }
  });

  test('without a secret no such token gets in', async () => {
    await harness.close();
    harness = await startConsole(storage, { secret: null });
    for (const authorization of ['Bearer ', 'Bearer null', `Bearer ${secretKey}`]) {
      expect((await harness.call('GET', `${api}/me`, undefined, { authorization })).status).toBe(401);
    }
  });

  test('me', async () => {
    expect((await harness.call('GET', `${api}/me`)).body).toEqual({ actor: 'secret_key', username: null, role: 'admin' });
  });
});

describe('answers', () => {
  test('carry the four headers, errors too', async () => {
    const answers = [
      await harness.call('GET', `${api}/me`),
      await harness.call('GET', `${api}/me`, undefined, { authorization: 'Bearer x' }),
      await harness.call('GET', `${api}/nothing`),
      await harness.call('POST', `${api}/upstreams`, '{'),
      await harness.call('GET', '/console'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 400, 200]);
    for (const { headers } of answers) {
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });

  test('of the application carry its policy, also when nothing has changed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-web-'));
    mkdirSync(join(folder, 'assets'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html>');
    writeFileSync(join(folder, 'assets', 'a-1.js'), '1');
    await harness.close();
    harness = await startConsole(storage, { deps: { webRoot: folder } });
    const read = async (path: string, headers = {}) => {
      const reply = await fetch(harness.url + path, { headers });
      await reply.text();
      return reply;
    };
    for (const [path, kept] of [
      ['/console/', 'no-cache'],
      ['/console/settings/users', 'no-cache'],
      ['/console/assets/a-1.js', 'public, max-age=31536000, immutable'],
    ] as const) {
      const first = await read(path);
      const again = await read(path, { 'if-none-match': first.headers.get('etag') });
      expect([path, first.status, again.status]).toEqual([path, 200, 304]);
      for (const { headers } of [first, again]) {
        expect(headers.get('content-security-policy')).toMatch(/script-src 'self';/);
        expect([headers.get('cache-control'), headers.get('x-frame-options')]).toEqual([kept, 'DENY']);
      }
    }
    const missing = await read('/console/assets/b-2.js');
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, 'no-store']);
    rmSync(folder, { recursive: true });
  });

  test('a file that is removed after the start ends its own answer alone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gateway-web-'));
    writeFileSync(join(folder, 'index.html'), '<!doctype html>');
    writeFileSync(join(folder, 'icon.svg'), '<svg/>');
    await harness.close();
    harness = await startConsole(storage, { deps: { webRoot: folder } });
    rmSync(join(folder, 'index.html'));
    await expect(fetch(`${harness.url}/console/`).then((reply) => reply.text())).rejects.toThrow();
    expect(await (await fetch(`${harness.url}/console/icon.svg`)).text()).toBe('<svg/>');
    rmSync(folder, { recursive: true });
  });

  test('pages of other origins change nothing, whatever credential they have; reading and scripts are as before', async () => {
    const { call } = harness;
    const host = new URL(harness.url).host;
    const group = (headers: Record<string, string>) => call('POST', `${api}/import?dry_run=true`, '{}', headers);
    for (const foreign of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: `http://${host}` },
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { origin: `http://${host}.evil.test` },
    ] as Record<string, string>[]) {
      const refused = await group(foreign);
      expect([foreign, refused.status, refused.body.error.code]).toEqual([foreign, 403, 'forbidden']);
      expect((await call('POST', `${api}/login`, { username: 'admin', password: 'x' }, { authorization: '', ...foreign })).status).toBe(403);
      expect((await call('GET', `${api}/upstreams`, undefined, foreign)).status).toBe(200);
    }
    for (const own of [
      {},
      { 'sec-fetch-site': 'same-origin', origin: 'https://console.behind-a-proxy.test' },
      { 'sec-fetch-site': 'none' },
      { origin: `http://${host}` },
    ])
      expect([own, (await group(own as Record<string, string>)).status]).toEqual([own, 200]);
  });

  test('distinguish a wrong method, type, shape or size', async () => {
    const { call } = harness;
    const status = async (...parameters: Parameters<Harness['call']>) => (await call(...parameters)).status;
    const wrong = await call('PUT', `${api}/upstreams`);
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
    expect(await status('POST', `${api}/upstreams`, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' })).toBe(415);
    expect(await status('POST', `${api}/upstreams`, '{}', { 'content-encoding': 'gzip' })).toBe(415);
    expect(await status('POST', `${api}/upstreams`, '[]')).toBe(422);
    expect(await status('POST', `${api}/upstreams`)).toBe(422);
    const empty = await call('POST', `${api}/upstreams`, { name: '', protocol: 'alpha', base_url: 'https://h', api_keys: [] });
    expect(empty.body.error.details).toEqual([{ field: 'name', message: 'must not be empty' }]);
    expect(await status('POST', `${api}/upstreams`, '{"__proto__":{"name":"x"}}')).toBe(400);
    expect(await status('POST', `${api}/upstreams`, `{"extra_config":${'['.repeat(5_000)}${']'.repeat(5_000)}}`)).toBe(400);
    expect(await status('POST', `${api}/upstreams`, `"${'x'.repeat(16 * 1024 * 1024)}"`)).toBe(413);
    expect(
      await status(
        'POST',
        `${api}/import`,
        `a: &a [x]\n${Array.from({ length: 9 }, (_, i) => `b${i}: &b${i} [${i === 0 ? '*a' : `*b${i - 1}`},${i === 0 ? '*a' : `*b${i - 1}`},${i === 0 ? '*a' : `*b${i - 1}`}]`).join('\n')}`,
        { 'content-type': 'application/yaml' },
      ),
    ).toBe(400);
  });

  test('a database that is away is 503, a defect is a plain 500', async () => {
    let failure: Error = new GatewayError('service_unavailable', { message: 'The database is unavailable.' });
    const failing: Storage = { ...storage, catalog: { ...storage.catalog, upstreams: { ...storage.catalog.upstreams, list: () => Promise.reject(failure) } } };
    await harness.close();
    harness = await startConsole(failing);
    const away = await harness.call('GET', `${api}/upstreams`);
    expect([away.status, away.body.error.code]).toEqual([503, 'service_unavailable']);
    failure = new Error('inner detail');
    const defect = await harness.call('GET', `${api}/upstreams`);
    expect([defect.status, defect.body]).toEqual([500, { error: { code: 'internal', message: 'Internal error.' } }]);
    expect(harness.seen.filter((line) => line.includes('inner detail'))).toHaveLength(1);
  });
});

test('the document describes what is mounted', async () => {
  const { body } = await harness.call('GET', `${api}/openapi.json`);
  expect(body.openapi).toBe('3.1.0');
  expect(JSON.stringify(body)).not.toContain('#/$defs');
  expect(body.paths[`${api}/upstreams`].post.requestBody.content['application/json'].schema).toEqual({ $ref: '#/components/schemas/UpstreamInput' });
  const upstream = body.components.schemas.UpstreamInput;
  expect(upstream.required).toEqual(['name', 'protocol', 'base_url', 'api_keys']);
  expect(upstream.additionalProperties).toBe(false);
  expect(Object.keys(body.paths[`${api}/upstreams`].post.responses)).toEqual(expect.arrayContaining(['413', '415']));
  expect(Object.keys(body.paths[`${api}/upstreams`].get.responses)).not.toContain('415');
  // An answer that goes on would be waited for.
  const refused = '?status=none';
  for (const [path, operations] of Object.entries(body.paths as Record<string, Record<string, { operationId: string }>>)) {
    for (const method of Object.keys(operations)) {
      const answer = await harness.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'missing') + (path.endsWith('/stream') ? refused : ''));
      expect([path, method, answer.status]).not.toEqual([path, method, 405]);
      if (answer.status === 404) expect(answer.text).toContain('There is no');
      // What was not sent at all has a name too.
      for (const { field } of answer.body?.error?.details ?? []) expect([path, method, field]).not.toEqual([path, method, '']);
    }
  }
  const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((operations) =>
    Object.values(operations).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('a value whose master key is gone says which key is missing, and what to do', async () => {
  await seed(harness);
  await harness.close();
  harness = await startConsole(storage);
  const copy = await harness.call('GET', '/access-keys/ada/api-key');
  expect([copy.status, copy.body.error.code]).toEqual([409, 'conflict']);
  expect(copy.body.error.message).toMatch(/needs the master key ".+", which .+ Add the key that sealed it to GATEWAY_MASTER_KEY again/);
  expect((await harness.call('PUT', `${api}/upstreams/main`, { api_keys: [{ key: 'canary-a' }, { key: 'canary-b' }] })).status).toBe(200);
  expect((await harness.call('POST', `${api}/access-keys/ada/rotate`)).status).toBe(200);
});

test('logs: the last day by default, by filter, by cursor', async () => {
  const now = Date.now();
  await storage.requests.insertRows([
    ...Array.from({ length: 5 }, (_, index) => sampleRow({ id: `r${index}`, started_at: now - index * 1_000 })),
    sampleRow({ id: 'old', started_at: now - 2 * 24 * 3_600_000, client_request_id: 'theirs' }),
  ]);
  const ids = async (query: string) => (await harness.call('GET', `${api}/logs?${query}`)).body.items.map(({ id }: { id: string }) => id);
  expect(await ids('')).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
  const first = (await harness.call('GET', `${api}/logs?limit=3`)).body;
  expect(await ids(`limit=3&cursor=${first.next_cursor}`)).toEqual(['r3', 'r4']);
  expect(await ids(`request_id=theirs&from=${new Date(now - 3 * 24 * 3_600_000).toISOString()}`)).toEqual(['old']);
  expect(await ids('request_id=r2&stream=true&status=200')).toEqual(['r2']);
  expect(await ids('model=other')).toEqual([]);
  for (const [query, field] of [
    ['limit=501', 'limit'],
    ['status=abc', 'status'],
    ['from=yesterday', 'from'],
    ['stream=maybe', 'stream'],
    ['cursor=nonsense', 'cursor'],
    ['from=2&to=1', 'from'],
  ]) {
    const answer = await harness.call('GET', `${api}/logs?${query}`);
    expect([query, answer.status, answer.body.error.details[0].field]).toEqual([query, 422, field]);
  }
});

test('a query parameter that the route does not know is refused by name, whatever the route', async () => {
  const { paths } = (await harness.call('GET', `${api}/openapi.json`)).body as { paths: Record<string, Record<string, { security?: unknown }>> };
  const closed = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security }]) => (security === undefined ? [{ method: method.toUpperCase(), path }] : [])),
  );
  expect(closed.length).toBeGreaterThan(60);
  for (const { method, path } of closed) {
    const answer = await harness.call(method, `${path.replaceAll(/\{\w+\}/g, 'x')}?misspelt=1&__proto__=2`);
    expect([method, path, answer.status, answer.body.error.details.map(({ field }: { field: string }) => field)]).toEqual([
      method,
      path,
      422,
      ['misspelt', '__proto__'],
    ]);
  }
  for (const path of ['logs', 'audit-logs', 'history']) {
    expect((await harness.call('GET', `${api}/${path}?page=1`)).status).toBe(200);
    expect((await harness.call('GET', `${api}/${path}?page=2`)).body.error.details[0].field).toBe('page');
  }
});

describe('fetch-models', () => {
  test('a real call with the stored key, whose refusal does not leak; entries without an id count as raw alone', async () => {
    let status = 200;
    let received = '';
    const upstream = createServer((request, response) => {
      received = `${request.url} ${request.headers.authorization}`;
      const body =
        status === 200
          ? { object: 'list', data: [{ id: 'm-1' }, { id: 'm-2' }, { nothing: true }, { id: '' }] }
          : { error: { message: `bad key ${request.headers.authorization}` } };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    await harness.call('POST', `${api}/upstreams`, { name: 'u', protocol: 'alpha', base_url: origin, api_keys: [{ key: 'canary-key' }] });
    const path = `${api}/upstreams/u/fetch-models`;
    expect((await harness.call('POST', path)).body).toEqual({ models: ['m-1', 'm-2'], parsed_count: 2, raw_count: 4, source: `${origin}/v1/models` });
    expect(received).toBe('/v1/models Bearer canary-key');
    status = 401;
    const refused = await harness.call('POST', path);
    expect([refused.status, refused.body.error.code]).toEqual([502, 'upstream_credential']);
    status = 404;
    expect((await harness.call('POST', path)).body.error.message).toBe(`The upstream answered 404 to the model list at ${origin}/v1/models.`);
    upstream.close();
    upstream.closeAllConnections();
    expect((await harness.call('POST', path)).status).toBe(502);
    expect((await harness.call('POST', `${api}/upstreams/none/fetch-models`)).status).toBe(404);
    expect(harness.seen.join('\n')).not.toContain('canary');
  });
});

/** The edge's end of an exchange, as small as it can be. */
function openConnection(bus: Bus): Duplex & { ended: string } {
  let owed = 0;
  const socket = new Duplex({
    allowHalfOpen: true,
    read() {
      const read = owed;
      owed = 0;
      call.consumed(read);
    },
    write(chunk, _encoding, done) {
      if (call.send(chunk)) done();
      else call.onSendable(() => done());
    },
    final(done) {
      call.endSend();
      done();
    },
    destroy(error, done) {
      call.cancel('over');
      done(error);
    },
  }) as Duplex & { ended: string };
  socket.ended = '';
  const call = bus.open(
    'console.http',
    { remoteAddress: '203.0.113.9' },
    {
      head: () => undefined,
      data: (bytes) => {
        owed += bytes.byteLength;
        socket.push(Buffer.from(bytes));
      },
      tail: () => {
        socket.ended = 'tail';
        socket.push(null);
      },
      broken: (error) => {
        socket.ended = error.code;
        socket.destroy(error);
      },
    },
  );
  return socket;
}

describe('over the bus', () => {
  const exchange = (method: string, path: string, body?: string): Promise<{ status: number; text: string; socket: { ended: string } }> =>
    new Promise((resolve, reject) => {
      const socket = openConnection(harness.bus);
      const request = httpRequest({
        method,
        path,
        headers: {
          authorization: `Bearer ${secretKey}`,
          connection: 'close',
          ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
        },
        createConnection: () => socket as never,
      });
      request.on('error', reject);
      request.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('end', () => setImmediate(() => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString(), socket })));
      });
      request.end(body);
    });

  test('one exchange is one stream, and the client address arrives', async () => {
    const created = await exchange('POST', `${api}/key-groups`, JSON.stringify({ name: 'g' }));
    expect([created.status, created.socket.ended]).toEqual([201, 'tail']);
    expect(harness.seen.find((line) => line.includes('configuration changed'))).toContain('203.0.113.9');
    expect(JSON.parse((await exchange('GET', `${api}/key-groups/g`)).text).name).toBe('g');
    expect((await exchange('GET', `${api}/nothing`)).status).toBe(404);
  });

  test('bodies larger than the windows pass in both directions', async () => {
    const upstreams = Array.from({ length: 400 }, (_, index) => ({
      name: `u${index}`,
      protocol: 'alpha',
      base_url: 'https://h',
      api_keys: [],
      custom_headers: { 'x-long': 'y'.repeat(8_000) },
    }));
    const sent = await exchange('POST', `${api}/import`, JSON.stringify({ upstreams }));
    expect(sent.status).toBe(200);
    const exported = await exchange('GET', `${api}/export?format=json`);
    expect(exported.text.length).toBeGreaterThan(3_000_000);
    expect(JSON.parse(exported.text).upstreams).toHaveLength(400);
  });

  test('an opener that ends its half after the request still gets the whole answer', async () => {
    const socket = openConnection(harness.bus);
    socket.end(`GET ${api}/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secretKey}\r\n\r\n`);
    let text = '';
    for await (const part of socket) text += part;
    expect(text).toMatch(/^HTTP\/1.1 200 OK/);
    expect(text).toContain('"role":"admin"');
    expect(socket.ended).toBe('tail');
  });

  test('a caller that leaves frees its stream', async () => {
    const socket = openConnection(harness.bus);
    socket.write(`GET ${api}/me HTTP/1.1\r\nhost: x\r\n`);
    const served = async (count: number) => {
      for (const end = Date.now() + 20_000; harness.bus.stats().openServed !== count && Date.now() < end; )
        await new Promise((resolve) => setTimeout(resolve, 5));
      expect(harness.bus.stats().openServed).toBe(count);
    };
    await served(1);
    socket.destroy();
    await served(0);
  });

  test('every write is published to the services', async () => {
    const received: unknown[] = [];
    harness.bus.listen('catalog.changed', (event) => received.push(event));
    await seed(harness);
    const revision = await storage.catalog.revision();
    for (const end = Date.now() + 20_000; received.length < 4 && Date.now() < end; ) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(received).toHaveLength(4);
    expect(received.at(-1)).toMatchObject({ revision, previous: revision - 1, delta: { access_keys: { gone: [], put: [{ name: 'ada' }] } } });
    expect(await harness.bus.ask('catalog.revision', {})).toEqual({ revision, committedAt: expect.any(Number) });
  });
});
