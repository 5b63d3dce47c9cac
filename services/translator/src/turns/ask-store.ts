/** Questions to the store of turns, which the stats service keeps. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus, StreamCall, StreamHandlers } from '@model-gateway/bus';
import type { OpenSubjects, TurnsFound, TurnsRead, TurnsWrite, TurnsWritten } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';

type StoreSubject = 'turns.read' | 'turns.write';

/** Longer than a turn in progress is waited for. */
const readMs = 15_000;
const writeMs = 10_000;
/** Seconds after which a caller may ask again. */
const retryAfter = 5;

export const storeAway = (cause?: unknown): GatewayError => new GatewayError('storage_unavailable', { retryAfter, cause });

/** What the store refuses is for the caller; whatever else goes wrong means that it is away. */
const errorOf = (error: GatewayError): GatewayError => (error.status < 500 ? error : storeAway(error));

/** `opens` opens the stream. */
function collect<S extends StoreSubject>(opens: (handlers: StreamHandlers<S>) => StreamCall) {
  return new Promise<{ head: OpenSubjects[S]['head']; bytes: Buffer }>((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let head: OpenSubjects[S]['head'] | undefined;
    const handlers: StreamHandlers<S> = {
      head(given) {
        head = given;
      },
      data(bytes) {
        parts.push(bytes);
        call.consumed(bytes.byteLength);
      },
      tail() {
        call.acknowledge();
        if (head) resolve({ head, bytes: Buffer.concat(parts) });
        else reject(storeAway());
      },
      whole(given, bytes) {
        call.acknowledge();
        resolve({ head: given, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) });
      },
      broken: (error) => reject(errorOf(error)),
    };
    const call = opens(handlers);
  });
}

/** Resolves when the change is committed, or refused. Rejects with `storage_unavailable` where the store is away. `content` is printed as JSON. */
export const writeTurn = (bus: Bus, request: TurnsWrite, content?: unknown): Promise<TurnsWritten> =>
  write(bus, request, content === undefined ? undefined : JSON.stringify(content));

/** The same for a turn with its items, printed so that the store can seal them as they are. */
export function writeTurnContent(
  bus: Bus,
  request: Extract<TurnsWrite, { kind: 'begin' | 'put' }>,
  { input, response }: { input: unknown[]; response: unknown },
): Promise<TurnsWritten> {
  const items = JSON.stringify(input);
  return write(bus, { ...request, inputBytes: Buffer.byteLength(items) }, `{"input":${items},"response":${JSON.stringify(response)}}`);
}

async function write(bus: Bus, request: TurnsWrite, text: string | undefined): Promise<TurnsWritten> {
  const options = { ...(text !== undefined && { body: Buffer.from(text, 'utf8') }), deadlineMs: writeMs };
  return (await collect<'turns.write'>((handlers) => bus.open('turns.write', request, handlers, options))).head;
}

/** What the store has; `content` is undefined where it has none. */
export interface StoreAnswer {
  found: TurnsFound;
  content: unknown;
  /** Of the content. */
  bytes: number;
}

/** Rejects with `storage_unavailable` where the store is away, else with what it refuses. */
export async function readTurns(bus: Bus, request: TurnsRead): Promise<StoreAnswer> {
  const { head, bytes } = await collect<'turns.read'>((handlers) => bus.open('turns.read', request, handlers, { deadlineMs: readMs }));
  return { found: head, content: bytes.length === 0 ? undefined : (JSON.parse(bytes.toString('utf8')) as unknown), bytes: bytes.length };
}

/**
 * A caller may name a turn while it is still on its way to a busy store: one that is not there is looked for again after these times, by what its id says of
 * its age.
 */
const looksAgainAfterMs = { new: [100, 200, 400, 800, 1500], unknown: [100, 200, 400], old: [] } as const;

/** Resolves with what `look` finds, at most three seconds later than the first look; undefined: it is not there. */
export async function lookAgain<T>(age: keyof typeof looksAgainAfterMs, look: () => Promise<T | undefined>): Promise<T | undefined> {
  let found = await look();
  for (const ms of looksAgainAfterMs[age]) {
    if (found !== undefined) break;
    await sleep(ms);
    found = await look();
  }
  return found;
}
