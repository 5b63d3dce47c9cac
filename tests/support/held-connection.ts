/** A way to a server on which what its clients send can be held, as a network that loses packets holds it: what the server sends still arrives. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Holds what clients send, for all connections there are. */
export interface HeldConnection {
  /** The server's address, by this way. */
  readonly url: string;
  hold(): void;
  release(): void;
  close(): void;
}

/** `server`: an address with a port, and with whatever else its clients need in it. */
export async function openHeldConnection(server: string): Promise<HeldConnection> {
  const { hostname, port } = new URL(server);
  const pairs = new Set<readonly [client: Socket, upstream: Socket]>();
  const relay = createServer((client) => {
    const pair = [client, connect(Number(port), hostname)] as const;
    pairs.add(pair);
    client.pipe(pair[1]).pipe(client);
    for (const socket of pair)
      socket
        .on('error', () => socket.destroy())
        .on('close', () => {
          pairs.delete(pair);
          for (const other of pair) other.destroy();
        });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const url = new URL(server);
  url.hostname = '127.0.0.1';
  url.port = `${(relay.address() as AddressInfo).port}`;
  return {
    url: url.href,
    hold() {
      for (const [client] of pairs) client.unpipe().pause();
    },
    release() {
      for (const [client, upstream] of pairs) client.pipe(upstream);
    },
    close() {
      relay.close();
      for (const pair of pairs) for (const socket of pair) socket.destroy();
    },
  };
}
