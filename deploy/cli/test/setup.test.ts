/** `model-gateway setup`: what is written for a coding agent, and what is set on its key group. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { parse as parseToml } from 'smol-toml';
import { type FakeUpstream, startFakeUpstream } from '../../../tests/fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../../../tests/support/gateway.ts';
import { compileCache, gatewayEntry } from '../../../tests/support/gateway-entry.ts';

const main = await gatewayEntry();
const keys = { agents: mintAccessKey(), decided: mintAccessKey() };
let fake: FakeUpstream;
let gateway: TestGateway;
let home: string;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'gateway-setup-'));
  fake = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure({
    upstreams: [{ name: 'up', protocol: 'alpha_response', base_url: fake.url, api_keys: [{ key: 'sk-fake' }] }],
    models: [{ name: 'smart', upstream: 'up', upstream_model_id: 'gpt-5.2@ok' }],
    key_groups: [
      { name: 'agents', models: ['*'] },
      { name: 'decided', models: ['*'], on_break: 'finish' },
    ],
    access_keys: [
      { name: 'agents', group: 'agents', key: keys.agents },
      { name: 'decided', group: 'decided', key: keys.decided },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  await fake?.close();
  rmSync(home, { recursive: true, force: true });
});

const setup = (key: keyof typeof keys, args: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--no-warnings', main, 'setup', ...args, '--base-url', gateway.url, '--key', keys[key]],
      { env: { PATH: process.env['PATH'] ?? '', ...compileCache, HOME: home, CONFIG_FILE: '/dev/null', ...env } },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });
const onBreakOf = async (group: string) => (await gateway.console('GET', `/key-groups/${group}`)).body.on_break;

test('an agent that retries by itself gets a hint, and nothing is changed without a credential of the console', async () => {
  const { code, out, err } = await setup('agents', ['codex', '--write']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('set on_break: auto on its key group');
  expect(await onBreakOf('agents')).toBeNull();
  const written = parseToml(readFileSync(join(home, '.codex/config.toml'), 'utf8'));
  expect(written).toMatchObject({ model: 'smart', model_context_window: expect.any(Number) });
});

test('with a credential of the console the setting is written, visibly, and one that is there stays', async () => {
  const env = { CONSOLE_SECRET_KEY: gateway.consoleKey };
  expect((await setup('agents', ['opencode', '--write'], env)).out).toContain('Set on_break: auto on the key group agents');
  expect(await onBreakOf('agents')).toBe('auto');
  const { models } = JSON.parse(readFileSync(join(home, '.config/opencode/opencode.json'), 'utf8')).provider.gateway;
  expect(models.smart.limit).toEqual({ context: 400_000, input: 272_000, output: 128_000 });
  expect((await setup('decided', ['opencode', '--write'], env)).out).toContain('has on_break: finish; it stays');
  expect(await onBreakOf('decided')).toBe('finish');
});
