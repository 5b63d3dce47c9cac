/** Refreshes by processes of the operating system that know of each other through the database alone, one of which is killed in the middle. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage, type StorageTarget } from '@model-gateway/storage';
import { build } from 'esbuild';
import { silent } from '../../../packages/storage/test/engines.ts';
import { openTestPostgres, postgresAvailable, type TestPostgres } from '../../../tests/support/postgres.ts';
import { openTokens, sealTokens } from '../src/sso/tokens.ts';
import type { RefreshProcess, Said } from './refresh-process.ts';
import { type SsoVendor, startSsoVendor } from './sso-vendor.ts';

const folder = mkdtempSync(join(tmpdir(), 'gateway-refresh-'));
const program = join(folder, 'refresh-process.mjs');
const require = "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";
beforeAll(async () => {
  // Loaded twenty times: as one file.
  await build({
    entryPoints: [join(import.meta.dirname, 'refresh-process.ts')],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: ['pg-native', 'argon2', 'bcrypt'],
    banner: { js: require },
    logLevel: 'warning',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Child {
  process: ChildProcess;
  said: Said[];
  ready: Promise<void>;
  /** What it was given, or how it died. */
  outcome: Promise<Said | { signal: string | null }>;
}

function start(settings: RefreshProcess): Child {
  const child = spawn(process.execPath, ['--no-warnings', program], {
    env: { PATH: process.env['PATH'] ?? '', REFRESH_PROCESS: JSON.stringify(settings) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said: Said[] = [];
  let isReady: () => void;
  let isGiven: (value: Said | { signal: string | null }) => void;
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const outcome = new Promise<Said | { signal: string | null }>((resolve) => {
    isGiven = resolve;
  });
  createInterface({ input: child.stdout! }).on('line', (line) => {
    const one = JSON.parse(line) as Said;
    said.push(one);
    if ('ready' in one) isReady();
    else if ('token' in one || 'refused' in one) isGiven(one);
  });
  child.once('exit', (_code, signal) => {
    isReady();
    isGiven({ signal });
  });
  return { process: child, said, ready, outcome };
}

const begin = ({ process: child }: Child): void => void child.stdin!.write('begin\n');

async function end(children: readonly Child[]): Promise<void> {
  await Promise.all(
    children.map(async ({ process: child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.stdin!.end();
      await ended;
    }),
  );
}

const masterKey = generateMasterKey();
const keyring = createKeyring(masterKey);
let vendor: SsoVendor;
let storage: Storage;
let target: StorageTarget;
let children: Child[];

async function prepare(opened: StorageTarget): Promise<void> {
  target = opened;
  storage = openStorage(target, { logger: silent });
  await storage.migrate();
  vendor = await startSsoVendor();
  children = [];
  await storage.ssoCredentials.insert({
    id: 'c1',
    name: 'login',
    profile: 'cloudhost_ide',
    account: 'ada',
    description: '',
    settings: { refresh_url: `${vendor.url}/refreshToken` },
    tokens: sealTokens(keyring, 'c1', { access_token: 'first-access', refresh_token: vendor.refreshToken, secrets: {} }),
    tokenId: 't1',
    state: 'ok',
    lastError: null,
    expiresAt: Date.now() - 1000,
    refreshAt: Date.now() - 121_000,
  });
}
afterEach(async () => {
  await end(children);
  await storage.close();
  await vendor.close();
});

const launch = (count: number, over: Partial<RefreshProcess> = {}): Child[] => {
  const launched = Array.from({ length: count }, () => start({ target, masterKey, credential: 'login', ...over }));
  children.push(...launched);
  return launched;
};
/** All begin at once. */
async function race(count: number, over: Partial<RefreshProcess> = {}) {
  const racing = launch(count, over);
  await Promise.all(racing.map(({ ready }) => ready));
  for (const child of racing) begin(child);
  return Promise.all(racing.map(({ outcome }) => outcome));
}
const pair = async () => openTokens(keyring, 'c1', (await storage.ssoCredentials.find('login'))!.tokens ?? '');
const events = () => children.flatMap(({ said }) => said.flatMap((one) => ('event' in one ? [one.event] : [])));
/** The vendor has answered and nobody has stored it; or the pair is stored and nobody has used it. */
async function kill(dies: 'answered' | 'stored'): Promise<void> {
  expect(await race(1, { dies })).toEqual([{ signal: 'SIGKILL' }]);
  expect(vendor.calls).toHaveLength(1);
}

if (postgresAvailable())
  describe('on PostgreSQL', () => {
    let server: TestPostgres;
    beforeAll(async () => {
      server = await openTestPostgres();
    });
    afterAll(() => server?.stop());
    beforeEach(async () => prepare({ mode: 'postgresql', url: await server.createDatabase() }));

    test('twenty processes with an expired token make one refresh, and all get the token that it gave', async () => {
      const given = await race(20);
      expect(vendor.calls).toEqual(['/refreshToken']);
      const { access_token: token, refresh_token: refresh } = await pair();
      expect(given).toEqual(Array(20).fill({ token }));
      expect([refresh, vendor.isDead(), events()]).toEqual([vendor.refreshToken, false, ['refreshed']]);
    });

    test('one is killed between the vendor’s answer and the commit: twenty others ask once more, and the login is asked for once', async () => {
      await kill('answered');
      expect((await pair()).access_token).toBe('first-access');
      const given = await race(20, { ahead: 120_000 });
      expect(given).toEqual(Array(20).fill({ refused: 'needs_login' }));
      expect([vendor.calls.length, events()]).toEqual([2, ['failed']]);
      // A new login is all that it takes.
      expect(await storage.ssoCredentials.find('login')).toMatchObject({ state: 'needs_login', refreshAt: null, refreshingUntil: null });
    });

    test('one is killed after the commit and before it used the pair: the others use it, and ask nobody', async () => {
      await kill('stored');
      const { access_token: token } = await pair();
      expect(token).not.toBe('first-access');
      expect(await race(5)).toEqual(Array(5).fill({ token }));
      expect([vendor.calls.length, vendor.isDead()]).toEqual([1, false]);
    });
  });
else test.skip('on PostgreSQL: there is none', () => undefined);

/** One process has the file: it is killed, and started again. */
describe('on SQLite', () => {
  let files = 0;
  beforeEach(() => prepare({ mode: 'sqlite', file: join(folder, `${files++}.db`) }));

  test('killed between answer and commit: the next start asks once, and then for a login', async () => {
    await kill('answered');
    expect(await race(1, { ahead: 120_000 })).toEqual([{ refused: 'needs_login' }]);
    expect(await race(1, { ahead: 120_000 })).toEqual([{ refused: 'needs_login' }]);
    expect(vendor.calls).toHaveLength(2);
  });

  test('killed after the commit: the next start uses the pair', async () => {
    await kill('stored');
    const { access_token: token } = await pair();
    expect(await race(1)).toEqual([{ token }]);
    expect([vendor.calls.length, vendor.isDead()]).toEqual([1, false]);
  });
});
