/** An upstream whose credential comes by login, through a whole gateway: its token is renewed, refused, renewed again and given up, and stands nowhere. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProtocolId } from '@model-gateway/contracts';
import { mintAccessKey } from '@model-gateway/secrets';
import { WebSocket, WebSocketServer } from 'ws';
import { connectRaw, type RawConnection } from '../../packages/bus/test/raw-connection.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts';

/** The vendor: short tokens for a lasting one, and services that take them. */
interface Vendor {
  url: string;
  server: Server;
  exchanges: number;
  calls: { token: string; headers: Record<string, string | string[] | undefined>; path: string }[];
  tokens: string[];
  /** Which tokens the service takes. */
  takes: (token: string) => boolean;
  /** Bodies of its calls. */
  bodies: string[];
  /** Fields of its next messages. */
  message: object;
  /** What in a call's path or body this account may not use: 403, whatever the token. */
  withheld: RegExp | null;
}

const lasting = 'CANARY-lasting-token-000000';

/** What the vendor's services beside the chat answer, by the beginning of their paths. */
const services = ({ url, exchanges }: Vendor, path: string): [RegExp, object][] => [
  [
    /^\/v1\/responses/,
    {
      id: /resp_\d+/.exec(path)?.[0] ?? `resp_${exchanges}`,
      object: 'response',
      created_at: 1,
      status: 'in_progress',
      model: 'm',
      background: true,
      output: [],
    },
  ],
  [/^\/v1\/messages\/count_tokens/, { input_tokens: 4711 }],
  [/^\/storage/, {}],
  [
    /^\/api\/v1\/uploads/,
    {
      data: {
        policy: 'eyJ9',
        signature: 'c2lnbmF0dXJl',
        upload_dir: 'instant/x',
        upload_host: `${url}/storage`,
        oss_access_key_id: 'LTAI',
        x_oss_object_acl: 'private',
        x_oss_forbid_overwrite: 'true',
      },
    },
  ],
  [/^\/api\/v1\/services\//, { output: { task_id: 'up-1', task_status: 'PENDING' } }],
  [/^\/api\/v1\/tasks\//, { output: { task_id: 'up-1', task_status: 'FAILED', code: 'InvalidParameter', message: 'Nothing is in it.' } }],
];
/** Of storage the policy is the credential. */
const isOpen = (path: string): boolean => path === '/storage';

async function startVendor(): Promise<Vendor> {
  const vendor: Vendor = { url: '', server: createServer(), exchanges: 0, calls: [], tokens: [], takes: () => true, bodies: [], message: {}, withheld: null };
  const send = (response: ServerResponse, status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  vendor.server.on('request', (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      vendor.bodies.push(body);
      answer(request, response, body);
    });
  });
  const answer = (request: IncomingMessage, response: ServerResponse, body: string): void => {
    const given = String(request.headers.authorization ?? request.headers['x-api-key'] ?? '');
    if (request.url === '/exchange') {
      vendor.exchanges++;
      if (given !== `token ${lasting}`) return send(response, 401, { message: 'Bad credentials' });
      vendor.tokens.push(`CANARY-short-token-${vendor.exchanges}-xxxxxxxx`);
      return send(response, 200, { token: vendor.tokens.at(-1), expires_at: Math.floor(Date.now() / 1000) + 1800 });
    }
    const token = given.replace('Bearer ', '');
    const path = request.url ?? '';
    vendor.calls.push({ token, headers: request.headers, path });
    if (!isOpen(path) && !vendor.takes(token)) return send(response, 401, { error: { message: `bad token ${token}`, type: 'auth', code: 'token_expired' } });
    if (vendor.withheld?.test(path + body)) return send(response, 403, { error: { message: 'Not for this account.', type: 'permission_error' } });
    const service = services(vendor, path).find(([beginning]) => beginning.test(path));
    if (service) return send(response, 200, service[1]);
    return send(response, 200, {
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hello', ...vendor.message }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    });
  };
  const sockets = new WebSocketServer({ noServer: true });
  vendor.server.on('upgrade', (request, socket, head) => {
    const token = String(request.headers.authorization ?? '').replace('Bearer ', '');
    vendor.calls.push({ token, headers: request.headers, path: request.url ?? '' });
    if (!vendor.takes(token)) return socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    sockets.handleUpgrade(request, socket, head, (session) => session.send(JSON.stringify({ type: 'session.created', event_id: 'e', session: {} })));
  });
  await new Promise<void>((resolve) => vendor.server.listen(0, '127.0.0.1', resolve));
  vendor.url = `http://127.0.0.1:${(vendor.server.address() as AddressInfo).port}`;
  return vendor;
}

describe.each(arrangements('credentials by login'))('%s', (arrangement) => {
  let vendor: Vendor;
  let gateway: TestGateway;
  let collector: OtlpCollector;
  let tap: RawConnection | undefined;
  const seen: string[] = [];
  /** Everything that any service said on the bus, by its subject. */
  const overheard: { subject: string; text: string }[] = [];
  beforeAll(async () => {
    [vendor, collector] = await Promise.all([startVendor(), startOtlpCollector()]);
    const env = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'always_on',
      OTEL_METRIC_EXPORT_INTERVAL: '500',
      OTEL_BSP_SCHEDULE_DELAY: '100',
    };
    gateway = await startGateway({ arrangement, env, toml: { 'sso.profiles.editor_copilot': { enabled: true } } });
    tap = gateway.busUrl === undefined ? undefined : await connectRaw(gateway.busUrl, 'console');
    tap?.connection.subscribe('>', {
      callback: (_error, { subject, data }) => void overheard.push({ subject, text: Buffer.from(data).toString('latin1') }),
    });
    const made = await gateway.console('POST', '/sso-credentials/import', {
      name: 'editor',
      profile: 'editor_copilot',
      account: 'ada',
      tokens: lasting,
      settings: { client_id: 'c', exchange_url: `${vendor.url}/exchange` },
      upstream: { name: 'editor', base_url: vendor.url },
    });
    expect([made.status, made.body.upstream, made.body.upstream_error]).toEqual([201, 'editor', null]);
    await gateway.configure({
      models: [{ name: 'by-login', upstream: 'editor', upstream_model_id: 'm' }],
      load_balancers: [{ name: 'balanced', entries: [{ model: 'by-login', weight: 1 }] }],
    });
  });
  afterAll(async () => {
    await tap?.connection.close();
    await gateway?.stop();
    await collector?.stop();
    vendor.server.closeAllConnections();
    vendor.server.close();
  });
  const ask = async (messages: object[] = [{ role: 'user', content: 'Hi' }]) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'by-login', messages }),
    });
    const text = await answer.text();
    seen.push(text);
    return { status: answer.status, text, id: answer.headers.get('x-request-id')! };
  };
  const upstream = async () => (await gateway.console('GET', '/upstreams/editor')).body;

  test('a call carries the token and what belongs to it', async () => {
    expect((await ask()).status).toBe(200);
    expect(vendor.exchanges).toBe(1);
    expect(vendor.calls.at(-1)).toMatchObject({ token: vendor.tokens[0], headers: { 'copilot-integration-id': 'vscode-chat' } });
  });

  test('a refused token is renewed once, for all calls that were refused with it; signatures of the account go back to it all the same', async () => {
    const signature = 'U0lHTkFUVVJFLW9mLXRoZS1hY2NvdW50';
    vendor.message = { reasoning_details: [{ type: 'reasoning.text', text: 'Let me see.', signature, format: 'anthropic-claude-v1', index: 0 }] };
    const { message } = JSON.parse((await ask()).text).choices[0];
    vendor.message = {};
    // Its caller holds it sealed, for this account.
    expect(message.reasoning_details[0].signature).not.toBe(signature);
    const history = [{ role: 'user', content: 'Hi' }, message, { role: 'user', content: 'Go on.' }];
    const [refused] = vendor.tokens;
    vendor.takes = (token) => token !== refused;
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(history)));
    expect(answers.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(vendor.exchanges).toBe(2);
    for (const body of vendor.bodies.slice(-6)) expect(JSON.parse(body).messages[1].reasoning_details).toEqual([expect.objectContaining({ signature })]);
    const row = await gateway.row(answers[0]!.id);
    expect(row.attempts.at(-1)).toMatchObject({ status: 200 });
    expect((await upstream()).unavailable).toBeNull();
  });

  test('a renewed token that is refused ends the login: no storm, the upstream is out of routing, and says why', async () => {
    vendor.takes = () => false;
    const refused = await ask();
    expect(refused.status).toBe(502);
    await until(async () => (await upstream()).unavailable === 'sso_needs_login', 'the upstream to be out of routing');
    await gateway.settle();
    const { exchanges } = vendor;
    const calls = vendor.calls.length;
    expect(exchanges).toBe(2);
    for (let more = 0; more < 5; more++) expect((await ask()).status).toBe(502);
    expect([vendor.exchanges, vendor.calls.length]).toEqual([exchanges, calls]);
    const { items } = (await gateway.console('GET', '/sso-credentials')).body;
    expect(items).toMatchObject([{ name: 'editor', state: 'needs_login', upstreams: ['editor'] }]);
    const nodes = await gateway.console('GET', '/load-balancers/balanced/nodes');
    expect(JSON.stringify(nodes.body)).toContain('"sso_needs_login"');
    const { items: records } = (await gateway.console('GET', '/audit-logs?entity_type=sso_credential')).body;
    expect(records[0]).toMatchObject({ actor: 'gateway', action: 'rotate', entity_id: 'editor', diff: { result: 'rejected' } });
    const explained = await gateway.console('POST', '/route/explain', { model: 'by-login', access_key: 'caller' });
    expect(JSON.stringify(explained.body)).toContain('sso_needs_login');
    seen.push(JSON.stringify(nodes.body), JSON.stringify(explained.body));
  });

  test('a new login brings it back', async () => {
    vendor.takes = (token) => token === vendor.tokens.at(-1);
    const again = await gateway.console('POST', '/sso-credentials/import', {
      name: 'editor',
      profile: 'editor_copilot',
      tokens: lasting,
      replace: true,
    });
    expect([again.status, again.body.credential.state]).toEqual([201, 'ok']);
    await gateway.settle();
    await until(async () => (await ask()).status === 200, 'calls to work again');
  });

  describe('beside calls of models', () => {
    const taskPath = '/api/v1/services/aigc/video-generation/video-synthesis';
    /** An upstream with a login of its own: a token is renewed no more than once a minute. */
    const add = async (name: string, protocol: ProtocolId, model: object = {}): Promise<void> => {
      vendor.takes = () => true;
      const settings = { client_id: 'c', exchange_url: `${vendor.url}/exchange` };
      const made = await gateway.console('POST', '/sso-credentials/import', { name, profile: 'editor_copilot', account: name, tokens: lasting, settings });
      expect(made.status).toBe(201);
      await gateway.configure({
        upstreams: [{ name, protocol: 'alpha', base_url: vendor.url, api_keys: [], sso_credential: name }],
        models: [{ name, upstream: name, upstream_model_id: 'm', protocol, ...model }],
      });
    };
    /** The vendor takes the token at hand no more. */
    const revoke = (): { renewals(): number; tokens(path: string): string[] } => {
      const [revoked, { exchanges }, from] = [new Set(vendor.tokens), { ...vendor }, vendor.calls.length];
      vendor.takes = (token) => !revoked.has(token);
      return {
        renewals: () => vendor.exchanges - exchanges,
        /** Whether each call since then carried the revoked one. */
        tokens: (path) => vendor.calls.slice(from).flatMap((call) => (call.path.startsWith(path) ? [revoked.has(call.token) ? 'revoked' : 'renewed'] : [])),
      };
    };
    const call = async (path: string, body?: object | FormData, headers: Record<string, string> = {}) => {
      const isForm = body instanceof FormData;
      const answer = await fetch(`${gateway.url}${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${gateway.key}`, ...(body && !isForm && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: isForm ? body : JSON.stringify(body) }),
      });
      const text = await answer.text();
      seen.push(text);
      return { status: answer.status, text };
    };
    const askFor = (model: string, path: string, content: string, key?: string) =>
      call(path, { model, messages: [{ role: 'user', content }] }, key === undefined ? {} : { authorization: `Bearer ${key}` });
    const stateOf = async (name: string) => (await gateway.console('GET', `/sso-credentials/${name}`)).body.state;
    /** 101 with the session's first event, or the status of the refusal. */
    const openSession = (model: string, id: string): Promise<{ status: number; said: string }> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${gateway.key}`, 'z-request-id': id };
        const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/v1/realtime?model=${model}`, { headers });
        socket.on('message', (bytes: Buffer) => {
          socket.close();
          resolve({ status: 101, said: bytes.toString() });
        });
        socket.on('unexpected-response', (request, reply) => {
          request.destroy();
          resolve({ status: reply.statusCode ?? 0, said: '' });
        });
        socket.on('error', reject);
      });

    test('a realtime session begins with a renewed token; one that is refused, too, ends the login', async () => {
      await add('spoken', 'alpha_realtime');
      expect((await openSession('spoken', 'session-1')).status).toBe(101);
      const vendorSaw = revoke();
      const sessions = await Promise.all(['session-2', 'session-3'].map((id) => openSession('spoken', id)));
      expect(sessions).toEqual(Array(2).fill({ status: 101, said: expect.stringContaining('session.created') }));
      expect(vendorSaw.renewals()).toBe(1);
      expect(vendorSaw.tokens('/v1/realtime').sort()).toEqual(['renewed', 'renewed', 'revoked', 'revoked']);
      expect((await gateway.row('session-2')).attempts).toMatchObject([{ status: 401 }, { status: 101 }]);
      expect((await gateway.console('GET', '/upstreams/spoken')).body.unavailable).toBeNull();
      const again = revoke();
      expect((await openSession('spoken', 'session-4')).status).toBe(502);
      await until(async () => (await stateOf('spoken')) === 'needs_login', 'the login to end');
      expect([again.renewals(), again.tokens('/v1/realtime')]).toEqual([0, ['revoked']]);
    });

    test.each([
      ['a response that its upstream keeps', 'kept', ''],
      ['its events', 'kept-events', '?stream=true'],
    ])('%s: read with a renewed token', async (_what, name, query) => {
      await add(name, 'alpha_response');
      const begun = await call('/v1/responses', { model: name, input: 'Hello', background: true });
      expect(begun.status).toBe(200);
      const { id } = JSON.parse(begun.text);
      const vendorSaw = revoke();
      const read = await call(`/v1/responses/${id}${query}`);
      expect([read.status, read.text]).toEqual([200, expect.stringContaining(`"${id}"`)]);
      expect([vendorSaw.renewals(), vendorSaw.tokens('/v1/responses/')]).toEqual([1, ['revoked', 'renewed']]);
    });

    test('tokens: counted with a renewed token; a counter that refuses that one, too, does not end the login', async () => {
      await add('counted', 'beta');
      const counted = async () => JSON.parse((await askFor('counted', '/v1/messages/count_tokens', 'Hi')).text).input_tokens;
      expect(await counted()).toBe(4711);
      const vendorSaw = revoke();
      expect(await counted()).toBe(4711);
      expect([vendorSaw.renewals(), vendorSaw.tokens('/v1/messages/count_tokens')]).toEqual([1, ['revoked', 'renewed']]);
      revoke();
      for (let more = 0; more < 3; more++) expect(await counted()).toBeLessThan(4711);
      expect(await stateOf('counted')).toBe('ok');
    });

    test('a task: looked at with a renewed token', async () => {
      await add('films', 'delta', { direct_path: true, base_url: `${vendor.url}${taskPath}`, extra_config: { async_mode: true } });
      const begun = await call(taskPath.replace('/api', ''), { model: 'films', input: { prompt: 'a cat' } });
      expect(begun.status).toBe(200);
      const { task_id: task } = JSON.parse(begun.text).output;
      const vendorSaw = revoke();
      expect((await call(`/v1/tasks/${task}`)).status).toBe(200);
      expect([vendorSaw.renewals(), vendorSaw.tokens('/api/v1/tasks/').slice(0, 2)]).toEqual([1, ['revoked', 'renewed']]);
    });

    test.each([
      ['a path', 'picked-path', '/v3/picked-path/v1/withheld', 'Hi'],
      ['something that the body names', 'picked-file', '/v1/chat/completions', 'withheld'],
    ])('one caller who is refused for %s, again and again, does not cost others the login', async (_what, name, path, content) => {
      await add(name, 'alpha');
      vendor.withheld = /withheld/;
      const from = vendor.exchanges;
      for (let times = 0; times < 6; times++) expect((await askFor(name, path, content)).status).toBe(502);
      expect((await askFor(name, '/v1/chat/completions', 'Hi')).status).toBe(200);
      expect([await stateOf(name), vendor.exchanges - from]).toEqual(['ok', 1]);
      expect((await gateway.console('GET', `/upstreams/${name}`)).body.unavailable).toBeNull();
    });

    test('a login that is good for nothing is noticed by 403 as well: when two callers were refused', async () => {
      const second = mintAccessKey();
      await gateway.configure({ access_keys: [{ name: 'second-caller', group: 'everyone', key: second }] });
      await add('banned', 'alpha');
      vendor.withheld = /./;
      expect((await askFor('banned', '/v1/chat/completions', 'Hi')).status).toBe(502);
      expect(await stateOf('banned')).toBe('ok');
      expect((await askFor('banned', '/v1/chat/completions', 'Hi', second)).status).toBe(502);
      await until(async () => (await stateOf('banned')) === 'needs_login', 'the login to end');
      vendor.withheld = null;
    });

    test('a file: uploaded with a renewed token', async () => {
      await add('words', 'delta', { upstream_model_id: 'paraformer-v2', kind: 'delta-audio-asr' });
      const vendorSaw = revoke();
      const form = new FormData();
      form.set('model', 'words');
      form.set('file', new File(['RIFF'], 'a.wav'));
      await call('/v1/audio/transcriptions', form);
      expect([vendorSaw.renewals(), vendorSaw.tokens('/api/v1/uploads')]).toEqual([1, ['revoked', 'renewed']]);
      expect(vendorSaw.tokens('/api/v1/services/')).toEqual(['renewed']);
    });
  });

  test('no token stands in an answer, a row, a record, an export, a log, a trace, or a message of the bus', async () => {
    for (const path of ['/sso-credentials', '/export', '/audit-logs?limit=100', '/logs?limit=100', '/history?limit=50', '/model-monitor'])
      seen.push(JSON.stringify((await gateway.console('GET', path)).body));
    for (const process of Object.values(gateway.processes)) seen.push(...process.logs());
    expect(seen.filter((text) => text.includes('CANARY'))).toEqual([]);
    await collector.until(() => collector.calls.length > 3, 'traces and metrics');
    expect(collector.calls.filter(({ body }) => body.includes('CANARY')).map(({ path }) => path)).toEqual([]);
    if (!tap) return;
    // Translators asked for tokens, and what they got is sealed.
    expect(overheard.filter(({ subject }) => subject.includes('sso.token')).length).toBeGreaterThan(0);
    // What an admin pastes goes from the edge, where the API is, to the console: nothing that a vendor gave out goes anywhere.
    const told = overheard.filter(({ text }) => text.replaceAll(lasting, '').includes('CANARY'));
    expect([...new Set(told.map(({ subject }) => subject))]).toEqual([]);
    const pasted = overheard.filter(({ text }) => text.includes('CANARY'));
    expect(pasted.map(({ subject }) => subject).filter((subject) => !subject.startsWith('gw.v1.inbox.console.'))).toEqual([]);
  });
});
