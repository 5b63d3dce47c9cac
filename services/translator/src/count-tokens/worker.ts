/** The token counter's thread: text in, number of o200k tokens out. */
import { parentPort } from 'node:worker_threads';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';

const tokenizer = new Tiktoken(o200k);
/** js-tiktoken is quadratic on long runs without a break, so text is counted in slices; a cut costs at most a token each. */
const sliceChars = 8192;

parentPort?.on('message', ({ id, text }: { id: number; text: string }) => {
  let tokens = 0;
  for (let at = 0; at < text.length; at += sliceChars) tokens += tokenizer.encode(text.slice(at, at + sliceChars), [], []).length;
  parentPort?.postMessage({ id, tokens });
});
