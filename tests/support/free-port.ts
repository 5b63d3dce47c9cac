/** Ports for servers that are started a moment later, or that nobody is to listen on: none that the system hands out by itself in between. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

/** Fetch refuses some ports whatever listens there; 10080 is the last of them. */
const lowest = 10_081;
/** Fewer to choose from would meet those of another worker. */
const fewest = 5_000;
/** Of this process: a server that is away for a moment finds its port free when it comes back. */
const given = new Set<number>();

/** Below these are ports that no outgoing connection and no server of port 0 is ever given; without such a room any port will do. */
function highest(): number {
  try {
    return Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s/)[0]) - 1;
  } catch {
    // Other systems begin at 49152 or 32768.
    return 32_767;
  }
}

/** A port of 127.0.0.1 on which nobody listens; never the same one twice. */
export async function freePort(): Promise<number> {
  const context = highest() - lowest;
  for (;;) {
    const port = await listenable(context < fewest ? 0 : lowest + Math.floor(Math.random() * context));
    if (port === null || given.has(port)) continue;
    given.add(port);
    return port;
  }
}

/** The port, when it can be listened on; null when somebody else does. */
function listenable(port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(null) : reject(error)));
    server.listen(port, '127.0.0.1', () => {
      const { port: listened } = server.address() as { port: number };
      server.close(() => resolve(listened));
    });
  });
}
