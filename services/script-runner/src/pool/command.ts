/** How a slot's process is started: what it may read, and that it may never gain a right. */
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';

/** In a bundle the process's code lies beside ours. */
const bundled = join(import.meta.dirname, 'script-slot.js');
const sources = join(import.meta.dirname, '../child/main.ts');
const isBundle = existsSync(bundled);
const entry = isBundle ? bundled : sources;

/** Where Debian, Alpine and the others have it. Nothing is looked up by PATH. */
const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/** `node-gyp-build` chooses the compiled part of a package by whether this file is there. */
const libraryMark = '/etc/alpine-release';

/**
 * Program and arguments of a slot's process; `settings` is its only argument. The flags: isolates and the start-up snapshot do not mix; no file is
 * written, no process is started, and only the program's folders are read. Where the system has `setpriv`, no set-uid program gives it a right.
 */
export function slotCommand(settings: string): { program: string; args: string[] } {
  const reads = [...readableFolders(), libraryMark].map((path) => `--allow-fs-read=${path}`);
  const node = [
    process.execPath,
    '--no-node-snapshot',
    '--no-warnings',
    '--permission',
    '--allow-addons',
    ...reads,
    '--max-old-space-size=64',
    entry,
    settings,
  ];
  const [program = '', ...args] = setpriv === undefined ? node : [setpriv, '--no-new-privs', ...node];
  return { program, args };
}

/** The program's folder, and that of the packages with a compiled part (in an image both are one tree); of a checkout its root, as sources import one another. */
export function readableFolders(): string[] {
  if (!isBundle) return [join(import.meta.dirname, '../../../..')];
  const isolates = folderOf('isolated-vm', import.meta.dirname);
  // Of a package that is found by a link the link is read too.
  const all = [import.meta.dirname, isolates, join(dirname(isolates), 'node-gyp-build'), folderOf('node-gyp-build', isolates)];
  return all.filter((folder, at) => !all.some((other, index) => index !== at && folder.startsWith(other + sep)));
}

/** Where the package really is: a checkout has links to it. */
function folderOf(name: string, from: string): string {
  return dirname(realpathSync(createRequire(join(from, 'index.js')).resolve(`${name}/package.json`)));
}
