/** Reads bodies: short ones here, long ones in a thread, so that nobody else waits for a large import. */
import { Worker } from 'node:worker_threads';
import { Problem } from '../../problem.ts';
import type { FromThread, ToThread } from './messages.ts';
import { addPiece } from './pieces.ts';
import { type BodyText, readText } from './read-text.ts';

export type ReadBody = (body: BodyText) => Promise<unknown>;

/** Up to here reading takes a few milliseconds. */
const shortJson = 128 * 1024;
const shortYaml = 4 * 1024;
/** Long ones are read one after another; more than these are refused. */
const maxWaiting = 8;
const maxMs = 30_000;
/** Of the thread; a document that needs more is no configuration. */
const memoryMb = 512;
/** In the bundle all entry files are in one folder. */
const threadFile = import.meta.url.endsWith('.ts') ? 'thread.ts' : 'body-thread.js';

export function createBodyReader(): ReadBody {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (body) => {
    if (body.bytes.byteLength <= (body.yaml ? shortYaml : shortJson)) return readText(body);
    if (waiting >= maxWaiting) throw new Problem('overloaded', 'Other large bodies are being read: try again in a moment.', { retryAfter: 5 });
    waiting++;
    const mine = last.then(() => readInThread(body));
    last = mine.catch(() => undefined);
    return mine.finally(() => waiting--);
  };
}

/** A thread of its own, which ends with the body: what it took of memory goes back. */
function readInThread(body: BodyText): Promise<unknown> {
  const thread = new Worker(new URL(`./${threadFile}`, import.meta.url), { name: 'body', resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  const ask = (message: ToThread, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer);
  let tooLong: NodeJS.Timeout | undefined;
  return new Promise((resolve, reject) => {
    let value: unknown;
    tooLong = setTimeout(() => reject(new Problem('payload_too_large', 'Reading the body takes too long: send it in parts, or as JSON.')), maxMs);
    thread.on('message', (message: FromThread) => {
      if ('refused' in message) return reject(new Problem(message.refused.code, message.refused.message));
      if ('end' in message) return resolve(value);
      if ('value' in message) ({ value } = message);
      else addPiece(value, message);
      // After what else waits for this process.
      setImmediate(() => ask({ next: true }));
    });
    thread.on('error', (error: Error & { code?: string }) =>
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? new Problem('payload_too_large', 'Reading the body takes too much memory: send it in parts, or as JSON.')
          : error,
      ),
    );
    thread.on('exit', () => reject(new Error('the thread that reads bodies ended')));
    // Long bodies lie in memory of their own, which goes over without a copy.
    const { bytes } = body;
    const own = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
    ask({ ...body, bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) }, own ? [bytes.buffer as ArrayBuffer] : []);
  }).finally(() => {
    clearTimeout(tooLong);
    void thread.terminate();
  });
}
