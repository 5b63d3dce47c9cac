/** Prints canonical replies as gamma: chunks of a stream in either form, or one whole object. */
import type { Loss, Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent, FinishReason } from '../../chat/event.ts';
import type { Block, Message } from '../../chat/fold.ts';
import type { ReplyContext, ReplyWriter } from '../../contract/index.ts';
import { readCitedPages } from '../../kit/cited-pages.ts';
import { Losses } from '../../kit/losses.ts';
import { asObject, type JsonObject, own } from '../../kit/read.ts';
import { packReasoning } from '../../kit/reasoning-note.ts';
import { type ServedTier, writeServedTier } from '../../kit/service-tier.ts';
import { tiersWritten } from '../shared/service-tiers.ts';
import { writeFinishReason } from '../shared/stop-reasons.ts';
import { customArgument } from '../shared/tools.ts';
import { writeUsage } from '../shared/usage.ts';
import { enumAnswer, skipSignature, type WirePart } from '../shared/wire.ts';
import { frameEnd, frameRecord } from './frame.ts';
import { type CitedText, Grounding } from './grounding.ts';

interface OpenBlock {
  start: BlockStart;
  /** Arguments so far: a call is one part here. Of other blocks only where it is needed when the block ends. */
  text: string;
  /** Position of a text, where it is known which words cite a page. */
  place?: Omit<CitedText, 'text'>;
  /** Sealed, and not written yet. */
  signature?: string | undefined;
}

