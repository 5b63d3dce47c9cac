/** Proxy addresses as admins write them. Faults never repeat the text: it may hold a password. */
import type { AddressPolicy } from '../address.ts';
import { bareHost, isHostAllowed } from '../host.ts';
import type { ProxyScheme, ProxySettings } from './egress.ts';

const defaultPorts: Readonly<Record<ProxyScheme, number>> = { http: 80, https: 443, socks4: 1080, socks4a: 1080, socks5: 1080, socks5h: 1080 };
const form = /^([a-z0-9]+):\/\/([^/?#\\\s]+)\/?$/i;
/** What the wire can carry: one byte of length in SOCKS, no line breaks in a header. */
const maxCredentialLength = 255;

export type ParsedProxy =
  | { proxy: ProxySettings /** The address without its credentials. */; url: string /** `user:password` as written; null without. */; userInfo: string | null }
  | { fault: string };

export function parseProxy(text: string, policy: AddressPolicy): ParsedProxy {
  const [, scheme = '', authority = ''] = form.exec(text) ?? [];
  const lower = scheme.toLowerCase() as ProxyScheme;
  if (!Object.hasOwn(defaultPorts, lower)) return { fault: `must be ${Object.keys(defaultPorts).join('://, ')}:// with a host and a port, and no path` };
  const at = authority.lastIndexOf('@');
  const hostPart = authority.slice(at + 1);
  // Special schemes alone have their hosts normalised; asked under two, an explicit default port shows under one of them.
  const url = URL.parse(`http://${hostPart}`);
  const port = Number(url?.port || URL.parse(`https://${hostPart}`)?.port || (/:80$/.test(hostPart) ? 80 : defaultPorts[lower]));
  if (url === null || url.hostname === '' || port === 0) return { fault: 'has no valid host and port' };
  const host = bareHost(url.hostname);
  if (!isHostAllowed(host, policy)) return { fault: 'is at an address that the gateway never calls' };
  const credentials = at < 0 ? { user: '', password: '' } : readUserInfo(authority.slice(0, at), lower);
  if ('fault' in credentials) return credentials;
  return {
    proxy: { scheme: lower, host, port, ...credentials },
    url: `${lower}://${url.hostname}:${port}`,
    userInfo: at < 0 ? null : authority.slice(0, at),
  };
}

function readUserInfo(text: string, scheme: ProxyScheme): { user: string; password: string } | { fault: string } {
  const colon = text.indexOf(':');
  let user: string;
  let password: string;
  try {
    user = decodeURIComponent(colon < 0 ? text : text.slice(0, colon));
    password = colon < 0 ? '' : decodeURIComponent(text.slice(colon + 1));
  } catch {
    return { fault: 'has a user name or password with a broken % escape' };
  }
  if (user === '') return { fault: 'has a password without a user name' };
  if (/[\p{Cc}]/u.test(user + password)) return { fault: 'has control characters in its user name or password' };
  if (Buffer.byteLength(user) > maxCredentialLength || Buffer.byteLength(password) > maxCredentialLength)
    return { fault: `has a user name or password of more than ${maxCredentialLength} bytes` };
  if (user.includes(':') && scheme.startsWith('http')) return { fault: 'has a user name with a colon, which HTTP proxies cannot be told' };
  if (password !== '' && scheme.startsWith('socks4')) return { fault: 'has a password, but SOCKS4 knows a user name alone' };
  return { user, password };
}
