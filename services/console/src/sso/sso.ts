/** Credentials by login, put together: who may have them, what renews them, and the answers to other processes. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { SsoConfig } from '@model-gateway/config';
import { type SsoAccess, type SsoTokenReply, type SsoTokenRequest, sealedAs } from '@model-gateway/contracts';
import type { Keyring } from '@model-gateway/secrets';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import type { Outbound } from '@model-gateway/upstream-client';
import type { Audit } from '../audit/audit.ts';
import { gatewayActor, syncUpstreams } from './availability.ts';
import { callFacts } from './call-facts.ts';
import { createGates, type Gates } from './gates.ts';
import { createMachineGrants } from './grants/machine/index.ts';
import { refreshTokenGrants } from './grants/refresh-token.ts';
import { createRefresher, type Refresher, type SsoEvent } from './refresher.ts';
import { createSendToken, createTokenHttp, type TokenHttp } from './token-http.ts';

export interface SsoDeps {
  bus: Bus;
  storage: Storage;
  keyring: Keyring;
  outbound: Outbound;
  audit: Audit;
  logger: Logger;
  config: SsoConfig;
  now: () => number;
}

/** What the rest of the console uses of it. */
export interface Sso {
  readonly gates: Gates;
  readonly refresher: Refresher;
  readonly http: TokenHttp;
  readonly now: () => number;
  /** Brings upstreams in step with their credentials. */
  sync(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const scanMs = 5_000;
/** Upstreams are brought in step at once; this finds what another way of changing them left. */
const syncEvery = 6;

export function createSso({ bus, storage, keyring, outbound, audit, logger, config, now }: SsoDeps): Sso {
  const gates = createGates(config);
  const http = createTokenHttp(outbound);
  const grants = { ...refreshTokenGrants, ...createMachineGrants(createSendToken(outbound)) };
  const sync = () => syncUpstreams({ storage, gates, audit, logger });
  const report = ({ credential, action, result, reason }: SsoEvent): void => {
    const { name, profile, account } = credential;
    const diff = { profile, account, result, ...(reason !== undefined && { reason }) };
    void audit({ actor: gatewayActor, action, entity_type: 'sso_credential', entity_id: name, ip_address: null, diff });
    if (result !== 'refreshed')
      sync().catch((error: unknown) => logger.warn({ error }, 'the availability of upstreams could not be updated from their credentials'));
  };
  const refresher = createRefresher({ repository: storage.ssoCredentials, keyring, gates, grants, http, logger, now, report });
  let served: Disposable | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let rounds = 0;

  const round = async (): Promise<void> => {
    try {
      await refresher.scan();
      if (rounds++ % syncEvery === 0) {
        await sync();
        await storage.ssoCredentials.pruneLogins();
      }
    } catch (error) {
      logger.info({ error }, 'credentials could not be checked');
    }
    if (!stopped) timer = setTimeout(() => void round(), scanMs).unref();
  };
  const answer = async ({ credential, rejected, doubt }: SsoTokenRequest): Promise<SsoTokenReply> => {
    const access = await refresher.access(credential, rejected === undefined ? undefined : { id: rejected, doubt });
    if ('refused' in access) return access;
    const { row, token } = access;
    const given: SsoAccess = { token, token_id: row.tokenId ?? '', expires_at: row.expiresAt, ...callFacts(row) };
    return { sealed: keyring.seal(JSON.stringify(given), sealedAs.ssoAccess(credential)) };
  };
  return {
    gates,
    refresher,
    http,
    now,
    sync,
    start() {
      if (stopped || served) return;
      served = bus.serve({ ask: { 'sso.token': answer } });
      void round();
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await served?.dispose();
    },
  };
}
