import { noUsage, type Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent, FinishReason } from '../../chat/event.ts';
import type { ReplyContext } from '../../contract/index.ts';
import { type CitedPage, readCitedPages } from '../../kit/cited-pages.ts';
import { Losses } from '../../kit/losses.ts';
import { type ServedTier, writeServedTier } from '../../kit/service-tier.ts';
import { tiersWritten } from '../shared/service-tiers.ts';
import { writeSignature } from '../shared/signatures.ts';
import { writeFinish } from '../shared/stop-reasons.ts';
import type { RawFields, ReasoningDetail, WireFinish, WireMessage, WireToolCall } from '../shared/wire.ts';

/** What an event adds to the reply: a delta of the message, fields beside it, or its end. */
export interface Step {
  delta?: WireMessage;
  choice?: Record<string, unknown>;
  finish?: WireFinish;
  /** Beside the choices. */
  tier?: string | undefined;
}

type OpenBlock =
  | { kind: 'refusal' | 'none' }
  /** `from`: where the block begins in the whole text; `cited`: pages that its words lean on. */
  | { kind: 'text'; from: number; cited: CitedPage[] }
  /** `from`: where the block begins in the whole of `reasoning_content`. */
  | { kind: 'thinking'; from: number; position: number }
  | { kind: 'tool-call'; position: number; custom: boolean; silent: boolean; empty: boolean };

/** Canonical events → steps of one message. Both writers below print the same steps: one as chunks, one as a whole. */
export class MessageSteps {
  readonly losses = new Losses();
  usage: Usage = { ...noUsage };
  readonly #context: ReplyContext;
  readonly #legacy: boolean;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #callIds = new Set<string>();
  #calls = 0;
  #details = 0;
  /** Length of all reasoning so far, in UTF-16 units. */
  #thought = 0;
  /** Length of all text so far, in UTF-16 units. */
  #said = 0;
  /** Annotations so far. The readers of the official SDKs keep those of one delta alone, or refuse a second one. */
  readonly #annotations: unknown[] = [];
  #refused = false;
  #finished = false;

  constructor(context: ReplyContext, legacy: boolean) {
    this.#context = context;
    this.#legacy = legacy;
  }

  take(event: ChatEvent): Step | null {
    switch (event.type) {
      case 'block-start':
        return this.#openBlock(event.index, event.block);
      case 'text-delta':
        this.#said += event.text.length;
        return { delta: { content: event.text } };
      case 'refusal-delta':
        return { delta: { refusal: event.text } };
      case 'thinking-delta':
        this.#thought += event.text.length;
        return { delta: { reasoning_content: event.text } };
      case 'arguments-delta':
        return this.#argue(event.index, event.text);
      case 'signature':
        return this.#sign(event.index, event.signature);
      case 'raw-delta':
        this.#cite(event.index, event.value);
        return null;
      case 'block-end':
        return this.#closeBlock(event.index);
      case 'usage':
        this.usage = event.usage;
        if (event.usage.cacheWrite1h > 0) this.losses.add('usage.cacheWrite1h', 'downgraded', 'Cache writes of both lifetimes are reported as one number.');
        return null;
      case 'finish':
        return this.#finish(event.reason, event.stopSequence, event.servedTier);
      default:
        return null;
    }
  }

  /** A stream that ends without a finish (no reader of ours does that) still gets one, and not a natural one. */
  finishIfOpen(): Step | null {
    return this.#finished ? null : this.#finish('length', undefined, undefined);
  }

