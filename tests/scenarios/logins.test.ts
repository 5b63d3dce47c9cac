/**
 * Logins at a real OAuth server through whole gateways: by a device's code, in a browser, and by what was pasted. Their tokens end and are renewed under
 * calls, the console goes away and comes back, the gate is closed and opened; and what the server gave out stands nowhere that has no use for it.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type OAuthServer, oauthSettings, startOAuthServer, visitPages } from '../../services/console/test/oauth-server.ts';
import { keptTexts } from '../support/at-rest.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { nothingFor } from '../support/pauses.ts';
import { memoryReadable, textsInMemory } from '../support/process-memory.ts';

/** Seconds. They are renewed at half of it, and not used in its last quarter. */
const tokenLife = 16;
/** All of a process's memory is read, on a machine that may have much else to do. */
const longMs = 600_000;
const ways = ['device', 'code', 'pasted', 'bare'] as const;
type Way = (typeof ways)[number];

interface Service {
  url: string;
  server: Server;
  /** Tokens of the calls it answered, by the model that was asked for. */
  tokens: Map<string, string[]>;
  /** What it answers instead of what was asked. */
  page: ((token: string) => { status: number; type: string; body: string }) | undefined;
}

/** A model service that takes the tokens which the OAuth server would take, and no other. */
async function startService(oauth: OAuthServer): Promise<Service> {
  const service: Service = { url: '', server: createServer(), tokens: new Map(), page: undefined };
  const send = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  service.server.on('request', async (request, response) => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const token = String(request.headers.authorization ?? '').replace('Bearer ', '');
    const { model } = JSON.parse(text) as { model: string };
    if (service.page) {
      const { status, type, body } = service.page(token);
      return response.writeHead(status, { 'content-type': type }).end(body);
    }
    if (!(await oauth.takes(token))) return send(response, 401, { error: { message: `bad token ${token}`, type: 'auth', code: 'token_expired' } });
    service.tokens.set(model, [...(service.tokens.get(model) ?? []), token]);
    const content = [{ type: 'output_text', text: 'hello', annotations: [] }];
    return send(response, 200, {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model,
      output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
      usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
    });
  });
  await new Promise<void>((resolve) => service.server.listen(0, '127.0.0.1', resolve));
  service.url = `http://127.0.0.1:${(service.server.address() as AddressInfo).port}`;
  return service;
}

