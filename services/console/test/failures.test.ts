/** Why a request failed, as its page tells it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sealedAs } from '@model-gateway/contracts';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { api, type FreshHarness, startFreshConsole } from './harness.ts';

const now = Date.now();
let harness: FreshHarness;
const get = (path: string) => harness.call('GET', `${api}/${path}`);

beforeAll(async () => {
  harness = await startFreshConsole();
});
afterAll(() => harness.close());

test('a failed request says whose fault it is, what the upstream said, and how often it happened', async () => {
  const message = harness.keyring.seal('You exceeded your current quota.', sealedAs.attemptMessage('quota'));
  const failed = (upstream: string) => ({ upstream, key_index: 0, status: 429, error_code: 'insufficient_quota', duration_ms: 40, model: 'm', key: 'k1' });
  const ended = { status: 429, error_code: 'upstream_rate_limited' };
  await harness.storage.requests.insertRows([
    sampleRow({ id: 'quota', started_at: now - 1_000, upstream: 'tight', attempts: [{ ...failed('tight'), message }], ...ended }),
    sampleRow({ id: 'quota-2', started_at: now - 2_000, upstream: 'tight', attempts: [failed('tight')], ...ended }),
    sampleRow({ id: 'quota-3', started_at: now - 3_000, upstream: 'other', attempts: [failed('other')], ...ended }),
    sampleRow({ id: 'refused', started_at: now - 4_000, status: 403, error_code: 'model_not_granted', attempts: [] }),
    sampleRow({ id: 'well', started_at: now - 5_000 }),
    sampleRow({ id: 'quota-old', started_at: now - 2 * 3_600_000, upstream: 'tight', attempts: [failed('tight')], ...ended }),
  ]);
  expect((await get('logs/quota')).body.failure).toMatchObject({
    fault: 'upstream',
    upstream: 'tight',
    said: 'You exceeded your current quota.',
    recent: {
      requests: 3,
      or_more: false,
      upstreams: [
        { upstream: 'tight', requests: 2 },
        { upstream: 'other', requests: 1 },
      ],
    },
  });
  expect((await get('logs/refused')).body.failure).toMatchObject({ fault: 'key_group', upstream: null, said: null, recent: { requests: 1 } });
  expect((await get('logs/well')).body.failure).toBeNull();
});
