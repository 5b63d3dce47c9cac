/** Sign-in at an OpenID provider: a real one (oidc-provider), in this process. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ConsoleConfig } from '@model-gateway/config';
import { openStorage, type Storage } from '@model-gateway/storage';
import { Provider } from 'oidc-provider';
import { silent } from '../../../packages/storage/test/engines.ts';
import { freePort } from '../../../tests/support/free-port.ts';
import { api, type Harness, startConsole } from './harness.ts';

type Account = Record<string, unknown> & { sub: string };

/** Follows redirects by hand, with cookies per origin, as a browser would. */
class Browser {
  readonly #jar = new Map<string, string>();
  async get(url: string): Promise<Response> {
    const reply = await fetch(url, { redirect: 'manual', headers: this.headers(url) });
    this.#keep(url, reply);
    return reply;
  }
  async post(url: string, body: string, type = 'application/x-www-form-urlencoded'): Promise<Response> {
    const reply = await fetch(url, { method: 'POST', redirect: 'manual', headers: { ...this.headers(url), 'content-type': type }, body });
    this.#keep(url, reply);
    return reply;
  }
  headers(url: string): Record<string, string> {
    const { origin } = new URL(url);
    const cookies = [...this.#jar].filter(([key]) => key.startsWith(`${origin} `)).map(([key, value]) => `${key.slice(origin.length + 1)}=${value}`);
    return cookies.length > 0 ? { cookie: cookies.join('; ') } : {};
  }
  #keep(url: string, reply: Response): void {
    for (const line of reply.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split(/=(.*)/s);
      this.#jar.set(`${new URL(url).origin} ${name}`, value);
    }
  }
}

let provider: Server;
let issuer: string;
let account: Account;
let consoleUrl: string;
/** How the client's secret came with each question to the token endpoint. */
const asked: string[] = [];
beforeAll(async () => {
  // It warns of its development settings, which is what it is used for here.
  for (const word of ['warn', 'info'] as const) jest.spyOn(console, word).mockImplementation(() => undefined);
  provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
});
afterAll(async () => {
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
});

/** The console's address is known only when it listens: so the provider comes after it. */
function serveProvider(isStrict = false): void {
  const oidc = new Provider(issuer, {
    clients: [
      {
        client_id: 'console',
        client_secret: 'provider-secret-canary',
        redirect_uris: [`${consoleUrl}/console/api/oidc/callback`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username', 'groups'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => account }),
    pkce: { required: () => true },
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: true } },
  });
  provider.removeAllListeners('request');
  const serve = oidc.callback();
  provider.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/token') asked.push(request.headers.authorization === undefined ? 'form' : 'basic');
    if (!isStrict || request.url !== '/token' || request.headers.authorization !== undefined) return void serve(request, response);
    response.writeHead(401, { 'content-type': 'application/json', 'www-authenticate': 'Basic realm="provider"' });
    response.end(JSON.stringify({ error: 'invalid_client' }));
  });
}

