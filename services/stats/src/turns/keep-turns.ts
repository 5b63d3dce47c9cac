/** The store of turns on the bus: writes and reads of translators, endings from outboxes, and the end of turns that nobody works on any more. */
import type { Bus, Disposable, EventItem, ServerStream } from '@model-gateway/bus';
import type { TurnsConfig } from '@model-gateway/config';
import { type TurnsRead, type TurnsWrite, turnFinishedMessage } from '@model-gateway/contracts';
import { GatewayError, isGatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { type Keyring, SealError } from '@model-gateway/secrets';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { commitAll, judge, toBadItem } from '../dead-letters/commit-all.ts';
import { readItems } from '../dead-letters/read-item.ts';
import type { SetAside } from '../dead-letters/set-aside.ts';
import { readTurns } from './read-turns.ts';
import { type defaultPace, startSweeper } from './sweeper.ts';
import { WriteQueue } from './write-queue.ts';
import { type TurnStore, writeFinished, writeTurns } from './write-turns.ts';

/** What the store of turns needs. */
export interface KeepTurnsDeps {
  bus: Bus;
  storage: Pick<Storage, 'turns'>;
  keyring: Keyring;
  logger: Logger;
  config: TurnsConfig;
  setAside: SetAside;
  now: () => number;
  /** How long a translator may be silent, and how often that is looked at. */
  pace?: typeof defaultPace;
}

const dayMs = 86_400_000;
const empty = new Uint8Array();

export function keepTurns({ bus, storage, keyring, logger, config, setAside, now, pace }: KeepTurnsDeps): Disposable {
  const store: TurnStore = {
    turns: storage.turns,
    queue: new WriteQueue(storage.turns),
    keyring,
    limits: { retentionMs: config.retentionDays * dayMs, maxBytesPerKey: config.maxBytesPerKey },
    now,
    cancelled: (id) => bus.publish('turns.cancelled', { id }),
  };
  const write = async (request: TurnsWrite, body: Uint8Array, stream: ServerStream<'turns.write'>): Promise<void> => {
    try {
      stream.whole(await writeTurns(request, body, store), empty, {});
    } catch (error) {
      stream.fail(asStorageError(error, logger));
    }
  };
  const read = async (request: TurnsRead, stream: ServerStream<'turns.read'>): Promise<void> => {
    try {
      const { found, text } = await readTurns(request, store);
      stream.whole(found, Buffer.from(text, 'utf8'), {});
    } catch (error) {
      stream.fail(asStorageError(error, logger));
    }
  };
  const sweeper = startSweeper({ store, logger, listening: () => bus.connected, ...(pace && { pace }) });
  const writes = bus.serve({ open: { 'turns.write': (request, body, stream) => void write(request, body, stream) } });
  const reads = bus.serve({ open: { 'turns.read': (request, _body, stream) => void read(request, stream) } });
  const reports = bus.listen('turns.alive', ({ holder }) => sweeper.alive(holder));
  const endings = bus.listenDurably('turns.finished', (batch) => keepEndings(batch, store, setAside), { maxBatch: 50, maxWaitMs: 5 });
  return {
    async dispose() {
      sweeper.stop();
      await Promise.all([writes.dispose(), reads.dispose(), reports.dispose(), endings.dispose()]);
    },
  };
}

/** What is wrong with the database is the same for callers: the store is away. */
function asStorageError(error: unknown, logger: Logger): GatewayError {
  if (error instanceof SealError) {
    logger.error({ error }, 'a stored turn cannot be opened');
    return new GatewayError('storage_unavailable', { cause: error });
  }
  if (isGatewayError(error) && error.code !== 'service_unavailable') return error;
  const failure = toGatewayError(error);
  if (failure.code === 'internal') logger.error({ error }, 'defect in the store of turns');
  return new GatewayError('storage_unavailable', { retryAfter: 5, cause: error });
}

async function keepEndings(batch: readonly EventItem<'turns.finished'>[], store: TurnStore, setAside: SetAside): Promise<void> {
  const { good, bad } = readItems(batch, turnFinishedMessage, () => null);
  const { givenUp, again } = judge(
    await commitAll(good, async (some) => {
      for (const { value } of some) await writeFinished(value, store);
    }),
  );
  await setAside('turns.finished', [...bad, ...givenUp.map(toBadItem)]);
  if (again !== undefined) throw again;
}
