/** NATS addresses, with or without credentials in them, as the library wants them: hosts and credentials apart. */
import { isIP } from 'node:net';
import { checkServerIdentity, type ConnectionOptions as TlsOptions } from 'node:tls';
import type { ConnectionOptions, NodeConnectionOptions, ReconnectToServerHandler } from '@nats-io/transport-node';
import { inboxPrefix } from './subjects.ts';

/** Where to connect, and as whom. */
export interface ConnectionSource {
  /** One or several addresses, separated by commas; the first that carries credentials gives them to all. */
  url: string;
  name: string;
  natsOptions?: NodeConnectionOptions;
  /** Files that TLS is spoken with; they are read for each connection. `servername` is verified instead of the address's host. */
  tls?: NatsTls | undefined;
}

export interface NatsTls {
  caFile?: string;
  certFile?: string;
  keyFile?: string;
  servername?: string;
}

const parseAddress = (entry: string): URL => new URL(entry.includes('://') ? entry.trim() : `nats://${entry.trim()}`);

/** For an operator: without credentials. */
export const serverHosts = (url: string): string =>
  url
    .split(',')
    .map((entry) => parseAddress(entry).host)
    .join(', ');

/** Reconnects for ever within half a second of the server's return; a server that hangs is noticed by pings. */
export function connectionOptions(source: ConnectionSource): NodeConnectionOptions {
  const servers: string[] = [];
  let credentials: Pick<ConnectionOptions, 'user' | 'pass' | 'token'> | undefined;
  let secure = false;
  const addresses: string[] = [];
  for (const entry of source.url.split(',')) {
    const url = parseAddress(entry);
    servers.push(url.host);
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(host) !== 0) addresses.push(host);
    credentials ??= credentialsOf(url);
    secure ||= url.protocol === 'tls:';
  }
  return {
    servers,
    ...credentials,
    // With it a server that offers no TLS is refused before any credential is sent.
    ...((secure || source.tls) && { tls: { ...source.tls, ...verifyAddresses(addresses, source.tls) } }),
    name: source.name,
    inboxPrefix: inboxPrefix(source.name),
    timeout: 5000,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => 100 + Math.random() * 300,
    ignoreAuthErrorAbort: true,
    pingInterval: 2000,
    maxPingOut: 2,
    ...source.natsOptions,
  };
}

/**
 * Chooses the server to connect to next: the one that was tried longest ago. The library would begin with the one whose connection just ended, and
 * wait five seconds for it where its machine is gone or it hangs.
 */
export function serversInTurn(): ReconnectToServerHandler {
  const tried = new Map<string, number>();
  let tries = 0;
  return (pool) => {
    const triedAt = ({ listen }: { listen: string }): number => tried.get(listen) ?? 0;
    const next = pool.reduce((best, one) => (triedAt(one) < triedAt(best) ? one : best));
    tried.set(next.listen, ++tries);
    return next;
  };
}

/**
 * The library gives Node no name to verify where a server is given by its address, and Node then asks for `localhost`: the certificate has to
 * be for one of the addresses instead.
 */
function verifyAddresses(addresses: readonly string[], tls: NatsTls | undefined): Pick<TlsOptions, 'checkServerIdentity'> {
  if (addresses.length === 0 || tls?.servername !== undefined) return {};
  return {
    checkServerIdentity(host, certificate) {
      if (host !== 'localhost') return checkServerIdentity(host, certificate);
      const faults = addresses.map((address) => checkServerIdentity(address, certificate));
      return faults.includes(undefined) ? undefined : faults[0];
    },
  };
}

/** `user:password@`, or a token alone. */
function credentialsOf({ username, password }: URL): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> | undefined {
  if (username === '') return undefined;
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
}