describe('OpenID sign-in', () => {
  let storage: Storage;
  let harness: Harness;
  const open = async (settings: Partial<ConsoleConfig['oidc']>) => {
    const port = await freePort();
    const oidc = {
      issuer,
      clientId: 'console',
      clientSecret: 'provider-secret-canary',
      redirectUrl: `http://127.0.0.1:${port}/console/api/oidc/callback`,
      label: 'Corporate',
      scope: 'openid profile email',
      roleClaim: 'groups',
      adminRoles: ['ops'],
      monitorRoles: ['staff'],
      memberRoles: ['makers'],
      allowedDomains: [],
      ...settings,
    };
    harness = await startConsole(storage, { port, config: { oidc } });
    consoleUrl = harness.url;
    serveProvider();
  };
  beforeEach(() => {
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
    account = { sub: 'u-1', preferred_username: 'ada', email: 'ada@example.com', email_verified: true, groups: ['staff'] };
  });
  afterEach(async () => {
    await harness.close();
    await storage.close();
  });

  /** Walks from the button to the page behind the last redirect; gives its fragment. */
  async function walk(browser = new Browser()): Promise<{ fragment: string; callback: string; browser: Browser }> {
    let url = `${harness.url}${api}/oidc/start`;
    let callback = '';
    for (let step = 0; step < 20; step++) {
      const reply = url.includes('/interaction/') ? await interact(browser, url) : await browser.get(url);
      const location = reply.headers.get('location');
      if (location === null) throw new Error(`${url}: ${reply.status} ${(await reply.text()).slice(0, 500)}`);
      url = new URL(location, url).href;
      if (url.includes('/oidc/callback?')) callback = url;
      const { hash, pathname } = new URL(url);
      if (pathname === '/console/') return { fragment: hash.slice(1), callback, browser };
    }
    throw new Error('too many redirects');
  }
  /** The provider's own pages: sign in, then consent. */
  async function interact(browser: Browser, url: string): Promise<Response> {
    const page = await (await browser.get(url)).text();
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1] ?? 'login';
    return browser.post(url, new URLSearchParams({ prompt, login: account.sub, password: 'x' }).toString());
  }
  const exchange = async (browser: Browser, fragment: string) => {
    const url = `${harness.url}${api}/oidc/exchange`;
    const reply = await browser.post(url, JSON.stringify({ code: new URLSearchParams(fragment).get('sign_in_code') ?? '' }), 'application/json');
    // biome-ignore lint/suspicious/noExplicitAny: answers of any shape
    return { status: reply.status, body: (await reply.json()) as any };
  };
  const faultOf = async () => new URLSearchParams((await walk()).fragment).get('sign_in_fault');

  test('makes the user on the first sign-in, with the mapped role; the code works once and in this browser alone', async () => {
    await open({});
    expect((await harness.call('GET', `${api}/sign-in-options`)).body).toEqual({ password: true, oidc: { label: 'Corporate' } });
    const { fragment, browser } = await walk();
    expect(fragment).toMatch(/^sign_in_code=[\w-]{43}$/);
    expect((await exchange(new Browser(), fragment)).status).toBe(401);
    const opened = await exchange(browser, fragment);
    expect(opened).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^gs-/), user: { username: 'ada', role: 'monitor' } } });
    expect((await exchange(browser, fragment)).status).toBe(401);
    const me = await harness.call('GET', `${api}/me`, undefined, { authorization: `Bearer ${opened.body.token}` });
    expect(me.body).toMatchObject({ username: 'ada', role: 'monitor' });
    expect((await harness.call('GET', `${api}/users/ada`)).body).toMatchObject({ has_password: false, identity: issuer });
    expect((await harness.call('POST', `${api}/login`, { username: 'ada', password: '' }, { authorization: '' })).status).toBe(401);
    expect(harness.seen.join()).not.toMatch(/provider-secret-canary/);
  });

  test('the role follows the provider, and a change of it ends the sessions', async () => {
    await open({});
    const first = await walk();
    const { body } = await exchange(first.browser, first.fragment);
    account.groups = ['staff', 'ops'];
    const again = await walk();
    expect((await harness.call('GET', `${api}/me`, undefined, { authorization: `Bearer ${body.token}` })).status).toBe(401);
    expect((await exchange(again.browser, again.fragment)).body.user).toEqual({ username: 'ada', role: 'admin' });
  });

  test('whom the provider gives no role any more is signed in nowhere, and the records say who it was and what the claim held', async () => {
    await open({});
    account.groups = ['ops'];
    const first = await walk();
    const { body } = await exchange(first.browser, first.fragment);
    const me = async () => (await harness.call('GET', `${api}/me`, undefined, { authorization: `Bearer ${body.token}` })).status;
    expect(await me()).toBe(200);
    account.groups = ['/ops'];
    expect(await faultOf()).toBe('refused');
    expect(await me()).toBe(401);
    const { items } = (await harness.call('GET', `${api}/audit-logs`)).body;
    expect(items).toContainEqual(expect.objectContaining({ action: 'sessions.revoke_all', entity_type: 'console_session', entity_id: 'ada' }));
    const failure = { action: 'login.failure', diff: { username: 'ada', reason: expect.stringContaining('holds "/ops": none of CONSOLE_OIDC_ADMIN_ROLES') } };
    expect(items).toContainEqual(expect.objectContaining(failure));
  });

  test('a member signs in, is in the groups that name a value of the claim, and owns the keys of the verified address', async () => {
    await open({});
    await harness.call('POST', `${api}/key-groups`, { name: 'team', members: ['makers'], member_keys: { max: 1 } });
    await harness.call('POST', `${api}/key-groups`, { name: 'others', members: ['sales'] });
    await harness.call('POST', `${api}/access-keys`, { name: 'given', group: 'others', owner: 'Ada@example.com' });
    account.groups = ['makers'];
    const { fragment, browser } = await walk();
    const { body } = await exchange(browser, fragment);
    expect(body.user).toEqual({ username: 'ada', role: 'member' });
    const own = { authorization: `Bearer ${body.token}` };
    const groups = (await harness.call('GET', `${api}/my/groups`, undefined, own)).body.items;
    expect(groups).toMatchObject([
      { name: 'others', is_member: false, keys: 1, member_keys: null },
      { name: 'team', is_member: true },
    ]);
    expect((await harness.call('POST', `${api}/my/keys`, { name: 'laptop', group: 'team' }, own)).status).toBe(201);
    expect((await harness.call('POST', `${api}/my/keys`, { name: 'more', group: 'others' }, own)).status).toBe(404);
    const names = async () => (await harness.call('GET', `${api}/my/keys`, undefined, own)).body.items.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['ada.laptop', 'given']);
    expect((await harness.call('GET', `${api}/access-keys`, undefined, own)).status).toBe(403);
    // What the provider says no more holds no more, from the next sign-in on; an address that it has not verified owns nothing.
    account.groups = ['makers', 'sales'];
    account['email_verified'] = false;
    const again = await walk();
    own.authorization = `Bearer ${(await exchange(again.browser, again.fragment)).body.token}`;
    expect(await names()).toEqual([]);
    expect((await harness.call('GET', `${api}/my/groups`, undefined, own)).body.items.map(({ name }: { name: string }) => name)).toEqual(['others', 'team']);
  });

  test.each([
    ['no role of ours', {}, { groups: ['sales'] }, 'the claim groups (CONSOLE_OIDC_ROLE_CLAIM) holds \\"sales\\": none of CONSOLE_OIDC_ADMIN_ROLES'],
    ['groups that are no list', {}, { groups: { ops: true } }, 'holds no text'],
    [
      'no groups',
      {},
      { groups: undefined },
      'the provider does not give the claim groups (CONSOLE_OIDC_ROLE_CLAIM): CONSOLE_OIDC_SCOPE may have to ask for it',
    ],
    [
      'another domain',
      { allowedDomains: ['example.org'] },
      {},
      'the domain \\"example.com\\" of the e-mail address is not one of CONSOLE_OIDC_ALLOWED_DOMAINS',
    ],
    ['a domain that ends like ours', { allowedDomains: ['ample.com'] }, {}, 'is not one of CONSOLE_OIDC_ALLOWED_DOMAINS'],
    ['an address nobody verified', { allowedDomains: ['example.com'] }, { email_verified: false }, 'does not say email_verified: true'],
    ['no address', { allowedDomains: ['example.com'], scope: 'openid profile' }, {}, 'the provider gives no claim email: CONSOLE_OIDC_SCOPE'],
  ])('%s: %j is sent back to the sign-in page, and the log says why', async (_title, settings, claims, reason) => {
    await open(settings);
    Object.assign(account, claims);
    expect(await faultOf()).toBe('refused');
    expect(harness.seen.join('\n')).toContain(reason);
    expect((await harness.call('GET', `${api}/users`)).body.total).toBe(0);
  });

  test('domains alone make monitors', async () => {
    await open({ adminRoles: [], monitorRoles: [], memberRoles: [], allowedDomains: ['Example.com'] });
    const { fragment, browser } = await walk();
    expect((await exchange(browser, fragment)).body.user.role).toBe('monitor');
  });

  test('a name that is taken here, or a disabled user, gets nowhere', async () => {
    await open({});
    await harness.call('POST', `${api}/users`, { username: 'ada', role: 'admin', password: 'a local password' });
    expect(await faultOf()).toBe('taken');
    expect(harness.seen.join('\n')).toContain('a user ada exists here who signs in with a password');
    await harness.call('POST', `${api}/users`, { username: 'second', role: 'admin', password: 'a local password' });
    await harness.call('DELETE', `${api}/users/ada`);
    expect(await faultOf()).toBeNull();
    await harness.call('PATCH', `${api}/users/ada`, { enabled: false });
    expect(await faultOf()).toBe('disabled');
    account.sub = 'u-2';
    expect(await faultOf()).toBe('taken');
    expect(harness.seen.join('\n')).toContain('a user ada exists here who is another account at this provider');
  });

  test('a callback that was not begun here, is used twice, or is forged leads back to the page', async () => {
    await open({});
    const { callback, browser } = await walk();
    const faultAt = async (who: Browser, url: string) => (await who.get(url)).headers.get('location');
    expect(await faultAt(new Browser(), callback)).toBe('/console/#sign_in_fault=expired');
    expect(await faultAt(browser, callback)).toBe('/console/#sign_in_fault=expired');
    const begun = new Browser();
    await begun.get(`${harness.url}${api}/oidc/start`);
    expect(await faultAt(begun, `${harness.url}${api}/oidc/callback?code=x&state=forged`)).toBe('/console/#sign_in_fault=failed');
    expect(await faultAt(begun, `${harness.url}${api}/oidc/callback?code[]=x&state=%zz`)).toBe('/console/#sign_in_fault=failed');
  });

  test('a provider that takes the secret as basic authentication alone gets it so, and at once the next time', async () => {
    await open({});
    serveProvider(true);
    asked.length = 0;
    for (let count = 0; count < 2; count++) expect((await walk()).fragment).toMatch(/^sign_in_code=/);
    expect(asked).toEqual(['form', 'basic', 'basic']);
  });

  test('a secret that the provider refuses, and a cookie that cannot be read, lead back to the page', async () => {
    await open({ clientSecret: 'another-secret-canary' });
    expect((await walk()).fragment).toBe('sign_in_fault=failed');
    const reply = await fetch(`${consoleUrl}/console/api/oidc/callback?code=x`, { redirect: 'manual', headers: { cookie: 'gateway_sign_in=%zz' } });
    expect([reply.status, reply.headers.get('location')]).toEqual([303, '/console/#sign_in_fault=expired']);
  });

  test('a provider that is away is a sentence, and is asked again the next time', async () => {
    await open({});
    provider.removeAllListeners('request');
    provider.on('request', (_request, response) => void response.writeHead(500).end());
    expect(await faultOf()).toBe('unavailable');
    serveProvider();
    expect(await faultOf()).toBeNull();
  });
});
