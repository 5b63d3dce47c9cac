/** Units larger than a frame: cut into parts where they are sent, put together where they are received; and the totals that end a stream. */
import { type Frame, frameMark, u32 } from './frame.ts';

/** Bytes of one unit beside data (a head, a tail, a reply) that a receiver is willing to gather. */
const unitCap = 64 * 1024 * 1024;

/** The parts of a unit; the last one, and only it, is sent without `more`. */
export function cutUnit(parts: readonly Uint8Array[], cap: number): { parts: readonly Uint8Array[]; more: boolean }[] {
  let length = 0;
  for (const part of parts) length += part.length;
  if (length <= cap) return [{ parts, more: false }];
  const all = Buffer.concat(parts);
  const cut: { parts: Uint8Array[]; more: boolean }[] = [];
  for (let start = 0; start < length; start += cap) {
    cut.push({ parts: [all.subarray(start, start + cap)], more: start + cap < length });
  }
  return cut;
}

/** Puts the parts of a unit together. */
export class UnitReader {
  private parts: Uint8Array[] = [];
  private bytes = 0;

  get empty(): boolean {
    return this.parts.length === 0;
  }

  /** The whole payload with the last part; null while more is to come. Throws above the cap. */
  add(frame: Frame): Uint8Array | null {
    const more = (frame.marks & frameMark.more) !== 0;
    if (!more && this.parts.length === 0) return frame.payload;
    this.bytes += frame.payload.length;
    if (this.bytes > unitCap) throw new Error('a unit on the bus is larger than its cap');
    this.parts.push(frame.payload);
    if (more) return null;
    const whole = Buffer.concat(this.parts);
    this.parts = [];
    this.bytes = 0;
    return whole;
  }
}

export const totalsBytes = 12;

/** What a direction has sent before its end: counted frames (u32) and data bytes (two u32). */
export const writeTotals = (frames: number, bytes: number): Buffer => u32(frames, bytes % 2 ** 32, Math.floor(bytes / 2 ** 32));

export function totalsMatch(payload: Buffer, frames: number, bytes: number): boolean {
  return payload.length >= totalsBytes && payload.readUInt32LE(0) === frames >>> 0 && payload.readUInt32LE(4) + payload.readUInt32LE(8) * 2 ** 32 === bytes;
}
