/** NATS addresses, with or without credentials in them, as the library wants them: hosts and credentials apart. */
import type { ConnectionOptions, NodeConnectionOptions } from '@nats-io/transport-node';
import { inboxPrefix } from './subjects.ts';

/** Where to connect, and as whom. */
export interface ConnectionSource {
  /** One or several addresses, separated by commas; the first that carries credentials gives them to all. */
  url: string;
  name: string;
  natsOptions?: NodeConnectionOptions;
}

/** Reconnects for ever within half a second of the server's return; a server that hangs is noticed by pings. */
export function connectionOptions(source: ConnectionSource): NodeConnectionOptions {
  const servers: string[] = [];
  let credentials: Pick<ConnectionOptions, 'user' | 'pass' | 'token'> | undefined;
  let secure = false;
  for (const entry of source.url.split(',')) {
    const trimmed = entry.trim();
    const url = new URL(trimmed.includes('://') ? trimmed : `nats://${trimmed}`);
    servers.push(url.host);
    credentials ??= credentialsOf(url);
    secure ||= url.protocol === 'tls:';
  }
  return {
    servers,
    ...credentials,
    ...(secure && { tls: {} }),
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

/** `user:password@`, or a token alone. */
function credentialsOf({ username, password }: URL): Pick<ConnectionOptions, 'user' | 'pass' | 'token'> | undefined {
  if (username === '') return undefined;
  const user = decodeURIComponent(username);
  return password === '' ? { token: user } : { user, pass: decodeURIComponent(password) };
}
