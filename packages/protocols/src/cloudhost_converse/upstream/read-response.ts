/** An upstream's reply, streamed or whole, → canonical events. Never throws on content: what is missing or odd counts as absent. */
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, own } from '../../kit/read.ts';
import { billedTier, readServedTier, type ServedTier } from '../../kit/service-tier.ts';
import { streamFault } from './errors.ts';
import { readOpaque } from './opaque.ts';
import { isServerBlock, readWholeBlock, type WholeBlock } from './read-content.ts';
import { readStopReason } from './stop-reasons.ts';
import { readUsage } from './usage.ts';

type FinishEvent = Extract<ChatEvent, { type: 'finish' }>;

/** What `serviceTier` says. A reserved tier is nobody else's word. */
const tiersRead: ReadonlyMap<string, ServedTier> = new Map(['default', 'priority', 'flex'].map((tier) => [tier, tier as ServedTier]));

type BlockKind = 'text' | 'thinking' | 'redacted' | 'tool' | 'raw';

interface OpenBlock {
  index: number;
  kind: BlockKind;
  /** Pieces of the signature, or of an opaque block; emitted once, whole. */
  pieces: string[];
}

export class ConverseReader implements ReplyReader {
  readonly #open = new Map<number, OpenBlock>();
  #blocks = 0;
  #started = false;
  #finished = false;
  /** Held back until the counts, which come next and name the tier. */
  #finish: FinishEvent | undefined;
  #over = false;
  #calledTool = false;

