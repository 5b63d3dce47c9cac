/** Asks a proxy, over a connection to it, to connect us on. Errors never carry the proxy's credentials: the libraries' own objects do. */
import { request } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import { SocksClient } from 'socks';
import { DialError } from '../fault.ts';
import type { Lookup } from '../lookup.ts';
import type { ProxyScheme, ProxySettings } from './egress.ts';

type Connected = (error: DialError | null) => void;

/** A connection through a proxy that is to be made. */
export interface TunnelRequest {
  /** Connected to the proxy. */
  socket: Socket;
  proxy: ProxySettings;
  /** Of the target. */
  host: string;
  port: number;
  lookup: Lookup;
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

/** The first allowed address of the target, for proxies that are given an address. */
function resolveFirst(host: string, family: 0 | 4, lookup: Lookup, resolved: (error: Error | null, address: string) => void): void {
  if (isIP(host) !== 0) resolved(null, host);
  else lookup(host, { family }, (error, address) => resolved(error, String(address)));
}

function connectSocks(type: 4 | 5, proxyResolves: boolean): Tunnel {
  return ({ socket, proxy, host, port, lookup }, connected) => {
    const negotiate = (address: string): void => {
      if (socket.destroyed) return connected(refused('the proxy closed the connection'));
      SocksClient.createConnection({
        command: 'connect',
        proxy: { host: proxy.host, port: proxy.port, type, ...(proxy.user !== '' && { userId: proxy.user, password: proxy.password }) },
        destination: { host: address, port },
        existing_socket: socket,
      }).then(
        () => connected(null),
        (error: Error) => connected(refused(error.message)),
      );
    };
    if (proxyResolves) return negotiate(host);
    resolveFirst(host, type === 4 ? 4 : 0, lookup, (error, address) => {
      if (error) connected(error instanceof DialError ? error : new DialError('connect', 'dns', 'name not resolved', error));
      else negotiate(address);
    });
  };
}

/** `socks5` and `socks4` are given an address, which the guard has checked; with the others the proxy resolves. */
export const tunnels: Readonly<Record<ProxyScheme, Tunnel>> = {
  http: connectHttp,
  https: connectHttp,
  socks4: connectSocks(4, false),
  socks4a: connectSocks(4, true),
  socks5: connectSocks(5, false),
  socks5h: connectSocks(5, true),
};
