#!/usr/bin/env node
/**
 * What `npm start` and `npm test` run on a machine that has only Node 20+ and npm: installs what is missing (pnpm and Node 24 come from the
 * npm registry), then hands over to Node 24. Plain JavaScript without dependencies, because nothing is installed yet when it runs.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './hand-over.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = join(root, 'node_modules', '.bin');
const node = join(bin, process.platform === 'win32' ? 'node.cmd' : 'node');
/** Pinned here, because pnpm itself cannot be pinned by the lockfile it reads. */
const pnpmVersion = '12.21.0';
const nodeVersion = '24.21.0';

const [command = 'start', ...rest] = process.argv.slice(2);
const [major] = process.versions.node.split('.').map(Number);
if (major < 20) fail(`Node 20 or newer is needed to begin (this is ${process.versions.node}); Node 24 is then installed into the checkout.`);

installIfNeeded();
// Types are stripped and code is compiled once for each state of the sources: a third off every start.
const compiled = process.env.NODE_COMPILE_CACHE ?? join(root, 'node_modules', '.cache', 'compile');
const given = JSON.parse(readFileSync(join(root, 'deploy/images/environment.json'), 'utf8'));
const environment = { ...given, ...process.env, PATH: `${bin}:${process.env.PATH}`, NODE_COMPILE_CACHE: compiled };
// npm's own variables would make nested installs believe that they run inside this script.
for (const name of Object.keys(environment)) if (name.startsWith('npm_')) delete environment[name];

const commands = {
  start: () => {
    // The console's pages are built once for each state of their sources; without them the API works all the same.
    spawnSync(node, ['scripts/build-web.mjs'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], env: environment });
    hand(node, [...JSON.parse(readFileSync(join(root, 'deploy/images/node-flags.json'), 'utf8')), 'deploy/cli/src/main.ts', 'up', ...rest]);
  },
  test: () => hand(node, ['scripts/test.mjs', ...rest]),
};
if (!Object.hasOwn(commands, command)) fail(`unknown command ${command}: start or test`);
commands[command]();

function installIfNeeded() {
  const stamp = join(root, 'node_modules', '.model-gateway-install');
  const wanted = fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(node)) return;
  const lock = join(root, 'node_modules', '.model-gateway-installing');
  mkdirSync(dirname(lock), { recursive: true });
  waitForOther(lock, stamp, wanted);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  process.stderr.write('Installing what is missing (first run only): about 1 GB on disk, a minute or a few. Progress as pnpm prints it:\n');
  const install = `pnpm install --frozen-lockfile --reporter=append-only`;
  const done = spawnSync('npx', ['-y', '-p', `node@${nodeVersion}`, '-p', `pnpm@${pnpmVersion}`, '-c', install], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, CI: 'true' },
  });
  rmSync(lock, { recursive: true, force: true });
  if (done.status !== 0) fail(`The installation failed${done.error ? `: ${done.error.message}` : '; what pnpm printed above says why.'}`);
  writeFileSync(stamp, wanted);
}

/** Two commands started at once must not install at once. */
function waitForOther(lock, stamp, wanted) {
  for (;;) {
    try {
      mkdirSync(lock);
      return;
    } catch {
      if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
      if (existsSync(lock) && Date.now() - statSync(lock).mtimeMs > 10 * 60_000) rmSync(lock, { recursive: true, force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    }
  }
}

/** Changes whenever a new install is needed. */
function fingerprint() {
  const hash = createHash('sha256').update(nodeVersion).update(pnpmVersion);
  const folders = ['packages', 'services'].flatMap((group) => readdirSync(join(root, group)).map((name) => join(group, name)));
  for (const file of [
    'pnpm-lock.yaml',
    'pnpm-workspace.yaml',
    ...['.', ...folders, 'services/console/web', 'deploy/cli', 'tests', 'bench'].map((folder) => join(folder, 'package.json')),
  ]) {
    if (existsSync(join(root, file))) hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

function hand(program, args) {
  handOver(program, args, { cwd: root, env: environment }, (error) => fail(`Node 24 could not be started: ${error.message}`));
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
