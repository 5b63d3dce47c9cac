/**
 * The thread that writes request log rows and answers queries about them on SQLite, whose calls all block: requests through the gateway do not wait
 * for any of them.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { isGatewayError } from '@model-gateway/contracts/errors';
import { Kysely } from 'kysely';
import { createBodyWriter } from '../bodies/stored-bodies.ts';
import { createSqliteDialect } from '../dialects/sqlite.ts';
import { createRequestStats } from '../requests/request-stats.ts';
import type { Database } from '../schema.ts';
import type { Answer, Question } from './messages.ts';
import { unpackRows } from './pack-rows.ts';

const { file } = workerData as { file: string };
const dialect = createSqliteDialect(file);
const db = new Kysely<Database>({ dialect: dialect.kysely });
const requests = createRequestStats(db, dialect, Date.now);
const bodies = createBodyWriter(db, dialect);
const pruning = new Set<number>();

function untilStopped<T>(id: number, prune: (stopped: () => boolean) => Promise<T>): Promise<T> {
  pruning.add(id);
  return prune(() => !pruning.has(id)).finally(() => pruning.delete(id));
}

function ask(question: Question): Promise<unknown> {
  switch (question.call) {
    case 'insertRows':
      return requests.insertStored(unpackRows(question.rows, dialect));
    case 'prune':
      return untilStopped(question.id, (stopped) => requests.prune(question.keep, stopped));
    case 'insert-bodies':
      return bodies.insert(question.bodies);
    case 'prune-bodies':
      return untilStopped(question.id, (stopped) => bodies.prune(question.before, stopped));
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
  const post = (answer: Answer): void => parentPort?.postMessage(answer);
  const { id } = question;
  ask(question).then(
    (value) => post({ id, value }),
    (error: unknown) => post(isGatewayError(error) ? { id, refused: error.toWire(), cause: error.cause } : { id, failed: error }),
  );
});
