/** An upstream's stored settings → what its calls need, secrets opened; the same object for the same record, since every call asks. */
import { createHash } from 'node:crypto';
import { sealedAs, type UpstreamRecord } from '@model-gateway/contracts';
import type { AddressPolicy } from '../address.ts';
import { parseDnsServer } from '../dns/parse-server.ts';
import type { DnsSettings, Egress, ProxySettings, TlsSettings } from './egress.ts';
import { parseProxy } from './parse-proxy.ts';

type Settings = Pick<UpstreamRecord, 'id' | 'proxy' | 'dns' | 'tls'> & Partial<Pick<UpstreamRecord, 'extra_config'>>;

export interface EgressReaderOptions {
  /** Opens a sealed value; throws when its master key is gone. */
  open(sealed: string, boundTo: string): string;
  /** Called with each secret that was opened, so that logs never show it. */
  secret?(value: string): void;
}

/** Longest life of an answer where the upstream names none, in seconds. */
export const defaultTtlSecs = 300;
/** What is never called is for the dialer to say; here everything that was saved is taken. */
const anywhere: AddressPolicy = { allowPrivate: true };

/** undefined: the ordinary way out. Throws when a secret does not open or stored settings cannot be read. */
export function createEgressReader({ open, secret }: EgressReaderOptions): (upstream: Settings) => Egress | undefined {
  const known = new WeakMap<Settings, Egress>();

  function readProxy({ id, proxy }: Settings): ProxySettings | null {
    if (!proxy) return null;
    const userInfo = proxy.sealed === null ? '' : `${open(proxy.sealed, sealedAs.upstreamProxy(id))}@`;
    const parsed = parseProxy(
      proxy.url.replace('://', () => `://${userInfo}`),
      anywhere,
    );
    if ('fault' in parsed) throw new Error(`the stored proxy ${parsed.fault}`);
    for (const value of [parsed.userInfo, parsed.proxy.password, parsed.proxy.password === '' ? parsed.proxy.user : '']) if (value) secret?.(value);
    return parsed.proxy;
  }

  function readTls({ id, tls }: Settings): TlsSettings | null {
    if (!tls) return null;
    const clientKey = tls.sealed_key === null ? null : open(tls.sealed_key, sealedAs.upstreamClientKey(id));
    return { ca: tls.ca, clientCert: tls.client_cert, clientKey, minVersion: tls.min_version, serverName: tls.server_name };
  }

  return (upstream) => {
    const http2 = readHttp2(upstream);
    if (!upstream.proxy && !upstream.dns && !upstream.tls && http2 === null) return undefined;
    let egress = known.get(upstream);
    if (!egress) {
      const settings = { proxy: readProxy(upstream), dns: readDns(upstream), tls: readTls(upstream), http2 };
      egress = { id: createHash('sha256').update(JSON.stringify(settings)).digest('base64url'), ...settings };
      known.set(upstream, egress);
    }
    return egress;
  };
}

/** `extra_config.http2` of an upstream: `on` or `off`; null where it leaves that to the process. */
const readHttp2 = ({ extra_config }: Settings): boolean | null => {
  const said = extra_config?.['http2'];
  return said === 'on' || said === 'off' ? said === 'on' : null;
};

function readDns({ dns }: Settings): DnsSettings | null {
  if (!dns) return null;
  const servers = dns.servers.map((text) => {
    const server = parseDnsServer(text, anywhere);
    if (typeof server === 'string') throw new Error(`a stored DNS server ${server}`);
    return server;
  });
  return { servers, ttlSecs: dns.ttl_secs ?? defaultTtlSecs };
}
