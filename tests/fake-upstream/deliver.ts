/** Writes a reply piece by piece, with the faults that its script asks for. */
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Script } from './script.ts';

export interface Reply {
  status: number;
  headers: Record<string, string>;
  /** Written in order; an endless reply makes pieces for ever. */
  pieces: Iterable<string | Buffer>;
}

export interface Delivery {
  /** Bytes of the body written so far. */
  bytes: number;
  /** We broke the connection on purpose. */
  cut: boolean;
}

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Resolves when the bytes may be followed by more, or the connection is gone. */
async function write(response: ServerResponse, bytes: Buffer, delivery: Delivery): Promise<void> {
  if (bytes.length === 0 || response.destroyed) return;
  delivery.bytes += bytes.length;
  if (response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** A reset overtakes what was written just before it: those bytes get time to reach the other side, which nothing here can observe. */
const headStart = (): Promise<void> => sleep(20);

/** Everything before the faulty byte, then the fault. */
async function breakAt(response: ServerResponse, fault: NonNullable<Script['fault']>, delivery: Delivery): Promise<void> {
  if (fault.kind === 'stall') return;
  if (fault.kind === 'eof') {
    response.end();
    return;
  }
  await headStart();
  delivery.cut = true;
  response.socket?.resetAndDestroy();
}

async function writePiece(response: ServerResponse, bytes: Buffer, script: Script, delivery: Delivery): Promise<void> {
  if (!script.flags.has('split1')) return write(response, bytes, delivery);
  for (let i = 0; i < bytes.length && !response.destroyed; i++) {
    await write(response, bytes.subarray(i, i + 1), delivery);
    await tick();
  }
}

/** Compressed as a whole: such a reply is about the encoding, not about its pace. */
const compressed = (pieces: Iterable<string | Buffer>): Buffer[] => [gzipSync(Buffer.concat([...pieces].map((piece) => Buffer.from(piece as string))))];

export async function deliver(response: ServerResponse, reply: Reply, script: Script, delivery: Delivery): Promise<void> {
  const gzip = script.flags.has('gzip');
  response.writeHead(reply.status, { ...reply.headers, ...(gzip && { 'content-encoding': 'gzip' }) });
  response.flushHeaders();
  response.socket?.setNoDelay(true);
  let first = true;
  for (const piece of gzip ? compressed(reply.pieces) : reply.pieces) {
    if (response.destroyed) return;
    if (script.slowMs > 0 && !first) await sleep(script.slowMs);
    first = false;
    const bytes = Buffer.from(piece as string);
    const context = script.fault === null ? Number.POSITIVE_INFINITY : script.fault.at - delivery.bytes;
    if (bytes.length >= context && script.fault !== null) {
      await writePiece(response, bytes.subarray(0, context), script, delivery);
      return breakAt(response, script.fault, delivery);
    }
    await writePiece(response, bytes, script, delivery);
  }
  if (!response.destroyed) response.end();
}
