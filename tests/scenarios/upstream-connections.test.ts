/** Connections to one upstream: as many as the gateway lets requests be under way, unless a limit is set; one access key never takes them all. */
import { afterEach, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
afterEach(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const keys = { busy: mintAccessKey(), other: mintAccessKey() };

async function start(toml: Record<string, Record<string, number>>): Promise<void> {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded', toml });
  await gateway.configure({
    upstreams: [{ name: 'up', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake' }], timeouts: { connect_ms: 200 } }],
    models: ['hang', 'ok', 'pump+slow:2000'].map((script) => ({ name: script.replace(/\W.*/, ''), upstream: 'up', upstream_model_id: script })),
    access_keys: [
      { name: 'busy', group: 'everyone', key: keys.busy },
      { name: 'other', group: 'everyone', key: keys.other },
    ],
  });
}

const ask = (key: string, model: string, { stream = false, signal }: { stream?: boolean; signal?: AbortSignal } = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'hi' }] }),
    ...(signal && { signal }),
  });

test('one key holds its share of a set limit, others are served, and a refusal says what it is', async () => {
  await start({ upstream: { max_connections: 5 } });
  const leaving = new AbortController();
  const held = Array.from({ length: 4 }, () => ask(keys.busy, 'hang', { signal: leaving.signal }).catch((error: Error) => error.name));
  await until(async () => upstream.requests.length === 4, 'four calls to hang');
  const refused = await ask(keys.busy, 'ok');
  expect(refused.status).toBe(503);
  expect(((await refused.json()) as { error: { code: string } }).error.code).toBe('upstream_connections');
  expect((await ask(keys.other, 'ok')).status).toBe(200);
  // The last connection is taken: whoever comes next waits for one as long as for a connection.
  const last = ask(keys.other, 'hang', { signal: leaving.signal }).catch((error: Error) => error.name);
  await until(async () => upstream.requests.length === 6, 'a fifth call to hang');
  const late = await ask(keys.other, 'ok');
  expect([late.status, ((await late.json()) as { error: { code: string } }).error.code]).toEqual([503, 'upstream_connections']);
  const logs = () =>
    Object.values(gateway.processes)
      .flatMap((one) => one.logs())
      .join('\n');
  for (const line of ['an access key holds its whole share of the connections to an upstream', 'all connections to an upstream are in use'])
    await until(async () => logs().includes(line), line);
  leaving.abort();
  expect(await Promise.all([...held, last])).toEqual(Array(5).fill('AbortError'));
  await until(async () => (await ask(keys.busy, 'ok')).status === 200, 'the connections to be free again');
});

test('without a limit one key may use all that the gateway carries at once', async () => {
  await start({ server: { max_global_concurrency: 700 }, streaming: { max_concurrent_streams: 700 } });
  const leaving = new AbortController();
  const replies = await Promise.all(Array.from({ length: 650 }, () => ask(keys.busy, 'pump', { stream: true, signal: leaving.signal })));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  leaving.abort();
});
