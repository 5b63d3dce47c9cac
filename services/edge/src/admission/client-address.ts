/** The caller's address: the socket's peer, or what trusted proxies say of it. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

export type ClientAddress = (request: IncomingMessage) => string | null;

/** `trusted`: CIDRs of proxies. Whether an address is one of theirs. */
export function createProxyTest(trusted: readonly string[]): (address: string) => boolean {
  if (trusted.length === 0) return () => false;
  const proxies = new BlockList();
  for (const cidr of trusted) {
    const [address = '', bits] = cidr.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) proxies.addAddress(address, family);
    else proxies.addSubnet(address, Number(bits), family);
  }
  return (address) => {
    const bare = plain(address);
    return bare !== null && isIP(bare) !== 0 && proxies.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
  };
}

/** `trusted`: CIDRs of proxies whose `X-Forwarded-For` counts; the right-most untrusted hop is the caller. */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const isProxy = createProxyTest(trusted);
  return (request) => {
    const peer = plain(request.socket.remoteAddress);
    if (peer === null || trusted.length === 0 || !isProxy(peer)) return peer;
    const hops = String(request.headers['x-forwarded-for'] ?? '')
      .split(',')
      .map((hop) => plain(withoutPort(hop.trim())))
      .reverse();
    let last = peer;
    for (const hop of hops) {
      if (hop === null || isIP(hop) === 0) return last;
      last = hop;
      if (!isProxy(hop)) return hop;
    }
    return last;
  };
}

/** Some proxies add the port: `1.2.3.4:5678`, `[2001:db8::1]:5678`. Only the address counts. */
const withoutPort = (hop: string): string => /^(?:(\d{1,3}(?:\.\d{1,3}){3})|\[([0-9a-f:.]{2,45})\])(?::\d{1,5})?$/i.exec(hop)?.slice(1).find(Boolean) ?? hop;

/** `::ffff:1.2.3.4` is 1.2.3.4. */
const plain = (address: string | undefined): string | null => (address ? address.replace(/^::ffff:(?=\d+\.)/i, '') : null);
