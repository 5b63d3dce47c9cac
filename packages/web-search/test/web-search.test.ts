/** Each shape of provider against a fake of it, pages behind redirects, and a provider and a page that mean harm. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '@model-gateway/telemetry';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { fetchPage, mayUse, searchWeb } from '../src/index.ts';

const timeouts = { connect_ms: 5_000, first_byte_ms: 10_000, idle_ms: 10_000, total_ms: 20_000 };
const logger = createLogger({ level: 'silent', name: 'test' });
const open = (allowPrivate: boolean): Outbound => createOutbound({ allowPrivate, timeouts, userAgent: 'test', logger });

interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

let server: Server;
let base: string;
let outbound: Outbound;
let guarded: Outbound;
let asked: Asked[] = [];

const json = (response: ServerResponse, value: unknown, status = 200) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const html = (response: ServerResponse, text: string, type = 'text/html; charset=utf-8') => response.writeHead(200, { 'content-type': type }).end(text);
const go = (response: ServerResponse, location: string) => response.writeHead(302, { location }).end('moved');

const page =
  '<html><head><title>Tea &amp; time</title><style>p{}</style></head><body><script>alert(1)</script><p>Green tea</p><p>steeps at 80&deg;</p></body></html>';
const answers: Record<string, (response: ServerResponse) => unknown> = {
  '/brave': (response) =>
    json(response, {
      web: { results: [{ title: 'A <strong>b</strong>', url: 'https://a.example/1', description: 'of <strong>tea</strong>', age: '2 days ago' }] },
    }),
  '/tavily': (response) => json(response, { results: [{ title: 'T', url: 'https://t.example/', content: 'tavily says', score: 1 }] }),
  '/search': (response) => json(response, { results: [{ title: 'S', url: 'https://s.example/', content: 'searx says' }], unresponsive_engines: [] }),
  '/http': (response) =>
    json(response, {
      results: [
        { title: 'one', url: 'https://docs.one.example/x', content: 'first' },
        { title: 'again', url: 'https://docs.one.example/x', content: 'twice' },
        { title: 'two', url: 'https://two.example/', snippet: 'second' },
        { title: 'three', url: 'https://three.example/', text: 'third' },
      ],
    }),
  '/hostile': (response) =>
    json(response, {
      results: [
        null,
        7,
        { url: 'javascript:alert(1)', title: 'x' },
        { url: 'file:///etc/passwd' },
        { url: `https://long.example/${'a'.repeat(5_000)}` },
        { url: 'https://big.example/', title: 't'.repeat(100_000), content: '<b>'.repeat(50_000) },
        { url: ['https://list.example/'], title: {} },
        JSON.parse('{"__proto__": {"url": "https://proto.example/"}}'),
      ],
    }),
  '/lying': (response) =>
    json(response, {
      results: [
        { url: 'https://bank.example/\n\nIgnore what', title: 'a\u001b[2Jb' },
        { url: 'https://bank.example@evil.example/', title: 'x' },
        { url: 'https://half.example/', title: `${'t'.repeat(299)}\u{1f375}`, content: 'half \ud83c of one', age: '1\u0007 day' },
      ],
    }),
  '/deep': (response) => html(response, `<title>Deep</title><p>before</p>${'<div>'.repeat(200_000)}below`),
  '/signs': (response) => html(response, `a\u0000b\u001b]0;x\u0007c\td\n${'e'.repeat(86)}\u{1f375}`, 'text/plain; charset=utf-8'),
  '/busy': (response) => json(response, { error: 'slow down' }, 429),
  '/denied': (response) => json(response, { error: 'key BSA-secret refused' }, 401),
  '/no-json': (response) => html(response, '<html>maintenance</html>'),
  '/endless': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    const write = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', write);
    write();
  },
  '/silent': () => undefined,
  '/page': (response) => html(response, page),
  '/latin': (response) => response.writeHead(200, { 'content-type': 'text/html; charset=iso-8859-1' }).end(Buffer.from('<p>Grün</p>', 'latin1')),
  '/plain': (response) => html(response, 'a'.repeat(500), 'text/plain'),
  '/picture': (response) => html(response, 'png', 'image/png'),
  '/moved': (response) => go(response, '/page#part'),
  '/loop': (response) => go(response, '/loop'),
  '/to-file': (response) => go(response, 'file:///etc/passwd'),
  '/to-metadata': (response) => go(response, 'http://169.254.169.254/latest/meta-data/'),
};

beforeAll(async () => {
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(parts).toString() });
      const answer = answers[(request.url ?? '').split('?', 1)[0] ?? ''];
      if (answer) answer(response);
      else response.writeHead(404).end();
    });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  outbound = open(true);
  guarded = open(false);
});
afterAll(async () => {
  await outbound.close();
  await guarded.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const limits = { maxResults: 5, timeoutMs: 10_000, signal: new AbortController().signal };
const search = (kind: 'http' | 'brave' | 'tavily' | 'searxng', path: string, more: object = {}, query = 'green tea') => {
  asked = [];
  return searchWeb(outbound, { kind, base_url: `${base}${path}`, key: 'K' }, query, { ...limits, ...more });
};

test('a Brave-shaped provider', async () => {
  expect(await search('brave', '/brave')).toEqual({ ok: true, pages: [{ url: 'https://a.example/1', title: 'A b', text: 'of tea', age: '2 days ago' }] });
  expect(asked).toMatchObject([{ method: 'GET', url: '/brave?q=green+tea&count=5', headers: { 'x-subscription-token': 'K' } }]);
  expect(asked[0]?.headers.authorization).toBeUndefined();
});

test('a Tavily-shaped provider', async () => {
  expect(await search('tavily', '/tavily')).toEqual({ ok: true, pages: [{ url: 'https://t.example/', title: 'T', text: 'tavily says' }] });
  expect(asked).toMatchObject([{ method: 'POST', url: '/tavily', headers: { authorization: 'Bearer K' }, body: '{"query":"green tea","max_results":5}' }]);
});

test('a SearXNG-shaped provider is asked at its one path', async () => {
  expect(await search('searxng', '/')).toEqual({ ok: true, pages: [{ url: 'https://s.example/', title: 'S', text: 'searx says' }] });
  expect(asked).toMatchObject([{ method: 'GET', url: '/search?q=green+tea&format=json' }]);
});

test('the generic provider: repeats are dropped, domains and the number of results are kept to', async () => {
  const urls = async (more: object) => {
    const outcome = await search('http', '/http', more);
    return outcome.ok && outcome.pages.map(({ url, text }) => [url, text]);
  };
  expect(await urls({ maxResults: 2 })).toEqual([
    ['https://docs.one.example/x', 'twice'],
    ['https://two.example/', 'second'],
  ]);
  expect(await urls({ allowed: ['one.example', 'three.example'] })).toEqual([
    ['https://docs.one.example/x', 'twice'],
    ['https://three.example/', 'third'],
  ]);
  expect(await urls({ blocked: ['one.example'] })).toEqual([
    ['https://two.example/', 'second'],
    ['https://three.example/', 'third'],
  ]);
});

test('of a hostile answer only pages are left, cut to size', async () => {
  const outcome = await search('http', '/hostile');
  expect(outcome.ok && outcome.pages.map(({ url }) => url)).toEqual(['https://big.example/']);
  expect(outcome.ok && outcome.pages[0]?.title.length).toBe(300);
});

test('addresses hold no words and nobody’s name, and texts nothing that terminals obey or upstreams refuse', async () => {
  expect(await search('http', '/lying')).toEqual({
    ok: true,
    pages: [
      { url: 'https://bank.example/Ignore%20what', title: 'a[2Jb', text: '' },
      { url: 'https://half.example/', title: 't'.repeat(299), text: 'half \ufffd of one', age: '1 day' },
    ],
  });
});

test.each([
  ['/busy', 'too-many-requests'],
  ['/denied', 'unavailable'],
  ['/no-json', 'unavailable'],
  ['/missing', 'unavailable'],
  ['/endless', 'unavailable'],
] as const)('a provider at %s fails with a code and no words', async (path, code) => {
  expect(await search('http', path)).toEqual({ ok: false, code });
});

test('a search is bounded in time and in its words', async () => {
  expect(await search('http', '/silent', { timeoutMs: 100 })).toEqual({ ok: false, code: 'unavailable' });
  expect(await search('http', '/http', {}, ' ')).toEqual({ ok: false, code: 'invalid-query' });
  expect(await search('http', '/http', {}, 'a'.repeat(1_001))).toEqual({ ok: false, code: 'query-too-long' });
  // What vendors refuse is not sent to them.
  for (const kind of ['brave', 'tavily'] as const) expect(await search(kind, `/${kind}`, {}, 'a'.repeat(401))).toEqual({ ok: false, code: 'query-too-long' });
  expect(await search('brave', '/brave', {}, 'a '.repeat(51))).toEqual({ ok: false, code: 'query-too-long' });
  expect(asked).toEqual([]);
  const abort = new AbortController();
  const waiting = search('http', '/silent', { signal: abort.signal });
  abort.abort();
  expect(await waiting).toEqual({ ok: false, code: 'unavailable' });
});

const fetchLimits = { maxBytes: 200_000, maxChars: 100, maxRedirects: 3, timeoutMs: 10_000, signal: new AbortController().signal };
const fetchAt = (path: string, more: object = {}, client = outbound) => {
  asked = [];
  return fetchPage(client, path.startsWith('/') ? `${base}${path}` : path, { ...fetchLimits, ...more });
};

test('a page is text, with its title, at the address where it was found', async () => {
  const found = { ok: true, page: { url: `${base}/page`, title: 'Tea & time', text: 'Green tea\n\nsteeps at 80°', cut: false } };
  expect(await fetchAt('/page')).toEqual(found);
  expect(await fetchAt('/moved')).toEqual(found);
  expect(await fetchAt('/latin')).toMatchObject({ page: { text: 'Grün' } });
  expect(await fetchAt('/plain')).toMatchObject({ page: { text: 'a'.repeat(100), cut: true } });
});

// Read to its end it takes minutes, in which nothing else is served.
test('a page whose elements lie in one another without end is read as far as it is one', async () => {
  expect(await fetchAt('/deep', { maxBytes: 2_000_000 })).toMatchObject({ page: { title: 'Deep', text: 'before\n\n...', cut: true } });
});

test('the text of a page holds no control characters, and ends with a whole character', async () => {
  expect(await fetchAt('/signs')).toMatchObject({ page: { text: `ab]0;xc\td\n${'e'.repeat(86)}`, cut: true } });
});

test.each([
  ['/picture', {}, 'unsupported-type'],
  ['/plain', { maxBytes: 100 }, 'too-large'],
  ['/endless', {}, 'too-large'],
  ['/loop', {}, 'not-accessible'],
  ['/moved', { maxRedirects: 0 }, 'not-accessible'],
  ['/missing', {}, 'not-accessible'],
  ['/silent', { timeoutMs: 100 }, 'not-accessible'],
  ['/to-file', {}, 'not-accessible'],
  ['/page', { blocked: ['127.0.0.1'] }, 'not-allowed'],
  ['file:///etc/passwd', {}, 'invalid-url'],
  ['http://user:word@one.example/', {}, 'invalid-url'],
  ['not an address', {}, 'invalid-url'],
] as const)('%s with %j is %s', async (path, more, code) => {
  expect(await fetchAt(path, more)).toEqual({ ok: false, code });
});

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'http://[fd00:ec2::254]/latest/',
  'http://metadata.google.internal/',
  'http://10.0.0.1/',
  'http://192.168.1.1/',
  'http://localhost/',
  'http://[::1]/',
  'http://[::ffff:10.0.0.1]/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://0.0.0.0/',
])('%s is never fetched', async (address) => {
  expect(await fetchAt(address, {}, guarded)).toEqual({ ok: false, code: 'not-accessible' });
});

test('an address inside the network is not fetched, nor reached by a redirect', async () => {
  expect(await fetchAt('/page', {}, guarded)).toEqual({ ok: false, code: 'not-accessible' });
  expect(asked).toEqual([]);
  // Even where private addresses may be called, the metadata address may not.
  expect(await fetchAt('/to-metadata')).toEqual({ ok: false, code: 'not-accessible' });
  expect(asked.map(({ url }) => url)).toEqual(['/to-metadata']);
});

test('domains stand for their subdomains, and may go on with a path', () => {
  expect(mayUse('https://docs.a.example/x', { allowed: ['a.example'] })).toBe(true);
  expect(mayUse('https://nota.example/x', { allowed: ['a.example'] })).toBe(false);
  expect(mayUse('https://a.example/docs/x', { allowed: ['a.example/docs'] })).toBe(true);
  expect(mayUse('https://a.example/blog', { allowed: ['a.example/docs'] })).toBe(false);
  expect(mayUse('https://a.example/', { blocked: ['https://a.example'] })).toBe(false);
  expect(mayUse('nonsense', {})).toBe(false);
  expect(mayUse('https://a.example./x', { blocked: ['a.example'] })).toBe(false);
  expect(mayUse('https://a.example/x', { blocked: ['*.a.example'] })).toBe(false);
  expect(mayUse('https://b\u00fccher.example/x', { blocked: ['b\u00fccher.example'] })).toBe(false);
  expect(mayUse('https://b\u00fccher.example/x', { allowed: ['B\u00dcCHER.example'] })).toBe(true);
});

test.each([
  ['a.example/*', 'https://a.example/x/y', true],
  ['a.example/*/articles', 'https://a.example/en/articles/1', true],
  ['a.example/*/articles', 'https://a.example/en/news/1', false],
  ['a.example/docs/*', 'https://a.example/blog/1', false],
])('a star in the path of %s: %s', (entry, url, fits) => {
  expect([mayUse(url, { allowed: [entry] }), mayUse(url, { blocked: [entry] })]).toEqual([fits, !fits]);
});
