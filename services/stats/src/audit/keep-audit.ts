/** Keeps the audit log: durable news in, committed rows out. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { AuditRow } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/errors';
import type { Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';

/** Who changed the configuration waits for its record: a batch barely waits for company. */
const batching = { maxBatch: 200, maxWaitMs: 2 };

export function keepAudit({ bus, storage, logger }: { bus: Bus; storage: Storage; logger: Logger }): Disposable {
  let failing = false;
  return bus.listenDurably(
    'audit.record',
    async (batch) => {
      try {
        await insert(
          batch.map(({ news }) => news),
          storage,
          logger,
        );
        failing = false;
      } catch (error) {
        if (!failing) logger.error({ error, records: batch.length }, 'audit records cannot be stored, they are delivered again');
        failing = true;
        throw error;
      }
    },
    batching,
  );
}

/** One record that no database takes must not hold up all others for ever: it goes to the log instead, where somebody can find it. */
async function insert(rows: readonly AuditRow[], storage: Storage, logger: Logger): Promise<void> {
  try {
    await storage.audit.insertRows(rows);
  } catch (error) {
    if (!isGatewayError(error) || error.code !== 'validation_failed') throw error;
    const [row] = rows;
    if (rows.length === 1) return logger.error({ error, record: row }, 'an audit record was refused by the database');
    for (const one of rows) await insert([one], storage, logger);
  }
}
