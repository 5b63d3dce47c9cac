/** A wrong setting stops the start with one line that names it, and exit code 1. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ConfigError } from '@model-gateway/config';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';
import manifest from '../package.json' with { type: 'json' };
import { apply } from '../src/commands/apply.ts';
import { exportAll } from '../src/commands/export.ts';
import { serve } from '../src/commands/serve.ts';
import { up } from '../src/commands/up.ts';

const main = await gatewayEntry();
const masterKey = randomBytes(32).toString('base64');
/** 32 bytes in base64, but nothing that a random generator gave. */
const readable = Buffer.from('correct horse battery staple, ok').toString('base64');
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-wrong-'));
  writeFileSync(join(folder, 'wrong.toml'), '[server]\nmax_body_bytes = "many"\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  ...compileCache,
  CONFIG_FILE: '/dev/null',
  DATA_DIR: join(folder, 'data'),
  PORT: '0',
  HOST: '127.0.0.1',
  PROMETHEUS_PORT: 'off',
});
const commands: Record<string, (args: string[], env: NodeJS.ProcessEnv) => Promise<void>> = { up, serve, apply, export: exportAll };

interface Outcome {
  code: number | null;
  out: string;
  err: string;
}
/** Runs to its end; the environment is only what is given, so that no setting of this machine counts. */
function run(args: string[], env: Record<string, string> = {}): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--no-warnings', main, ...args], {
      env: { ...environment(), ...env },
    });
    let out = '';
    let err = '';
    child.stdout.on('data', (text) => {
      out += text;
    });
    child.stderr.on('data', (text) => {
      err += text;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), 100_000);
    // Not `exit`: what it wrote may still be on its way then.
    child.on('close', (code) => {
      clearTimeout(late);
      resolve({ code, out, err });
    });
  });
}

test.each([
  ['NATS_URL with up', ['up'], { NATS_URL: 'nats://127.0.0.1:1' }, /^NATS_URL is set, but `up`/],
  ['serve without NATS_URL', ['serve', 'edge'], { GATEWAY_MASTER_KEY: masterKey }, /^NATS_URL is not set/],
  ...['translator', 'stats', 'console'].map((name) => [
    `serve ${name} without GATEWAY_MASTER_KEY`,
    ['serve', name],
    { NATS_URL: 'nats://127.0.0.1:1' },
    /^GATEWAY_MASTER_KEY is not set/,
  ]),
  ['up with a master key that is a text', ['up'], { GATEWAY_MASTER_KEY: readable }, /^GATEWAY_MASTER_KEY is readable text/],
  ...['edge', 'translator'].map((name) => [
    `serve ${name} with a master key that is a text`,
    ['serve', name],
    { NATS_URL: 'nats://127.0.0.1:1', GATEWAY_MASTER_KEY: readable },
    /^GATEWAY_MASTER_KEY is readable text/,
  ]),
  ['serve of nothing', ['serve'], {}, /is not a service; accepted: .*edge/],
  ['serve of an inherited name', ['serve', 'constructor'], {}, /is not a service/],
  ['a bad PORT', ['up'], { PORT: 'eighty' }, /^PORT "?eighty"? ?/],
  ['a PORT out of range', ['up'], { PORT: '70000' }, /^PORT/],
  ['a bad master key', ['up'], { GATEWAY_MASTER_KEY: 'c2hvcnQ=' }, /^GATEWAY_MASTER_KEY/],
  ['an empty console secret', ['up'], { CONSOLE_SECRET_KEY: '' }, /^CONSOLE_SECRET_KEY/],
  ['a bad log level', ['up'], { LOG_LEVEL: 'loud' }, /^LOG_LEVEL/],
  ['a file of TLS that is not there', ['up'], { REDIS_TLS_CA_FILE: '/nowhere/ca.pem' }, /^REDIS_TLS_CA_FILE "\/nowhere\/ca\.pem" cannot be read \(ENOENT\)/],
  ['a file of TLS that is none', ['up'], { DATABASE_TLS_CA_FILE: '/dev/null' }, /^DATABASE_TLS_CA_FILE holds what cannot be used for TLS/],
  ['TLS that is required and not there', ['up'], { REQUIRE_TLS: 'true', REDIS_URL: 'redis://:secret@127.0.0.1:1' }, /^REDIS_URL is without verified TLS/],
  ['PostgreSQL without its address', ['up'], { STORAGE_MODE: 'postgresql' }, /^DATABASE_URL/],
  ['apply without a file', ['apply'], {}, /^-f is missing/],
  ['apply of a file that is not there', ['apply', '-f', '/nowhere/gateway.yaml'], { CONSOLE_SECRET_KEY: 'a-very-long-console-secret-here' }, /ENOENT/],
  ['export in an unknown format', ['export', '--format', 'xml'], {}, /^--format "xml" is not known/],
  [
    'export where nothing listens',
    ['export', '--url', 'http://127.0.0.1:1'],
    { CONSOLE_SECRET_KEY: 'a-very-long-console-secret-here' },
    /^--url: nothing answers/,
  ],
  [
    'export from an address without http',
    ['export', '--url', '127.0.0.1:7890'],
    { CONSOLE_SECRET_KEY: 'a-very-long-console-secret-here' },
    /^--url "127\.0\.0\.1:7890" is not an address/,
  ],
] as [string, string[], Record<string, string>, RegExp][])('%s', async (_what, [command = '', ...args], env, says) => {
  const error: unknown = await commands[command]!(args, { ...environment(), ...env }).catch((cause: unknown) => cause);
  // What `main.ts` prints as one line; anything else would be a stack.
  expect(error).toBeInstanceOf(ConfigError);
  const { message } = error as ConfigError;
  expect(message).toMatch(says);
  expect(message).not.toContain('\n');
  expect(message).not.toContain(masterKey);
  expect(message).not.toContain(readable);
  expect(message).not.toContain('c2hvcnQ=');
});

