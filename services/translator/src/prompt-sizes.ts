/**
 * Estimates a prompt's tokens before its upstream has counted them, since some protocols report them when the stream begins. A tokenizer would delay the
 * first byte; the counts that the same model gave of earlier prompts cost nothing, and an agent's prompts are much alike from turn to turn.
 */

import { inputTokensOf, type Usage, usualBytesPerToken } from '@model-gateway/contracts';
import type { Conversation, Part } from '@model-gateway/protocols';
import { LRUCache } from 'lru-cache';
import { mediaTokens } from './count-tokens/conversation-text.ts';

/** What no text of any language or tokenizer is beyond: a count outside is of something else. */
const bounds = { min: 1, max: 12 };
/** Bytes: what stands around a shorter text outweighs it. */
const fewestBytes = 1024;
/** How much the last count weighs against those before. */
const weight = 0.5;
const maxModels = 4096;

export class PromptSizes {
  readonly #bytesPerToken = new LRUCache<string, number>({ max: maxModels });

  /** Tokens of a prompt that came in so many bytes. `kind`: what the bytes have in common with others: the model, and the protocol that they are in. */
  estimate(kind: string, conversation: Conversation, bytes: number): number {
    return promptTokens(conversation, bytes, this.#bytesPerToken.get(kind));
  }

  /** What the upstream counted of such a prompt. Prompts with media tell nothing of text. */
  learn(kind: string, conversation: Conversation, bytes: number, usage: Usage): void {
    const ratio = bytes / inputTokensOf(usage);
    if (bytes < fewestBytes || !(ratio >= bounds.min && ratio <= bounds.max) || mediaTokens(conversation) > 0) return;
    const known = this.#bytesPerToken.get(kind);
    this.#bytesPerToken.set(kind, known === undefined ? ratio : known * (1 - weight) + ratio * weight);
  }
}

/** Tokens of a prompt in so many bytes that nobody has counted: its text by its length, its files as vendors charge them. */
export function promptTokens(conversation: Conversation, bytes: number, bytesPerToken = usualBytesPerToken): number {
  const text = Math.max(0, bytes - mediaBytes(conversation));
  return mediaTokens(conversation) + Math.ceil(text / bytesPerToken);
}

/** Bytes of files inside the body: they are not text. */
function mediaBytes(conversation: Conversation): number {
  let bytes = 0;
  const add = (part: Part): void => {
    if (part.type === 'tool-result') for (const inner of part.content) add(inner);
    else if (part.type === 'media') bytes += part.data?.length ?? 0;
  };
  for (const turn of conversation.turns) for (const part of turn.parts) add(part);
  return bytes;
}
