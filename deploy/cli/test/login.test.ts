/** `login` against a running gateway: what is enabled, a device's code, what was pasted, and what is closed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SsoVendor, startSsoVendor } from '../../../services/console/test/sso-vendor.ts';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';

const main = await gatewayEntry();
const folder = mkdtempSync(join(tmpdir(), 'gateway-login-'));
const environment = {
  PATH: process.env['PATH'] ?? '',
  ...compileCache,
  CONFIG_FILE: '/dev/null',
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
  HOST: '127.0.0.1',
  PROMETHEUS_PORT: 'off',
  CONSOLE_SECRET_KEY: `console-${randomBytes(16).toString('hex')}`,
};
let vendor: SsoVendor;
let gateway: ChildProcess;
let url = '';
beforeAll(async () => {
  vendor = await startSsoVendor();
  gateway = spawn(process.execPath, ['--no-warnings', main, 'up'], { env: environment, stdio: ['ignore', 'pipe', 'inherit'] });
  url = await new Promise<string>((resolve, reject) => {
    let out = '';
    gateway.stdout?.on('data', (text) => {
      out += text;
      const found = /The gateway listens on (http:\S+?)\.\s/.exec(out)?.[1];
      if (found) resolve(found);
    });
    gateway.once('exit', (code) => reject(new Error(`the gateway ended (${code}): ${out}`)));
  });
});
afterAll(async () => {
  gateway.removeAllListeners('exit');
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  gateway.kill();
  await ended;
  await vendor.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command with this text on its standard input. */
const login = (args: readonly string[], input = ''): Promise<{ code: number | null; out: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, ['--no-warnings', main, 'login', ...args, '--url', url], { env: environment, stdio: 'pipe' });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
    child.once('close', (code) => resolve({ code, out }));
    child.stdin.end(input);
  });
const settings = () => ['--set', `oidc_url=${vendor.url}`, '--set', `refresh_url=${vendor.url}/refreshToken`];

test('lists what is enabled, and refuses what is not', async () => {
  const { code, out } = await login([]);
  expect([code, out.match(/^ {2}\S+/gm)]).toEqual([0, ['  cloudhost_ide']]);
  const closed = await login(['beta_user']);
  expect([closed.code, closed.out.trim()]).toEqual([1, '"beta_user" is no login that is enabled here; accepted: cloudhost_ide']);
});

test('waits for the code to be entered, and makes the upstream', async () => {
  vendor.answers = [{ status: 400, body: { error: 'authorization_pending' } }];
  const { code, out } = await login(['cloudhost_ide', '--name', 'device', '--upstream', 'ide', '--qr', ...settings()]);
  // Half blocks: two rows of modules in each line, with a quiet border around them.
  expect(out.split('\n').filter((line) => /^[ ▀▄█]{20,}$/.test(line)).length).toBeGreaterThan(10);
  expect([code, out]).toEqual([0, expect.stringContaining('https://device.example/?user_code=WDJB-MJHT')]);
  expect(out).toContain('The credential device is there.\nThe upstream ide uses it.\n');
  expect(out).not.toContain('CANARY');
});

test('takes what was pasted, and says what it expected', async () => {
  const wrong = await login(['cloudhost_ide', '--name', 'pasted', '--paste', ...settings()], '{"CANARY": 1}');
  expect([wrong.code, wrong.out]).toEqual([1, expect.stringContaining('expected the JSON')]);
  const right = await login(['cloudhost_ide', '--name', 'pasted', '--paste', ...settings()], JSON.stringify({ refreshToken: vendor.refreshToken }));
  expect([right.code, right.out]).toEqual([0, expect.stringContaining('The credential pasted is there.')]);
  expect(wrong.out + right.out).not.toContain('CANARY');
});
