/** How the calls of one upstream leave the house, where that differs from the ordinary way: a proxy, DNS servers, TLS settings. */

/** Plain values, secrets opened; made by `createEgressReader`. */
export interface Egress {
  /** Calls with the same id share connections: equal ids mean equal settings. */
  readonly id: string;
  readonly proxy: ProxySettings | null;
  readonly dns: DnsSettings | null;
  readonly tls: TlsSettings | null;
  /** Whether HTTP/2 is offered; null or absent: as the process does. */
  readonly http2?: boolean | null;
}

export type ProxyScheme = 'http' | 'https' | 'socks4' | 'socks4a' | 'socks5' | 'socks5h';

export interface ProxySettings {
  readonly scheme: ProxyScheme;
  /** Bare: no brackets, lower case. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
}

export interface DnsServer {
  /** `plain` and `udp` differ in what a truncated answer leads to: `udp` asks again over TCP. */
  readonly scheme: 'plain' | 'udp' | 'tls' | 'https';
  readonly host: string;
  readonly port: number;
  /** Of `https` servers. */
  readonly path: string;
}

export interface DnsSettings {
  readonly servers: readonly DnsServer[];
  /** Longest life of an answer in seconds; an answer's own shorter time is kept. */
  readonly ttlSecs: number;
}

export interface TlsSettings {
  /** PEM, trusted instead of the system's for the upstream itself, beside them for its proxy and its DNS servers. */
  readonly ca: string | null;
  readonly clientCert: string | null;
  readonly clientKey: string | null;
  readonly minVersion: '1.2' | '1.3' | null;
  /** Sent as SNI and verified instead of the URL's host. */
  readonly serverName: string | null;
}
