/** Every carrier of an access key, and every way to send too many of them. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildSnapshot } from '@model-gateway/catalog';
import type { AccessKeyRecord, KeyGroup, Snapshot } from '@model-gateway/contracts';
import { hashAccessKey, mintAccessKey } from '@model-gateway/secrets';
import { authenticate } from '../src/admission/credentials.ts';
import { fakeRequest } from './fake-request.ts';

const now = 1_800_000_000_000;
const ours = mintAccessKey();
const other = mintAccessKey();
const imported = 'sk-imported-from-elsewhere';
const expired = mintAccessKey();
const disabled = mintAccessKey();
const inDisabledGroup = mintAccessKey();

const record = (name: string, key: string, more: Partial<AccessKeyRecord> = {}): AccessKeyRecord => ({
  name,
  group: 'people',
  enabled: true,
  expires_at: null,
  hash: hashAccessKey(key),
  ...more,
});
const group = (name: string, enabled = true): KeyGroup => ({ name, models: ['*'], header_acl: [], strict_translation: false, enabled, description: '' });

let snapshot: Snapshot;
beforeAll(() => {
  snapshot = buildSnapshot({
    revision: 1,
    upstreams: [],
    models: [],
    key_groups: [group('people'), group('closed', false)],
    access_keys: [
      record('ours', ours),
      record('other', other),
      record('imported', imported),
      record('expired', expired, { expires_at: now }),
      record('lasting', 'sk-lasts-one-more-ms', { expires_at: now + 1 }),
      record('disabled', disabled, { enabled: false }),
      record('orphan', inDisabledGroup, { group: 'closed' }),
      record('lost', 'sk-group-is-not-there', { group: 'nowhere' }),
    ],
  });
});

type Headers = readonly (readonly [string, string])[];
const who = (headers: Headers, query = ''): string => authenticate(fakeRequest(headers), new URLSearchParams(query), snapshot, now).key.name;
const refusal = (headers: Headers, query = ''): unknown => {
  try {
    return who(headers, query);
  } catch (error) {
    return error;
  }
};
const unauthorized = expect.objectContaining({ code: 'unauthorized', status: 401 });

describe('carriers', () => {
  test.each([
    ['Authorization', `Bearer ${ours}`],
    ['authorization', `bearer   ${ours} `],
    ['x-api-key', ours],
    ['api-key', ours],
    ['X-Gamma-Api-Key', ours],
    ['x-goog-api-key', ours],
  ])('%s: %s', (name, value) => {
    expect(who([[name, value]])).toBe('ours');
  });

  test('the query parameter key', () => {
    expect(who([], `key=${ours}`)).toBe('ours');
  });

  test('the same value in several carriers is one credential', () => {
    expect(
      who(
        [
          ['authorization', `Bearer ${ours}`],
          ['x-api-key', ours],
        ],
        `key=${ours}`,
      ),
    ).toBe('ours');
  });

  test('an imported key has no format of ours and is found all the same', () => {
    expect(who([['x-api-key', imported]])).toBe('imported');
  });
});

describe('several values', () => {
  test.each([
    [
      'a vendor token in Authorization',
      [
        ['authorization', 'Bearer sess-vendor-token'],
        ['x-api-key', ours],
      ],
    ],
    [
      'an imported key beside ours: only ours counts',
      [
        ['authorization', `Bearer ${imported}`],
        ['x-api-key', ours],
      ],
    ],
    [
      'Basic credentials',
      [
        ['authorization', 'Basic dXNlcjpwYXNz'],
        ['x-goog-api-key', ours],
      ],
    ],
    [
      'an empty carrier',
      [
        ['x-api-key', ''],
        ['x-goog-api-key', ours],
      ],
    ],
  ] as [string, Headers][])('%s is ignored beside a key of ours', (_what, headers) => {
    expect(who(headers)).toBe('ours');
  });

  test('a key of ours that is unknown is not saved by a known foreign value beside it', () => {
    expect(
      refusal([
        ['x-api-key', mintAccessKey()],
        ['authorization', `Bearer ${imported}`],
      ]),
    ).toEqual(unauthorized);
  });

  test('one known among foreign values', () => {
    expect(
      who([
        ['authorization', 'Bearer unknown-vendor-token'],
        ['x-api-key', imported],
      ]),
    ).toBe('imported');
  });

  test.each([
    [
      'two different keys of ours',
      [
        ['authorization', `Bearer ${ours}`],
        ['x-api-key', other],
      ],
      '',
    ],
    ['two different keys, one in the query', [['authorization', `Bearer ${ours}`]], `key=${other}`],
    [
      'two known foreign keys',
      [
        ['authorization', `Bearer ${imported}`],
        ['x-api-key', 'sk-lasts-one-more-ms'],
      ],
      '',
    ],
    [
      'one header twice',
      [
        ['x-api-key', ours],
        ['x-api-key', ours],
      ],
      '',
    ],
    [
      'one header twice, in another case',
      [
        ['X-Api-Key', ours],
        ['x-api-key', ours],
      ],
      '',
    ],
    [
      'Authorization twice',
      [
        ['authorization', `Bearer ${ours}`],
        ['authorization', `Bearer ${ours}`],
      ],
      '',
    ],
    ['the query parameter twice', [], `key=${ours}&key=${ours}`],
  ] as [string, Headers, string][])('%s: 401', (_what, headers, query) => {
    expect(refusal(headers, query)).toEqual(unauthorized);
  });
});

describe('refused', () => {
  const typo = `${ours.slice(0, -1)}${ours.endsWith('0') ? '1' : '0'}`;
  test.each([
    ['nothing', ''],
    ['an unknown key', mintAccessKey()],
    ['a typo', typo],
    ['SQL', "' UNION SELECT 1--"],
    ['ten kilobytes', 'x'.repeat(10_000)],
    ['a word of the prototype', '__proto__'],
    ['an expired key', expired],
    ['a disabled key', disabled],
    ['a key of a disabled group', inDisabledGroup],
    ['a key of a group that is gone', 'sk-group-is-not-there'],
  ])('%s', (_what, value) => {
    const error = refusal([['x-api-key', value]]);
    expect(error).toEqual(unauthorized);
    // One sentence for all, so that nothing is learnt by trying.
    expect((error as Error).message).toBe('A valid access key is required.');
  });

  test('a key is good until the millisecond it expires in', () => {
    expect(who([['x-api-key', 'sk-lasts-one-more-ms']])).toBe('lasting');
  });
});
