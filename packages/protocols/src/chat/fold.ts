import { noUsage, type Usage } from '@model-gateway/contracts';
import type { ServedTier } from '../kit/service-tier.ts';
import type { BlockStart, ChatEvent, FinishReason } from './event.ts';

/** One finished block of a reply. */
export interface Block {
  start: BlockStart;
  /** Text, thinking, refusal, or the arguments' JSON text. */
  text: string;
  signature?: string;
  /** Raw deltas of a `raw` block. */
  deltas?: unknown[];
}

/** A whole reply: a stream that has arrived. */
export interface Message {
  id?: string;
  model?: string;
  createdAt?: number;
  blocks: Block[];
  finish: { reason: FinishReason; stopSequence?: string; native?: string; servedTier?: ServedTier };
  usage: Usage;
}

/** Folds events into a whole reply. Unknown block numbers are a defect of the reader and throw. */
export class Fold {
  readonly message: Message = { blocks: [], finish: { reason: 'other' }, usage: { ...noUsage } };
  readonly #byIndex = new Map<number, Block>();

  add(event: ChatEvent): void {
    switch (event.type) {
      case 'start':
        if (event.id !== undefined) this.message.id = event.id;
        if (event.model !== undefined) this.message.model = event.model;
        if (event.createdAt !== undefined) this.message.createdAt = event.createdAt;
        return;
      case 'block-start': {
        const block: Block = { start: event.block, text: '' };
        this.#byIndex.set(event.index, block);
        this.message.blocks.push(block);
        return;
      }
      case 'text-delta':
      case 'thinking-delta':
      case 'refusal-delta':
      case 'arguments-delta':
        this.#block(event.index).text += event.text;
        return;
      case 'signature':
        this.#block(event.index).signature = event.signature;
        return;
      case 'raw-delta': {
        const block = this.#block(event.index);
        block.deltas ??= [];
        block.deltas.push(event.value);
        return;
      }
      case 'usage':
        this.message.usage = event.usage;
        return;
      case 'finish':
        this.message.finish = {
          reason: event.reason,
          ...(event.stopSequence !== undefined && { stopSequence: event.stopSequence }),
          ...(event.native !== undefined && { native: event.native }),
          ...(event.servedTier !== undefined && { servedTier: event.servedTier }),
        };
        return;
    }
  }

  #block(index: number): Block {
    const block = this.#byIndex.get(index);
    if (!block) throw new Error(`block ${index} was never opened`);
    return block;
  }
}

export function foldEvents(events: Iterable<ChatEvent>): Message {
  const fold = new Fold();
  for (const event of events) fold.add(event);
  return fold.message;
}

/** The inverse: a whole reply as events, each block in one delta. */
export function unfoldMessage(message: Message): ChatEvent[] {
  const events: ChatEvent[] = [
    {
      type: 'start',
      ...(message.id !== undefined && { id: message.id }),
      ...(message.model !== undefined && { model: message.model }),
      ...(message.createdAt !== undefined && { createdAt: message.createdAt }),
    },
  ];
  message.blocks.forEach((block, index) => {
    events.push({ type: 'block-start', index, block: block.start });
    const kind = block.start.type;
    if (block.text !== '') {
      if (kind === 'text') events.push({ type: 'text-delta', index, text: block.text });
      else if (kind === 'thinking') events.push({ type: 'thinking-delta', index, text: block.text });
      else if (kind === 'refusal') events.push({ type: 'refusal-delta', index, text: block.text });
      else if (kind === 'tool-call') events.push({ type: 'arguments-delta', index, text: block.text });
    }
    for (const value of block.deltas ?? []) events.push({ type: 'raw-delta', index, value });
    if (block.signature !== undefined) events.push({ type: 'signature', index, signature: block.signature });
    events.push({ type: 'block-end', index });
  });
  events.push({ type: 'finish', ...message.finish }, { type: 'usage', usage: message.usage }, { type: 'end' });
  return events;
}
