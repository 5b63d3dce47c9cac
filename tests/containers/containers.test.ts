/** The image and docker-compose.yml for real: an upgrade under load, a call through each edge, and every container's crash. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until as untilNamed } from '../support/callers.ts';
import { image, previousImage, Stack } from './stack.ts';
import { accessKey, type Call, count, sampleOfWhole, startTraffic, streamOnce } from './traffic.ts';

const stack = new Stack();
const ours = ['stats', 'translator', 'console', 'mcp-aggregator', 'script-runner', 'router', 'edge'];
const long = 20 * 60_000;
/** On a machine that does other things besides. */
const until = (check: () => boolean | Promise<boolean>, ms = 300_000): Promise<void> => untilNamed(check, 'what the test waits for', ms);
const print = (what: string, calls: readonly Call[]): void => void process.stderr.write(`${what}: ${JSON.stringify(count(calls))}\n`);

beforeAll(async () => {
  await stack.up(previousImage);
  await stack.startUpstream();
  await stack.configure();
  await until(async () => (await streamOnce(stack.edges[1]!, accessKey)).ending === 'whole');
}, long);
afterAll(() => stack.remove(), long);

/** Rows of the calls that were answered to their end: each once; and no message of another version was refused. */
async function expectRowsOnce(calls: readonly Call[]): Promise<void> {
  for (const { id } of sampleOfWhole(calls, 60)) {
    const rows = async (): Promise<number> => ((await (await stack.console(`/logs?request_id=${id}`)).json()) as { items: unknown[] }).items.length;
    await until(async () => (await rows()) === 1);
  }
  expect(await (await stack.console('/dead-letters')).json()).toMatchObject({ items: [] });
}

test(
  'an upgrade from the previous image, service after service, with traffic: every call ends validly, none is refused, and no row is lost or doubled',
  async () => {
    const balancer = stack.balance();
    const traffic = startTraffic(() => stack.edges, accessKey);
    await stack.upgrade(image);
    const upgraded = traffic.calls.length;
    await until(() => traffic.calls.slice(upgraded).filter(({ ending }) => ending === 'whole').length > 20);
    const calls = await traffic.stop();
    await balancer.stop();
    await stack.findEdges();
    print('upgrade', calls);
    expect(calls.filter(({ ending }) => ending !== 'whole' && ending !== 'told')).toEqual([]);
    await expectRowsOnce(calls);
    for (const service of ours)
      for (const container of await stack.containers(service)) expect(await stack.inspect(container, '{{.Config.Image}}')).toBe(image);
  },
  long,
);

test(
  'a streamed call through each edge',
  async () => {
    expect(new Set(stack.edges).size).toBe(2);
    for (const edge of stack.edges) expect(await streamOnce(edge, accessKey)).toMatchObject({ ending: 'whole' });
  },
  long,
);

describe('a container', () => {
  test('writes nothing of its image, is not root, and has no capability', async () => {
    for (const service of ours) {
      const [container = ''] = await stack.containers(service);
      const { output } = await stack.exec(container, 'sh', '-c', 'id -u; touch /app/x 2>&1; grep -E "^(CapEff|NoNewPrivs)" /proc/1/status');
      expect([service, output.split('\n')[0]]).toEqual([service, service === 'script-runner' ? '10001' : '1000']);
      expect(output).toMatch(/Read-only file system|Permission denied/);
      expect(output).toMatch(/NoNewPrivs:\s+1/);
      expect(output).toMatch(/CapEff:\s+0{16}/);
    }
  });

  test('of the script runner reaches the bus and nothing else, and its slots know nothing', async () => {
    const [runner = ''] = await stack.containers('script-runner');
    const reach = (host: string, port: number) =>
      stack.exec(
        runner,
        'node',
        '-e',
        `const s=require('net').connect({host:'${host}',port:${port},timeout:3000});s.on('connect',()=>process.exit(0));s.on('timeout',()=>process.exit(1));s.on('error',()=>process.exit(1))`,
      );
    expect((await reach('nats', 4222)).code).toBe(0);
    for (const [host, port] of [
      ['postgres', 5432],
      ['redis', 6379],
      ['169.254.169.254', 80],
      ['1.1.1.1', 443],
    ] as const)
      expect([host, (await reach(host, port)).code]).toEqual([host, 1]);
    const { output } = await stack.exec(
      runner,
      'sh',
      '-c',
      // The brackets keep this very command line from being found.
      'for p in /proc/[0-9]*; do grep -q "script[-]slot" $p/cmdline 2>/dev/null && { grep NoNewPrivs $p/status; wc -c <$p/environ; }; done',
    );
    expect(output).toMatch(/NoNewPrivs:\s+1\s+0\b/);
  });

  test(
    'that crashes under load costs what was on it, comes back by itself, and loses no row',
    async () => {
      const all: Call[] = [];
      for (const service of [...ours, 'redis', 'nats', 'postgres']) {
        const traffic = startTraffic(() => stack.edges, accessKey, 6);
        await until(() => traffic.calls.length > 6);
        const [container = ''] = await stack.containers(service);
        const before = await stack.inspect(container, '{{.State.StartedAt}}');
        await stack.crash(container);
        await until(async () => (await stack.inspect(container, '{{.State.StartedAt}}')) !== before && (await stack.isHealthy(container)));
        await stack.findEdges();
        const healed = traffic.calls.length;
        await until(() => traffic.calls.slice(healed).filter(({ ending }) => ending === 'whole').length > 6);
        const calls = await traffic.stop();
        print(`crash of ${service}`, calls);
        expect([service, calls.filter(({ ending }) => ending === 'wrong')]).toEqual([service, []]);
        // Only an edge takes connections with it.
        if (service !== 'edge') expect([service, calls.filter(({ ending }) => ending === 'cut' || ending === 'refused')]).toEqual([service, []]);
        all.push(...calls.slice(-20));
      }
      await expectRowsOnce(all);
    },
    long,
  );
});
