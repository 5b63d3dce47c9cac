/** Copies installed packages with all that they need into another folder: what the lockfile chose, with no package manager and no install script run again. */
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Copies the package `name`, as `from` sees it, into `to/node_modules`. A package that is there in another version already goes below the one that needs it.
 */
export function copyPackage(name, from, to) {
  const source = find(name, from);
  const target = join(to, 'node_modules', name);
  const manifest = read(source);
  if (existsSync(target)) {
    if (read(target).version !== manifest.version) throw new Error(`${name} ${manifest.version} and ${read(target).version} would be at one place`);
    return;
  }
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, { recursive: true, filter: (path) => path === source || (basename(path) !== 'node_modules' && !path.endsWith('.tgz')) });
  for (const dependency of Object.keys(manifest.dependencies ?? {})) {
    const there = join(to, 'node_modules', dependency);
    const same = !existsSync(there) || read(there).version === read(find(dependency, source)).version;
    copyPackage(dependency, source, same ? to : target);
  }
}

const read = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** As Node looks for packages: in each `node_modules` above. */
function find(name, from) {
  for (let folder = realpathSync(from); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules', name);
    if (existsSync(found)) return realpathSync(found);
    if (folder === dirname(folder)) throw new Error(`${name} is not installed for ${from}`);
  }
}
