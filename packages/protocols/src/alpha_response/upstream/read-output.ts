/** Output items into blocks. Keyed on `output_index` (and the part's index) alone: one vendor's proxy changes item ids between events of one item. */
import type { BlockStart, ChatEvent } from '../../chat/event.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readProbabilities } from '../shared/token-probabilities.ts';
import { joinNamespace } from '../shared/tools.ts';
import { annotationKind } from '../shared/wire.ts';

type Kind = 'text' | 'refusal' | 'thinking' | 'tool-call';

interface OpenBlock {
  index: number;
  kind: Kind;
  /** Whether anything was emitted: complete texts repeat their deltas. */
  written: boolean;
  ended: boolean;
}

interface Item {
  type: string;
  phase: string | undefined;
  callId: string;
  name: string;
  /** By content index; one block for everything else. */
  blocks: Map<number, OpenBlock>;
  /** Which part of a reasoning item's text is being written. */
  part: string;
  raw: number | null;
  ended: boolean;
}

const partKinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['output_text', 'text'],
  ['text', 'text'],
  ['refusal', 'refusal'],
  ['reasoning_text', 'thinking'],
]);

const kindOfItem: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ['reasoning', 'thinking'],
  ['function_call', 'tool-call'],
  ['custom_tool_call', 'tool-call'],
]);

const itemOfKind: Readonly<Record<Kind, string>> = { text: 'message', refusal: 'message', thinking: 'reasoning', 'tool-call': 'function_call' };
const deltaOfKind = { text: 'text-delta', refusal: 'refusal-delta', thinking: 'thinking-delta', 'tool-call': 'arguments-delta' } as const;

export class ItemBlocks {
  readonly produced = { call: false, refusal: false };
  readonly #emit: (event: ChatEvent) => void;
  readonly #items = new Map<number, Item>();
  #next = 0;

  constructor(emit: (event: ChatEvent) => void) {
    this.#emit = emit;
  }

  get seenItems(): boolean {
    return this.#items.size > 0;
  }

  addItem(event: JsonObject): void {
    const value = asObject(own(event, 'item'));
    const item = this.#item(event, value);
    if (!value || item.raw !== null) return;
    if (item.type === 'message' || item.type === 'reasoning') return;
    // A call without a name yet opens with its first fragment, or when it is complete.
    if (kindOfItem.has(item.type)) {
      if (item.name !== '') this.#open(item, 0, 'tool-call');
      return;
    }
    item.raw = this.#next++;
    this.#emit({ type: 'block-start', index: item.raw, block: { type: 'raw', protocol: 'alpha_response', value } });
  }

  openPart(event: JsonObject): void {
    const kind = partKinds.get(asString(own(own(event, 'part'), 'type')) ?? '');
    const item = this.#items.get(indexOf(event));
    // Reasoning opens with its first text: an empty block without a signature could not be replayed.
    if (kind && kind !== 'thinking' && item?.type === 'message' && !item.ended) this.#open(item, partOf(event), kind);
  }

  delta(event: JsonObject, kind: Kind): void {
    const text = asString(own(event, 'delta'));
    if (text) this.#write(event, kind, text);
  }

  /** A `…done` event: its text counts only when no delta brought it. */
  complete(event: JsonObject, kind: Kind, field: string): void {
    const text = kind === 'tool-call' ? argumentText(own(event, field)) : asString(own(event, field));
    const item = this.#items.get(indexOf(event));
    const block = item?.blocks.get(kind === 'text' || kind === 'refusal' ? partOf(event) : 0);
    const written = block?.written && (kind !== 'thinking' || item?.part === thinkingPart(event));
    if (text && !written) this.#write(event, kind, text);
  }

  /** A citation is a block of its own: what stands after it in the text cannot change it, and other protocols declare it lost. */
  annotate(event: JsonObject): void {
    const annotation = asObject(own(event, 'annotation'));
    if (annotation) this.#cite(annotation);
  }

