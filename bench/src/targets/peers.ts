/**
 * The peers, installed from the registries of npm and of Python into a cache folder outside the repository; they are never dependencies of the workspace.
 * Portkey is pinned to the HTTP library versions it streams with: with the newest ones its ranges allow, every stream answers 500.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePorts, start, startNode, until } from '../spawn.ts';
import { pathOf, type StartTarget } from './target.ts';

const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'model-gateway-bench');
const portkey = {
  folder: 'portkey-1.15.2',
  manifest: { dependencies: { '@portkey-ai/gateway': '1.15.2' }, overrides: { hono: '4.9.7', '@hono/node-server': '1.13.7' } },
};
const llms = { folder: 'llms-1.0.53', manifest: { dependencies: { '@musistudio/llms': '1.0.53' } } };
/** Its package for Python holds the gateway's own HTTP server. */
const tensorzero = { folder: 'tensorzero-2026.6.0', requirement: 'tensorzero==2026.6.0' };
const installMs = 180_000;

export const startPortkey: StartTarget = async (upstream) => {
  const folder = install(portkey);
  const [port] = await freePorts(1);
  const base = `http://127.0.0.1:${port}`;
  const running = startNode([join(folder, 'node_modules/@portkey-ai/gateway/build/start-server.js'), `--port=${port}`, '--headless'], { cwd: folder });
  await until('portkey', [running], async () => (await fetch(base)).status > 0);
  const endpoint = (provider: string, model: string) => ({
    url: base + pathOf.openai,
    headers: { authorization: 'Bearer sk-mock', 'x-portkey-provider': provider, 'x-portkey-custom-host': `${upstream}/v1` },
    model,
  });
  return {
    name: 'portkey',
    endpoints: { same: endpoint('openai', 'gpt-4o'), 'openai-to-anthropic': endpoint('anthropic', 'claude-sonnet-4-5') },
    pids: [running.pid],
    stop: () => running.stop(),
  };
};

export const startLlms: StartTarget = async (upstream) => {
  const folder = install(llms);
  const [port] = await freePorts(1);
  const base = `http://127.0.0.1:${port}`;
  const running = startNode([join(import.meta.dirname, '../../servers/llms.mjs'), folder, String(port), upstream], { cwd: folder });
  await until('llms', [running], async () => (await fetch(base)).status > 0);
  const headers = { 'x-api-key': 'sk-mock', 'anthropic-version': '2023-06-01' };
  return {
    name: 'llms',
    endpoints: { 'anthropic-to-openai': { url: base + pathOf.anthropic, headers, model: 'mock,gpt-4o' } },
    pids: [running.pid],
    stop: () => running.stop(),
  };
};

export const startTensorzero: StartTarget = async (upstream, scratch) => {
  const python = installPython(tensorzero);
  const config = join(scratch, 'tensorzero.toml');
  const address = join(scratch, 'address');
  const model = (name: string, type: string, vendorName: string): string =>
    [
      `[models.${name}]\nrouting = ["mock"]\n`,
      `[models.${name}.providers.mock]\ntype = "${type}"\nmodel_name = "${vendorName}"\napi_base = "${upstream}/v1/"\napi_key_location = "env::MOCK_KEY"\n`,
    ].join('\n');
  const head = '[gateway]\nobservability.enabled = false\ndisable_pseudonymous_usage_analytics = true\n';
  writeFileSync(config, [head, model('same', 'openai', 'gpt-4o'), model('translated', 'anthropic', 'claude-sonnet-4-5')].join('\n'));
  const running = start(python, [join(import.meta.dirname, '../../servers/start-tensorzero.py'), config, address], { env: { MOCK_KEY: 'sk-mock' } });
  await until('tensorzero', [running], async () => existsSync(address), 60_000);
  const url = `${readFileSync(address, 'utf8')}/chat/completions`;
  const endpoint = (name: string) => ({ url, headers: {}, model: `tensorzero::model_name::${name}` });
  return {
    name: 'tensorzero',
    endpoints: { same: endpoint('same'), 'openai-to-anthropic': endpoint('translated') },
    pids: [running.pid],
    stop: () => running.stop(),
  };
};

/** The Python of an installed peer. Packages are not built here: what has no ready one is not installed. */
function installPython({ folder, requirement }: { folder: string; requirement: string }): string {
  const path = join(cache, folder);
  const python = join(path, 'bin/python');
  const done = join(path, '.installed');
  if (existsSync(done)) return python;
  run('python3', ['-m', 'venv', path]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary=:all:', requirement]);
  writeFileSync(done, '');
  return python;
}

/** The folder of an installed peer. Install scripts stay off: nothing of a peer runs but its own server. */
function install({ folder, manifest }: { folder: string; manifest: object }): string {
  const path = join(cache, folder);
  const done = join(path, '.installed');
  if (existsSync(done)) return path;
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], path);
  writeFileSync(done, '');
  return path;
}

function run(command: string, args: readonly string[], cwd?: string): void {
  const { status, stderr, error } = spawnSync(command, args, { ...(cwd !== undefined && { cwd }), encoding: 'utf8', timeout: installMs });
  if (status !== 0) throw new Error(`could not be installed: ${(stderr || error?.message || 'timed out').trim().slice(-300)}`);
}
