/** What 500 realtime sessions in which nobody speaks cost in memory, in both arrangements, all processes of the gateway together. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import { inspected, liveHeapMib } from '../support/live-heap.ts';
import { openTalk, type Talk } from '../support/realtime-talk.ts';

const sessions = 500;
/** Opened before anything is measured: what is made once, with the first sessions, is no session's. */
const first = 50;
const promisedKib = 100;

describe.each(arrangements('realtime-memory'))('idle sessions at a %s gateway', (arrangement) => {
  let fake: FakeRealtime;
  let gateway: TestGateway;
  const talks: Talk[] = [];
  beforeAll(async () => {
    fake = await startFakeRealtime();
    gateway = await startGateway({ arrangement, env: inspected });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [{ name: 'voice', upstream: 'up', upstream_model_id: 'talk' }],
    });
  });
  afterAll(async () => {
    for (const { socket } of talks) socket.terminate();
    await gateway?.stop();
    await fake?.close();
  });

  const open = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at++) talks.push(await openTalk(gateway.url, { path: '/v1/realtime?model=voice', key: gateway.key }));
    await until(() => talks.every(({ events }) => events.length > 0), 'all sessions');
  };
  /** KiB of all processes: live after a collection, and resident. */
  async function held(): Promise<{ live: number; resident: number }> {
    let [live, resident] = [0, 0];
    for (const one of Object.values(gateway.processes)) {
      live += (await liveHeapMib(one)) * 1024;
      resident += Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one.pid}/status`, 'latin1'))?.[1] ?? 0);
    }
    return { live, resident };
  }

  test(`each takes less than ${promisedKib} KiB`, async () => {
    await open(first);
    const before = await held();
    await open(sessions);
    const after = await held();
    const each = { live: (after.live - before.live) / sessions, resident: (after.resident - before.resident) / sessions };
    process.stderr.write(
      `${arrangement}: ${each.live.toFixed(1)} KiB live and ${each.resident.toFixed(1)} KiB resident for each of ${sessions} idle realtime sessions\n`,
    );
    expect(each.live).toBeLessThan(promisedKib);
    expect(each.resident).toBeLessThan(promisedKib);
  });
});
