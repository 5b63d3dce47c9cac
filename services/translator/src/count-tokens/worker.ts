/** The token counter's thread: text in, number of o200k tokens out. */
import { parentPort } from 'node:worker_threads';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const tokenizer = new Tiktoken(o200k);

/**
 * js-tiktoken's time grows with the cube of a run without a break (8,192 Chinese characters take 40 s), so text is counted in short slices.
 * They end before a space where there is one; elsewhere a cut costs about a token.
 */
const sliceChars = 64;
/** Longer texts are counted this far and the rest by the same rate: what one caller sends must not keep the others waiting. */
const mostChars = 256 * 1024;

parentPort?.on('message', ({ id, text }: { id: number; text: string }) => {
  parentPort?.postMessage({ id, tokens: countTokens(text) });
});

function countTokens(text: string): number {
  const end = Math.min(text.length, mostChars);
  let tokens = 0;
  let at = 0;
  while (at < end) {
    const slice = text.slice(at, at + sliceChars);
    const space = at + sliceChars < text.length ? slice.lastIndexOf(' ') : -1;
    const piece = space > sliceChars / 2 ? slice.slice(0, space) : slice;
    tokens += tokenizer.encode(piece, [], []).length;
    at += piece.length;
  }
  return at < text.length ? Math.round((tokens * text.length) / at) : tokens;
}
