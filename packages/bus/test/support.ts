/** What the bus suites share: an opener that records what it receives, and polling. */
import type { RequestRow } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { Bus, BusLogger, OpenOptions, OpenSubject, StreamCall } from '../src/index.ts';
import { NatsBus } from '../src/nats/nats-bus.ts';

/** Two ends of a bus. */
export interface Rig {
  /** Asks and opens. */
  near: Bus;
  /** Serves; the same bus in process. */
  far: Bus;
  /** Hands what `near` has sent to the server within this turn; a bus without one need not. */
  push?(): void;
  /** Resolves when what was served or listened to can be reached. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export interface Recorded {
  call: StreamCall;
  order: string[];
  head: unknown;
  chunks: Uint8Array[];
  flags: number[];
  bytes: number;
  /** Pieces that came as text, where `text` asks for it. */
  texts: number;
  tail: unknown;
  error: GatewayError | null;
  ended: Promise<void>;
}

/** Opens a stream and records it; credit is given back at once unless `consume` is false. */
export function openRecorded(
  bus: Bus,
  subject: OpenSubject,
  request: object,
  options: OpenOptions & { consume?: boolean; keep?: boolean; text?: boolean } = {},
): Recorded {
  let end = () => {};
  const got: Recorded = {
    call: null as unknown as StreamCall,
    order: [],
    head: null,
    chunks: [],
    flags: [],
    bytes: 0,
    texts: 0,
    tail: null,
    error: null,
    ended: new Promise((resolve) => {
      end = resolve;
    }),
  };
  const data = (bytes: Uint8Array, flags: number): void => {
    got.order.push('data');
    got.bytes += bytes.length;
    got.flags.push(flags);
    if (options.keep !== false) got.chunks.push(bytes);
    if (options.consume !== false) got.call.consumed(bytes.length);
  };
  const text = (piece: string, flags: number): void => {
    got.texts += 1;
    data(Buffer.from(piece, 'latin1'), flags);
  };
  got.call = bus.open(
    subject as 'catalog.load',
    request as Record<string, never>,
    {
      head(head) {
        got.order.push('head');
        got.head = head;
      },
      data,
      ...(options.text && { text }),
      tail(tail) {
        got.order.push('tail');
        got.tail = tail;
        end();
      },
      broken(error) {
        got.order.push('broken');
        got.error = error;
        end();
      },
    },
    options,
  );
  return got;
}

/** Between two looks of a poll. */
export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Time in which nothing may happen; what must not have happened is checked after it. */
export const nothingFor = sleep;

/** Time for which something stays frozen or silent. */
export const frozenFor = sleep;

/** Until a time window of the code under test has passed. */
export const pastWindow = sleep;

/** Resolves when `met` holds; throws with `what` after `withinMs`. */
export async function until(met: () => boolean, what: string, withinMs = 30_000): Promise<void> {
  const end = performance.now() + withinMs;
  while (!met()) {
    if (performance.now() > end) throw new Error(`waited ${withinMs} ms for: ${what}`);
    await sleep(10);
  }
}

/** What a busy machine may add to a time that is promised. */
export const busyMs = 5000;

/** Takes the time of `run` until it is within `ms`, at most some times: what is slow by design is slow each time, what a busy machine adds is not. */
export async function fastest(ms: number, run: () => Promise<void>): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 10 && best >= ms; tries++) {
    const start = performance.now();
    await run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

/** Resolves when the server knows what this bus serves and listens to by now. */
export async function inPlace(bus: Bus): Promise<void> {
  if (bus instanceof NatsBus) while (!(await bus.link.flush())) await sleep(10);
}

/** Bytes that differ everywhere, so that a swap or a loss shows. */
export function pattern(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed >>> 0 || 1;
  for (let i = 0; i < length; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    bytes[i] = state & 255;
  }
  return bytes;
}

export const joined = (chunks: Uint8Array[]): Uint8Array => Buffer.concat(chunks);

/** A row that is complete enough for the bus. */
export const row = (id: string): RequestRow => ({ id, started_at: 1, authority: 2, losses: [], attempts: [], duration_ms: 1 }) as unknown as RequestRow;

/** A logger for suites that provoke failures on purpose. */
export const quiet: BusLogger = { info() {}, warn() {}, error() {} };
