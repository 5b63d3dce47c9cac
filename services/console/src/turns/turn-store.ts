/** The store of turns, which the stats service keeps and the console reaches over the bus. */
import type { Bus } from '@model-gateway/bus';
import type { ChainedTurn, OpenSubjects, TurnsFound, TurnsRead, TurnsWrite, TurnsWritten } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { Problem } from '../problem.ts';

/** More of one turn is not shown: the answer and the page hold it whole. */
const maxShownBytes = 8 * 1024 * 1024;
const deadlineMs = 10_000;
/** An owner may have a gigabyte of turns. */
const deletionMs = 60_000;

type StoreSubject = 'turns.read' | 'turns.write';

/** The content of one turn. */
export interface TurnContent {
  input: unknown;
  /** null: it has no response yet. */
  response: unknown;
}

/** Rejects with the store's GatewayError, `service_unavailable` when nobody serves it. */
function askStore<S extends StoreSubject>(
  bus: Bus,
  subject: S,
  request: OpenSubjects[S]['request'],
  deadline: number,
): Promise<{ head: OpenSubjects[S]['head']; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let head: OpenSubjects[S]['head'] | undefined;
    let size = 0;
    const stream = bus.open(
      subject,
      request,
      {
        head(found) {
          head = found;
        },
        data(piece) {
          stream.consumed(piece.byteLength);
          size += piece.byteLength;
          if (size <= maxShownBytes) return void pieces.push(Buffer.from(piece));
          stream.cancel('larger than the console shows');
          reject(new Problem('payload_too_large', 'The turn holds more than the console shows.'));
        },
        tail() {
          stream.acknowledge();
          if (head === undefined) reject(new GatewayError('service_unavailable', { message: 'The store of turns answered without a head.' }));
          else resolve({ head, bytes: Buffer.concat(pieces) });
        },
        broken: reject,
      },
      { deadlineMs: deadline },
    );
  });
}

const read = (bus: Bus, request: TurnsRead): Promise<{ head: TurnsFound; bytes: Buffer }> => askStore(bus, 'turns.read', request, deadlineMs);
const write = async (bus: Bus, request: TurnsWrite, deadline = deadlineMs): Promise<TurnsWritten> =>
  (await askStore(bus, 'turns.write', request, deadline)).head;

const parse = (bytes: Buffer): unknown => (bytes.byteLength === 0 ? null : JSON.parse(bytes.toString('utf8')));

/** A turn and those that it goes on from, the nearest first. Empty when the owner has no such turn. */
export async function readChain(bus: Bus, turn: { owner: string; id: string }, maxTurns: number): Promise<{ turns: ChainedTurn[]; hasMore: boolean }> {
  const { head, bytes } = await read(bus, { kind: 'chain', ...turn, maxTurns });
  return { turns: head.found ? (parse(bytes) as ChainedTurn[]) : [], hasMore: head.hasMore === true };
}

/** null: the owner has no such turn, or the upstream keeps what it holds. */
export async function readContent(bus: Bus, turn: { owner: string; id: string }): Promise<TurnContent | null> {
  const { head, bytes } = await read(bus, { kind: 'turn', ...turn });
  if (!head.found || head.turn?.at !== undefined) return null;
  const input = await read(bus, { kind: 'input-items', ...turn });
  return { input: parse(input.bytes), response: parse(bytes) };
}

/** false: the owner has no such turn. */
export const deleteTurn = async (bus: Bus, turn: { owner: string; id: string }): Promise<boolean> => (await write(bus, { kind: 'delete', ...turn })).stored;

/** Deletes every turn of the owner, and its conversations. */
export const forgetOwner = async (bus: Bus, owner: string): Promise<void> => void (await write(bus, { kind: 'forget-owner', owner }, deletionMs));
