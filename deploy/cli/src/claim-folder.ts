/** A folder that no other living process uses: the one that a process of this name left behind when it died, else a new one. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** Where every lock is taken, as on a disk that has none, looking on would never end. */
const maxFolders = 256;

/** A lock that nobody refers to any more would be closed by the garbage collector, and its folder be free while its process lives. */
const held = new Set<DatabaseSync>();

function release(lock: DatabaseSync): void {
  held.delete(lock);
  lock.close();
}

/** Replicas may share a disk: each has its own folder, and finds its predecessor's. Throws where none of them can be had. */
export function claimFolder(parent: string, name: string): { folder: string; release(): void } {
  for (let number = 0; number < maxFolders; number++) {
    const folder = join(parent, `${name}-${number}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const lock = tryLock(join(folder, 'lock'));
    if (lock === null) continue;
    if (!isOfOlderVersion(join(folder, 'pid'))) {
      held.add(lock);
      return { folder, release: () => release(lock) };
    }
    lock.close();
  }
  throw new Error(`none of ${maxFolders} folders could be locked; does this disk have locks?`);
}

/** SQLITE_BUSY */
const busy = 5;

/**
 * null: another process has it. The system gives it up when its process ends, however that ends. A number of a process would not do: in containers
 * every process has the same one, and after a restart of the machine somebody else has it.
 */
function tryLock(file: string): DatabaseSync | null {
  const database = new DatabaseSync(file);
  try {
    // Nothing is written: the lock is to be had on a full disk, too.
    database.exec('pragma journal_mode = memory; begin exclusive');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === busy) return null;
    throw error;
  }
}

/** Versions before the lock wrote their process's number, and one may still run while it is replaced. */
function isOfOlderVersion(file: string): boolean {
  let owner: number;
  try {
    owner = Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  if (owner !== process.pid && isAlive(owner)) return true;
  rmSync(file, { force: true });
  return false;
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
