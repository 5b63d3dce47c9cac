/** Shared by the tests of this package: raw servers on loopback, and a call that records its callbacks. */
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { OutboundFault } from '../src/fault.ts';
import { createOutbound, type Outbound, type OutboundOptions } from '../src/outbound.ts';
import type { OutboundCall, OutboundRequest } from '../src/outbound-call.ts';

export interface Listening {
  url: string;
  sockets: Socket[];
  close(): Promise<void>;
}

async function listening(server: Server): Promise<Listening> {
  const sockets: Socket[] = [];
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A TCP server that answers by hand. */
export const listenRaw = (onConnection: (socket: Socket) => void): Promise<Listening> => listening(createServer(onConnection));
export const listenHttp = (onRequest: RequestListener): Promise<Listening> => listening(createHttpServer(onRequest));

export const silent = { warn() {}, error() {} };
/** None of them is met but by a test that sets its own. */
export const timeouts = { connect_ms: 30_000, first_byte_ms: 30_000, idle_ms: 30_000, total_ms: 60_000 };
export const open = (options: Partial<OutboundOptions> = {}): Outbound =>
  createOutbound({ allowPrivate: true, timeouts, userAgent: 'tests', logger: silent, ...options });

export interface Seen {
  call: OutboundCall;
  status?: number;
  headers: Record<string, string>;
  chunks: Buffer[];
  text(): string;
  /** Resolves at the end with `end` or the fault. */
  done: Promise<'end' | OutboundFault>;
  endings: number;
}

/** Sends and records; `onData` and `onHead` run inside the handlers. */
export function send(
  outbound: Outbound,
  request: Partial<OutboundRequest> & { url: string },
  on: { head?(seen: Seen): void; data?(seen: Seen): void } = {},
): Seen {
  let resolve: (end: 'end' | OutboundFault) => void = () => {};
  const done = new Promise<'end' | OutboundFault>((settle) => {
    resolve = settle;
  });
  const seen: Seen = {
    call: undefined as unknown as OutboundCall,
    headers: {},
    chunks: [],
    text: () => Buffer.concat(seen.chunks).toString(),
    done,
    endings: 0,
  };
  seen.call = outbound.send(
    { method: 'POST', headers: {}, body: Buffer.from('{}'), ...request },
    {
      head(status, headers) {
        seen.status = status;
        seen.headers = headers;
        on.head?.(seen);
      },
      data(chunk) {
        seen.chunks.push(chunk);
        on.data?.(seen);
      },
      end() {
        seen.endings++;
        resolve('end');
      },
      error(fault) {
        seen.endings++;
        resolve(fault);
      },
    },
  );
  return seen;
}

/** Resolves after the time, and after what the network had ready by then was read. */
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(() => setImmediate(resolve), ms));

/** A time in which something must not happen. */
export const nothingFor = sleep;

/** Resolves when `met` holds; throws with `what` after 30 s. */
export async function until(met: () => boolean, what: string): Promise<void> {
  for (const end = performance.now() + 30_000; !met(); await sleep(10)) if (performance.now() > end) throw new Error(`not within 30 s: ${what}`);
}
