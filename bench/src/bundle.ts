/** The gateway as images carry it: bundled once for a run, with the packages that have a compiled part beside it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
/** Who depends on packages with a compiled part. */
const owners = ['packages/storage', 'services/console', 'services/script-runner'];

/** Gives the entry of the bundle, made in `folder` on first need. */
export function bundle(folder: string): string {
  const entry = join(folder, 'model-gateway.js');
  if (existsSync(entry)) return entry;
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs'), folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies: Record<string, string> };
  for (const name of Object.keys(dependencies)) {
    const found = owners.map((owner) => join(root, owner, 'node_modules', name)).find(existsSync);
    if (found === undefined) throw new Error(`nobody has ${name} installed`);
    const place = join(folder, 'node_modules', name);
    if (!existsSync(place)) symlinkSync(realpathSync(found), place);
  }
  return entry;
}
