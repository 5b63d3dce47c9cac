/** Opens connections only to allowed addresses: names are resolved here, checked, and the checked address is the one dialled. */
import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { connect as connectTcp, isIP, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { type AddressPolicy, isAddressAllowed } from './address.ts';
import { DialError } from './fault.ts';

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;
export type Resolve = (host: string, options: LookupOptions, callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void) => void;

const systemResolve: Resolve = (host, options, callback) => dnsLookup(host, { ...options, all: true }, callback);

/** A `lookup` for sockets that hands on allowed addresses alone. */
export function guardedLookup(policy: AddressPolicy, resolve: Resolve = systemResolve) {
  return (host: string, options: LookupOptions, callback: LookupCallback): void => {
    resolve(host, options, (error, addresses) => {
      if (error) return callback(new DialError('connect', 'dns', `name not resolved: ${error.code}`, error), []);
      const allowed = addresses.filter((one) => isAddressAllowed(one.address, policy));
      const first = allowed[0];
      if (first === undefined) return callback(new DialError('refused-address', 'dns', `all ${addresses.length} addresses of ${host} are refused`), []);
      if (options.all) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}

export interface Dialing {
  /** Called with the socket as soon as it exists, so that whoever waits for it can give it up. */
  dialing(socket: Socket): void;
}

export interface DialerOptions {
  policy: AddressPolicy;
  resolve?: Resolve | undefined;
  /** Extra trust anchors (PEM), for tests and private certificate authorities. */
  ca?: string | undefined;
  /** The call on whose behalf undici dials, if any. */
  current(): Dialing | undefined;
}

/** A connector for undici's Pool. TLS is verified against the host name of the URL, whatever the address. */
export function createDialer({ policy, resolve, ca, current }: DialerOptions): buildConnector.connector {
  const lookup = guardedLookup(policy, resolve);
  let session: Buffer | undefined;

  return (options, callback) => {
    const { hostname, protocol } = options;
    const secure = protocol === 'https:';
    const port = Number(options.port) || (secure ? 443 : 80);
    if (isIP(hostname) !== 0 && !isAddressAllowed(hostname, policy)) {
      callback(new DialError('refused-address', 'connect', `${hostname} is refused`), null);
      return;
    }
    // A private dialer per origin: one TLS session is enough to resume with.
    const target = { host: hostname, port, lookup: lookup as TcpNetConnectOpts['lookup'], autoSelectFamily: true };
    const socket: Socket = secure
      ? connectTls({
          ...target,
          servername: isIP(hostname) === 0 ? hostname : '',
          ALPNProtocols: ['http/1.1'],
          session,
          ...(ca !== undefined && { ca }),
          highWaterMark: 64 * 1024,
        } as ConnectionOptions)
      : connectTcp({ ...target, highWaterMark: 64 * 1024 } as TcpNetConnectOpts);
    let reached = false;
    current()?.dialing(socket);
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    if (secure) socket.on('session', (next: Buffer) => (session = next));
    socket.once('connect', () => {
      reached = true;
    });
    const failed = (error: Error): void => {
      session = undefined;
      if (error instanceof DialError) callback(error, null);
      else callback(new DialError('connect', reached && secure ? 'tls' : 'connect', 'connection failed', error), null);
    };
    socket.once('error', failed);
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      socket.off('error', failed);
      // What was checked is what was dialled; this notices if that ever stops being true.
      if (!isAddressAllowed(socket.remoteAddress ?? '', policy)) {
        socket.on('error', () => {}).destroy();
        callback(new DialError('refused-address', 'connect', 'connected to a refused address'), null);
        return;
      }
      callback(null, socket);
    });
  };
}
