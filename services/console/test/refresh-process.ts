/**
 * One process of the operating system that may refresh credentials, for tests that let many of them race and kill one. Settings come as JSON in
 * `REFRESH_PROCESS`; it says `ready`, begins at the first line of its input, says what it was given, and ends with its input.
 */
import { loadConfig } from '@model-gateway/config';
import { createKeyring } from '@model-gateway/secrets';
import { openStorage, type StorageTarget } from '@model-gateway/storage';
import { createOutbound } from '@model-gateway/upstream-client';
import { createGates } from '../src/sso/gates.ts';
import { refreshTokenGrants } from '../src/sso/grants/refresh-token.ts';
import { createRefresher } from '../src/sso/refresher.ts';
import { createTokenHttp, type TokenHttp } from '../src/sso/token-http.ts';

export interface RefreshProcess {
  target: StorageTarget;
  masterKey: string;
  credential: string;
  /** Kills itself (SIGKILL) as soon as the vendor has answered, or as soon as the new pair is stored. */
  dies?: 'answered' | 'stored';
  /** What its clock is ahead, ms. */
  ahead?: number;
}

export type Said = { ready: true } | { token: string } | { refused: string } | { event: string };

const { target, masterKey, credential, dies, ahead = 0 } = JSON.parse(process.env['REFRESH_PROCESS'] ?? '') as RefreshProcess;
const say = (said: Said): void => void process.stdout.write(`${JSON.stringify(said)}\n`);
const die = (): Promise<never> => {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
};
const now = (): number => Date.now() + ahead;
const quiet = () => undefined;
const logger = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };
const storage = openStorage(target, { logger, now });
const timeouts = { connect_ms: 5_000, first_byte_ms: 15_000, idle_ms: 15_000, total_ms: 30_000 };
const outbound = createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger });
const ask = createTokenHttp(outbound);
const http: TokenHttp = async (call) => {
  const answer = await ask(call);
  return dies === 'answered' ? die() : answer;
};
const { update } = storage.ssoCredentials;
const repository = {
  ...storage.ssoCredentials,
  update: async (...args: Parameters<typeof update>) => {
    const version = await update(...args);
    return dies === 'stored' && version !== null && args[2].tokens !== undefined ? die() : version;
  },
};
const refresher = createRefresher({
  repository,
  keyring: createKeyring(masterKey),
  gates: createGates(loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).sso),
  grants: refreshTokenGrants,
  http,
  logger: logger as never,
  now,
  report: ({ result }) => say({ event: result }),
});

// A first question opens the connection to the database.
await storage.ssoCredentials.find(credential);
say({ ready: true });
process.stdin.once('data', () => {
  void refresher.access(credential).then((access) => say('token' in access ? { token: access.token } : { refused: access.refused }));
});
process.stdin.once('end', () => {
  void outbound
    .close(0)
    .then(() => storage.close())
    .then(() => process.exit(0));
});
