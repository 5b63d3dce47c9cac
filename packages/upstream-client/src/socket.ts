/** Opens one connection to an allowed address; the checked address is the one dialled. */
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { AddressPolicy } from './address.ts';
import { isAddressAllowed } from './address.ts';
import { DialError } from './fault.ts';
import { bareHost, isHostAllowed } from './host.ts';
import type { Lookup } from './lookup.ts';

export interface SocketTarget {
  host: string;
  port: number;
  /** undefined: plain TCP. */
  tls?: ConnectionOptions | undefined;
}

export type Opened = (error: DialError | null, socket: Socket | null) => void;

const highWaterMark = 64 * 1024;

/** `servername` of a host that is an address is empty: SNI takes names alone. */
export const serverNameOf = (host: string): string => (isIP(host) === 0 ? host.replace(/\.$/, '') : '');

/**
 * Calls back exactly once, with the socket when it is connected (TLS: when it is secure). Returns it before, so that a waiting call can
 * destroy it; null when the host is refused.
 */
export function openSocket({ host, port, tls }: SocketTarget, policy: AddressPolicy, lookup: Lookup, opened: Opened): Socket | null {
  if (!isHostAllowed(bareHost(host), policy)) {
    opened(new DialError('refused-address', 'connect', `${host} is refused`), null);
    return null;
  }
  const target = { host, port, lookup: lookup as TcpNetConnectOpts['lookup'], autoSelectFamily: true, highWaterMark };
  const socket: Socket = tls ? connectTls({ servername: serverNameOf(host), ...target, ...tls } as ConnectionOptions) : connectTcp(target as TcpNetConnectOpts);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  awaitOpen(socket, tls !== undefined, policy, opened);
  return socket;
}

/** TLS inside a connection that another host has opened for us. */
export function wrapTls(inner: Socket, host: string, tls: ConnectionOptions, opened: Opened): void {
  const socket = connectTls({ servername: serverNameOf(host), ...tls, host, socket: inner, highWaterMark } as ConnectionOptions);
  awaitOpen(socket, true, null, opened);
}

function awaitOpen(socket: Socket, secure: boolean, policy: AddressPolicy | null, opened: Opened): void {
  let reached = policy === null;
  let over = false;
  socket.once('connect', () => {
    reached = true;
  });
  const failed = (error: Error): void => {
    if (over) return;
    over = true;
    socket.on('error', () => {}).destroy();
    opened(error instanceof DialError ? error : new DialError('connect', reached && secure ? 'tls' : 'connect', 'connection failed', error), null);
  };
  const closed = (): void => failed(new Error('closed before it was open'));
  socket.once('error', failed);
  socket.once('close', closed);
  socket.once(secure ? 'secureConnect' : 'connect', () => {
    if (over) return;
    over = true;
    socket.off('error', failed);
    socket.off('close', closed);
    // With TLS 1.3 a client certificate is refused after the handshake: undici would report the end that follows instead of this error.
    if (secure) socket.once('error', () => socket.destroy());
    // What was checked is what was dialled; this notices if that ever stops being true.
    if (policy !== null && !isAddressAllowed(socket.remoteAddress ?? '', policy)) {
      socket.on('error', () => {}).destroy();
      opened(new DialError('refused-address', 'connect', 'connected to a refused address'), null);
      return;
    }
    opened(null, socket);
  });
}
