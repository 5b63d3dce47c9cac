/** `login` against a running gateway: what is enabled, a device's code, what was pasted, and what is closed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type SsoVendor, startSsoVendor } from '../../../services/console/test/sso-vendor.ts';
import { type CodeVendor, startCodeVendor } from '../../../tests/browser/code-vendor.ts';
import { until } from '../../../tests/support/gateway.ts';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';

const main = await gatewayEntry();
const folder = mkdtempSync(join(tmpdir(), 'gateway-login-'));
const environment = {
  PATH: process.env['PATH'] ?? '',
  ...compileCache,
  CONFIG_FILE: join(folder, 'gateway.toml'),
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
  HOST: '127.0.0.1',
  PROMETHEUS_PORT: 'off',
  CONSOLE_SECRET_KEY: `console-${randomBytes(16).toString('hex')}`,
};
let vendor: SsoVendor;
let codes: CodeVendor;
let gateway: ChildProcess;
let url = '';
beforeAll(async () => {
  writeFileSync(environment.CONFIG_FILE, '[sso.profiles.alpha_user]\nenabled = true\n');
  [vendor, codes] = await Promise.all([startSsoVendor(), startCodeVendor()]);
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
  await Promise.all([vendor.close(), codes.close()]);
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the command with this text on its standard input. */
const login = (args: readonly string[], input = ''): Promise<{ code: number | null; out: string }> => {
  const { child, ended } = begin('login', args);
  child.stdin.end(input);
  return ended;
};
/** Starts a command. `said` resolves with what a pattern found in what it wrote so far. */
function begin(command: string, args: readonly string[], address = url) {
  const child = spawn(process.execPath, ['--no-warnings', main, command, ...args, '--url', address], { env: environment, stdio: 'pipe' });
  let out = '';
  let isOver = false;
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
  const ended = new Promise<{ code: number | null; out: string }>((resolve) => {
    child.once('close', (code) => {
      isOver = true;
      resolve({ code, out });
    });
  });
  const said = async (pattern: RegExp): Promise<string> => {
    let found: string | undefined;
    await until(
      async () => {
        found = pattern.exec(out)?.[1];
        return found !== undefined || isOver;
      },
      `the command to say ${pattern}`,
      60_000,
    );
    if (found === undefined) throw new Error(`the command ended: ${out}`);
    return found;
  };
  return { child, ended, said };
}
const settings = () => ['--set', `oidc_url=${vendor.url}`, '--set', `refresh_url=${vendor.url}/refreshToken`];

test('lists what is enabled, and refuses what is not', async () => {
  const { code, out } = await login([]);
  expect([code, out.match(/^ {2}\S+/gm)]).toEqual([0, ['  cloudhost_ide', '  alpha_user']]);
  const closed = await login(['beta_user']);
  expect([closed.code, closed.out.trim()]).toEqual([1, '"beta_user" is not an enabled login; accepted: cloudhost_ide, alpha_user']);
  writeFileSync(join(folder, 'closed.yaml'), 'sso_credentials:\n  - { name: closed, profile: beta_user, tokens: a-refresh-token }\n');
  const { child, ended } = begin('apply', ['-f', join(folder, 'closed.yaml')]);
  child.stdin.end();
  const applied = await ended;
  expect([applied.code === 0, applied.out]).toEqual([false, expect.stringContaining('is not an enabled login')]);
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

describe('in a browser', () => {
  const args = (name: string) => [
    'alpha_user',
    ...['--name', name, '--flow', 'code', '--set', 'client_id=client-1', '--set', `issuer=${codes.url}`],
    ...['--set', `authorize_url=${codes.url}/authorize`, '--set', `token_url=${codes.url}/token`],
  ];
  const page = /^Open (http\S+)$/m;

  test('listens on this machine for the browser to come back', async () => {
    const { ended, said } = begin('login', args('visited'));
    const reply = await fetch(await said(page));
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('go back to the command line')]);
    expect(new URL(reply.url).hostname).toBe('127.0.0.1');
    expect(await ended).toEqual({ code: 0, out: expect.stringContaining('The credential visited is there.') });
  });

  test('takes the address that was pasted, says what is wrong with another one, and repeats none', async () => {
    const { child, ended, said } = begin('login', args('copied'));
    const reply = await fetch(await said(page), { redirect: 'manual' });
    const address = reply.headers.get('location')!;
    child.stdin.write('CANARY-half-a-line\n');
    await said(/(expected the whole address)/);
    child.stdin.write(`${address.replace(/state=[^&]*/, 'state=another')}\n`);
    await said(/(belongs to another login)/);
    child.stdin.write(`${address}\n`);
    const { code, out } = await ended;
    expect([code, out]).toEqual([0, expect.stringContaining('The credential copied is there.')]);
    expect(out).not.toContain('CANARY');
  });
});

test('a gateway that is away is said in one line; one that goes away during a login is waited for', async () => {
  // In front of the gateway, where it can be away without being stopped.
  let isAway = false;
  const front = createServer((request, response) => {
    if (isAway) return void response.writeHead(503, { 'content-type': 'application/json' }).end('{"error":{"message":"away"}}');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      const headers = { authorization: String(request.headers.authorization), ...(body.length > 0 && { 'content-type': 'application/json' }) };
      const reply = await fetch(`${url}${request.url}`, { method: request.method, headers, ...(body.length > 0 && { body }) });
      response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text());
    });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
  vendor.answers = [{ status: 400, body: { error: 'authorization_pending' } }];
  const { child, ended, said } = begin('login', ['cloudhost_ide', '--name', 'patient', ...settings()], address);
  child.stdin.end();
  await said(/(WDJB-MJHT)/);
  isAway = true;
  await said(/(The gateway does not answer)/);
  isAway = false;
  expect(await ended).toEqual({ code: 0, out: expect.stringContaining('The credential patient is there.') });
  front.closeAllConnections();
  await new Promise((resolve) => front.close(resolve));
  const late = begin('login', ['cloudhost_ide'], address);
  late.child.stdin.end();
  const { code, out } = await late.ended;
  expect([code, out.trim().split('\n')]).toEqual([1, [`--url: nothing answers at ${address}; accepted: the address of a running gateway`]]);
});
