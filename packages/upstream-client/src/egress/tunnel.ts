/** Asks a proxy, over a connection to it, to connect us on. Errors never carry the proxy's credentials: the libraries' own objects do. */
import { request } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { DialError } from '../fault.ts';
import type { Lookup } from '../lookup.ts';
import type { ProxyScheme, ProxySettings } from './egress.ts';

/** `isOfTarget`: the proxy could not reach the address that it was asked for. */
type Connected = (error: DialError | null, isOfTarget?: boolean) => void;

/** A connection through a proxy that is to be made. */
export interface TunnelRequest {
  /** Connected to the proxy. */
  socket: Socket;
  proxy: ProxySettings;
  /** Of the target: a name only where the proxy resolves it (`addressFamilies`). */
  host: string;
  port: number;
}

/** Calls back once; afterwards the socket is connected to the target. */
type Tunnel = (request: TunnelRequest, connected: Connected) => void;

const maxHeadBytes = 16 * 1024;

const refused = (why: string): DialError => new DialError('connect', 'proxy', why);

const connectHttp: Tunnel = ({ socket, proxy, host, port }, connected) => {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  const ask = request({
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: {
      host: authority,
      ...(proxy.user !== '' && { 'proxy-authorization': `Basic ${Buffer.from(`${proxy.user}:${proxy.password}`, 'utf8').toString('base64')}` }),
    },
    maxHeaderSize: maxHeadBytes,
    createConnection: () => socket,
  });
  ask.once('connect', ({ statusCode = 0 }, _socket, head) => {
    if (statusCode < 200 || statusCode > 299) connected(refused(`the proxy answered ${statusCode} to CONNECT`));
    // Nobody speaks before us: these bytes would be read as the upstream's.
    else if (head.length > 0) connected(refused('the proxy sent more than its answer to CONNECT'));
    else connected(null);
  });
  ask.once('error', () => connected(refused('the proxy broke off during CONNECT')));
  ask.end();
};

const connectSocks =
  (type: 4 | 5): Tunnel =>
  ({ socket, proxy, host, port }, connected) => {
    SocksClient.createConnection({
      command: 'connect',
      proxy: { host: proxy.host, port: proxy.port, type, ...(proxy.user !== '' && { userId: proxy.user, password: proxy.password }) },
      destination: { host, port },
      existing_socket: socket,
    }).then(
      () => connected(null),
      (error: Error) => connected(refused(error.message), error.message.includes('rejected connection')),
    );
  };

export const tunnels: Readonly<Record<ProxyScheme, Tunnel>> = {
  http: connectHttp,
  https: connectHttp,
  socks4: connectSocks(4),
  socks4a: connectSocks(4),
  socks5: connectSocks(5),
  socks5h: connectSocks(5),
};

/** `socks5` and `socks4` are given an address of this family (0: of any), which the guard has checked; with the others the proxy resolves. */
const addressFamilies: Partial<Record<ProxyScheme, 0 | 4>> = { socks4: 4, socks5: 0 };
/** A proxy is asked for so many addresses of one name. */
const maxAddresses = 4;

/** What a proxy is asked for one after the other until it connects: the target's allowed addresses, or its name. */
export function resolveFor(scheme: ProxyScheme, host: string, lookup: Lookup, resolved: (error: DialError | null, hosts: string[]) => void): void {
  const family = addressFamilies[scheme];
  if (family === undefined || isIP(host) !== 0) return resolved(null, [host]);
  lookup(host, { family, all: true }, (error, found) => {
    if (error) resolved(error instanceof DialError ? error : new DialError('connect', 'dns', 'name not resolved', error), []);
    else resolved(null, Array.isArray(found) ? found.slice(0, maxAddresses).map(({ address }) => address) : [found]);
  });
}
