/** How requests leave, through a whole gateway that its console has configured: proxies, DNS servers, TLS, header templates, addresses, redirects. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Certificate, makeCertificate } from '../../packages/upstream-client/test/certificates.ts';
import {
  address,
  cleanUp,
  listen,
  startConnectProxy,
  startDns,
  startDnsOverHttps,
  startDnsOverTls,
  startSocksProxy,
  type TestDns,
  type TestProxy,
} from '../../packages/upstream-client/test/servers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
let certificate: Certificate;
let plain: { port: number };
let secure: { port: number };
let connectProxy: TestProxy;
let socksProxy: TestProxy;
let dns: Record<'udp' | 'tls' | 'https', TestDns>;
/** Of the last request that arrived. */
let received: { headers: IncomingHttpHeaders; url: string; model: string };

const answer: RequestListener = (request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (part) => {
    text += part;
  });
  request.on('end', () => {
    if (request.url?.startsWith('/moved')) return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const body = text === '' ? {} : JSON.parse(text);
    received = { headers: request.headers, url: request.url ?? '', model: body.model };
    response.setHeader('content-type', 'application/json');
    if (request.method === 'GET') return void response.end(JSON.stringify({ object: 'list', data: [{ id: 'listed', object: 'model' }] }));
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }];
    response.end(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices,
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      }),
    );
  });
};

beforeAll(async () => {
  certificate = await makeCertificate('api.upstream.example');
  plain = await listen(createServer(answer));
  secure = await listen(createHttpsServer(certificate, answer));
  const sending = (_host: string, port: number) => ({ host: '127.0.0.1', port });
  connectProxy = await startConnectProxy({ want: 'me:proxy-secret', sending });
  socksProxy = await startSocksProxy({ want: 'me:proxy-secret', sending });
  const home = (name: string, type: string) => ({ answers: type === 'A' ? [address(name, name.startsWith('evil') ? '169.254.169.254' : '127.0.0.1')] : [] });
  dns = { udp: await startDns(home), tls: await startDnsOverTls(home, certificate), https: await startDnsOverHttps(home, certificate) };
  gateway = await startGateway({
    arrangement: 'embedded',
    env: { HTTP_PROXY: 'http://127.0.0.1:1', HTTPS_PROXY: 'http://127.0.0.1:1', USER_AGENT: 'house/1' },
  });
});
afterAll(async () => {
  await gateway.stop();
  await cleanUp();
});

const upstream = async (name: string, settings: object, model: object = {}) => {
  const named = {
    name,
    protocol: 'alpha' as const,
    base_url: `https://api.upstream.example:${secure.port}`,
    api_keys: [{ key: 'sk-upstream-key' }],
    ...settings,
  };
  await gateway.configure({ upstreams: [named], models: [{ name, upstream: name, upstream_model_id: 'm', ...model }] });
};
const ask = async (
  model: string,
  headers: Record<string, string> = {},
  path = '/v1/chat/completions',
  body: object = { messages: [{ role: 'user', content: 'Hi' }] },
) => {
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, ...body }),
  });
  return { status: reply.status, text: await reply.text() };
};

describe('ways out', () => {
  test.each([
    ['http', () => connectProxy],
    ['socks5h', () => socksProxy],
  ])('%s proxy with credentials and an authority of its own, also for the probe', async (scheme, proxyOf) => {
    const proxy = proxyOf();
    await upstream(scheme, { proxy: `${scheme}://me:proxy-secret@127.0.0.1:${proxy.port}`, tls: { ca: certificate.cert } });
    expect((await ask(scheme)).status).toBe(200);
    expect(proxy.asked).toContain(`me:proxy-secret@api.upstream.example:${secure.port}`);
    const probe = await gateway.console('POST', `/upstreams/${scheme}/fetch-models`);
    expect([probe.status, probe.body.models]).toEqual([200, ['listed']]);
    // The next request sees the next configuration: other credentials are another pool.
    await upstream(scheme, { proxy: `${scheme}://me:no-longer@127.0.0.1:${proxy.port}`, tls: { ca: certificate.cert } });
    const refused = await ask(scheme, { 'z-request-id': `refused-${scheme}` });
    expect([refused.status, refused.text]).toEqual([502, expect.not.stringContaining('no-longer')]);
    const row = await gateway.row(`refused-${scheme}`);
    expect(row).toMatchObject({ status: 502, attempts: [{ error_code: 'connect_proxy' }] });
  });

  test.each(['udp', 'tls', 'https'] as const)('%s:// DNS server', async (scheme) => {
    const { port, asked } = dns[scheme];
    const settings = { dns: { servers: [`${scheme}://127.0.0.1:${port}`], ttl_secs: 60 }, tls: { ca: certificate.cert } };
    await upstream(`dns-${scheme}`, settings);
    expect((await ask(`dns-${scheme}`)).status).toBe(200);
    expect(asked).toContain(`${scheme} api.upstream.example A`);
    await upstream(`evil-${scheme}`, { ...settings, base_url: `https://evil.upstream.example:${secure.port}` });
    expect((await ask(`evil-${scheme}`)).status).toBe(502);
  });

  test('nothing of it is shown, stored in rows, or logged', async () => {
    const { text } = await ask('http', { 'z-request-id': 'last' });
    const shown = await gateway.console('GET', '/upstreams');
    const everything = [
      text,
      JSON.stringify(shown.body),
      JSON.stringify(await gateway.rows()),
      ...Object.values(gateway.processes).map((one) => one.logs().join('\n')),
    ].join('\n');
    expect(everything).not.toMatch(/proxy-secret|no-longer|sk-upstream-key|bWU6/);
    expect(shown.body.items.find((one: { name: string }) => one.name === 'socks5h').proxy).toBe(`socks5h://********@127.0.0.1:${socksProxy.port}`);
  });
});

