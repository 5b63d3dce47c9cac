/** Tokens of a prompt that nobody counted. */
import type { Job } from './job.ts';

/** Before anything was counted: close enough across vendors and languages. */
export const usualBytesPerToken = 4;

/** By the bytes of its request; `files`: what of them is not text, with what it is charged as. */
export const promptTokensByBytes = (requestBytes: number, { files = { bytes: 0, tokens: 0 } }: Pick<Job['places'], 'files'>): number =>
  files.tokens + Math.ceil(Math.max(0, requestBytes - files.bytes) / usualBytesPerToken);
