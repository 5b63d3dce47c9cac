/**
 * The reply to a request whose structured output was asked for by other means, as the caller expects it: the arguments of the forced tool, or text
 * without the code fence that models like to put around it. What the answer is worth is judged at its end.
 */
import type { Loss } from '@model-gateway/contracts';
import type { ReplyEmulation } from '../contract/index.ts';
import { fitsSchema } from '../kit/fits-schema.ts';
import type { ChatEvent } from './event.ts';
import { FenceStripper } from './fence-stripper.ts';

/** Longer answers are passed on unjudged. */
const maxJudged = 4 * 1024 * 1024;
/** Text beside a forced tool that is waited with, in characters and in events. */
const maxOtherFields = 64 * 1024;
const maxOtherEvents = 4096;

export class OutputUnwrapper {
  readonly losses: Loss[] = [];
  readonly #emulation: ReplyEmulation;
  /** By the upstream's number: under which the caller gets the block, and what becomes of its text. */
  readonly #blocks = new Map<number, { index: number; answer: boolean; dropBefore: FenceStripper | null }>();
  /** Text beside the forced tool: it would spoil the answer, and is the answer where the model did not call the tool. */
  #beside: ChatEvent[] = [];
  readonly #besideBlocks = new Set<number>();
  #besideLength = 0;
  #next = 0;
  #called = false;
  #answer = '';

  constructor(emulation: ReplyEmulation) {
    this.#emulation = emulation;
  }

  read(events: readonly ChatEvent[]): ChatEvent[] {
    return events.flatMap((event) => this.#one(event));
  }

  #one(event: ChatEvent): ChatEvent[] {
    if (event.type === 'block-start') return this.#start(event);
    if (event.type === 'finish') return this.#finish(event);
    if (!('index' in event)) return [event];
    return this.#besideBlocks.has(event.index) ? this.#hold(event) : this.#inBlock(event);
  }

  /** Text beside a call is a line or two. A model that goes on has answered in words: what was held goes out, and so does the rest as it comes. */
  #hold(event: ChatEvent): ChatEvent[] {
    this.#beside.push(event);
    if ('text' in event) this.#besideLength += event.text.length;
    if (this.#besideLength <= maxOtherFields && this.#beside.length <= maxOtherEvents) return [];
    this.#besideBlocks.clear();
    return this.#releaseAll();
  }

  #releaseAll(): ChatEvent[] {
    const held = this.#beside;
    this.#beside = [];
    return held.flatMap((one) => this.#release(one));
  }

  #start(event: Extract<ChatEvent, { type: 'block-start' }>): ChatEvent[] {
    const { tool } = this.#emulation;
    const { block } = event;
    if (tool !== undefined && block.type === 'text') {
      this.#besideBlocks.add(event.index);
      return this.#hold(event);
    }
    const called = tool !== undefined && block.type === 'tool-call' && block.name === tool;
    const index = this.#next++;
    this.#called ||= called;
    this.#blocks.set(event.index, {
      index,
      answer: called || (tool === undefined && block.type === 'text'),
      dropBefore: tool === undefined && block.type === 'text' ? new FenceStripper() : null,
    });
    return [{ type: 'block-start', index, block: called ? { type: 'text' } : block }];
  }

  #inBlock(event: Extract<ChatEvent, { index: number }>): ChatEvent[] {
    const block = this.#blocks.get(event.index);
    if (!block) return [];
    const { index, dropBefore, answer } = block;
    if (event.type === 'block-end') {
      const rest = dropBefore?.end() ?? '';
      return [...this.#say(index, rest), { type: 'block-end', index }];
    }
    if (!answer || (event.type !== 'text-delta' && event.type !== 'arguments-delta')) return [{ ...event, index } as ChatEvent];
    return this.#say(index, dropBefore ? dropBefore.push(event.text) : event.text);
  }

  #say(index: number, text: string): ChatEvent[] {
    if (text === '') return [];
    if (this.#answer.length <= maxJudged) this.#answer += text;
    return [{ type: 'text-delta', index, text }];
  }

  #finish(event: Extract<ChatEvent, { type: 'finish' }>): ChatEvent[] {
    // The model answered in words after all, or refused: the caller gets that.
    const spoken = this.#called ? [] : this.#releaseAll();
    const reason = this.#called && event.reason === 'tool-calls' ? 'stop' : event.reason;
    if (reason === 'stop' || reason === 'stop-sequence') this.#judge();
    return [...spoken, { ...event, reason }];
  }

  #release(event: ChatEvent): ChatEvent[] {
    if (event.type === 'block-start') {
      this.#blocks.set(event.index, { index: this.#next, answer: true, dropBefore: new FenceStripper() });
      return [{ ...event, index: this.#next++ }];
    }
    return 'index' in event ? this.#inBlock(event) : [];
  }

  #judge(): void {
    if (this.#answer.length > maxJudged) return;
    if (!this.#fits()) this.losses.push({ field: 'response_format', action: 'downgraded', detail: 'The answer does not fit the schema that was asked for.' });
  }

  #fits(): boolean {
    try {
      const value: unknown = JSON.parse(this.#answer);
      return 'schema' in this.#emulation ? fitsSchema(value, this.#emulation.schema) : typeof value === 'object' && value !== null;
    } catch {
      // Not JSON at all.
      return false;
    }
  }
}
