/** A folder that no other living process uses: the one that a process of this name left behind when it died, else a new one. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Two replicas may share a disk: each has its own folder, and finds its predecessor's. */
export function claimFolder(parent: string, name: string): { folder: string; release(): void } {
  for (let number = 0; ; number++) {
    const folder = join(parent, `${name}-${number}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const file = join(folder, 'pid');
    if (claim(file)) return { folder, release: () => rmSync(file, { force: true }) };
  }
}

function claim(file: string): boolean {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const owner = Number(readFileSync(file, 'utf8'));
  // Our own number was another's before: in a container every process has the same one.
  if (owner !== process.pid && isAlive(owner)) return false;
  rmSync(file, { force: true });
  return claim(file);
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
