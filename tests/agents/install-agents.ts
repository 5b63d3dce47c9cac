/** Brings the agents from the registry into a folder of their own, outside the repository and its lockfile. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agents } from './agents.ts';

/** Folder with the agents' programs. `AGENTS_DIR` keeps them between runs. Throws with npm's words. */
export function installAgents(): string {
  const wanted = agents.map((agent) => `${agent.package}@${agent.version}`);
  const id = createHash('sha256').update(wanted.join(' ')).digest('hex').slice(0, 12);
  const folder = join(process.env['AGENTS_DIR'] ?? join(tmpdir(), 'model-gateway-agents'), id);
  const bin = join(folder, 'node_modules/.bin');
  if (agents.every(({ name }) => existsSync(join(bin, name)))) return bin;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true}');
  const done = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...wanted], { cwd: folder, encoding: 'utf8', timeout: 600_000 });
  if (done.status !== 0) throw new Error(`the agents could not be installed:\n${done.stderr}`);
  return bin;
}
