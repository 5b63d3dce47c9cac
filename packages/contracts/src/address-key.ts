/** The key under which a client address is counted. */

/** A client can choose among all addresses of its own line: IPv6 counts by its /64, mapped IPv4 as IPv4. */
export function addressKey(ipAddress: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ipAddress)?.[1];
  if (mapped !== undefined || !/^[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:%|$)/i.test(ipAddress)) return mapped ?? ipAddress.slice(0, 100);
  const [head = '', tail] = (ipAddress.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const missing = tail === undefined ? 0 : Math.max(0, 8 - left.length - (tail === '' ? 0 : tail.split(':').length));
  const groups = [...left, ...Array<string>(missing).fill('0'), ...(tail ? tail.split(':') : [])];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
