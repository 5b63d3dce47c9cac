/** The thread that reads one long body: the text in, its value out in pieces, each when the other side asks for it. */
import { parentPort } from 'node:worker_threads';
import { Problem } from '../../problem.ts';
import type { FromThread, ToThread } from './messages.ts';
import { piecesOf } from './pieces.ts';
import { readText } from './read-text.ts';

let pieces: Iterator<FromThread> | undefined;

parentPort?.on('message', (message: ToThread) => {
  parentPort?.postMessage('next' in message ? nextPiece() : read(message));
});

function nextPiece(): FromThread {
  const next = pieces?.next();
  return !next || next.done ? { end: true } : next.value;
}

function read(message: Exclude<ToThread, { next: true }>): FromThread {
  try {
    pieces = piecesOf(readText(message));
    return nextPiece();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}
