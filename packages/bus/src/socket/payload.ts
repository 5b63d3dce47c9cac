/** The payload of a stream's frame as bytes. */
import { frameKind } from '@model-gateway/contracts';
import type { StreamKind, StreamPayloads, WholeReply } from '../stream/link.ts';
import { jsonOf } from './host.ts';

const none = Buffer.alloc(0);

/** Head, tail and error are bytes already (`encode`); text stands for its bytes, one for each character. */
export function payloadBytes<K extends StreamKind>(kind: K, payload: StreamPayloads[K]): Uint8Array {
  if (payload === null) return none;
  if (typeof payload === 'number') {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32LE(payload, 0);
    return bytes;
  }
  if (typeof payload === 'string') return Buffer.from(payload, kind === frameKind.cancel ? 'utf8' : 'latin1');
  return payload as Uint8Array;
}

/** Lengths of head and tail, head, tail, then the bytes. */
export function writeWhole({ head, bytes, tail }: WholeReply): Buffer {
  const [first, last] = [jsonOf(head), jsonOf(tail)];
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32LE(first.length, 0);
  lengths.writeUInt32LE(last.length, 4);
  return Buffer.concat([lengths, first, last, bytes]);
}

export function cutWhole(payload: Buffer): { head: Buffer; tail: Buffer; bytes: Buffer } {
  const headEnd = 8 + payload.readUInt32LE(0);
  const tailEnd = headEnd + payload.readUInt32LE(4);
  return { head: payload.subarray(8, headEnd), tail: payload.subarray(headEnd, tailEnd), bytes: payload.subarray(tailEnd) };
}