  read(record: StreamRecord): ChatEvent[] {
    if (this.#over) return [];
    if (record.failure !== undefined) {
      this.#over = true;
      return [{ type: 'error', error: streamFault(record) }];
    }
    return this.readEvent(record.event, record.json);
  }

  /** The end of the body ends the reply; counts come after the stop, and a stream without them is complete all the same. */
  finish(): ChatEvent[] {
    if (this.#over || !this.#finished) return [];
    this.#over = true;
    return [...this.#takeFinish(undefined), { type: 'end' }];
  }

  /** One event by its name; unknown ones say nothing. */
  readEvent(type: string | undefined, json: unknown): ChatEvent[] {
    // Blocks after the stop belong to no reply.
    const isLate = this.#over || (this.#finished && type?.startsWith('contentBlock'));
    const handle = type === undefined || isLate ? undefined : handlers.get(type);
    return handle && asObject(json) ? handle(this, json) : [];
  }

  messageStart(): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start' }];
  }

  /** Comes for tools alone: text and reasoning begin with their first delta. */
  blockStart(json: unknown): ChatEvent[] {
    const place = placeOf(json) ?? this.#blocks;
    const start = own(json, 'start');
    const call = own(start, 'toolUse');
    const events = [...this.messageStart(), ...this.#close(place)];
    if (call === undefined)
      return own(start, 'toolResult') === undefined && own(start, 'image') === undefined ? events : [...events, ...this.#openRaw(place, start)];
    if (isServerBlock(call)) return [...events, ...this.#openRaw(place, start)];
    this.#calledTool = true;
    const block = { id: asString(own(call, 'toolUseId')) ?? '', name: asString(own(call, 'name')) ?? '' };
    return [...events, { type: 'block-start', index: this.#begin(place, 'tool').index, block: { type: 'tool-call', ...block } }];
  }

  blockDelta(json: unknown): ChatEvent[] {
    const delta = own(json, 'delta');
    const place = placeOf(json) ?? Math.max(0, this.#blocks - 1);
    const open = this.#open.get(place);
    if (open?.kind === 'raw') return [{ type: 'raw-delta', index: open.index, value: delta }];
    const kind = kindOf(delta);
    if (kind === undefined) return [];
    const events = this.messageStart();
    let block = open;
    if (block?.kind !== kind) {
      // A citation belongs to the text that is open; a fragment of arguments to a call that was announced.
      if (kind === 'tool') return events;
      events.push(...this.#close(place));
      block = this.#begin(place, kind);
      if (kind !== 'redacted') events.push({ type: 'block-start', index: block.index, block: { type: kind === 'thinking' ? 'thinking' : 'text' } });
    }
    return [...events, ...applyDelta(block, delta)];
  }

  blockStop(json: unknown): ChatEvent[] {
    return this.#close(placeOf(json) ?? Math.max(0, this.#blocks - 1));
  }

  messageStop(json: unknown): ChatEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    this.#finish = finishEvent(json, this.#calledTool);
    return [...this.messageStart(), ...[...this.#open.keys()].flatMap((place) => this.#close(place))];
  }

  metadata(json: unknown): ChatEvent[] {
    const tier = own(own(json, 'serviceTier'), 'type');
    const counts = asObject(own(json, 'usage'));
    const usage: ChatEvent[] = counts ? [{ type: 'usage', usage: { ...readUsage(counts), ...billedTier(tier, tiersRead) } }] : [];
    const events = [...this.#takeFinish(tier), ...usage];
    if (!this.#finished) return events;
    this.#over = true;
    return [...events, { type: 'end' }];
  }

  #takeFinish(tier: unknown): ChatEvent[] {
    const finish = this.#finish;
    this.#finish = undefined;
    if (!finish) return [];
    const losses = new Losses();
    const servedTier = readServedTier(tier, tiersRead, losses);
    return [{ ...finish, ...(servedTier !== undefined && { servedTier }), ...lostIn(losses) }];
  }

  /** A whole block of a reply that came at once. */
  addWhole(whole: WholeBlock): ChatEvent[] {
    const index = this.#blocks++;
    if (whole.block.type === 'tool-call') this.#calledTool = true;
    return [{ type: 'block-start', index, block: whole.block }, ...whole.deltas.map((delta): ChatEvent => ({ ...delta, index })), { type: 'block-end', index }];
  }

  #begin(place: number, kind: BlockKind): OpenBlock {
    // An opaque block is announced when it ends, and numbered then.
    const block: OpenBlock = { index: kind === 'redacted' ? -1 : this.#blocks++, kind, pieces: [] };
    this.#open.set(place, block);
    return block;
  }

  #openRaw(place: number, value: unknown): ChatEvent[] {
    return [{ type: 'block-start', index: this.#begin(place, 'raw').index, block: { type: 'raw', protocol: 'cloudhost_converse', value } }];
  }

  #close(place: number): ChatEvent[] {
    const block = this.#open.get(place);
    if (!block) return [];
    this.#open.delete(place);
    const { pieces } = block;
    const index = block.kind === 'redacted' ? this.#blocks++ : block.index;
    if (block.kind === 'redacted') {
      return [
        { type: 'block-start', index, block: { type: 'redacted-thinking', data: readOpaque(pieces) } },
        { type: 'block-end', index },
      ];
    }
    return [...(pieces.length > 0 ? [{ type: 'signature', index, signature: pieces.join('') } satisfies ChatEvent] : []), { type: 'block-end', index }];
  }
}

const handlers: ReadonlyMap<string, (reader: ConverseReader, json: unknown) => ChatEvent[]> = new Map([
  ['messageStart', (reader) => reader.messageStart()],
  ['contentBlockStart', (reader, json) => reader.blockStart(json)],
  ['contentBlockDelta', (reader, json) => reader.blockDelta(json)],
  ['contentBlockStop', (reader, json) => reader.blockStop(json)],
  ['messageStop', (reader, json) => reader.messageStop(json)],
  ['metadata', (reader, json) => reader.metadata(json)],
]);

const placeOf = (json: unknown): number | undefined => asNumber(own(json, 'contentBlockIndex'));

function kindOf(delta: unknown): BlockKind | undefined {
  if (asString(own(delta, 'text')) !== undefined || own(delta, 'citation') !== undefined) return 'text';
  if (own(delta, 'toolUse') !== undefined) return 'tool';
  const reasoning = own(delta, 'reasoningContent');
  if (reasoning === undefined) return undefined;
  return asString(own(reasoning, 'redactedContent')) === undefined ? 'thinking' : 'redacted';
}

function applyDelta(block: OpenBlock, delta: unknown): ChatEvent[] {
  const { index } = block;
  if (block.kind === 'tool') return deltaEvents('arguments-delta', index, asString(own(own(delta, 'toolUse'), 'input')));
  if (block.kind === 'text') {
    const citation = own(delta, 'citation');
    return [
      ...deltaEvents('text-delta', index, asString(own(delta, 'text'))),
      ...(citation === undefined ? [] : [{ type: 'raw-delta', index, value: { citation } } satisfies ChatEvent]),
    ];
  }
  const reasoning = own(delta, 'reasoningContent');
  const piece = asString(own(reasoning, block.kind === 'redacted' ? 'redactedContent' : 'signature'));
  if (piece !== undefined && piece !== '') block.pieces.push(piece);
  return block.kind === 'redacted' ? [] : deltaEvents('thinking-delta', index, asString(own(reasoning, 'text')));
}

const deltaEvents = (type: 'text-delta' | 'thinking-delta' | 'arguments-delta', index: number, text: string | undefined): ChatEvent[] =>
  text === undefined || text === '' ? [] : [{ type, index, text }];

function finishEvent(json: unknown, calledTool: boolean): FinishEvent {
  const native = asString(own(json, 'stopReason'));
  const sequence = asString(own(own(json, 'additionalModelResponseFields'), 'stop_sequence'));
  return {
    type: 'finish',
    reason: readStopReason(native, calledTool),
    ...(sequence !== undefined && { stopSequence: sequence }),
    ...(native !== undefined && { native }),
  };
}

export const createReader = (): ReplyReader => new ConverseReader();

/** `{output: {message}, stopReason, usage}`. A body that is none gives no `end`. */
export function readWhole(body: unknown): ChatEvent[] {
  const content = asArray(own(own(own(body, 'output'), 'message'), 'content'));
  if (!content && own(body, 'stopReason') === undefined) return [];
  const reader = new ConverseReader();
  const events = reader.messageStart();
  for (const block of content ?? []) {
    const whole = readWholeBlock(block);
    if (whole) events.push(...reader.addWhole(whole));
  }
  return [...events, ...reader.messageStop(body), ...reader.metadata(body)];
}