test.each([
  ['a wrong setting', ['up'], { PORT: 'eighty' }, /^PORT/],
  ['an unknown option', ['up', '--nothing'], {}, /--nothing/],
] as [string, string[], Record<string, string>, RegExp][])('%s: one line, exit code 1', async (_what, args, env, says) => {
  const { code, out, err } = await run(args, env);
  expect(err).toMatch(says);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect([code, out]).toEqual([1, '']);
});

test('a wrong value in the TOML file names its key', async () => {
  const { code, err } = await run(['up'], { CONFIG_FILE: join(folder, 'wrong.toml') });
  expect([code, err.trim().split('\n').length]).toEqual([1, 1]);
  expect(err).toContain('server.max_body_bytes');
});

test('an address in use is one line that names the port', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  try {
    for (const setting of ['PORT', 'PROMETHEUS_PORT']) {
      const { code, out, err } = await run(['up'], { [setting]: String(port) });
      expect(code).toBe(1);
      expect(out + err).toContain(`127.0.0.1:${port} is already in use; change ${setting}`);
      // Stacks are for defects.
      expect(out + err).not.toMatch(/\n {4}at /);
      expect(out + err).not.toContain('"stack"');
    }
  } finally {
    taken.close();
  }
});

test('an unknown command shows the usage and exits 2; help exits 0', async () => {
  const wrong = await run(['toString']);
  expect(wrong.code).toBe(2);
  expect(wrong.err).toContain('model-gateway up');
  const help = await run(['--help']);
  expect([help.code, help.err]).toEqual([0, '']);
  expect(help.out).toContain('model-gateway serve edge|router|translator|script-runner|mcp-aggregator|stats|console|data-plane');
});

test('help tells of one command, and all options that it takes', async () => {
  const login = await run(['login', '--help']);
  expect([login.code, login.err]).toEqual([0, '']);
  for (const option of ['--name', '--upstream', '--base-url', '--account', '--flow', '--set', '--paste', '--replace', '--qr', '--url'])
    expect(login.out).toContain(option);
  expect((await run(['help', 'login'])).out).toBe(login.out);
});

test('--version prints the version and starts nothing', async () => {
  expect(await run(['--version'])).toEqual({ code: 0, out: `model-gateway ${manifest.version}\n`, err: '' });
});