/** What another client of the vendor has after a login of its own. */
async function loginElsewhere({ issuer }: OAuthServer): Promise<{ access_token: string; refresh_token: string; expires_in: number }> {
  const post = async (path: string, fields: Record<string, string>) =>
    (await (await fetch(`${issuer}${path}`, { method: 'POST', body: new URLSearchParams({ client_id: 'agent', ...fields }) })).json()) as Record<
      string,
      string
    >;
  const begun = await post('/device/auth', { scope: 'openid offline_access' });
  await visitPages(begun['verification_uri_complete']!);
  const given = await post('/token', { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', device_code: begun['device_code']! });
  return given as never;
}

describe.each(arrangements('logins at an OAuth server'))('%s', (arrangement) => {
  let oauth: OAuthServer;
  let service: Service;
  let gateway: TestGateway;
  /** What went through the edge on its way to the console. */
  const pasted = new Set<string>();
  /** Everything that anybody was answered. */
  const seen: string[] = [];
  beforeAll(async () => {
    oauth = await startOAuthServer({ accessSeconds: tokenLife, interval: 1 });
    service = await startService(oauth);
    gateway = await startGateway({ arrangement, toml: { 'sso.profiles.alpha_user': { enabled: true } } });
  });
  afterAll(async () => {
    await gateway?.stop();
    service?.server.closeAllConnections();
    service?.server.close();
    await oauth?.close();
  });

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await gateway.console(method, path, body);
    seen.push(JSON.stringify(answer.body));
    return answer;
  };
  const ask = async (model: string) => {
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] }),
    });
    const text = await answer.text();
    seen.push(text);
    return { status: answer.status, text };
  };
  const given = (name: string) => ({ name, profile: 'alpha_user', settings: oauthSettings(oauth), upstream: { name, base_url: service.url } });
  const begin = async (name: string, over: object) => {
    const { status, body } = await call('POST', '/sso-credentials/login', { ...given(name), ...over });
    expect([status, body.status]).toEqual([201, 'pending']);
    return body as { id: string; verification_uri_complete: string; authorize_url: string };
  };
  const look = async (id: string) => (await call('GET', `/sso-credentials/login/${id}`)).body;
  const useIt = async (way: Way): Promise<void> => {
    expect((await call('GET', `/sso-credentials/${way}`)).body).toMatchObject({ state: 'ok', upstreams: [way], tokens: '********' });
    await gateway.configure({ models: [{ name: way, upstream: way, upstream_model_id: way }] });
    expect([way, (await ask(way)).status]).toEqual([way, 200]);
  };
  const tokensOf = (way: Way): Set<string> => new Set(service.tokens.get(way));
  const works = (way: Way) => until(async () => (await ask(way)).status === 200, `calls of ${way} to work`, 60_000);
  const consoleProcess = () => gateway.processes['console'] ?? gateway.processes['gateway']!;

  test('by the code of a device: pending until somebody enters it; the upstream is there, and its calls carry the token', async () => {
    const login = await begin('device', { flow: 'device' });
    await until(async () => {
      expect((await look(login.id)).status).toBe('pending');
      return oauth.asked.length >= 3;
    }, 'three questions that are answered with pending');
    await visitPages(login.verification_uri_complete);
    await until(async () => (await look(login.id)).status === 'done', 'the login to end');
    expect(await look(login.id)).toMatchObject({ credential: 'device', upstream: 'device', upstream_error: null });
    await useIt('device');
  });

  test('in a browser: the address that it was sent back to completes the login, once', async () => {
    const login = await begin('code', { flow: 'code', redirect_url: 'http://127.0.0.1:4455/callback' });
    const back = await visitPages(login.authorize_url);
    const code = new URL(back).searchParams.get('code')!;
    for (const known of [oauth.secrets, pasted]) known.add(code);
    const foreign = await call('POST', `/sso-credentials/login/${login.id}/complete`, { redirect_url: back.replace(/state=[^&]*/, 'state=another') });
    expect(foreign.status).toBe(422);
    const done = await call('POST', `/sso-credentials/login/${login.id}/complete`, { redirect_url: back });
    expect([done.status, done.body]).toEqual([200, expect.objectContaining({ status: 'done', upstream: 'code' })]);
    expect((await call('POST', `/sso-credentials/login/${login.id}/complete`, { redirect_url: back })).status).toBe(404);
    await useIt('code');
  });

  test('by what another client was given: the JSON, or the refresh token by itself', async () => {
    const [tokens, other] = [await loginElsewhere(oauth), await loginElsewhere(oauth)];
    for (const { access_token, refresh_token } of [tokens, other]) for (const token of [access_token, refresh_token]) pasted.add(token);
    const wrong = await call('POST', '/sso-credentials/import', { ...given('pasted'), tokens: `{"nothing": "${tokens.refresh_token}"}` });
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([422, expect.stringContaining('expected the JSON')]);
    const made = await call('POST', '/sso-credentials/import', { ...given('pasted'), tokens: JSON.stringify(tokens) });
    expect([made.status, made.body.upstream_error]).toEqual([201, null]);
    await useIt('pasted');
    const bare = await call('POST', '/sso-credentials/import', { ...given('bare'), tokens: other.refresh_token });
    expect([bare.status, bare.body.credential.account]).toEqual([201, 'ada']);
    await useIt('bare');
  });

  test('tokens end and are renewed: no call notices, and no refresh token is used twice', async () => {
    await until(
      async () => {
        for (const way of ways) expect([way, (await ask(way)).status]).toEqual([way, 200]);
        await nothingFor(500);
        return ways.every((way) => tokensOf(way).size >= 3);
      },
      'three tokens of each login',
      110_000,
    );
    for (const way of ways) expect((await call('GET', `/sso-credentials/${way}`)).body.state).toBe('ok');
  });

  test('what an upstream writes of a token reaches nobody', async () => {
    service.page = (token) => ({ status: 400, type: 'text/html', body: `<html><h1>Bad request</h1><pre>authorization: Bearer ${token}</pre></html>` });
    expect((await ask('code')).status).toBe(400);
    service.page = (token) => ({ status: 500, type: 'application/json', body: JSON.stringify({ error: { message: `token ${token} broke us` } }) });
    expect((await ask('pasted')).status).toBeGreaterThanOrEqual(500);
    service.page = undefined;
    await works('code');
  });

  test('the console is killed: tokens at hand are used until their end; a login under way goes on afterwards', async () => {
    const login = await begin('later', { flow: 'device' });
    await Promise.all(ways.map(ask));
    await consoleProcess().kill('SIGKILL');
    if (arrangement === 'split') {
      expect((await ask('device')).status).toBe(200);
      await until(async () => (await ask('device')).status !== 200, 'the token to end', 60_000);
      const refused = await ask('device');
      expect([refused.status, JSON.parse(refused.text)]).toEqual([
        502,
        { error: expect.objectContaining({ message: expect.any(String), code: expect.any(String) }) },
      ]);
    }
    await consoleProcess().restart();
    for (const way of ways) await works(way);
    await visitPages(login.verification_uri_complete);
    await until(async () => (await look(login.id)).status === 'done', 'the login to end');
    expect((await call('GET', '/sso-credentials/later')).body).toMatchObject({ state: 'ok', upstreams: ['later'] });
  });

  if (arrangement === 'split')
    test('the console is frozen while tokens end: calls wait for it, and none is lost', async () => {
      await works('code');
      await consoleProcess().kill('SIGSTOP');
      await nothingFor(tokenLife * 1000);
      const waiting = Promise.all([ask('code'), ask('code'), ask('device')]);
      await nothingFor(1_000);
      await consoleProcess().kill('SIGCONT');
      expect((await waiting).map(({ status }) => status)).toEqual([200, 200, 200]);
    });

  test('the gate is closed: hidden, refused, neither used nor renewed, and said; opened again it all comes back', async () => {
    const file = join(gateway.home, 'gateway.toml');
    const open = readFileSync(file, 'utf8');
    const section = /(\[sso\.profiles\.alpha_user\]\nenabled = )true/;
    expect(open).toMatch(section);
    writeFileSync(file, open.replace(section, '$1false'));
    await consoleProcess().restart();
    expect(JSON.stringify((await call('GET', '/sso-profiles')).body)).not.toContain('alpha_user');
    const refused = await call('POST', '/sso-credentials/import', { ...given('closed'), tokens: 'a-refresh-token' });
    expect([refused.status, refused.body.error.details[0].field]).toEqual([422, 'profile']);
    await until(async () => (await call('GET', '/upstreams/device')).body.unavailable === 'sso_profile_disabled', 'the upstream to be out of routing');
    expect((await call('GET', '/sso-credentials/device')).body).toMatchObject({ enabled: false, way_out: expect.stringContaining('enabled = true') });
    await gateway.settle();
    const questions = oauth.asked.length;
    expect((await ask('device')).status).toBe(502);
    // Renewals are due in this time.
    await nothingFor(tokenLife * 500);
    expect(oauth.asked).toHaveLength(questions);
    writeFileSync(file, open);
    await consoleProcess().restart();
    for (const way of ways) await works(way);
    expect((await call('GET', '/upstreams/device')).body.unavailable).toBeNull();
  });

  test('none of what the server gave out stands in an answer, a log line, a file, a row or a message that is kept', async () => {
    for (const path of ['/sso-credentials', '/export', '/audit-logs?limit=200', '/logs?limit=200', '/history?limit=100', '/model-monitor', '/dead-letters'])
      await call('GET', path);
    for (const [name, process] of Object.entries(gateway.processes)) seen.push(...process.logs().map((line) => `${name}: ${line}`));
    expect(oauth.secrets.size).toBeGreaterThan(20);
    const holds = (text: string): boolean => [...oauth.secrets].some((secret) => text.includes(secret));
    expect(seen.filter(holds)).toEqual([]);
    const kept = await keptTexts(gateway);
    if (arrangement === 'split')
      expect([...kept.keys()]).toEqual(expect.arrayContaining(['table sso_credentials', 'table audit_logs', 'table catalog_history_rows']));
    else expect([...kept].filter(([, text]) => text.includes('sso_credentials')).length).toBeGreaterThan(0);
    expect([...kept].filter(([, text]) => holds(text)).map(([name]) => name)).toEqual([]);
  });

  if (arrangement === 'split')
    (memoryReadable() ? test : test.skip)(
      'none stands in the memory of a service that needs none, and what renews a token in the console’s alone',
      async () => {
        for (const way of ways) await works(way);
        const notPasted = [...oauth.secrets].filter((secret) => !pasted.has(secret));
        const renewing = notPasted.filter((secret) => oauth.renewing.has(secret)).slice(-6);
        const access = notPasted.filter((secret) => !oauth.renewing.has(secret)).slice(-6);
        for (const name of ['edge', 'router', 'stats']) expect([name, textsInMemory(gateway.processes[name]!, [...renewing, ...access])]).toEqual([name, []]);
        expect([...renewing, ...access]).toHaveLength(12);
        const inTranslator = textsInMemory(gateway.processes['translator']!, [...renewing, ...access]);
        // What is looked for would be found: translators do have access tokens.
        expect(inTranslator.length).toBeGreaterThan(0);
        expect(inTranslator.filter((secret) => renewing.includes(secret))).toEqual([]);
      },
      longMs,
    );
});
