/** The thread that reads one long body, or converts one foreign configuration: the text in, its value out in pieces, each when the other side asks for it. */
import { parentPort } from 'node:worker_threads';
import { stringify as printYaml } from 'yaml';
import { Problem } from '../../problem.ts';
import { convertForeign, type Finding, UnreadableSource } from '../../transfer/foreign/index.ts';
import type { ForeignText, FromThread, ToThread } from './messages.ts';
import { piecesOf } from './pieces.ts';
import { readText, yamlLimit } from './read-text.ts';

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
    pieces = piecesOf('source' in message ? convert(message) : readText(message));
    return nextPiece();
  } catch (error) {
    if (error instanceof UnreadableSource) return { refused: { code: 'validation_failed', message: error.message, field: 'text' } };
    if (!(error instanceof Problem)) throw error;
    return { refused: { code: error.code, message: error.message } };
  }
}

function convert({ source, text }: ForeignText): { file: string; findings: Finding[] } {
  const { file, findings } = convertForeign(source, text);
  const yaml = printYaml(file, { lineWidth: 0 });
  // What is given has to be taken by the import; as JSON it may be longer.
  return { file: Buffer.byteLength(yaml) <= yamlLimit ? yaml : JSON.stringify(file, null, 1), findings };
}