  #cite(annotation: JsonObject): void {
    const index = this.#next++;
    this.#emit({ type: 'block-start', index, block: { type: 'raw', protocol: 'alpha_response', value: { type: annotationKind, annotation } } });
    this.#emit({ type: 'block-end', index });
  }

  /** Log probabilities of a whole text: pieces of a stream have them too, but without the tokens' bytes. */
  #probe(logprobs: unknown): void {
    const value = readProbabilities(logprobs);
    if (!value) return;
    const index = this.#next++;
    this.#emit({ type: 'block-start', index, block: { type: 'raw', protocol: 'alpha', value } });
    this.#emit({ type: 'block-end', index });
  }

  endPart(event: JsonObject): void {
    const item = this.#items.get(indexOf(event));
    const part = asObject(own(event, 'part'));
    if (item?.type !== 'message' || !part) return;
    this.#endPart(item, partOf(event), part, false);
  }

  endItem(event: JsonObject): void {
    const value = asObject(own(event, 'item'));
    const item = this.#item(event, value);
    if (item.ended) return;
    if (value) this.#completeItem(item, value, event);
    this.#endBlocks(item);
  }

  endAll(): void {
    for (const item of this.#items.values()) this.#endBlocks(item);
  }

  #completeItem(item: Item, value: JsonObject, event: JsonObject): void {
    if (item.type === 'message') {
      // By order: one cloud's parts begin to count at 1 in its events and at 0 here.
      const streamed = [...item.blocks.keys()];
      const highest = streamed.reduce((max, key) => Math.max(max, key), -1);
      (asArray(own(value, 'content')) ?? []).forEach((part, order) => {
        const object = asObject(part);
        if (object) this.#endPart(item, streamed[order] ?? highest + order + 1, object, streamed.length === 0);
      });
      return;
    }
    if (item.type === 'reasoning') return this.#completeReasoning(item, value, event);
    if (kindOfItem.has(item.type)) {
      const block = this.#open(item, 0, 'tool-call');
      const text = argumentText(own(value, item.type === 'function_call' ? 'arguments' : 'input'));
      if (text && !block.written) this.#text(block, text);
      return;
    }
    if (item.raw === null) {
      item.raw = this.#next++;
      this.#emit({ type: 'block-start', index: item.raw, block: { type: 'raw', protocol: 'alpha_response', value } });
    } else this.#emit({ type: 'raw-delta', index: item.raw, value });
  }

  #completeReasoning(item: Item, value: JsonObject, event: JsonObject): void {
    const signature = asString(own(value, 'encrypted_content'));
    if (item.blocks.size === 0) {
      const texts = [...(asArray(own(value, 'summary')) ?? []), ...(asArray(own(value, 'content')) ?? [])].map((part) => asString(own(part, 'text')) ?? '');
      for (const [at, text] of texts.entries()) if (text) this.#write({ ...event, summary_index: at }, 'thinking', text);
    }
    // The signature of the finished item: the one in `output_item.added` is of an unfinished thought.
    if (signature) this.#emit({ type: 'signature', index: this.#open(item, 0, 'thinking').index, signature: signature });
  }

  /** `cite`: whether the part's annotations are news, which they are when it arrives whole. */
  #endPart(item: Item, at: number, part: JsonObject, cite: boolean): void {
    const kind = partKinds.get(asString(own(part, 'type')) ?? '');
    if (!kind || item.ended) return;
    const block = this.#open(item, at, kind);
    if (block.ended) return;
    const text = asString(own(part, kind === 'refusal' ? 'refusal' : 'text'));
    if (text && !block.written) this.#text(block, text);
    this.#probe(own(part, 'logprobs'));
    if (cite) for (const annotation of asArray(own(part, 'annotations')) ?? []) if (asObject(annotation)) this.#cite(annotation as JsonObject);
    this.#end(block);
  }

  #write(event: JsonObject, kind: Kind, text: string): void {
    const item = this.#item(event, undefined, itemOfKind[kind]);
    if (item.ended) return;
    const block = this.#open(item, kind === 'text' || kind === 'refusal' ? partOf(event) : 0, kind);
    if (block.ended) return;
    if (kind === 'thinking') {
      const part = thinkingPart(event);
      if (block.written && item.part !== part) this.#emit({ type: 'thinking-delta', index: block.index, text: '\n\n' });
      item.part = part;
    }
    this.#text(block, text);
  }

  #text(block: OpenBlock, text: string): void {
    block.written = true;
    this.#emit({ type: deltaOfKind[block.kind], index: block.index, text });
  }

  #open(item: Item, at: number, kind: Kind): OpenBlock {
    const known = item.blocks.get(at);
    if (known) return known;
    const block: OpenBlock = { index: this.#next++, kind, written: false, ended: false };
    item.blocks.set(at, block);
    if (kind === 'tool-call') this.produced.call = true;
    if (kind === 'refusal') this.produced.refusal = true;
    this.#emit({ type: 'block-start', index: block.index, block: startOf(item, kind) });
    return block;
  }

  #end(block: OpenBlock): void {
    if (block.ended) return;
    block.ended = true;
    this.#emit({ type: 'block-end', index: block.index });
  }

  #endBlocks(item: Item): void {
    if (item.ended) return;
    item.ended = true;
    for (const block of item.blocks.values()) this.#end(block);
    if (item.raw !== null) this.#emit({ type: 'block-end', index: item.raw });
  }

  /** The item of an event, made known when it is new; later news of it fill in what was missing. */
  #item(event: JsonObject, value: JsonObject | undefined, assumed = 'message'): Item {
    const at = indexOf(event);
    let item = this.#items.get(at);
    if (!item) {
      item = { type: asString(own(value, 'type')) ?? assumed, phase: undefined, callId: '', name: '', blocks: new Map(), part: '', raw: null, ended: false };
      this.#items.set(at, item);
    }
    const name = asString(own(value, 'name'));
    const namespace = asString(own(value, 'namespace'));
    if (name) item.name = namespace ? joinNamespace(namespace, name) : name;
    item.callId = asString(own(value, 'call_id')) || item.callId;
    item.phase = asString(own(value, 'phase')) ?? item.phase;
    return item;
  }
}

function startOf(item: Item, kind: Kind): BlockStart {
  if (kind === 'tool-call') return { type: 'tool-call', id: item.callId, name: item.name, ...(item.type === 'custom_tool_call' && { custom: true }) };
  if (kind === 'text') return { type: 'text', ...(item.phase !== undefined && { phase: item.phase }) };
  return { type: kind };
}

const indexOf = (event: JsonObject): number => asNumber(own(event, 'output_index')) ?? 0;
const partOf = (event: JsonObject): number => asNumber(own(event, 'content_index')) ?? 0;
const thinkingPart = (event: JsonObject): string => `${asNumber(own(event, 'summary_index')) ?? 'content'}:${asNumber(own(event, 'content_index')) ?? 0}`;