  #openBlock(index: number, block: BlockStart): Step | null {
    switch (block.type) {
      case 'text':
        if (block.phase !== undefined) this.losses.add('reply.phase', 'dropped', '`phase` is not supported by chat completions.');
        this.#blocks.set(index, { kind: 'text', from: this.#said, cited: [] });
        return null;
      case 'refusal':
        this.#refused = true;
        this.#blocks.set(index, { kind: 'refusal' });
        return null;
      case 'thinking':
        this.#blocks.set(index, { kind: 'thinking', from: this.#thought, position: this.#details++ });
        return null;
      case 'redacted-thinking': {
        const detail: ReasoningDetail = {
          type: 'reasoning.encrypted',
          data: this.#context.sealSignature(block.data),
          format: 'unknown',
          index: this.#details++,
        };
        this.#blocks.set(index, { kind: 'none' });
        return { delta: { reasoning_details: [detail] } };
      }
      case 'tool-call':
        return this.#openCall(index, block);
      case 'raw':
        this.#blocks.set(index, { kind: 'none' });
        return this.#writeRaw(block);
    }
  }

  /** Annotations of a text block from other vendors. Pages are written when the block ends: only then is its length known. */
  #cite(index: number, value: unknown): void {
    const block = this.#blocks.get(index);
    const { pages, more } = readCitedPages(value);
    if (block?.kind !== 'text' || pages.length === 0) return this.losses.add('reply.raw', 'dropped', 'Content that only its own protocol knows.');
    if (more) this.#loseRest();
    block.cited.push(...pages);
  }

  #loseRest(): void {
    this.losses.add('reply.citations', 'downgraded', 'Pages that are cited keep their address and title; what else a vendor says of them has no place.');
  }

  #writeRaw(block: { protocol: string; value: unknown }): Step | null {
    if (block.protocol !== 'alpha') {
      const { pages, more } = readCitedPages(block.value);
      if (pages.length === 0) {
        this.losses.add('reply.raw', 'dropped', 'Content that only its own protocol knows.');
        return null;
      }
      if (more) this.#loseRest();
      this.#annotations.push(...pages.map((page) => writeCitation(page, 0, this.#said)));
      return null;
    }
    const { place, fields } = block.value as RawFields;
    return place === 'message' ? { delta: { ...fields } } : { choice: fields };
  }

  #openCall(index: number, block: Extract<BlockStart, { type: 'tool-call' }>): Step | null {
    const silent = this.#legacy && this.#calls > 0;
    const position = this.#calls++;
    const custom = block.custom === true && !this.#legacy;
    this.#blocks.set(index, { kind: 'tool-call', position, custom, silent, empty: true });
    if (silent) {
      this.losses.add('tool_calls', 'dropped', 'The older `function_call` holds one call only.');
      return null;
    }
    if (this.#legacy) return { delta: { function_call: { name: block.name, arguments: '' } } };
    const id = this.#callId(block.id);
    const call: WireToolCall = custom
      ? { index: position, id, type: 'custom', custom: { name: block.name, input: '' } }
      : { index: position, id, type: 'function', function: { name: block.name, arguments: '' } };
    return { delta: { tool_calls: [call] } };
  }

  /** The upstream's id as it is; a missing one, or one that this reply has used, is minted. */
  #callId(given: string): string {
    const id = given === '' || this.#callIds.has(given) ? this.#context.mintId('call_') : given;
    this.#callIds.add(id);
    return id;
  }

  #argue(index: number, text: string): Step | null {
    const block = this.#blocks.get(index);
    if (block?.kind !== 'tool-call' || block.silent) return null;
    if (text.trim() !== '') block.empty = false;
    if (this.#legacy) return { delta: { function_call: { arguments: text } } };
    return {
      delta: { tool_calls: [block.custom ? { index: block.position, custom: { input: text } } : { index: block.position, function: { arguments: text } }] },
    };
  }

  /** A signature on reasoning names the range of `reasoning_content` it covers, so that both come back together without sending the text twice. */
  #sign(index: number, signature: string): Step | null {
    const block = this.#blocks.get(index);
    const sealed = this.#context.sealSignature(signature);
    if (block?.kind === 'thinking') {
      const span: [number, number] = [block.from, this.#thought];
      return { delta: { reasoning_details: [{ type: 'reasoning.text', text: '', signature: sealed, format: 'unknown', index: block.position, span }] } };
    }
    if (block?.kind === 'text') return { delta: writeSignature(sealed) };
    if (block?.kind === 'tool-call' && !block.silent && !this.#legacy) {
      const body = block.custom ? { custom: { input: '' } } : { function: { arguments: '' } };
      return { delta: { tool_calls: [{ index: block.position, ...body, ...writeSignature(sealed) }] } };
    }
    this.losses.add('reply.signature', 'dropped', 'The signature has no field on this block.');
    return null;
  }

  /** A call without arguments says `{}`: an empty text is not JSON, and clients parse it. */
  #closeBlock(index: number): Step | null {
    const block = this.#blocks.get(index);
    this.#blocks.delete(index);
    if (block?.kind === 'text' && block.cited.length > 0) {
      const { from, cited } = block;
      this.#annotations.push(...cited.map((page) => writeCitation(within(page, from), from, this.#said)));
      return null;
    }
    if (block?.kind !== 'tool-call' || block.silent || block.custom || !block.empty) return null;
    if (this.#legacy) return { delta: { function_call: { arguments: '{}' } } };
    return { delta: { tool_calls: [{ index: block.position, function: { arguments: '{}' } }] } };
  }

  #finish(reason: FinishReason, stopSequence: string | undefined, served: ServedTier | undefined): Step | null {
    if (this.#finished) return null;
    this.#finished = true;
    const { word, exact } = writeFinish(reason, this.#refused);
    if (!exact) this.losses.add(`finish.${reason}`, 'downgraded', 'This protocol has a less exact word for how the reply ended.');
    if (stopSequence !== undefined) this.losses.add('finish.stopSequence', 'dropped', 'Which stop sequence was hit has no place.');
    return {
      ...(this.#annotations.length > 0 && { delta: { annotations: this.#annotations } }),
      finish: word === 'tool_calls' && this.#legacy ? 'function_call' : word,
      tier: writeServedTier(served, tiersWritten, this.losses),
    };
  }
}

/** Vendors count from the beginning of a block; here all blocks are one text. */
const within = (page: CitedPage, from: number): CitedPage => (page.range ? { ...page, range: [page.range[0] + from, page.range[1] + from] } : page);

/** A page that is cited for nothing in particular is cited for the whole stretch. */
function writeCitation({ url, title, range }: CitedPage, from: number, to: number): unknown {
  const [start_index, end_index] = range ?? [from, to];
  return { type: 'url_citation', url_citation: { url, title, start_index, end_index } };
}
