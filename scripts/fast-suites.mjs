/** Which suites need nothing but Node: no server, no browser and no process of their own, neither in them nor in what they import by a relative path. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const folders = ['packages', 'services', 'deploy', 'tests'];
/** Helpers that start something. */
const starts = /^tests\/(?:agents|browser)\/|^tests\/support\/(?:compose|containers|gateway|managed-process|nats-server|postgres|redis-server)\.ts$/;

/** Their paths, in order. */
export function fastSuites(root) {
  const known = new Map();
  const isFast = (path) => {
    // Files that import one another in a circle are judged by what else they import.
    if (known.has(path)) return known.get(path);
    known.set(path, true);
    const fast = !starts.test(relative(root, path)) && !startsProcess(readFileSync(path, 'utf8')) && imports(path).every(isFast);
    known.set(path, fast);
    return fast;
  };
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(root, folder, name)))
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules') && isFast(path))
    .sort();
}

/** Only of tests and their helpers: a suite in one process may well import a module that could start others. */
const startsProcess = (text) => /from '@jest\/globals'/.test(text) && /from 'node:(?:child_process|cluster)'/.test(text);

const imports = (path) =>
  [...readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+\.ts)'/g)]
    .map(([, to]) => resolve(dirname(path), to))
    .filter((to) => existsSync(to));
