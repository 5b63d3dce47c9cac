/** The token counter's thread: text and the name of a table in, number of tokens out. */
import { parentPort } from 'node:worker_threads';
import { Tiktoken, type TiktokenBPE } from 'js-tiktoken/lite';

/** Each table takes seconds and tens of megabytes to load: only those that are asked for. */
const tables = {
  o200k_base: () => import('js-tiktoken/ranks/o200k_base'),
  cl100k_base: () => import('js-tiktoken/ranks/cl100k_base'),
} satisfies Record<string, () => Promise<{ default: TiktokenBPE }>>;
type Table = keyof typeof tables;

const loaded = new Map<Table, Promise<Tiktoken>>();

function load(name: Table): Promise<Tiktoken> {
  const known = loaded.get(name);
  if (known) return known;
  const loading = tables[name]().then((ranks) => new Tiktoken(ranks.default));
  loaded.set(name, loading);
  return loading;
}

/**
 * js-tiktoken's time grows with the cube of a run without a break (8,192 Chinese characters take 40 s), so text is counted in short slices.
 * They end before a space where there is one; elsewhere a cut costs about a token.
 */
const sliceChars = 64;
/** Longer texts are counted this far and the rest by the same rate: what one caller sends must not keep the others waiting. */
const maxChars = 256 * 1024;

parentPort?.on('message', ({ id, text, tokenizer }: { id: number; text: string; tokenizer: Table }) => {
  // A table that cannot be loaded ends the thread: waiting counts are rejected, and the next one starts it anew.
  void load(tokenizer).then((encoder) => parentPort?.postMessage({ id, tokens: countTokens(text, encoder) }));
});

function countTokens(text: string, tokenizer: Tiktoken): number {
  const end = Math.min(text.length, maxChars);
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
