/** Reads bodies, short ones here and long ones in a thread, and converts foreign configurations, always in a thread: nobody else waits for a large import. */
import { Worker } from 'node:worker_threads';
import type { ErrorCode } from '@model-gateway/contracts/errors';
import { invalidField, Problem } from '../../problem.ts';
import type { Finding } from '../../transfer/foreign/index.ts';
import type { ForeignText, FromThread, ToThread } from './messages.ts';
import { addPiece } from './pieces.ts';
import { type BodyText, readText } from './read-text.ts';

export type ReadBody = (body: BodyText) => Promise<unknown>;

/** Up to here reading takes a few milliseconds. */
const shortJson = 128 * 1024;
const shortYaml = 4 * 1024;
/** Long ones are read one after another; more than these are refused. */
const maxWaiting = 8;
const maxMs = 30_000;
/** Of the thread; a document that needs more is not a configuration. */
const memoryMb = 512;
/** In the bundle all entry files are in one folder. */
const threadFile = import.meta.url.endsWith('.ts') ? 'thread.ts' : 'body-thread.js';

export function createBodyReader(): ReadBody {
  const readLong = createLine();
  return async (body) => (body.bytes.byteLength <= (body.yaml ? shortYaml : shortJson) ? readText(body) : readLong(body));
}

/** What `convertForeign` makes of a text, its file printed. Rejects with a `Problem`. */
export type ConvertText = (text: ForeignText) => Promise<{ file: string; findings: Finding[] }>;

export const createTextConverter = (): ConvertText => createLine() as ConvertText;

/** What is said to who sent a body, and to who chose a file to be converted. */
const words = {
  body: {
    waits: 'Other large bodies are being read: try again in a moment.',
    slow: 'Reading the body takes too long: send it in parts, or as JSON.',
    large: 'Reading the body takes too much memory: send it in parts, or as JSON.',
  },
  file: {
    waits: 'Other files are being converted: try again in a moment.',
    slow: 'Converting the file takes too long: convert it on the command line, with `model-gateway import`.',
    large: 'Converting the file takes too much memory: convert it on the command line, with `model-gateway import`.',
  },
} as const;
const wordsFor = (asked: BodyText | ForeignText) => ('source' in asked ? words.file : words.body);

/** One after another, each in a thread. */
function createLine(): (asked: BodyText | ForeignText) => Promise<unknown> {
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  return async (asked) => {
    if (waiting >= maxWaiting) throw new Problem('overloaded', wordsFor(asked).waits, { retryAfter: 5 });
    waiting++;
    const mine = last.then(() => readInThread(asked));
    last = mine.catch(() => undefined);
    return mine.finally(() => waiting--);
  };
}

/** A thread of its own, which ends with the body: what it took of memory goes back. */
function readInThread(asked: BodyText | ForeignText): Promise<unknown> {
  const thread = new Worker(new URL(`./${threadFile}`, import.meta.url), { name: 'body', resourceLimits: { maxOldGenerationSizeMb: memoryMb } });
  const ask = (message: ToThread, transfer: ArrayBuffer[] = []): void => thread.postMessage(message, transfer);
  let tooLong: NodeJS.Timeout | undefined;
  return new Promise((resolve, reject) => {
    let value: unknown;
    tooLong = setTimeout(() => reject(new Problem('payload_too_large', wordsFor(asked).slow)), maxMs);
    thread.on('message', (message: FromThread) => {
      if ('refused' in message) return reject(problemOf(message.refused));
      if ('end' in message) return resolve(value);
      if ('value' in message) ({ value } = message);
      else addPiece(value, message);
      // After what else waits for this process.
      setImmediate(() => ask({ next: true }));
    });
    thread.on('error', (error: Error & { code?: string }) =>
      reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new Problem('payload_too_large', wordsFor(asked).large) : error),
    );
    thread.on('exit', () => reject(new Error('the thread that reads bodies ended')));
    if ('source' in asked) return ask(asked);
    // Long bodies lie in memory of their own, which goes over without a copy.
    const { bytes } = asked;
    const own = bytes.byteLength === bytes.buffer.byteLength && bytes.buffer instanceof ArrayBuffer;
    ask({ ...asked, bytes: new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) }, own ? [bytes.buffer as ArrayBuffer] : []);
  }).finally(() => {
    clearTimeout(tooLong);
    void thread.terminate();
  });
}

const problemOf = ({ code, message, field }: { code: ErrorCode; message: string; field?: string }): Problem =>
  field === undefined ? new Problem(code, message) : invalidField(field, message);
