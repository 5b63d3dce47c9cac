/** Users, sessions, roles and bans through the API, on both databases. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MemoryAttempts } from '@model-gateway/distributed-state';
import type { Storage } from '@model-gateway/storage';
import bcrypt from 'bcrypt';
import { type Engine, engines } from '../../../packages/storage/test/engines.ts';
import { permissionsOf } from '../src/api/permissions.ts';
import { type Answer, api, type Harness, secretKey, seed, startConsole } from './harness.ts';

const password = 'correct horse battery';
const hour = 3_600_000;

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('sign-in on %s', (_name, engine) => {
  let storage: Storage;
  let harness: Harness;
  let now: number;
  let slept: number[];
  const start = (options: Parameters<typeof startConsole>[1] = {}) =>
    startConsole(storage, {
      ...options,
      config: { password, ...options.config },
      deps: { now: () => now, sleep: async (ms) => void slept.push(ms), attempts: new MemoryAttempts({ now: () => now }), ...options.deps },
    });
  const login = (username: string, word: string, at: Harness = harness): Promise<Answer> =>
    at.call('POST', `${api}/login`, { username, password: word }, { authorization: '' });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const tokenOf = async (username: string, word = password): Promise<string> => {
    const answer = await login(username, word);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.body.token;
  };
  const makeUser = async (username: string, role: 'admin' | 'monitor', more: object = {}) => {
    const answer = await harness.call('POST', `${api}/users`, { username, role, password, ...more });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  };

  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    now = Date.now();
    slept = [];
    storage = await engine.open();
    harness = await start();
  });
  afterEach(async () => {
    await harness.close();
    await storage.close();
  });

  test('a token from a sign-in identifies the user until the sign-out; none of it is stored or logged', async () => {
    const answer = await login('admin', password);
    expect(answer).toMatchObject({ status: 200, body: { token: expect.stringMatching(/^gs-/), user: { username: 'admin', role: 'admin' } } });
    expect(Date.parse(answer.body.expires_at)).toBe(now + 24 * hour);
    const { token } = answer.body;
    expect((await harness.call('GET', `${api}/me`, undefined, bearer(token))).body).toMatchObject({ actor: 'admin', username: 'admin', role: 'admin' });
    expect((await harness.call('POST', `${api}/logout`, undefined, bearer(token))).status).toBe(204);
    expect((await harness.call('GET', `${api}/me`, undefined, bearer(token))).status).toBe(401);
    const seen = harness.seen.filter((line) => line.includes(token) || line.includes(password));
    expect(seen).toEqual([answer.text]);
  });

  test.each([
    ['a wrong password', 'admin', 'wrong password'],
    ['no such user', 'nobody', password],
    ['another case', 'Admin', password],
    ['an empty password', 'admin', ''],
    ['hostile text', "admin' or 1=1 --", password],
  ])('%s is 401 and tells no more', async (_title, username, word) => {
    const answer = await login(username, word);
    expect([answer.status, answer.body]).toEqual([401, { error: { code: 'login_failed', message: 'The user name or the password is wrong.' } }]);
  });

  test('malformed and oversized sign-ins are refused before any work', async () => {
    const post = (body: unknown) => harness.call('POST', `${api}/login`, body, { authorization: '' });
    expect((await post({ username: 'admin' })).status).toBe(422);
    expect((await post({ username: { $ne: '' }, password: ['x'] })).status).toBe(422);
    expect((await post({ username: 'a', password: 'b', token: 'own' })).body.error.details).toEqual([{ field: 'token', message: 'is not a known field' }]);
    expect((await post({ username: 'a', password: 'x'.repeat(1025) })).status).toBe(422);
    expect((await post(`"${'x'.repeat(20_000)}"`)).status).toBe(413);
    expect((await post('{')).status).toBe(400);
  });

  test('a session slides with use, is written at most once a minute, and ends at its absolute end', async () => {
    await harness.close();
    harness = await start({ config: { sessionMaxMs: 30 * hour } });
    const begun = now;
    const token = await tokenOf('admin');
    const me = async () => (await harness.call('GET', `${api}/me`, undefined, bearer(token))).body?.session?.expires_at;
    now += 30_000;
    await me();
    now += 1_000;
    const shown = await me();
    expect(Date.parse(shown)).toBe(now + 24 * hour);
    expect((await harness.call('GET', `${api}/sessions`, undefined, bearer(token))).body.items).toMatchObject([{ expires_at: shown }]);
    const written = async () => (await harness.call('GET', `${api}/sessions`)).body.items[0].expires_at;
    expect(Date.parse(await written())).toBe(begun + 24 * hour);
    now += 40_000;
    const used = now;
    await me();
    now += 1_000;
    // The call does not wait for what it writes.
    for (const end = Date.now() + 20_000; Date.parse(await written()) !== used + 24 * hour && Date.now() < end; );
    expect(Date.parse(await written())).toBe(used + 24 * hour);
    now += 23 * hour;
    await me();
    now += 1_000;
    expect(Date.parse(await me())).toBe(begun + 30 * hour);
    now = begun + 30 * hour;
    expect(await me()).toBeUndefined();
  });

  test('unused for 24 hours, a session is over', async () => {
    const token = await tokenOf('admin');
    now += 24 * hour;
    expect((await harness.call('GET', `${api}/me`, undefined, bearer(token))).status).toBe(401);
  });

  describe('what ends sessions, here and at a second console on the same bus or none', () => {
    let other: Harness;
    beforeEach(async () => {
      // A bus of its own: no news arrives, only the short memory helps.
      other = await start();
      await makeUser('eve', 'monitor');
    });
    afterEach(() => other.close());
    const ends: [string, () => Promise<Answer>][] = [
      ['disabling', () => harness.call('PATCH', `${api}/users/eve`, { enabled: false })],
      ['deleting', () => harness.call('DELETE', `${api}/users/eve`)],
      ['another role', () => harness.call('PUT', `${api}/users/eve`, { role: 'admin' })],
      ['a reset', () => harness.call('POST', `${api}/users/eve/password`, { password: 'another password' })],
      ['a password by PATCH', () => harness.call('PATCH', `${api}/users/eve`, { password: 'another password' })],
      ['revoking all', () => harness.call('DELETE', `${api}/sessions?username=eve`)],
    ];
    test.each(ends)('%s', async (_title, end) => {
      const token = await tokenOf('eve');
      const status = async (at: Harness) => (await at.call('GET', `${api}/me`, undefined, bearer(token))).status;
      expect([await status(harness), await status(other)]).toEqual([200, 200]);
      expect((await end()).status).toBeLessThan(300);
      expect(await status(harness)).toBe(401);
      now += 1_000;
      expect(await status(other)).toBe(401);
    });

    test('one’s own new password ends the other sessions and not this one', async () => {
      const [mine, elsewhere] = [await tokenOf('eve'), await tokenOf('eve')];
      const change = (body: object) => harness.call('POST', `${api}/me/password`, body, bearer(mine));
      expect((await change({ current_password: 'wrong', new_password: 'a new password' })).body.error.details).toEqual([
        { field: 'current_password', message: 'is not your password' },
      ]);
      expect((await change({ current_password: password, new_password: 'short' })).body.error.details[0].field).toBe('new_password');
      expect((await change({ current_password: password, new_password: 'a new password' })).status).toBe(204);
      expect((await harness.call('GET', `${api}/me`, undefined, bearer(mine))).status).toBe(200);
      expect((await harness.call('GET', `${api}/me`, undefined, bearer(elsewhere))).status).toBe(401);
      expect((await login('eve', password)).status).toBe(401);
      expect((await login('eve', 'a new password')).status).toBe(200);
    });
  });

  test('sessions: one sees and ends one’s own; admins those of others', async () => {
    await makeUser('eve', 'monitor');
    const eve = await tokenOf('eve');
    const admin = await tokenOf('admin');
    const list = async (token: string, query = '') => (await harness.call('GET', `${api}/sessions${query}`, undefined, bearer(token))).body;
    const [hers] = (await list(eve)).items;
    expect(hers).toMatchObject({ username: 'eve', current: true, ip_address: '127.0.0.1', user_agent: 'node' });
    expect(JSON.stringify(hers)).not.toContain(eve);
    expect((await list(eve, '?username=admin')).error.code).toBe('forbidden');
    expect((await list(admin, '?username=eve')).items).toEqual([{ ...hers, current: false }]);
    expect((await list(secretKey)).items).toHaveLength(2);
    const [his] = (await list(admin)).items;
    expect((await harness.call('DELETE', `${api}/sessions/${his.id}`, undefined, bearer(eve))).status).toBe(404);
    expect((await harness.call('DELETE', `${api}/sessions/${hers.id}`, undefined, bearer(admin))).status).toBe(204);
    expect((await list(eve)).error.code).toBe('unauthorized');
    expect((await harness.call('DELETE', `${api}/sessions`, undefined, bearer(admin))).status).toBe(204);
    expect((await list(admin)).error.code).toBe('unauthorized');
    expect((await harness.call('DELETE', `${api}/sessions`)).body.error.details[0].field).toBe('username');
    // Misspelt, it would end one's own.
    expect((await harness.call('DELETE', `${api}/sessions?user=eve`)).body.error.details[0].field).toBe('user');
  });

  describe('users', () => {
    test('are made, listed, changed and deleted; no hash is ever shown', async () => {
      const made = await makeUser('eve@example.com', 'monitor');
      expect(made).toMatchObject({ username: 'eve@example.com', role: 'monitor', enabled: true, has_password: true, identity: null, last_login_at: null });
      expect((await harness.call('GET', `${api}/users?q=EVE`)).body).toMatchObject({ total: 1, items: [made] });
      expect((await harness.call('GET', `${api}/users?sort=-username`)).body.items.map((user: { username: string }) => user.username)).toEqual([
        'eve@example.com',
        'admin',
      ]);
      const one = await harness.call('GET', `${api}/users/eve@example.com`);
      expect([one.body, one.headers.get('etag')]).toEqual([made, `"${made.etag}"`]);
      const sentBack = await harness.call('PUT', `${api}/users/eve@example.com`, { ...made, enabled: false });
      expect(sentBack).toMatchObject({ status: 200, body: { enabled: false, role: 'monitor' } });
      expect((await harness.call('PATCH', `${api}/users/eve@example.com`, { enabled: true }, { 'if-match': one.headers.get('etag')! })).status).toBe(412);
      expect((await login('eve@example.com', password)).status).toBe(401);
      expect((await harness.call('PATCH', `${api}/users/eve@example.com`, { enabled: null })).body.enabled).toBe(true);
      expect((await harness.call('DELETE', `${api}/users/eve@example.com`)).status).toBe(204);
      expect((await harness.call('GET', `${api}/users/eve@example.com`)).status).toBe(404);
      expect(harness.seen.join()).not.toMatch(/\$argon2|\$2b\$/);
    });

    test.each([
      [{ username: 'x', role: 'monitor' }, 'password'],
      [{ username: 'x', role: 'monitor', password: 'seven77' }, 'password'],
      [{ username: 'x', role: 'root', password }, 'role'],
      [{ username: 'x', password }, 'role'],
      [{ username: 'secret_key', role: 'admin', password }, 'username'],
      [{ username: 'api_key:x', role: 'admin', password }, 'username'],
      [{ username: 'ａｄｍｉｎ', role: 'admin', password }, 'username'],
      [{ username: '', role: 'admin', password }, 'username'],
      [{ username: 'x', role: 'admin', password, admin: true }, 'admin'],
      [{ username: 'x', role: 'admin', password_hash: '$2b$31$aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' }, 'password_hash'],
      [{ username: 'x', role: 'admin', password_hash: '$argon2id$v=19$m=4194304,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaGhhc2g' }, 'password_hash'],
      [{ username: 'x', role: 'admin', password_hash: 'plain text' }, 'password_hash'],
    ])('%j is refused at %s', async (body, field) => {
      const answer = await harness.call('POST', `${api}/users`, body);
      expect([answer.status, answer.body.error.details?.[0].field]).toEqual([422, field]);
    });

    test('a name is taken once', async () => {
      expect((await harness.call('POST', `${api}/users`, { username: 'admin', role: 'monitor', password })).body.error.code).toBe('conflict');
    });

    test('the last enabled admin stays, also against two who go at once', async () => {
      for (const body of [{ role: 'monitor' }, { enabled: false }]) {
        const answer = await harness.call('PATCH', `${api}/users/admin`, body);
        expect([answer.status, answer.body.error.code]).toEqual([422, 'in_use']);
      }
      expect((await harness.call('DELETE', `${api}/users/admin`)).status).toBe(422);
      await makeUser('second', 'admin');
      await makeUser('third', 'admin', { enabled: false });
      const both = await Promise.all([harness.call('PATCH', `${api}/users/admin`, { role: 'monitor' }), harness.call('DELETE', `${api}/users/second`)]);
      expect(both.map(({ status }) => status < 300).filter(Boolean)).toHaveLength(1);
    });

    test.each([['$2a$'], ['$2b$'], ['$2y$']])('an imported %s hash lets its owner in and becomes argon2id', async (form) => {
      const imported = (await bcrypt.hash(password, 4)).replace('$2b$', form);
      await makeUser('old', 'monitor', { password: undefined, password_hash: imported });
      expect((await login('old', 'wrong password')).status).toBe(401);
      expect((await login('old', password)).status).toBe(200);
      expect((await storage.console.users.find('old'))?.passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,/);
      expect((await login('old', password)).status).toBe(200);
    });

    test('more than 72 bytes count with argon2id, and never match a bcrypt hash by their beginning', async () => {
      const long = 'ü'.repeat(100);
      await makeUser('long', 'monitor', { password: long });
      expect((await login('long', `${long.slice(0, 99)}x`)).status).toBe(401);
      expect((await login('long', long)).status).toBe(200);
      await makeUser('cut', 'monitor', { password: undefined, password_hash: await bcrypt.hash('x'.repeat(72), 4) });
      expect((await login('cut', 'x'.repeat(73))).status).toBe(401);
      expect((await login('cut', 'x'.repeat(72))).status).toBe(200);
    });
  });

  describe('guessing', () => {
    const fail = () => login('nobody', 'wrong password');

    test('the fifth failure in a row bans the address, for its time and no longer', async () => {
      for (let count = 0; count < 5; count++) expect((await fail()).status).toBe(401);
      const banned = await login('admin', password);
      expect([banned.status, banned.body.error.code, banned.headers.get('retry-after')]).toEqual([429, 'login_banned', '300']);
      // Existing sessions stay valid.
      expect((await harness.call('GET', `${api}/me`)).status).toBe(200);
      now += 299_000;
      expect((await login('admin', password)).headers.get('retry-after')).toBe('1');
      now += 1_000;
      expect((await login('admin', password)).status).toBe(200);
      for (let count = 0; count < 4; count++) await login('admin', 'wrong password');
      expect((await login('admin', password)).status).toBe(200);
      for (let count = 0; count < 4; count++) expect((await login('admin', 'wrong password')).status).toBe(401);
    });

    test('own sign-ins in between do not hide guesses at another name, and forgive slips of the own', async () => {
      await harness.call('POST', `${api}/users`, { username: 'eve', role: 'monitor', password: 'a password of eve' });
      const statuses: number[] = [];
      for (let round = 0; round < 6; round++) {
        statuses.push((await login('admin', 'a guess')).status);
        statuses.push((await login('eve', 'a slip')).status, (await login('eve', 'a password of eve')).status);
      }
      // Eve's slips were forgiven each time; the last of them makes five of four guesses.
      expect(statuses.slice(0, 12)).toEqual([401, 401, 200, 401, 401, 200, 401, 401, 200, 401, 401, 429]);
      expect(new Set(statuses.slice(12))).toEqual(new Set([429]));
    });

    test('fifty at once are five guesses', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, fail));
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
      expect(answers.filter(({ status }) => status === 429)).toHaveLength(45);
    });

    test('twenty right ones at once are all let in', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => login('admin', password)));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    });

    test('settings decide how many and how long', async () => {
      await harness.close();
      harness = await start({ config: { maxFailures: 2, banMs: 7_000 } });
      await fail();
      await fail();
      expect((await fail()).headers.get('retry-after')).toBe('7');
    });

    test('a name that fails often is answered more slowly, and its owner still gets in', async () => {
      await harness.close();
      harness = await start({ config: { maxFailures: 100 } });
      for (let count = 0; count < 10; count++) await login('admin', 'wrong password');
      expect(slept).toEqual([250, 500, 1000, 2000, 4000, 5000, 5000]);
      expect((await login('admin', password)).status).toBe(200);
      slept = [];
      await login('admin', password);
      expect(slept).toEqual([]);
    });

    test('tokens that are guessed are bounded as well', async () => {
      const guess = () => harness.call('GET', `${api}/me`, undefined, bearer(`gs-${'a'.repeat(43)}`));
      const statuses = new Set<number>();
      for (let count = 0; count < 125; count++) statuses.add((await guess()).status);
      expect([...statuses]).toEqual([401, 429]);
      expect((await harness.call('GET', `${api}/me`)).status).toBe(200);
    });
  });

  describe('roles', () => {
    test('every route is in the table', async () => {
      const { paths } = (await harness.call('GET', `${api}/openapi.json`)).body;
      const missing = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
        Object.keys(methods)
          .filter((method) => permissionsOf(path, method) === undefined)
          .map((method) => `${method} ${path}`),
      );
      expect(missing).toEqual([]);
    });

    test('a monitor may do what the table says and nothing else, on every route there is', async () => {
      await seed(harness);
      await makeUser('eve', 'monitor');
      const token = await tokenOf('eve');
      const { paths } = (await harness.call('GET', `${api}/openapi.json`)).body;
      const ending = new Set([`post ${api}/logout`, `delete ${api}/sessions`]);
      for (const [path, methods] of Object.entries(paths as Record<string, object>)) {
        for (const method of Object.keys(methods)) {
          const access = permissionsOf(path, method);
          if (access === 'public' || ending.has(`${method} ${path}`) || path.endsWith('/stream')) continue;
          const answer = await harness.call(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'ada'), method === 'get' ? undefined : {}, bearer(token));
          const refused = answer.status === 403 && answer.body.error.code === 'forbidden';
          expect([method, path, refused]).toEqual([method, path, !access?.includes('monitor')]);
        }
      }
    });

    test('a monitor sees no value of a header or setting that may be a credential, and an admin does not lose sight of them', async () => {
      await seed(harness);
      const described = { custom_headers: { 'x-team': 'canary-of-the-header' }, extra_config: { region: 'eu', session_token: 'canary-of-the-setting' } };
      await harness.call('PATCH', `${api}/upstreams/main`, described);
      await harness.call('PATCH', `${api}/models/fast`, { extra_config: { secret: 'canary-of-the-setting' } });
      const header_acl = [
        { header: 'x-team-token', match: 'equals', value: 'canary-of-the-rule', action: 'allow' },
        { header: 'x-team', match: 'exists', action: 'allow' },
      ];
      await harness.call('PATCH', `${api}/key-groups/team`, { header_acl });
      const endpoint = 'https://mcp.test/mcp?profile=team&serverApiKey=canary-of-the-query';
      await harness.call('POST', `${api}/mcp-servers`, { name: 'keyed', endpoint });
      await harness.call('PATCH', `${api}/mcp-servers/keyed`, { endpoint: `${endpoint}-2` });
      await makeUser('eve', 'monitor');
      const token = await tokenOf('eve');
      for (const path of ['upstreams', 'upstreams/main', 'models', 'models/fast', 'key-groups', 'key-groups/team', 'mcp-servers', 'mcp-servers/keyed']) {
        const shown = await harness.call('GET', `${api}/${path}`, undefined, bearer(token));
        expect([path, shown.status, shown.text.includes('canary')]).toEqual([path, 200, false]);
      }
      expect((await harness.call('GET', `${api}/upstreams/main`, undefined, bearer(token))).body).toMatchObject({
        custom_headers: { 'x-team': '********' },
        extra_config: { region: 'eu', session_token: '********' },
      });
      const address = (await harness.call('GET', `${api}/mcp-servers/keyed`, undefined, bearer(token))).body.endpoint;
      expect(address).toBe('https://mcp.test/mcp?profile=team&serverApiKey=********');
      const [{ revision }] = (await harness.call('GET', `${api}/history`)).body.items;
      const { changes } = (await harness.call('GET', `${api}/history/${revision}`)).body;
      expect(changes).toEqual([expect.objectContaining({ fields: { endpoint: { before: address, after: address, secret_changed: true } } })]);
      expect((await harness.call('GET', `${api}/mcp-servers/keyed`)).body.endpoint).toBe(`${endpoint}-2`);
      expect((await harness.call('GET', `${api}/upstreams/main`)).body).toMatchObject(described);
      expect((await harness.call('GET', `${api}/key-groups/team`)).body.header_acl).toEqual(header_acl);
      const records = (await harness.call('GET', `${api}/audit-logs`)).body.items;
      expect(records.some(({ diff }: { diff: object }) => diff && 'header_acl' in diff)).toBe(true);
      expect(JSON.stringify(records)).not.toContain('canary');
    });

    test('a monitor sees no value of a key, no audit, no secrets, no users', async () => {
      await seed(harness);
      await makeUser('eve', 'monitor');
      const token = await tokenOf('eve');
      for (const path of [`${api}/access-keys/ada/api-key`, '/access-keys/ada/api-key', `${api}/export`, `${api}/users`]) {
        const answer = await harness.call('GET', path, undefined, bearer(token));
        expect([path, answer.status]).toEqual([path, 403]);
      }
      expect((await harness.call('GET', `${api}/access-keys`, undefined, bearer(token))).body.items).toHaveLength(1);
    });
  });

  test('actions are in the audit log, without any password', async () => {
    await login('admin', 'wrong password');
    const token = await tokenOf('admin');
    await makeUser('eve', 'monitor');
    await harness.call('PATCH', `${api}/users/eve`, { role: 'admin', password: 'another password' }, bearer(token));
    // Says nothing new: no record.
    await harness.call('PATCH', `${api}/users/eve`, { role: 'admin', enabled: null }, bearer(token));
    await harness.call('POST', `${api}/users/eve/password`, { password: 'another password' }, bearer(token));
    await harness.call('POST', `${api}/me/password`, { current_password: password, new_password: 'a new password' }, bearer(token));
    await harness.call('DELETE', `${api}/sessions?username=eve`, undefined, { ...bearer(token), 'z-request-id': 'req-7' });
    await harness.call('DELETE', `${api}/users/eve`, undefined, bearer(token));
    await harness.call('POST', `${api}/logout`, undefined, bearer(token));
    const { items } = await storage.audit.listRows({ filters: { from: 0, to: now + hour }, limit: 50 });
    expect(items.reverse().map(({ actor, action, entity_type, entity_id }) => [actor, action, entity_type, entity_id])).toEqual([
      ['admin', 'login.failure', 'console_user', 'admin'],
      ['admin', 'login.success', 'console_user', 'admin'],
      ['secret_key', 'create', 'console_user', 'eve'],
      ['admin', 'update', 'console_user', 'eve'],
      ['admin', 'admin_change_password', 'console_user', 'eve'],
      ['admin', 'admin_change_password', 'console_user', 'eve'],
      ['admin', 'change_password', 'console_user', 'admin'],
      ['admin', 'sessions.revoke_all', 'console_session', 'eve'],
      ['admin', 'delete', 'console_user', 'eve'],
      ['admin', 'logout', 'console_session', expect.any(String)],
    ]);
    expect(items[3]?.diff).toEqual({ role: { before: 'monitor', after: 'admin' } });
    expect(items[7]).toMatchObject({ ip_address: '127.0.0.1', request_id: 'req-7' });
  });

  describe('the first user', () => {
    const found = () => storage.console.users.find('admin');

    test('a new CONSOLE_PASSWORD is set at the next start and ends sessions; the same one changes nothing', async () => {
      const token = await tokenOf('admin');
      await harness.call('POST', `${api}/me/password`, { current_password: password, new_password: 'chosen by admin' }, bearer(token));
      await harness.close();
      harness = await start();
      expect((await login('admin', 'chosen by admin')).status).toBe(200);
      expect((await login('admin', password)).status).toBe(401);
      await harness.close();
      harness = await start({ config: { password: 'from the operator' } });
      expect((await login('admin', 'from the operator')).status).toBe(200);
      expect((await harness.call('GET', `${api}/me`, undefined, bearer(token))).status).toBe(401);
    });

    test('with the secret key alone no user is created; with neither, a password is generated and shown once', async () => {
      await harness.close();
      await storage.close();
      storage = await engine.open();
      const described: string[] = [];
      const deps = { announcePassword: (username: string, word: string) => void described.push(username, word) };
      harness = await start({ config: { password: null }, deps });
      expect([await found(), described]).toEqual([null, []]);
      await harness.close();
      harness = await start({ secret: null, config: { password: null }, deps });
      expect(described).toEqual(['admin', expect.stringMatching(/^[\w-]{24}$/)]);
      expect((await login('admin', described[1]!)).status).toBe(200);
      expect(harness.seen.join()).not.toContain(described[1]);
      await harness.close();
      harness = await start({ secret: null, config: { password: null }, deps });
      expect(described).toHaveLength(2);
    });
  });
});
