/** Commits a batch of rows, and sees to it that one row that no database takes cannot hold up all others for ever. */
import type { RequestRow } from '@model-gateway/contracts';
import { isGatewayError } from '@model-gateway/errors';
import type { RequestStats } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';

const isRefused = (error: unknown): boolean => isGatewayError(error) && error.code === 'validation_failed';

/**
 * Resolves when every row is committed, or was refused for what it holds (logged as an error, and given up).
 * Rejects when the database is away or broken: the batch is to be delivered again; what was committed is not counted twice.
 */
export async function writeBatch(rows: readonly RequestRow[], requests: RequestStats, logger: Logger): Promise<void> {
  try {
    await requests.insertRows(rows);
  } catch (error) {
    if (!isRefused(error)) throw error;
    const [row] = rows;
    if (rows.length === 1 && row) return logger.error({ error, request_id: row.id }, 'a row was refused by the database and is lost');
    // Halving finds one bad row among 500 in about 20 statements.
    const middle = Math.ceil(rows.length / 2);
    await writeBatch(rows.slice(0, middle), requests, logger);
    await writeBatch(rows.slice(middle), requests, logger);
  }
}
