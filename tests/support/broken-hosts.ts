/** Hosts that break below HTTP: nobody listens, no such name, no TLS, a reset before the first byte. */

import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export interface BrokenHosts {
  /** By fault: a base address without a trailing slash. */
  refused: string;
  dns: string;
  tls: string;
  reset: string;
  close(): Promise<void>;
}

const listen = async (onConnection: (socket: Socket) => void): Promise<{ server: Server; port: number }> => {
  const server = createServer(onConnection);
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  return { server, port: (server.address() as AddressInfo).port };
};

export async function startBrokenHosts(): Promise<BrokenHosts> {
  const sockets = new Set<Socket>();
  const hold = (act: (socket: Socket) => void) => (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    act(socket);
  };
  const plain = await listen(hold((socket) => socket.once('data', () => socket.end('no TLS here\r\n'))));
  const reset = await listen(hold((socket) => socket.once('data', () => socket.resetAndDestroy())));
  return {
    refused: `http://127.0.0.1:${await freePort()}`,
    dns: 'http://no-such-host.invalid',
    tls: `https://127.0.0.1:${plain.port}`,
    reset: `http://127.0.0.1:${reset.port}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await Promise.all([plain, reset].map(({ server }) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
