/** Keeps one row per finished request: durable news in, committed batches out. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { PriceOf } from '@model-gateway/limits';
import type { Service } from '@model-gateway/service';
import { guardStorage, type Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { keepAudit } from './audit/keep-audit.ts';
import { priceRow } from './price-row.ts';
import { writeBatch } from './write-batch.ts';

export interface StatsDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  /** What models cost, for rows that come without. */
  priceOf: PriceOf;
}

/** A batch waits this long for company; its rows are then in the log. It is small, because SQLite writes on this thread: 64 rows are half a millisecond. */
const batching = { maxBatch: 64, maxWaitMs: 100 };

/** Stopping leaves the storage open: who opened it closes it. */
export function createStats({ bus, storage, logger, priceOf }: StatsDeps): Service {
  const guard = guardStorage({ storage, logger });
  let door: Disposable | undefined;
  let answers: Disposable | undefined;
  let audit: Disposable | undefined;
  let stopping = false;
  let failing = false;
  return {
    name: 'stats',
    async start() {
      await guard.start();
      // News waits on the bus until the table is there.
      guard.whenMigrated(() => {
        if (stopping) return;
        audit = keepAudit({ bus, storage, logger });
        answers = bus.serve({ ask: { 'stats.spent': async ({ owners }) => ({ micros: await storage.requests.spent(owners) }) } });
        door = bus.listenDurably(
          'stats.request',
          async (batch) => {
            try {
              await writeBatch(
                batch.map(({ news }) => priceRow(news, priceOf)),
                storage.requests,
                logger,
              );
              failing = false;
            } catch (error) {
              if (!failing) logger.error({ error, rows: batch.length }, 'rows of requests cannot be stored, they are delivered again');
              failing = true;
              throw error;
            }
          },
          batching,
        );
      });
    },
    async stop() {
      stopping = true;
      guard.stop();
      await Promise.all([door?.dispose(), answers?.dispose(), audit?.dispose()]);
    },
    health() {
      const reasons = [...(bus.connected ? [] : ['bus']), ...(guard.up && !failing ? [] : ['storage']), ...(stopping ? ['draining'] : [])];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
