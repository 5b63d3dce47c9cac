/** Access tokens of logins, as a translator keeps them: asked for again now and then, given up when they are refused, and used until their end while the console is away. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type SsoAccess, type SsoTokenReply, type SsoTokenRequest, sealedAs } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { nothingFor } from '../../../tests/support/pauses.ts';
import { type AccessTokens, createAccessTokens } from '../src/access-tokens.ts';

const keyring = createKeyring(generateMasterKey());
const masked: string[] = [];
const redactor = { add: (secret: string) => void masked.push(secret), remove: (secret: string) => void masked.splice(masked.indexOf(secret), 1) } as never;
let now: number;
let asked: SsoTokenRequest[];
let answer: () => Promise<SsoTokenReply>;
let tokens: AccessTokens;
beforeEach(() => {
  now = 0;
  asked = [];
  masked.length = 0;
  const ask = (_subject: string, request: SsoTokenRequest) => {
    asked.push(request);
    return answer();
  };
  tokens = createAccessTokens({ bus: { ask } as never, keyring, redactor, steady: () => now });
});
/** Answers that are still to come when a test ends. */
let goOn: (() => void)[] = [];
afterEach(() => {
  for (const one of goOn) one();
  goOn = [];
});

const give = (token: string, over: Partial<SsoAccess> = {}): void => {
  const access = { token, token_id: `id-${token}`, expires_at: Date.now() + 3_600_000, headers: {}, ...over };
  answer = async () => ({ sealed: keyring.seal(JSON.stringify(access), sealedAs.ssoAccess('login')) });
};
const away = (): void => {
  answer = () => Promise.reject(new GatewayError('service_unavailable'));
};
const frozen = (): void => {
  answer = () => new Promise((resolve) => goOn.push(() => resolve({ refused: 'needs_login' })));
};
const get = async (rejected?: string): Promise<string> => {
  try {
    return (await tokens.get('login', rejected === undefined ? undefined : { id: rejected })).token;
  } catch (error) {
    return (error as { refusal: string }).refusal;
  }
};

test('a token is asked for once, again after a while, and masked in logs', async () => {
  give('one');
  expect(await Promise.all([get(), get(), get()])).toEqual(['one', 'one', 'one']);
  give('two');
  now = 19_000;
  expect([await get(), asked.length]).toEqual(['one', 1]);
  now = 21_000;
  expect([await get(), asked.length, masked]).toEqual(['two', 2, ['one', 'two']]);
  for (const token of ['two', 'three', 'key:secret', 'four', 'four']) {
    give(token);
    now += 21_000;
    await get();
  }
  // The newest and the one before it: it does not grow with the years.
  expect(masked).toEqual(['key:secret', 'key', 'secret', 'four']);
});

test('a refusal is remembered for a moment, and takes the token away that was there', async () => {
  give('one');
  await get();
  answer = async () => ({ refused: 'revoked' });
  now = 21_000;
  expect([await get(), await get(), asked.length]).toEqual(['revoked', 'revoked', 2]);
  expect(tokens.known('login')).toBeUndefined();
  now = 24_000;
  give('two');
  expect(await get()).toBe('two');
});

describe('while the console is away', () => {
  test('a token is used until its end, and the console is asked for now and then', async () => {
    give('one');
    await get();
    away();
    for (now = 21_000; now < 121_000; now += 1_000) expect(await get()).toBe('one');
    expect(asked.length).toBeGreaterThan(15);
    expect(asked.length).toBeLessThan(25);
    expect(tokens.known('login')?.token).toBe('one');
    give('two');
    now += 6_000;
    expect(await get()).toBe('two');
  });

  test('a token that has ended, or that the upstream refuses, is not used', async () => {
    give('short', { expires_at: Date.now() + 5_100 });
    await get();
    away();
    await nothingFor(150);
    expect(await get()).toBe('unavailable');
    now = 3_000;
    give('one');
    expect(await get()).toBe('one');
    away();
    expect(await get('id-one')).toBe('unavailable');
    now = 6_000;
    expect(await get()).toBe('unavailable');
  });

  test('a console that does not answer is waited for no longer than a second, and by nobody for the next moments', async () => {
    give('one');
    await get();
    frozen();
    now = 21_000;
    const begun = performance.now();
    expect(await Promise.all([get(), get()])).toEqual(['one', 'one']);
    expect(performance.now() - begun).toBeLessThan(20_000);
    expect(asked).toHaveLength(2);
    now = 25_000;
    expect([await get(), asked.length]).toEqual(['one', 2]);
  });

  test('what it says when it is back counts: a login that was ended meanwhile gives nothing', async () => {
    give('one');
    await get();
    frozen();
    now = 21_000;
    expect(await get()).toBe('one');
    for (const one of goOn) one();
    await new Promise(setImmediate);
    expect(tokens.known('login')).toBeUndefined();
    answer = async () => ({ refused: 'needs_login' });
    now = 30_000;
    expect(await get()).toBe('needs_login');
  });
});

test('a refusal in doubt says whose call it was, and whether the upstream has taken that token', async () => {
  give('two');
  const refusedTo = async (caller?: string) => {
    await tokens.get('login', { id: 'id-one', caller });
    return asked.at(-1);
  };
  expect(await refusedTo()).toEqual({ credential: 'login', rejected: 'id-one' });
  expect(await refusedTo('ann')).toEqual({ credential: 'login', rejected: 'id-one', doubt: { caller: 'ann', accepted: false } });
  tokens.accepted('login', 'id-zero');
  expect(await refusedTo('ann')).toMatchObject({ doubt: { accepted: false } });
  tokens.accepted('login', 'id-one');
  expect(await refusedTo('ann')).toMatchObject({ doubt: { accepted: true } });
});
