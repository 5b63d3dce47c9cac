/** A way to the server on which what it sends arrives late, so that messages are on their way for as long as a test needs. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `url` in place of the server's own; each byte of the server arrives `ms` later, those of the client at once. */
export async function startLateConnection(url: string, ms: number): Promise<{ url: string; close(): void }> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const server = connect(Number(port), hostname);
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
    }
    client.pipe(server);
    server.on('data', (chunk) => setTimeout(() => client.writable && client.write(chunk), ms));
    server.on('end', () => setTimeout(() => client.end(), ms));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const own = new URL(url);
  own.port = String((proxy.address() as AddressInfo).port);
  return {
    url: own.href,
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
