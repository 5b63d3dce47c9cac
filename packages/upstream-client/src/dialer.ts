/** Opens the connections of one origin for undici: to allowed addresses only, straight or through the upstream's proxy. */
import type { Socket } from 'node:net';
import { type ConnectionOptions, createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import type { AddressPolicy } from './address.ts';
import type { Egress, ProxySettings, TlsSettings } from './egress/egress.ts';
import { resolveFor, tunnels } from './egress/tunnel.ts';
import { DialError } from './fault.ts';
import { bareHost, isHostAllowed } from './host.ts';
import { guardedLookup, type Resolve } from './lookup.ts';
import { type Opened, openSocket, wrapTls } from './socket.ts';

export interface Dialing {
  /** Called with the socket as soon as it exists, so that the call that waits for it can give it up. */
  dialing(socket: Socket): void;
}

export interface DialerOptions {
  policy: AddressPolicy;
  resolve?: Resolve | undefined;
  /** Trust anchors (PEM) instead of the system's, for tests. */
  ca?: string | undefined;
  egress?: Egress | undefined;
  /** Whether HTTP/2 is offered to origins over TLS. */
  http2?: boolean | undefined;
  /** The call on whose behalf undici dials, if any. */
  current(): Dialing | undefined;
}

/** What undici wants a connection to. */
interface Target {
  host: string;
  port: number;
  /** undefined: without TLS. */
  secure: ConnectionOptions | undefined;
}

const noTls: TlsSettings = { ca: null, clientCert: null, clientKey: null, minVersion: null, serverName: null };

/** Trust for what is on the way (proxy, DNS servers): the system's anchors, and the upstream's own beside them. */
export function wayTls(egress: Egress | undefined, ca: string | undefined): ConnectionOptions {
  const own = egress?.tls?.ca ?? null;
  if (own === null) return ca === undefined ? {} : { ca };
  return { ca: [...(ca === undefined ? getCACertificates('default') : [ca]), own] };
}

/** A connector for undici's Pool. TLS is verified against the host name of the URL (or `tls.server_name`), whatever the address. */
export function createDialer({ policy, resolve, ca, egress, http2 = false, current }: DialerOptions): buildConnector.connector {
  const lookup = guardedLookup(policy, resolve);
  const tls = createTargetTls(egress?.tls ?? noTls, ca, http2 ? ['h2', 'http/1.1'] : ['http/1.1']);
  const proxy = egress?.proxy ?? null;
  const proxyTls = proxy?.scheme === 'https' ? { ...wayTls(egress, ca), ALPNProtocols: ['http/1.1'] } : undefined;

  function dialThrough(via: ProxySettings, target: Target, opened: Opened): void {
    const name = bareHost(target.host);
    // A proxy that resolves names does not check addresses: at least the name is checked here.
    if (!isHostAllowed(name, policy)) return opened(new DialError('refused-address', 'connect', `${target.host} is refused`), null);
    const caller = current();
    const tryEach = ([host = name, ...others]: readonly string[]): void => {
      const refused = (fault: DialError): void => (others.length > 0 ? tryEach(others) : opened(fault, null));
      const socket = tunnelTo({ via, target, host }, refused, opened);
      if (socket) caller?.dialing(socket);
    };
    resolveFor(via.scheme, name, lookup, (error, hosts) => (error ? opened(error, null) : tryEach(hosts)));
  }

  /** Calls back once: `refused` where the proxy cannot reach the address, else `opened`. */
  function tunnelTo({ via, target, host }: { via: ProxySettings; target: Target; host: string }, refused: (fault: DialError) => void, opened: Opened) {
    const once = onlyOnce(opened);
    return openSocket({ host: via.host, port: via.port, tls: proxyTls }, policy, lookup, (error, open) => {
      if (error || !open) return once(error && new DialError(error.kind, 'proxy', 'the proxy cannot be reached', error), null);
      let isOver = false;
      const end = (settle: () => void): void => {
        if (isOver) return;
        isOver = true;
        open.off('error', lost).off('close', lost);
        settle();
      };
      const drop = (): void => void open.on('error', () => {}).destroy();
      const lost = (): void =>
        end(() => {
          drop();
          once(new DialError('connect', 'proxy', 'the proxy closed the connection'), null);
        });
      open.once('error', lost).once('close', lost);
      tunnels[via.scheme]({ socket: open, proxy: via, host, port: target.port }, (fault, isOfTarget) =>
        end(() => {
          if (fault) {
            drop();
            if (isOfTarget) refused(fault);
            else once(fault, null);
          } else if (target.secure) wrapTls(open, bareHost(target.host), target.secure, once);
          else once(null, open);
        }),
      );
    });
  }

  return ({ hostname, protocol, port: named }, callback) => {
    const port = Number(named) || (protocol === 'https:' ? 443 : 80);
    let secure: ConnectionOptions | undefined;
    try {
      secure = protocol === 'https:' ? tls.options() : undefined;
    } catch (error) {
      callback(new DialError('connect', 'tls', 'the TLS settings cannot be used', error), null);
      return;
    }
    const opened: Opened = (error, socket) => {
      if (error) {
        tls.forget();
        callback(error, null);
        return;
      }
      if (secure) tls.remember(socket as Socket);
      callback(null, socket as Socket);
    };
    if (proxy !== null) return dialThrough(proxy, { host: hostname, port, secure }, opened);
    const socket = openSocket({ host: hostname, port, tls: secure }, policy, lookup, opened);
    if (socket) current()?.dialing(socket);
  };
}

function onlyOnce(opened: Opened): Opened {
  let over = false;
  return (error, socket) => {
    if (over) return;
    over = true;
    opened(error, socket);
  };
}

interface TargetTls {
  /** Throws when keys or certificates cannot be used. */
  options(): ConnectionOptions;
  /** A dialer serves one origin: one session is enough to resume with. */
  remember(socket: Socket): void;
  forget(): void;
}

function createTargetTls(settings: TlsSettings, ca: string | undefined, ALPNProtocols: string[]): TargetTls {
  let context: SecureContext | undefined;
  let session: Buffer | undefined;
  const { clientCert, clientKey, minVersion, serverName } = settings;
  const trusted = settings.ca ?? ca;
  const plain = trusted === undefined && clientCert === null && clientKey === null && minVersion === null;
  return {
    options() {
      context ??= plain ? undefined : createSecureContext(contextOptions(settings, trusted));
      return { ALPNProtocols, session, ...(context && { secureContext: context }), ...(serverName !== null && { servername: serverName }) };
    },
    remember(socket) {
      socket.on('session', (next: Buffer) => {
        session = next;
      });
    },
    forget() {
      session = undefined;
    },
  };
}

const contextOptions = ({ clientCert, clientKey, minVersion }: TlsSettings, ca: string | undefined): Parameters<typeof createSecureContext>[0] => ({
  ...(ca !== undefined && { ca }),
  ...(clientCert !== null && { cert: clientCert }),
  ...(clientKey !== null && { key: clientKey }),
  ...(minVersion !== null && { minVersion: `TLSv${minVersion}` as const }),
});