/** Parts of one reply, block by block. The same for streams and whole replies; a whole one simply has one delta a block. */
class PartWriter {
  readonly losses = new Losses();
  readonly candidate: JsonObject = {};
  readonly #grounding = new Grounding();
  readonly #context: ReplyContext;
  /** Reasoning so far that has no signature: clients do not return thoughts, so it is sealed and sent with the next call. */
  #thought = '';

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  /** Whether the text of this block is buffered until it is complete: it is JSON that holds the one word which was asked for. */
  waits(block: OpenBlock): boolean {
    return block.start.type === 'text' && own(this.#context.echo, 'answersEnum') === true;
  }

  /** Whether the caller asked for a search, so that texts are counted. */
  get grounds(): boolean {
    return own(this.#context.echo, 'grounds') === true;
  }

  begin(start: BlockStart): OpenBlock {
    if (start.type === 'text' && start.phase !== undefined) this.losses.add('response.phase', 'dropped', 'What a text is for has no counterpart.');
    return { start, text: '' };
  }

  /** Collects readable reasoning; a signature of its own makes that unnecessary. */
  think(text: string, signed: boolean): void {
    this.#thought = signed ? '' : this.#thought + text;
  }

  /** Annotations of a block in the upstream's own protocol: pages are named, as after a search. */
  cite(value: unknown, block?: OpenBlock): void {
    if (!this.#ground(value, block)) this.losses.add('response.citations', 'dropped', "Citations in another vendor's words have no counterpart.");
  }

  #ground(value: unknown, block?: OpenBlock): boolean {
    const { pages } = readCitedPages(value);
    if (pages.length === 0) return false;
    const text = block?.place && { ...block.place, text: block.text };
    const supported = pages.map((page) => this.#grounding.cite(page, text));
    Object.assign(this.candidate, this.#grounding.fields);
    if (supported.every((known) => known)) return true;
    this.losses.add('response.citations', 'downgraded', 'Cited pages are named without the text that they support.');
    return true;
  }

  /** Beside the counts. */
  tier(served: ServedTier | undefined): { serviceTier?: string } {
    const serviceTier = writeServedTier(served, tiersWritten, this.losses);
    return serviceTier === undefined ? {} : { serviceTier };
  }

  seal(signature: string): string {
    return signature === skipSignature ? signature : this.#context.sealSignature(signature);
  }

  /** One piece of text, with the signature that belongs to this very part when it is known already. */
  text(block: OpenBlock, text: string): WirePart {
    if (block.start.type === 'thinking') this.think(text, false);
    const part: WirePart = { text, ...(block.start.type === 'thinking' && { thought: true }) };
    if (block.signature !== undefined && block.start.type !== 'thinking') {
      part.thoughtSignature = block.signature;
      block.signature = undefined;
    }
    return part;
  }

  /** What a block still owes when it ends. */
  end(block: OpenBlock): JsonObject[] {
    const { start } = block;
    const signature = block.signature ?? this.#note(start);
    const signatureField = signature === undefined ? {} : { thoughtSignature: signature };
    switch (start.type) {
      case 'tool-call':
        return [{ functionCall: { ...(start.id !== '' && { id: start.id }), name: start.name, args: this.#args(block) }, ...signatureField }];
      case 'raw':
        return this.#raw(start, signatureField);
      case 'redacted-thinking':
        this.losses.add('response.redacted_thinking', 'dropped', 'Thinking without readable text has no place in this protocol.');
        return [];
      default:
        if (this.waits(block)) return block.text === '' && signature === undefined ? [] : [{ text: wordOf(block.text), ...signatureField }];
        if (start.type === 'thinking' && signature !== undefined) this.think('', true);
        return signature === undefined ? [] : [{ text: '', ...(start.type === 'thinking' && { thought: true }), ...signatureField }];
    }
  }

  /** The reasoning that led to this call, sealed, once. */
  #note(start: BlockStart): string | undefined {
    if (start.type !== 'tool-call' || this.#thought === '') return undefined;
    const note = this.#context.sealSignature(packReasoning(this.#thought));
    this.#thought = '';
    return note;
  }

  #args(block: OpenBlock): unknown {
    if (block.start.type === 'tool-call' && block.start.custom) return { [customArgument]: block.text };
    if (block.text.trim() === '') return {};
    try {
      const value: unknown = JSON.parse(block.text);
      if (asObject(value)) return value;
    } catch {
      // Declared below: a part must hold an object, and half an argument list is not made whole.
    }
    this.losses.add('response.tool_calls.arguments', 'dropped', 'Arguments that were no JSON object became an empty one.');
    return {};
  }

  #raw(start: BlockStart & { type: 'raw' }, signatureField: { thoughtSignature?: string }): JsonObject[] {
    const part = asObject(own(start.value, 'part'));
    const candidate = asObject(own(start.value, 'candidate'));
    if (start.protocol === 'gamma' && part) return [{ ...part, ...signatureField }];
    if (start.protocol === 'gamma' && candidate) Object.assign(this.candidate, candidate);
    else if (start.protocol === 'gamma' && this.#grounding.look(own(start.value, 'looked'))) Object.assign(this.candidate, this.#grounding.fields);
    else if (start.protocol === 'gamma' || !this.#ground(start.value))
      this.losses.add('response.blocks', 'dropped', "A block of the upstream's own protocol has no counterpart.");
    return [];
  }
}

/** The word inside the JSON; any other answer is passed on unchanged. */
function wordOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    const word = typeof value === 'string' ? value : own(value, enumAnswer);
    return typeof word === 'string' ? word : text;
  } catch {
    return text.trim();
  }
}

interface Finish {
  reason: FinishReason;
  native?: string | undefined;
  servedTier?: ServedTier | undefined;
}

export class GammaReplyWriter implements ReplyWriter {
  readonly #context: ReplyContext;
  readonly #parts: PartWriter;
  readonly #blocks = new Map<number, OpenBlock>();
  readonly #tail: string;
  #written = 0;
  /** Bytes of the text so far, where they are counted. */
  #said = 0;
  #finish: Finish = { reason: 'other' };
  #usage: Usage | undefined;
  #ended = false;

  constructor(context: ReplyContext) {
    this.#context = context;
    this.#parts = new PartWriter(context);
    this.#tail = `"modelVersion":${JSON.stringify(context.model)},"responseId":${JSON.stringify(context.requestId)}}`;
  }

  get losses(): Loss[] {
    return this.#parts.losses.list;
  }

  write(event: ChatEvent): string {
    switch (event.type) {
      case 'block-start':
        this.#open(event.index, event.block);
        return '';
      case 'text-delta':
      case 'thinking-delta':
      case 'refusal-delta': {
        const block = this.#blocks.get(event.index);
        if (block?.place) {
          block.text += event.text;
          this.#said += Buffer.byteLength(event.text);
        }
        if (block && this.#parts.waits(block)) block.text += event.text;
        else if (block && event.text !== '') return this.#chunk([this.#parts.text(block, event.text)]);
        return '';
      }
      case 'arguments-delta': {
        const block = this.#blocks.get(event.index);
        if (block) block.text += event.text;
        return '';
      }
      case 'signature': {
        const block = this.#blocks.get(event.index);
        if (block) block.signature = this.#parts.seal(event.signature);
        return '';
      }
      case 'block-end': {
        const block = this.#blocks.get(event.index);
        this.#blocks.delete(event.index);
        const parts = block ? this.#parts.end(block) : [];
        return parts.length === 0 ? '' : this.#chunk(parts);
      }
      case 'raw-delta':
        if (this.#blocks.get(event.index)?.start.type !== 'raw') this.#parts.cite(event.value, this.#blocks.get(event.index));
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event;
        return '';
      case 'end':
        return this.#end();
      default:
        return '';
    }
  }

  #open(index: number, start: BlockStart): void {
    const block = this.#parts.begin(start);
    if (start.type === 'text' && this.#parts.grounds && !this.#parts.waits(block)) block.place = { from: this.#said, part: 0 };
    this.#blocks.set(index, block);
  }

  #chunk(parts: readonly unknown[]): string {
    return this.#frame(`{"candidates":[{"content":{"parts":${JSON.stringify(parts)},"role":"model"},"index":0}],${this.#tail}`);
  }

  #frame(json: string): string {
    return frameRecord(json, this.#written++, this.#context.streamForm);
  }

  /** The last chunk waits for usage, whichever of finish and usage came first; an empty text is what the vendor sends in its place. */
  #end(): string {
    if (this.#ended) return '';
    this.#ended = true;
    const candidate = {
      content: { parts: [{ text: '' }], role: 'model' },
      finishReason: writeFinishReason(this.#finish.reason, this.#finish.native),
      index: 0,
      ...this.#parts.candidate,
    };
    const usage = this.#usage ? `"usageMetadata":${JSON.stringify({ ...writeUsage(this.#usage), ...this.#parts.tier(this.#finish.servedTier) })},` : '';
    return this.#frame(`{"candidates":[${JSON.stringify(candidate)}],${usage}${this.#tail}`) + frameEnd(this.#context.streamForm);
  }
}

/** A whole reply: one part a block. */
export function writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] } {
  const writer = new PartWriter(context);
  const parts: unknown[] = [];
  const partsOf = (block: Block): unknown[] => {
    const open: OpenBlock = { ...writer.begin(block.start), text: block.text };
    if (block.start.type === 'text' && writer.grounds && !writer.waits(open)) open.place = { from: 0, part: parts.length };
    if (block.signature !== undefined) open.signature = writer.seal(block.signature);
    const kind = block.start.type;
    if (kind !== 'raw') for (const delta of block.deltas ?? []) writer.cite(delta, open);
    if ((kind !== 'text' && kind !== 'thinking' && kind !== 'refusal') || writer.waits(open)) return writer.end(open);
    if (block.text === '' && open.signature === undefined) return [];
    if (kind === 'thinking') writer.think(block.text, open.signature !== undefined);
    return [{ text: block.text, ...(kind === 'thinking' && { thought: true }), ...(open.signature !== undefined && { thoughtSignature: open.signature }) }];
  };
  for (const block of message.blocks) parts.push(...partsOf(block));
  const body = {
    candidates: [
      {
        content: { ...(parts.length > 0 && { parts }), role: 'model' },
        finishReason: writeFinishReason(message.finish.reason, message.finish.native),
        index: 0,
        ...writer.candidate,
      },
    ],
    usageMetadata: { ...writeUsage(message.usage), ...writer.tier(message.finish.servedTier) },
    modelVersion: context.model,
    responseId: context.requestId,
  };
  return { body, losses: writer.losses.list };
}
