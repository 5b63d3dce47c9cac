/** The ways to ask a DNS server: UDP, TCP, TLS, HTTPS. Each gives the reply to the question, or rejects in bounded time. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { isIPv4, isIPv6, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Pool } from 'undici';
import type { AddressPolicy } from '../address.ts';
import type { DnsServer } from '../egress/egress.ts';
import { guardedLookup, type Lookup } from '../lookup.ts';
import { openSocket } from '../socket.ts';
import { type DnsReply, type Question, readReply, writeQuestion } from './message.ts';
import type { Exchange } from './resolver.ts';

/** A datagram that is lost is sent again after this long. */
const resendMs = 500;
/** Then the next server is asked: several fit into the time that a connection gets. */
const serverMs = 1500;
const maxReplyBytes = 65_535;

export interface ExchangeOptions {
  policy: AddressPolicy;
  /** For servers reached over TLS. */
  tls: ConnectionOptions;
}

export interface Exchanges {
  exchange: Exchange;
  /** Ends the connections that are kept to HTTPS servers. */
  close(): Promise<void>;
}

/** Names of the servers themselves are resolved by the system. */
export function createExchanges({ policy, tls }: ExchangeOptions): Exchanges {
  const lookup = guardedLookup(policy);
  const pools = new Map<string, Pool>();

  const poolOf = ({ host, port }: DnsServer): Pool => {
    const origin = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
    let pool = pools.get(origin);
    if (!pool) {
      pool = new Pool(origin, {
        connections: 2,
        connect: ({ hostname }, callback) => {
          openSocket({ host: hostname, port, tls }, policy, lookup, (error, socket) => (error ? callback(error, null) : callback(null, socket as Socket)));
        },
      });
      pools.set(origin, pool);
    }
    return pool;
  };
  const overStream = (server: DnsServer, question: Question, secure: boolean) =>
    askStream(question, (opened) =>
      openSocket({ host: server.host, port: server.port, tls: secure ? { ...tls, ALPNProtocols: ['dot'] } : undefined }, policy, lookup, opened),
    );

  const ways: Record<DnsServer['scheme'], Exchange> = {
    plain: (server, question) => askUdp(server, question, lookup),
    udp: async (server, question) => {
      const reply = await askUdp(server, question, lookup);
      return reply.truncated ? overStream(server, question, false) : reply;
    },
    tls: (server, question) => overStream(server, question, true),
    https: (server, question) => askHttps(poolOf(server), server.path, question),
  };
  return {
    exchange: (server, question) => ways[server.scheme](server, question),
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}

const addressOf = (host: string, lookup: Lookup): Promise<string> =>
  isIPv4(host) || isIPv6(host)
    ? Promise.resolve(host)
    : new Promise((resolve, reject) => lookup(host, {}, (error, address) => (error ? reject(error) : resolve(String(address)))));

/** From a random port, to this server alone; datagrams that do not answer the question are passed over. */
async function askUdp({ host, port }: DnsServer, question: Question, lookup: Lookup): Promise<DnsReply> {
  const address = await addressOf(host, lookup);
  const packet = writeQuestion(question);
  return new Promise((resolve, reject) => {
    const socket: UdpSocket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const end = (settle: () => void): void => {
      clearInterval(resend);
      clearTimeout(late);
      socket.removeAllListeners();
      socket.on('error', () => {});
      socket.close();
      settle();
    };
    const fail = (error: Error): void => end(() => reject(error));
    const resend = setInterval(() => socket.send(packet), resendMs);
    const late = setTimeout(() => fail(new Error(`no reply within ${serverMs} ms`)), serverMs);
    socket.once('error', fail);
    socket.on('message', (bytes) => {
      const reply = readReply(bytes, question);
      if (reply) end(() => resolve(reply));
    });
    socket.once('connect', () => socket.send(packet));
    // Without a callback: where no route leads there, that would be called too, with the error that is emitted otherwise.
    socket.connect(port, address);
  });
}

/** One question per connection, with its length before it (RFC 7766, RFC 7858). */
function askStream(question: Question, open: (opened: (error: Error | null, socket: Socket | null) => void) => Socket | null): Promise<DnsReply> {
  return new Promise((resolve, reject) => {
    const packet = writeQuestion(question);
    let received: Buffer = Buffer.alloc(0);
    let dialled: Socket | null = null;
    const end = (settle: () => void): void => {
      clearTimeout(late);
      dialled?.on('error', () => {}).destroy();
      settle();
    };
    const late = setTimeout(() => end(() => reject(new Error(`no reply within ${serverMs} ms`))), serverMs);
    dialled = open((error, socket) => {
      if (error || !socket) return end(() => reject(error ?? new Error('not connected')));
      const length = Buffer.alloc(2);
      length.writeUInt16BE(packet.length);
      socket.once('error', (cause) => end(() => reject(cause)));
      socket.once('close', () => end(() => reject(new Error('closed without a reply'))));
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < 2) return;
        const wanted = received.readUInt16BE() + 2;
        if (received.length < wanted) return;
        const reply = readReply(received.subarray(2, wanted), question);
        end(() => (reply ? resolve(reply) : reject(new Error('the reply is to another question'))));
      });
      socket.write(Buffer.concat([length, packet]));
    });
  });
}

const dnsMessage = 'application/dns-message';

/** RFC 8484, by POST. */
async function askHttps(pool: Pool, path: string, question: Question): Promise<DnsReply> {
  const { statusCode, headers, body } = await pool.request({
    path,
    method: 'POST',
    headers: { 'content-type': dnsMessage, accept: dnsMessage },
    body: writeQuestion(question),
    signal: AbortSignal.timeout(serverMs),
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxReplyBytes) throw new Error('the reply is larger than a DNS message');
    parts.push(part);
  }
  if (statusCode !== 200 || headers['content-type'] !== dnsMessage) throw new Error(`answered ${statusCode} without a DNS message`);
  const reply = readReply(Buffer.concat(parts), question);
  if (!reply) throw new Error('the reply is to another question');
  return reply;
}
