/** A large import keeps nobody waiting: the probe, and callers, are answered while it is read, checked and written. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

describe('while a large import runs in one process with everything else', () => {
  let gateway: TestGateway;
  let upstream: FakeUpstream;
  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'embedded' });
    await gateway.configure({
      upstreams: [{ name: 'fake', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-upstream' }] }],
      models: [{ name: 'm', upstream: 'fake', upstream_model_id: 'ok' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const keys = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `key-${index}`, group: 'everyone' }));
  const yamlOf = (count: number) =>
    `access_keys:\n${keys(count)
      .map(({ name, group }) => `  - name: ${name}\n    group: ${group}\n`)
      .join('')}`;

  test.each([
    ['a YAML of a megabyte', 'application/yaml', () => yamlOf(30_000).replace('name: key-29999', 'name: key-1'), 422],
    ['a YAML whose every entry is at fault', 'application/yaml', () => `upstreams:\n${'  - {}\n'.repeat(99_000)}`, 422],
    [
      'a hundred thousand entries of JSON',
      'application/json',
      () => JSON.stringify({ access_keys: keys(99_000).map((key) => ({ ...key, description: 'x'.repeat(100), group: 'nobody' })) }),
      422,
    ],
    ['a valid one that is only tried', 'application/json', () => JSON.stringify({ access_keys: keys(5_000) }), 200],
    ['a valid one that is written', 'application/json', () => JSON.stringify({ access_keys: keys(5_000) }), 200],
  ] as const)('%s', async (what, type, makeText, expected) => {
    const body = makeText();
    let done = false;
    const began = performance.now();
    const answer = fetch(`${gateway.consoleUrl}/import${what.endsWith('written') ? '' : '?dry_run=true'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.consoleKey}`, 'content-type': type },
      body,
    }).finally(() => {
      done = true;
    });
    let slowest = 0;
    let probes = 0;
    while (!done) {
      const asked = performance.now();
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - asked);
      probes++;
    }
    const took = performance.now() - began;
    expect([(await answer).status, await (await answer).text().then((text) => text.length > 0)]).toEqual([expected, true]);
    // An import that blocks the process is one probe that waits for most of it; a busy machine makes both longer alike.
    expect({ what, took, slowest, isShort: slowest < Math.max(500, took / 2) }).toMatchObject({ isShort: true });
    expect(probes).toBeGreaterThan(3);
  });
});
