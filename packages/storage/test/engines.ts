/** The engines that every storage suite runs over. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../../../tests/support/postgres.ts';
import { openStorage, type Storage } from '../src/index.ts';

export interface Engine {
  name: 'sqlite' | 'postgresql';
  start(): Promise<void>;
  /** An empty, migrated database. `now`: its clock. */
  open(now?: () => number): Promise<Storage>;
  /** The last one again, as another process would open it while the first is dead. Absent where nothing waits in a process. */
  reopen?(): Promise<Storage>;
  /** The last one as another process has it open at the same time. Absent where one process alone has it. */
  another?(): Promise<Storage>;
  stop(): Promise<void>;
}

export const silent = { info: () => undefined, warn: () => undefined };

function sqliteEngine(): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-sqlite-'));
  let count = 0;
  return {
    name: 'sqlite',
    start: async () => undefined,
    open: (now = Date.now) => migrated(openStorage({ mode: 'sqlite', file: join(folder, `${count++}.db`) }, { logger: silent, now })),
    reopen: () => migrated(openStorage({ mode: 'sqlite', file: join(folder, `${count - 1}.db`) }, { logger: silent })),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

function postgresEngine(): Engine {
  let server: TestPostgres;
  let url = '';
  return {
    name: 'postgresql',
    start: async () => {
      server = await openTestPostgres();
    },
    open: async (now = Date.now) => {
      url = await server.createDatabase();
      return migrated(openStorage({ mode: 'postgresql', url }, { logger: silent, now }));
    },
    another: () => migrated(openStorage({ mode: 'postgresql', url }, { logger: silent })),
    stop: () => server.stop(),
  };
}

async function migrated(storage: Storage): Promise<Storage> {
  await storage.migrate();
  return storage;
}

/** PostgreSQL is left out, with one line that says so, only where there is none and no CI asks for it. */
export function engines(): Engine[] {
  if (postgresAvailable()) return [sqliteEngine(), postgresEngine()];
  console.warn('PostgreSQL suites did not run: no DATABASE_URL, no server binaries and no container engine');
  return [sqliteEngine()];
}
