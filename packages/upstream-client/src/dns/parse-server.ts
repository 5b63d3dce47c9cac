/** DNS server addresses as admins write them: no scheme, `udp://`, `tls://` or `https://`. */
import { isIPv6 } from 'node:net';
import type { AddressPolicy } from '../address.ts';
import type { DnsServer } from '../egress/egress.ts';
import { bareHost, isHostAllowed } from '../host.ts';

const defaultPorts: Readonly<Record<DnsServer['scheme'], number>> = { plain: 53, udp: 53, tls: 853, https: 443 };

/** The server, or what is wrong with the text. */
export function parseDnsServer(text: string, policy: AddressPolicy): DnsServer | string {
  const [, written, rest = ''] = /^(?:([a-z0-9+.-]+):\/\/)?(.*)$/is.exec(text) ?? [];
  const scheme = written === undefined ? 'plain' : written.toLowerCase();
  if (scheme !== 'plain' && scheme !== 'udp' && scheme !== 'tls' && scheme !== 'https') return 'must have no scheme, or udp://, tls:// or https://';
  if (scheme === 'plain' && written !== undefined) return 'must have no scheme, or udp://, tls:// or https://';
  const authority = isIPv6(rest) ? `[${rest}]` : rest;
  if (/[\s@?#\\]/.test(authority)) return 'must be a host with an optional port, without credentials';
  const url = URL.parse(`http://${authority}`);
  if (url === null || url.hostname === '') return 'has no valid host';
  const host = bareHost(url.hostname);
  if (!isHostAllowed(host, policy)) return 'is at an address that the gateway never calls';
  if (scheme !== 'https' && url.pathname !== '/') return 'has a path, which only https:// servers have';
  const port = Number(
    url.port || URL.parse(`https://${authority}`)?.port || (/:80(?:\/|$)/.test(authority.replace(/^\[[^\]]*\]/, '')) ? 80 : defaultPorts[scheme]),
  );
  if (port === 0) return 'has no valid port';
  return { scheme, host, port, path: scheme === 'https' ? (url.pathname === '/' ? '/dns-query' : url.pathname) : '' };
}
