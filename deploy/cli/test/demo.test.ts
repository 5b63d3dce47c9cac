/** `--demo`: every request that it prints is run as it stands, by a shell, where the gateway listens on the IPv6 loopback too. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, expect, test } from '@jest/globals';
import { freePort } from '../../../tests/support/free-port.ts';
import { until } from '../../../tests/support/gateway.ts';

const run = promisify(execFile);
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));
if (!hasIpv6) process.stderr.write('the demo on ::1 DID NOT RUN: this machine has no IPv6\n');

const canRun = spawnSync('curl', ['--version']).status === 0;
if (!canRun) process.stderr.write('the demo DID NOT RUN: no curl on this machine\n');

let demo: ChildProcess | undefined;
afterEach(async () => {
  if (demo === undefined || demo.exitCode !== null || demo.signalCode !== null) return;
  demo.removeAllListeners('close');
  demo.kill('SIGTERM');
  // It takes its temporary folder with it.
  expect(await once(demo, 'close')).toEqual([0, null]);
});

/** What a shell may hold for other gateways. */
const unhelpful = { CONSOLE_PASSWORD: '', CONSOLE_SECRET_KEY: '', OUTBOUND_PRIVATE: 'deny', STORAGE_MODE: 'postgresql' };

/** Everything it wrote once it says how to stop it. */
async function startDemo(host: string): Promise<string> {
  demo = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, '../src/main.ts'), 'up', '--demo'], {
    env: { PATH: process.env['PATH'] ?? '', CONFIG_FILE: '/dev/null', HOST: host, PORT: `${await freePort()}`, PROMETHEUS_PORT: 'off', ...unhelpful },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  return new Promise((resolve, reject) => {
    const onMessage = (text: Buffer): void => {
      out += text;
      if (out.includes('Stop with Ctrl-C')) resolve(out);
    };
    demo?.stdout?.on('data', onMessage);
    demo?.stderr?.on('data', onMessage);
    demo?.once('close', (code) => reject(new Error(`it ended with ${code}:\n${out}`)));
  });
}

/** What the pages show of the agents: an upstream that fails, a budget near its end, a model without a price, sessions, and costs of three teams. */
async function expectLife(base: string, token: string): Promise<void> {
  const read = async <T>(path: string): Promise<T> =>
    (await (await fetch(`${base}/console/api/${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as T;
  type Items<T> = { items: T[] };
  await until(
    async () => {
      const { upstreams, unpriced } = await read<{ upstreams: Items<{ name: string }>; unpriced: Items<{ model: string }> }>('attention');
      const { items: budgets } = await read<Items<{ name: string; spent_micros: number }>>('budgets');
      const { items: teams } = await read<Items<{ value: string; cost: object[] }>>('stats/top?by=group&order=cost');
      const { items: sessions } = await read<Items<{ requests: number }>>('stats/sessions');
      return (
        upstreams.items.some(({ name }) => name === 'demo-failing') &&
        unpriced.items.some(({ model }) => model === 'preview') &&
        budgets.filter(({ spent_micros }) => spent_micros > 0).length === 3 &&
        teams.filter(({ cost }) => cost.length > 0).length >= 3 &&
        sessions.some(({ requests }) => requests > 1)
      );
    },
    'every page of the console to have something to show',
    180_000,
  );
}

/** How each printed request's stream ends when all went well. */
const endings: Record<string, RegExp> = {
  '/v1/chat/completions': /data: \[DONE\]\s*$/,
  '/v1/messages': /event: message_stop\s+data: .*\s*$/,
  streamGenerateContent: /"finishReason":"STOP"/,
  '/v1/responses': /event: response\.completed\s/,
};

(canRun ? test : test.skip).each(['0.0.0.0', ...(hasIpv6 ? ['::1'] : [])])(
  'on %s the four requests answer as streams',
  async (host) => {
    const text = await startDemo(host);
    const requests = text.match(/^ {2}curl (?:.*\\\n)*.*$/gm) ?? [];
    expect(requests).toHaveLength(Object.keys(endings).length);
    for (const [path, ending] of Object.entries(endings)) {
      const request = requests.find((one) => one.includes(path));
      expect([path, request]).toEqual([path, expect.stringContaining('curl -N')]);
      const { stdout } = await run('sh', ['-c', `exec ${request?.trim()}`]);
      expect([path, stdout]).toEqual([path, expect.stringMatching(ending)]);
      // Word by word.
      expect(stdout.match(/^data: \{/gm)?.length).toBeGreaterThan(3);
      expect(stdout).toContain('demo');
    }
    // A vector is not asked of a chat model.
    const vector = requests[0]!.replace('/v1/chat/completions', '/v1/embeddings').replace('curl -N', "curl -s -o /dev/null -w '%{http_code}'");
    expect((await run('sh', ['-c', vector.trim()])).stdout).toBe('404');
    const [, base, password] = /console: (\S+)\/console, as admin with the password (\S+)/.exec(text) ?? [];
    const signIn = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ username: 'admin', password }) };
    const signedIn = await fetch(`${base}/console/api/login`, signIn);
    expect(signedIn.status).toBe(200);
    await expectLife(base ?? '', ((await signedIn.json()) as { token: string }).token);
    expect((await fetch(`${base}/console/`)).status).toBeLessThan(500);
  },
  300_000,
);
