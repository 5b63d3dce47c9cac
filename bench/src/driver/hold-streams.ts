/** Streams that are opened, say their first word and then nothing, and stay open beside a load. */
import { connect, type Socket } from 'node:net';
import type { Endpoint } from '../targets/target.ts';
import { loadOf } from './load-of.ts';
import { pause, wireOf } from './run-load.ts';

export interface HeldStreams {
  /** How many have ended. */
  lost(): number;
  close(): void;
}

const atOnce = 50;
const openMs = 60_000;
const firstWord = Buffer.from('" the"');

/** Resolves when each has had its first word. */
export async function holdStreams(endpoint: Endpoint, count: number): Promise<HeldStreams> {
  const { url: address, requests, stream } = loadOf({ passage: 'same', size: 1024, stream: true, connections: 1 }, endpoint);
  const url = new URL(address);
  const wire = wireOf(url, requests[0]!, stream);
  const sockets: Socket[] = [];
  let begun = 0;
  let lost = 0;
  const open = (): void => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    let heard = false;
    socket.on('data', (bytes: Buffer) => {
      if (heard || !bytes.includes(firstWord)) return;
      heard = true;
      begun++;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => lost++);
    socket.write(wire);
    sockets.push(socket);
  };
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  for (const deadline = Date.now() + openMs; begun < count; await pause(1)) {
    while (sockets.length < count && sockets.length - begun < atOnce) open();
    if (lost === 0 && Date.now() < deadline) continue;
    close();
    throw new Error(`of ${count} quiet streams ${begun} began, and ${lost} ended at once`);
  }
  return { lost: () => lost, close };
}
