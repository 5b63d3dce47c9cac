/** Settings as they are stored → an egress, and a target that says how it was reached. */
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { StoredProxy, StoredTls, Upstream } from '@model-gateway/contracts';
import { createEgressReader, type Egress } from '../src/index.ts';
import { open } from './calls.ts';
import { listen, onCleanUp } from './servers.ts';

export interface Settings {
  /** With credentials. */
  proxy?: string;
  dns?: NonNullable<Upstream['dns']>;
  tls?: Partial<Omit<StoredTls, 'sealed_key'>> & { client_key?: string };
  http2?: 'on' | 'off';
}

const storedProxy = (text: string): StoredProxy => {
  const [, scheme = '', userInfo, rest = ''] = /^(\w+:\/\/)(?:(.*)@)?(.*)$/.exec(text) ?? [];
  return { url: scheme + rest, sealed: userInfo ?? null };
};

export function egress({ proxy, dns, tls, http2 }: Settings): Egress | undefined {
  const { client_key = null, ...texts } = tls ?? {};
  return createEgressReader({ open: (sealed) => sealed })({
    id: 'u',
    ...(proxy !== undefined && { proxy: storedProxy(proxy) }),
    ...(dns && { dns }),
    ...(http2 && { extra_config: { http2 } }),
    ...(tls && { tls: { ca: null, client_cert: null, min_version: null, server_name: null, ...texts, sealed_key: client_key } }),
  });
}

export function use(options: Parameters<typeof open>[0] = {}): ReturnType<typeof open> {
  const outbound = open(options);
  onCleanUp(() => outbound.close(0));
  return outbound;
}

/** Answers with the host it was called by; over TLS when given a certificate. */
export async function startTarget(tls?: ServerOptions): Promise<{ port: number; sockets: Socket[]; connections: number }> {
  let connections = 0;
  const server = tls ? createHttpsServer(tls) : createHttpServer();
  server.on('request', (request, response) => request.resume().on('end', () => response.end(`hello ${request.headers.host}`)));
  server.on(tls ? 'secureConnection' : 'connection', () => {
    connections++;
  });
  server.on('tlsClientError', () => {});
  const { port, sockets } = await listen(server);
  return {
    port,
    sockets,
    get connections() {
      return connections;
    },
  };
}