describe('headers', () => {
  const hex = (text: string) => createHash('sha256').update(text).digest('hex');
  const custom_headers = {
    'X-Who': '{{request_access_key_name}}@{{request_access_key_group}}',
    'X-Request': '{{request_id}}',
    'X-Key-Hash': '{{access_key_hash}}',
    'X-System': '{{system_prompt_hash}}',
    'X-Chain': '{{header:X-First|header:x-second|request_id}}',
    'X-Secret': '{{header:authorization|header:x-api-key|header:cookie}}',
    Authorization: 'Bearer mine',
  };

  test('templates, from either protocol, verbatim and translated', async () => {
    await upstream('templates', { base_url: `http://127.0.0.1:${plain.port}`, custom_headers, user_agent: 'agent/{{request_id}}' });
    const system = 'Answer briefly — in français.';
    await ask('templates', { 'z-request-id': 'r-1', 'x-second': 'two', cookie: 'c=1' }, undefined, {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: 'Hi' },
      ],
    });
    const hash = createHash('sha256').update('caller').digest().subarray(0, 16).toString('base64');
    expect(received.headers).toMatchObject({
      'x-who': 'caller@everyone',
      'x-request': 'r-1',
      'x-key-hash': hash,
      'x-system': hex(system),
      'x-chain': 'two',
      authorization: 'Bearer mine',
      'user-agent': 'agent/r-1',
    });
    expect(received.headers).not.toHaveProperty('x-secret');
    await ask('templates', { 'x-first': '  ', 'anthropic-version': '2023-06-01' }, '/v1/messages', {
      max_tokens: 9,
      system: [{ type: 'text', text: system }],
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect(received.headers).toMatchObject({ 'x-system': hex(system), 'user-agent': 'house/1' });
    for (const name of ['x-request', 'x-chain', 'x-secret']) expect(received.headers).not.toHaveProperty(name);
    await ask('templates');
    expect(received.headers).not.toHaveProperty('x-system');
  });

  test("without settings: our own user agent, and none of the caller's headers", async () => {
    await upstream('plain', { base_url: `http://127.0.0.1:${plain.port}` });
    await ask('plain', { 'x-second': 'two', 'user-agent': 'caller/1' });
    expect(received.headers).toMatchObject({ 'user-agent': 'house/1', authorization: 'Bearer sk-upstream-key' });
    expect(received.headers).not.toHaveProperty('x-second');
  });
});

describe('addresses', () => {
  test('a base address of the model, direct_path, inference_profile, a protocol of the model', async () => {
    await upstream('addressed', { base_url: 'http://127.0.0.1:1' }, { base_url: `http://127.0.0.1:${plain.port}/prefix`, inference_profile: 'profile/x' });
    expect((await ask('addressed')).status).toBe(200);
    expect(received).toMatchObject({ url: '/prefix/v1/chat/completions', model: 'profile/x' });
    await upstream('addressed', { base_url: 'http://127.0.0.1:1' }, { base_url: `http://127.0.0.1:${plain.port}/whole/endpoint`, direct_path: true });
    expect((await ask('addressed')).status).toBe(200);
    expect(received).toMatchObject({ url: '/whole/endpoint', model: 'm' });
    await upstream('addressed', { base_url: `http://127.0.0.1:${plain.port}` }, { protocol: 'gamma' });
    await ask('addressed');
    expect(received.url).toBe('/v1beta/models/m:generateContent');
    expect(received.headers).toHaveProperty('x-goog-api-key', 'sk-upstream-key');
    await upstream('addressed', { base_url: `http://127.0.0.1:${plain.port}`, neutral_headers: true }, { protocol: 'gamma' });
    await ask('addressed');
    expect(received.headers).toHaveProperty('x-gamma-api-key', 'sk-upstream-key');
  });

  test('a redirect is reported, not followed', async () => {
    await upstream('moved', { base_url: `http://127.0.0.1:${plain.port}/moved` });
    const { status, text } = await ask('moved');
    expect([status, JSON.parse(text).error.code]).toEqual([502, 'upstream_redirect']);
    expect(text).not.toContain('169.254');
  });
});

test('OUTBOUND_PRIVATE=deny: refused on save, and for what was saved before', async () => {
  const strict = await startGateway({ arrangement: 'embedded', env: { OUTBOUND_PRIVATE: 'deny' } });
  try {
    for (const settings of [{ base_url: 'http://127.0.0.1:1' }, { base_url: 'http://localhost:1' }, { base_url: 'https://h', proxy: 'socks5://10.0.0.1:1' }]) {
      const { status, body } = await strict.console('POST', '/upstreams', { name: 'u', protocol: 'alpha', api_keys: [], ...settings });
      expect([status, body.error.details[0].field]).toEqual([422, 'proxy' in settings ? 'proxy' : 'base_url']);
    }
  } finally {
    await strict.stop();
  }
});
