/** Signing in to the console through the whole gateway, in both arrangements. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { arrangements, splitAvailable, startGateway, type TestGateway } from '../support/gateway.ts';

const password = 'correct horse battery';

describe.each(arrangements('console sign-in'))('%s', (arrangement) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({
      arrangement,
      env: { CONSOLE_PASSWORD: password, CONSOLE_MAX_FAILURES: '3', CONSOLE_BAN_DURATION: '2', TRUSTED_PROXIES: '127.0.0.1' },
    });
  });
  afterAll(() => gateway?.stop());
  const login = (username: string, word: string, from = '192.0.2.1') =>
    gateway.console('POST', '/login', { username, password: word }, { authorization: '', 'x-forwarded-for': from });
  const as = (token: string) => ({ authorization: `Bearer ${token}` });

  test('the password of the environment lets admin in, with the address that the proxy tells', async () => {
    const { status, body } = await login('admin', password);
    expect([status, body.user]).toEqual([200, { username: 'admin', role: 'admin' }]);
    const sessions = await gateway.console('GET', '/sessions', undefined, as(body.token));
    expect(sessions.body.items[0]).toMatchObject({ username: 'admin', ip_address: '192.0.2.1', current: true });
  });

  test('a monitor reads and does no more; disabled, the token is worth nothing within a second', async () => {
    expect((await gateway.console('POST', '/users', { username: 'eve', role: 'monitor', password })).status).toBe(201);
    const { token } = (await login('eve', password)).body;
    const status = async (method: string, path: string, body?: unknown) => (await gateway.console(method, path, body, as(token))).status;
    expect(await status('GET', '/models')).toBe(200);
    expect(await status('POST', '/key-groups', { name: 'mine' })).toBe(403);
    expect(await status('GET', '/access-keys/caller/api-key')).toBe(403);
    const bare = await fetch(`${gateway.url}/access-keys/caller/api-key`, { headers: as(token) });
    expect(bare.status).toBe(403);
    expect((await gateway.console('PATCH', '/users/eve', { enabled: false })).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await status('GET', '/models')).toBe(401);
  });

  test('an address is banned alone, and let go by itself', async () => {
    const banned = '2001:db8::7';
    for (let count = 0; count < 3; count++) expect((await login('admin', 'wrong password', banned)).status).toBe(401);
    const refused = await login('admin', password, '2001:db8::8');
    expect([refused.status, refused.body.error.code, refused.headers.get('retry-after')]).toEqual([429, 'login_banned', expect.stringMatching(/^[12]$/)]);
    expect((await login('admin', password, '192.0.2.2')).status).toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 2_050));
    expect((await login('admin', password, banned)).status).toBe(200);
  });
});

(splitAvailable('console sign-in with two consoles') ? describe : describe.skip)('two edges and two consoles', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway({ arrangement: 'split', twice: ['edge', 'console'], env: { CONSOLE_PASSWORD: password } });
  });
  afterAll(() => gateway?.stop());

  const call = (edge: string, method: string, path: string, token: string, body?: object) =>
    fetch(`${edge}/console/api/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
  /** Through both edges, so often that both consoles are asked. */
  const statuses = async (token: string) => {
    const answers = await Promise.all(gateway.edgeUrls.flatMap((edge) => Array.from({ length: 12 }, () => call(edge, 'GET', 'me', token))));
    await Promise.all(answers.map((answer) => answer.text()));
    return new Set(answers.map(({ status }) => status));
  };
  const signIn = async () => (await gateway.console('POST', '/login', { username: 'eve', password }, { authorization: '' })).body.token as string;

  test.each([
    ['revoked', 'DELETE', 'sessions?username=eve', undefined],
    ['disabled', 'PATCH', 'users/eve', { enabled: false }],
    ['given another password', 'POST', 'users/eve/password', { password: 'another password of eve' }],
  ])('a user who is %s is out everywhere within a second, the live tail included', async (_title, method, path, body) => {
    const made = await gateway.console('POST', '/users', { username: 'eve', role: 'monitor', password });
    expect(made.status).toBe(201);
    const token = await signIn();
    expect(await statuses(token)).toEqual(new Set([200]));
    const tails = await Promise.all(gateway.edgeUrls.map((edge) => call(edge, 'GET', 'logs/stream', token)));
    expect(tails.map(({ status }) => status)).toEqual([200, 200]);
    const ends = tails.map((tail) =>
      tail.text().then(
        () => performance.now(),
        () => performance.now(),
      ),
    );
    expect((await call(gateway.edgeUrls[0]!, method, path, gateway.consoleKey, body)).status).toBeLessThan(300);
    const at = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await statuses(token)).toEqual(new Set([401]));
    // What a busy machine adds is no part of the promise; without the news it would be five seconds.
    for (const end of await Promise.all(ends)) expect(end - at).toBeLessThan(4_000);
    expect((await gateway.console('DELETE', '/users/eve')).status).toBe(204);
  });

  test('while no console is there, the edge answers for it under the same headers', async () => {
    await Promise.all(['console', 'console-2'].map((name) => gateway.processes[name]!.kill('SIGKILL')));
    for (const path of ['/console', '/console/api/me', '/access-keys/caller/api-key']) {
      const answer = await fetch(gateway.url + path, { headers: { authorization: `Bearer ${gateway.consoleKey}` } });
      expect([path, answer.status]).toEqual([path, 503]);
      expect(await answer.json()).toMatchObject({ error: { code: expect.stringMatching(/^service_/) } });
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cache-control': 'no-store',
      });
    }
  });
});
