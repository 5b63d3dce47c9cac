/** The address under which this machine reaches a gateway that listens on given settings. */
import { isIPv6 } from 'node:net';

/** Who listens on every address is reached on the loopback one of the same family. */
const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** `http://host:port`, without a trailing slash. */
export function ownAddress({ host, port }: { host: string; port: number }): string {
  const reached = everywhere[host] ?? host;
  return `http://${isIPv6(reached) ? `[${reached}]` : reached}:${port}`;
}
