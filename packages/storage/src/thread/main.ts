/** The thread that keeps rows and answers questions about them on SQLite, whose calls all block: requests of the gateway wait for none of them. */
import { parentPort, workerData } from 'node:worker_threads';
import { isGatewayError } from '@model-gateway/errors';
import { Kysely } from 'kysely';
import { createSqliteDialect } from '../dialects/sqlite.ts';
import { createRequestStats } from '../requests/request-stats.ts';
import type { Database } from '../schema.ts';
import type { Answer, Question } from './messages.ts';
import { unpackRows } from './pack-rows.ts';

const { file } = workerData as { file: string };
const dialect = createSqliteDialect(file);
const db = new Kysely<Database>({ dialect: dialect.kysely });
const requests = createRequestStats(db, dialect, Date.now);
const pruning = new Set<number>();

function ask(question: Question): Promise<unknown> {
  switch (question.call) {
    case 'insertRows':
      return requests.insertStored(unpackRows(question.rows, dialect));
    case 'prune': {
      const { id, keep } = question;
      pruning.add(id);
      return requests.prune(keep, () => !pruning.has(id)).finally(() => pruning.delete(id));
    }
    case 'stop-pruning':
      pruning.clear();
      return Promise.resolve();
    case 'close':
      return db.destroy();
    default:
      return (requests[question.call] as (...parameters: readonly unknown[]) => Promise<unknown>)(...question.parameters);
  }
}

parentPort?.on('message', (question: Question) => {
  const tell = (answer: Answer): void => parentPort?.postMessage(answer);
  const { id } = question;
  ask(question).then(
    (value) => tell({ id, value }),
    (error: unknown) => tell(isGatewayError(error) ? { id, refused: error.toWire(), cause: error.cause } : { id, failed: error }),
  );
});
