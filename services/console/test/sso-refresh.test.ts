/** One refresh, whoever asks and whoever dies: over each database, with a vendor that ends a login whose refresh token it sees twice. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { loadConfig } from '@model-gateway/config';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import type { Storage } from '@model-gateway/storage';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { type Engine, engines, silent } from '../../../packages/storage/test/engines.ts';
import { createGates } from '../src/sso/gates.ts';
import { refreshTokenGrants } from '../src/sso/grants/refresh-token.ts';
import { createRefresher, type Refresher, type SsoEvent } from '../src/sso/refresher.ts';
import { createTokenHttp, type TokenHttp } from '../src/sso/token-http.ts';
import { openTokens, sealTokens } from '../src/sso/tokens.ts';
import { type SsoVendor, startSsoVendor } from './sso-vendor.ts';

const logger = { ...silent, error: () => undefined, debug: () => undefined, trace: () => undefined } as never;
const keyring = createKeyring(generateMasterKey());
const { sso } = loadConfig({ env: { CONFIG_FILE: '/dev/null' } });
const timeouts = { connect_ms: 2_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 10_000 };

describe.each(engines().map((engine) => [engine.name, engine] as [string, Engine]))('refresh on %s', (_name, engine) => {
  let storage: Storage;
  let outbound: Outbound;
  let vendor: SsoVendor;
  let now: number;
  let events: SsoEvent[];
  beforeAll(() => engine.start());
  afterAll(() => engine.stop());
  beforeEach(async () => {
    now = Date.now();
    events = [];
    storage = await engine.open(() => now);
    outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger });
    vendor = await startSsoVendor();
  });
  afterEach(async () => {
    await vendor.close();
    await outbound.close(0);
    await storage.close();
  });
  const process = (http: TokenHttp = createTokenHttp(outbound)): Refresher =>
    createRefresher({
      repository: storage.ssoCredentials,
      keyring,
      gates: createGates(sso),
      grants: refreshTokenGrants,
      http,
      logger,
      now: () => now,
      random: () => 0,
      report: (event) => void events.push(event),
    });
  const add = (expiresAt: number) =>
    storage.ssoCredentials.insert({
      id: 'c1',
      name: 'login',
      profile: 'cloudhost_ide',
      account: 'ada',
      description: '',
      settings: { refresh_url: `${vendor.url}/refreshToken` },
      tokens: sealTokens(keyring, 'c1', { access_token: 'first-access', refresh_token: vendor.refreshToken, secrets: {} }),
      tokenId: 't1',
      state: 'ok',
      lastError: null,
      expiresAt,
      refreshAt: expiresAt - 120_000,
    });
  const stored = async () => (await storage.ssoCredentials.find('login'))!;
  const pair = async () => openTokens(keyring, 'c1', (await stored()).tokens ?? '');

  test('twenty processes with an expired token make one refresh, and all get the token that it gave', async () => {
    await add(now - 1000);
    const given = await Promise.all(Array.from({ length: 20 }, () => process().access('login')));
    expect(vendor.calls).toEqual(['/refreshToken']);
    expect(vendor.isDead()).toBe(false);
    const { access_token: token, refresh_token: refresh } = await pair();
    expect(new Set(given.map((access) => ('token' in access ? access.token : access.refused)))).toEqual(new Set([token]));
    expect(refresh).toBe(vendor.refreshToken);
    expect((await stored()).account).toBe('ada');
  });

  test('the pair is stored before anybody gets it', async () => {
    await add(now - 1000);
    const access = await process().access('login');
    expect('token' in access && access.token).toBe((await pair()).access_token);
    expect(events.map(({ action, result }) => [action, result])).toEqual([['rotate', 'refreshed']]);
  });

  test('a refresher that dies between answer and commit costs one login at most, and no storm', async () => {
    await add(now - 1000);
    let answered: () => void = () => undefined;
    const died = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const http = createTokenHttp(outbound);
    // The vendor has rotated the token, and its answer reaches nobody.
    const dying = process(async (call) => {
      await http(call);
      answered();
      return new Promise(() => undefined);
    });
    void dying.access('login');
    await died;
    const held = await stored();
    expect(held.refreshingUntil).toBeGreaterThan(now);
    // While its lock lasts, nobody asks the vendor.
    await process().scan();
    expect(vendor.calls).toHaveLength(1);
    now += 120_000;
    expect(await process().access('login')).toEqual({ refused: 'needs_login' });
    expect(await Promise.all([process().access('login'), process().access('login')])).toEqual([{ refused: 'needs_login' }, { refused: 'needs_login' }]);
    expect(vendor.calls).toHaveLength(2);
    expect(events).toMatchObject([{ action: 'rotate', result: 'failed' }]);
  });

  test('a refresher that dies before it has asked costs nothing', async () => {
    await add(now - 1000);
    const row = await stored();
    await storage.ssoCredentials.update('c1', row.version, { refreshingUntil: now + 30_000 });
    now += 120_000;
    expect(await process().access('login')).toHaveProperty('token');
    expect(vendor.calls).toHaveLength(1);
  });

  test('what is said of a credential may change during a refresh: its new tokens are kept; those of one that was ended meanwhile are not', async () => {
    await add(now - 1000);
    const change = (patch: object) => async (call: Parameters<TokenHttp>[0]) => {
      const answer = await createTokenHttp(outbound)(call);
      const row = await stored();
      await storage.ssoCredentials.update('c1', row.version, patch);
      return answer;
    };
    expect(await process(change({ description: 'changed' })).access('login')).toHaveProperty('token');
    expect([(await stored()).description, (await pair()).refresh_token]).toEqual(['changed', vendor.refreshToken]);
    now += 3_600_000;
    expect(await process(change({ state: 'revoked', tokens: null })).access('login')).toEqual({ refused: 'revoked' });
    expect((await stored()).tokens).toBeNull();
  });

  test('a process whose clock is a minute ahead takes no lock from one that is at work', async () => {
    await add(now - 1000);
    let goOn: () => void = () => undefined;
    vendor.beforeAnswer = () => new Promise((resolve) => (goOn = resolve));
    const working = process().access('login');
    for (const end = performance.now() + 10_000; vendor.calls.length === 0 && performance.now() < end; ) await new Promise(setImmediate);
    now += 60_000;
    await process().scan();
    await expect(process().renew('login')).rejects.toMatchObject({ code: 'busy', terminal: false });
    now -= 60_000;
    goOn();
    expect(await working).toHaveProperty('token');
    expect([vendor.calls.length, vendor.isDead()]).toEqual([1, false]);
  });

  test('a token is renewed early, is still used meanwhile, and is not used in its last minute', async () => {
    await add(now + 3_600_000);
    const one = process();
    const first = await one.access('login');
    expect('token' in first && first.token).toBe('first-access');
    await one.scan();
    now += 3_600_000 - 121_000;
    await one.scan();
    expect(vendor.calls).toEqual([]);
    now += 2_000;
    await one.scan();
    expect(vendor.calls).toEqual(['/refreshToken']);
    const row = await stored();
    expect(row.expiresAt).toBe(now + 3_600_000);
    expect(row.refreshAt).toBe(now + 3_480_000);
    now = row.expiresAt! - 61_000;
    expect(await one.access('login')).toHaveProperty('token');
    now = row.expiresAt! - 59_000;
    const calls = vendor.calls.length;
    await one.access('login');
    expect(vendor.calls.length).toBeGreaterThanOrEqual(calls);
    expect((await stored()).expiresAt).toBeGreaterThan(row.expiresAt!);
  });

  test('a refused token is renewed once; one that is refused again ends the login, and a minute later it may be renewed again', async () => {
    await add(now + 3_600_000);
    const processes = Array.from({ length: 5 }, () => process());
    await Promise.all(processes.map((one) => one.access('login', { id: 't1' })));
    expect(vendor.calls).toHaveLength(1);
    const { tokenId } = await stored();
    // Whoever was refused with the old token gets the new one.
    expect(await process().access('login', { id: 't1' })).toMatchObject({ row: { tokenId } });
    now += 61_000;
    await process().access('login', { id: tokenId! });
    expect(vendor.calls).toHaveLength(2);
    const renewed = (await stored()).tokenId!;
    expect(await process().access('login', { id: renewed })).toEqual({ refused: 'needs_login' });
    expect(await process().access('login', { id: renewed })).toEqual({ refused: 'needs_login' });
    expect(vendor.calls).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ result: 'rejected' });
  });

  test('a renewed token that is refused for what one caller asked for stays; refused to a second caller, before any call was taken, it ends the login', async () => {
    await add(now + 3_600_000);
    const one = process();
    const doubtBy = (caller: string, accepted = false) => ({ caller, accepted });
    expect(await one.access('login', { id: 't1', doubt: doubtBy('ann') })).toHaveProperty('token');
    const renewed = (await stored()).tokenId!;
    for (let times = 0; times < 3; times++)
      expect(await one.access('login', { id: renewed, doubt: doubtBy('ann') })).toMatchObject({ row: { tokenId: renewed } });
    expect(await one.access('login', { id: renewed, doubt: doubtBy('bob', true) })).toMatchObject({ row: { tokenId: renewed } });
    expect(vendor.calls).toHaveLength(1);
    expect(await one.access('login', { id: renewed, doubt: doubtBy('bob') })).toEqual({ refused: 'needs_login' });
    expect(events.at(-1)).toMatchObject({ result: 'rejected' });
  });

  test('a refused token at a vendor that is ill: asked once, not in a row; in doubt the token goes on being used', async () => {
    await add(now + 3_600_000);
    const one = process();
    vendor.answers = Array.from({ length: 50 }, () => ({ status: 503, body: {} }));
    expect(await one.access('login', { id: 't1', doubt: { caller: 'ann', accepted: false } })).toHaveProperty('token');
    expect(await one.access('login', { id: 't1' })).toEqual({ refused: 'unavailable' });
    expect(vendor.calls).toHaveLength(1);
    expect(await one.access('login')).toHaveProperty('token');
  });

  test('invalid_grant is final; a vendor that is ill is asked again after a pause', async () => {
    await add(now - 1000);
    vendor.answers = [{ status: 503, body: {} }];
    expect(await process().access('login')).toEqual({ refused: 'unavailable' });
    expect(await process().access('login')).toEqual({ refused: 'unavailable' });
    expect(vendor.calls).toHaveLength(1);
    now += 6_000;
    vendor.answers = [{ status: 400, body: { error: 'invalid_grant' } }];
    await process().scan();
    expect(await stored()).toMatchObject({ state: 'needs_login', refreshAt: null, lastError: 'The vendor refused (invalid_grant).' });
    now += 3_600_000;
    await process().scan();
    expect(await process().access('login')).toEqual({ refused: 'needs_login' });
    expect(vendor.calls).toHaveLength(2);
  });

  test('a closed gate gives nothing and renews nothing', async () => {
    await add(now - 1000);
    const closed = createRefresher({
      repository: storage.ssoCredentials,
      keyring,
      gates: createGates({ profiles: { ...sso.profiles, cloudhost_ide: { enabled: false } } }),
      grants: refreshTokenGrants,
      http: createTokenHttp(outbound),
      logger,
      now: () => now,
      report: () => undefined,
    });
    expect(await closed.access('login')).toEqual({ refused: 'profile_disabled' });
    await closed.scan();
    await expect(closed.renew('login')).rejects.toMatchObject({ code: 'profile_disabled' });
    expect(vendor.calls).toEqual([]);
  });
});
