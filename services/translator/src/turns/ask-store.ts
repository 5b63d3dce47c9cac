/** Questions to the store of turns, which the stats service keeps. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bus, StreamCall, StreamHandlers } from '@model-gateway/bus';
import { idsOfItems, type OpenSubjects, outputOf, type TurnsFound, type TurnsRead, type TurnsWrite, type TurnsWritten } from '@model-gateway/contracts';
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
  write(bus, request, content === undefined ? undefined : Buffer.from(JSON.stringify(content), 'utf8'));

/** A response object as JSON in UTF-8, and the ids of its items. */
export interface PrintedResponse {
  readonly bytes: Uint8Array;
  readonly items: readonly string[];
}

export const printResponse = (response: unknown): PrintedResponse => ({
  bytes: Buffer.from(JSON.stringify(response), 'utf8'),
  items: idsOfItems(outputOf(response)),
});

/** The end of a turn, its response laid so that the store can seal it as it is. */
export const writeTurnEnd = (bus: Bus, request: Extract<TurnsWrite, { kind: 'finish' }>, { bytes, items }: PrintedResponse): Promise<TurnsWritten> =>
  write(bus, { ...request, ...named(items) }, bytes);

/** Facts travel in one message: longer lists of ids are left to the store, which reads them from the body. */
const maxNamedLength = 64 * 1024;
const named = (items: readonly string[]): { items?: readonly string[] } =>
  items.reduce((length, id) => length + id.length, 0) <= maxNamedLength ? { items } : {};

const [beforeInput, beforeResponse, afterResponse] = ['{"input":', ',"response":', Buffer.from('}', 'utf8')] as const;

/** The same for a turn with its items. */
export function writeTurnContent(
  bus: Bus,
  request: Extract<TurnsWrite, { kind: 'begin' | 'put' }>,
  { input, response }: { input: readonly unknown[]; response: PrintedResponse },
): Promise<TurnsWritten> {
  const front = Buffer.from(`${beforeInput}${JSON.stringify(input)}${beforeResponse}`, 'utf8');
  const inputBytes = front.length - beforeInput.length - beforeResponse.length;
  const items = [...idsOfItems(input), ...response.items];
  return write(bus, { ...request, inputBytes, ...named(items) }, Buffer.concat([front, response.bytes, afterResponse]));
}

async function write(bus: Bus, request: TurnsWrite, body: Uint8Array | undefined): Promise<TurnsWritten> {
  const options = { ...(body && { body }), deadlineMs: writeMs };
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
