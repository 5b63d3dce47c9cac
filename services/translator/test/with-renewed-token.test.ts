/** A call whose token is refused: made once more with a renewed one, and no more often, with reports to the console. */
import { beforeEach, expect, test } from '@jest/globals';
import type { UpstreamFault } from '@model-gateway/protocols';
import type { Rejected } from '../src/access-tokens.ts';
import { mayRenew, type RenewableCall, withRenewedToken } from '../src/attempt/with-renewed-token.ts';

interface End {
  fault: UpstreamFault | null;
  status: number | null;
}

const done: End = { fault: null, status: 200 };
const refused = (status: number | null): End => ({ fault: { class: 'credential', message: 'no' }, status });

/** The token at hand, and what the console gives for one that is refused. */
let held: string | undefined;
let renewed: string | undefined;
let rejected: (string | undefined)[];
let sent: (string | undefined)[];
let suspected: (string | undefined)[];
let accepted: string[];
beforeEach(() => {
  [held, renewed, rejected, sent, suspected, accepted] = ['one', 'two', [], [], [], []];
});

const tokens = {
  known: () => (held === undefined ? undefined : { token_id: held }),
  accepted: (_credential: string, token: string) => void accepted.push(token),
  get(_credential: string, token?: Rejected) {
    if (token !== undefined) {
      rejected.push(token.id);
      suspected.push(token.caller);
      held = renewed;
    }
    if (held === undefined) throw new Error('the credential gives no token');
    return Promise.resolve({ token_id: held });
  },
};

function call(ends: End[], more: Partial<RenewableCall<End>> = {}, credential: string | null = 'login'): Promise<End> {
  const route = { upstream: { name: 'up', sso_credential: credential } } as never;
  const send = async (): Promise<End> => {
    sent.push(held);
    return ends.shift()!;
  };
  const deps = { secrets: { tokens } as never, logger: { info: () => undefined } as never };
  return withRenewedToken({ route, deps, subject: {}, isRefused: (end) => mayRenew(route, end), send, ...more });
}

test.each([401, 403])('%d about the credential: once more with a renewed token', async (status) => {
  expect(await call([refused(status), done])).toBe(done);
  expect([sent, rejected]).toEqual([['one', 'two'], ['one']]);
});

test('a second refusal is reported, and stands', async () => {
  expect(await call([refused(401), refused(403)])).toEqual(refused(403));
  expect([sent, rejected]).toEqual([
    ['one', 'two'],
    ['one', 'two'],
  ]);
});

test('nothing is sent again with the same token, with none, or for want of another reason', async () => {
  let stood = 0;
  const refusalStands = (): void => void stood++;
  renewed = 'one';
  expect(await call([refused(401)], { refusalStands })).toEqual(refused(401));
  renewed = undefined;
  expect(await call([refused(401)], { refusalStands })).toEqual(refused(401));
  expect([sent, rejected, stood]).toEqual([['one', 'one'], ['one', 'one'], 2]);
  // Without a token nothing was refused but by ourselves.
  for (const end of [refused(null), { ...refused(401), fault: { class: 'caller', message: 'no' } } as End])
    expect(await call([end], { refusalStands })).toBe(end);
  expect([rejected.length, stood]).toEqual([2, 2]);
});

test('where it cannot be made again the first refusal stands, and the renewed token is not reported', async () => {
  let stood = 0;
  expect(await call([refused(401)], { sendAgain: async () => null, refusalStands: () => void stood++ })).toEqual(refused(401));
  expect([rejected, stood]).toEqual([['one'], 1]);
});

test('a key of its own is never renewed', async () => {
  expect(await call([refused(401)], {}, null)).toEqual(refused(401));
  expect([sent, rejected]).toEqual([['one'], []]);
});

test.each([
  ['generate', 401, undefined],
  ['generate', 403, 'ann'],
  ['realtime', 403, 'ann'],
  ['native', 401, 'ann'],
  ['passthrough', 401, 'ann'],
] as const)('%s, %d: the refusal may be about what the caller asked for: %p', async (operation, status, expected) => {
  await call([refused(status), refused(status)], { caller: { accessKey: 'ann', operation } });
  expect([rejected, suspected, accepted]).toEqual([['one', 'two'], [expected, expected], []]);
});

test('a token that the upstream took is told', async () => {
  await call([done]);
  await call([{ fault: { class: 'caller', message: 'no' }, status: 400 }]);
  await call([refused(403), done]);
  expect(accepted).toEqual(['one', 'two']);
});
