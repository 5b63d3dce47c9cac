/** The repository of requests in a thread of its own: started on first use, restarted when it died. */
import { Worker } from 'node:worker_threads';
import type { RequestRow } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { BodyWriter } from '../bodies/stored-bodies.ts';
import type { RequestStats } from '../requests/request-stats.ts';
import type { Answer, PlainCall, Question } from './messages.ts';
import { packRows } from './pack-rows.ts';

/** The request repository that runs in a worker thread. */
export interface ThreadedRequests extends RequestStats {
  /** Writes bodies where the rows are written. */
  readonly bodies: BodyWriter;
  close(): Promise<void>;
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** `file`: of SQLite; the schema is up to date before the first call. */
export function createThreadedRequests(file: string): ThreadedRequests {
  let thread: Worker | undefined;
  let next = 0;
  const waiting = new Map<number, Waiting>();

  const start = (): Worker => {
    const started = new Worker(new URL(`./${fileOfThread}`, import.meta.url), {
      workerData: { file },
      name: 'rows',
      // Batches are its garbage, and are small.
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    });
    started.on('message', (answer: Answer) => settle(answer));
    started.on('error', (cause) => lose(started, cause));
    started.on('exit', () => lose(started, new Error('the thread of the rows ended')));
    return started;
  };
  const settle = (answer: Answer): void => {
    const one = waiting.get(answer.id);
    waiting.delete(answer.id);
    // The thread keeps the process alive only while a call is pending.
    if (waiting.size === 0) thread?.unref();
    if ('value' in answer) one?.resolve(answer.value);
    else if ('refused' in answer) one?.reject(GatewayError.fromWire(Object.assign({}, answer.refused, { cause: answer.cause })));
    else one?.reject(answer.failed);
  };
  const lose = (from: Worker, cause: Error): void => {
    if (thread !== from) return;
    thread = undefined;
    const lost = [...waiting.values()];
    waiting.clear();
    for (const { reject } of lost) reject(new GatewayError('service_unavailable', { message: 'The database is unavailable.', cause }));
  };
  const ask = (question: Question, transfer: ArrayBuffer[] = []): Promise<unknown> =>
    new Promise((resolve, reject) => {
      thread ??= start();
      thread.ref();
      waiting.set(question.id, { resolve, reject });
      thread.postMessage(question, transfer);
    });
  const plain =
    <C extends PlainCall>(call: C) =>
    (...parameters: Parameters<RequestStats[C]>): ReturnType<RequestStats[C]> =>
      ask({ id: next++, call, parameters }) as ReturnType<RequestStats[C]>;

  /** Starts a long call, and sends a second message to end it once `stopped` returns true. */
  async function askUntil<T>(question: Question, stopped: () => boolean): Promise<T> {
    const looking = setInterval(() => {
      if (stopped()) void ask({ id: next++, call: 'stop-pruning' }).catch(() => undefined);
    }, lookMs);
    try {
      return (await ask(question)) as T;
    } finally {
      clearInterval(looking);
    }
  }

  return {
    bodies: {
      insert: (bodies) => ask({ id: next++, call: 'insert-bodies', bodies }) as Promise<void>,
      prune: (before, stopped = () => false) => askUntil({ id: next++, call: 'prune-bodies', before }, stopped),
    },
    async insertRows(rows) {
      if (rows.length === 0) return [];
      const packed = packRows(rows);
      return (await ask({ id: next++, call: 'insertRows', rows: packed }, [packed.cells.buffer])) as RequestRow[];
    },
    prepareDay: plain('prepareDay'),
    findRow: plain('findRow'),
    findRows: plain('findRows'),
    listRows: plain('listRows'),
    readStats: plain('readStats'),
    readSessions: plain('readSessions'),
    readAttempts: plain('readAttempts'),
    readRecentAttempts: plain('readRecentAttempts'),
    readKeyUse: plain('readKeyUse'),
    spent: plain('spent'),
    prune: (keep, stopped = () => false) => askUntil({ id: next++, call: 'prune', keep }, stopped),
    async close() {
      if (!thread) return;
      const last = thread;
      await ask({ id: next++, call: 'close' });
      thread = undefined;
      await last.terminate();
    },
  };
}

/** Interval at which a running `prune` checks `stopped`, in ms. */
const lookMs = 50;
/** The bundle has all entry files in one folder. */
const fileOfThread = import.meta.url.endsWith('.ts') ? 'main.ts' : 'row-thread.js';
