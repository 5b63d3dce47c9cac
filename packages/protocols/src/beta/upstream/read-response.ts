import type { Usage } from '@model-gateway/contracts';
/** An upstream's reply, streamed or whole, → canonical events. Never throws on content: what is missing or odd counts as absent. */
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readServedTier, type ServedTier } from '../../kit/service-tier.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { faultOf } from '../shared/errors.ts';
import { tiersRead } from '../shared/service-tiers.ts';
import { readStopReason } from '../shared/stop-reasons.ts';
import { mergeUsage, readFallbackModel, readIterations, readUsage } from '../shared/usage.ts';

type BlockKind = 'text' | 'thinking' | 'redacted' | 'tool' | 'raw';

interface OpenBlock {
  index: number;
  kind: BlockKind;
  /** Pieces of the signature; emitted once, whole, before the block ends. */
  signature: string;
  /** Arguments that came with the start, for servers that send no fragments. */
  wholeInput: string;
  fragments: boolean;
}

class BetaReader implements ReplyReader {
  readonly #open = new Map<number, OpenBlock>();
  #blocks = 0;
  /** Index of the block opened last: what is meant where a server leaves the index out. */
  #lastPlace = 0;
  #started = false;
  #finished = false;
  #over = false;
  #calledTool = false;
  #usage: JsonObject = {};
  #tier: ServedTier | undefined;
  readonly #losses = new Losses();

  read(record: StreamRecord): ChatEvent[] {
    return this.readEvent(asString(own(record.json, 'type')) ?? record.event, record.json);
  }

  /** The terminator has been seen or the stream broke: the end of the bytes adds nothing. */
  finish(): ChatEvent[] {
    return [];
  }

  readEvent(type: string | undefined, json: unknown): ChatEvent[] {
    if (this.#over || asObject(json) === undefined) return [];
    // Some servers put a bare error object where an event should be.
    if (type === 'error' || (type === undefined && own(json, 'error') !== undefined)) {
      this.#over = true;
      return [{ type: 'error', error: faultOf(json) }];
    }
    // Blocks after the stop reason belong to no reply.
    const handle = type === undefined || (this.#finished && type.startsWith('content_block')) ? undefined : handlers.get(type);
    return handle ? handle(this, json) : [];
  }

  messageStart(json: unknown): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    const message = own(json, 'message');
    const id = asString(own(message, 'id'));
    const model = asString(own(message, 'model'));
    this.#loseFacts(message);
    const usage = own(message, 'usage');
    const servedTier = readServedTier(own(usage, 'service_tier'), tiersRead, this.#losses);
    this.#tier = servedTier;
    if (own(usage, 'speed') === 'fast') this.#losses.dropped('reply.usage.speed', 'that it was served at a higher speed');
    return [
      { type: 'start', ...(id !== undefined && { id }), ...(model !== undefined && { model }), ...(servedTier !== undefined && { servedTier }) },
      ...this.#report(usage),
    ];
  }

  blockStart(json: unknown): ChatEvent[] {
    const place = asNumber(own(json, 'index')) ?? this.#blocks;
    const events = [...this.#begin(), ...this.#closePlace(place)];
    events.push(...this.#openBlock(place, asObject(own(json, 'content_block')) ?? { type: 'text' }));
    return events;
  }

  blockDelta(json: unknown): ChatEvent[] {
    const delta = asObject(own(json, 'delta'));
    const place = asNumber(own(json, 'index')) ?? this.#lastPlace;
    const kind = delta === undefined ? undefined : impliedBlock.get(asString(own(delta, 'type')) ?? '');
    if (!delta) return [];
    const events: ChatEvent[] = [];
    // A start that never came (compatible servers) is implied by its first delta.
    if (!this.#open.has(place) && kind !== undefined) events.push(...this.#begin(), ...this.#openBlock(place, { type: kind }));
    const block = this.#open.get(place);
    return block ? [...events, ...applyDelta(block, delta)] : events;
  }

  blockStop(json: unknown): ChatEvent[] {
    return this.#closePlace(asNumber(own(json, 'index')) ?? this.#lastPlace);
  }

  messageDelta(json: unknown): ChatEvent[] {
    const delta = own(json, 'delta');
    const native = asString(own(delta, 'stop_reason'));
    this.#loseFacts(delta);
    this.#loseFacts(json);
    const report = this.#report(own(json, 'usage'));
    const finish = native === undefined ? [] : this.#finish(native, delta);
    return [...this.#begin(), ...finish, ...report];
  }

  messageStop(): ChatEvent[] {
    const events = [...this.#begin(), ...this.#finish(undefined, undefined)];
    this.#over = true;
    return [...events, { type: 'end' }];
  }

  #begin(): ChatEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [{ type: 'start' }];
  }

  #report(usage: unknown): ChatEvent[] {
    if (asObject(usage) === undefined) return [];
    this.#usage = mergeUsage(this.#usage, usage);
    return [{ type: 'usage', usage: readUsage(this.#usage) }];
  }

  #openBlock(place: number, content: JsonObject): ChatEvent[] {
    const type = asString(own(content, 'type')) ?? '';
    const index = this.#blocks++;
    const block: OpenBlock = { index, kind: kindByType.get(type) ?? 'raw', signature: '', wholeInput: '', fragments: false };
    this.#open.set(place, block);
    this.#lastPlace = place;
    const text = asString(own(content, 'text')) ?? '';
    const thinking = asString(own(content, 'thinking')) ?? '';
    switch (block.kind) {
      case 'text': {
        const citations = (asArray(own(content, 'citations')) ?? []).map((citation) => ({ type: 'citations_delta', citation }));
        return [
          { type: 'block-start', index, block: { type: 'text' } },
          ...citations.map((value): ChatEvent => ({ type: 'raw-delta', index, value })),
          ...(text === '' ? [] : [{ type: 'text-delta', index, text } satisfies ChatEvent]),
        ];
      }
      case 'thinking':
        block.signature = asString(own(content, 'signature')) ?? '';
        return [
          { type: 'block-start', index, block: { type: 'thinking' } },
          ...(thinking === '' ? [] : [{ type: 'thinking-delta', index, text: thinking } satisfies ChatEvent]),
        ];
      case 'redacted':
        return [{ type: 'block-start', index, block: { type: 'redacted-thinking', data: asString(own(content, 'data')) ?? '' } }];
      case 'tool': {
        this.#calledTool = true;
        this.#loseCaller(content);
        const input = asObject(own(content, 'input'));
        block.wholeInput = input === undefined ? '' : JSON.stringify(input);
        const call = { id: asString(own(content, 'id')) ?? '', name: asString(own(content, 'name')) ?? '' };
        return [{ type: 'block-start', index, block: { type: 'tool-call', ...call } }];
      }
      case 'raw':
        return [{ type: 'block-start', index, block: { type: 'raw', protocol: 'beta', value: content } }];
    }
  }

  #closePlace(place: number): ChatEvent[] {
    const block = this.#open.get(place);
    if (!block) return [];
    this.#open.delete(place);
    const { index } = block;
    const events: ChatEvent[] = [];
    // `{}` is also what announces a call whose arguments are still to come, so it counts only when none came.
    if (block.kind === 'tool' && !block.fragments && block.wholeInput !== '') events.push({ type: 'arguments-delta', index, text: block.wholeInput });
    if (block.signature !== '') events.push({ type: 'signature', index, signature: block.signature });
    events.push({ type: 'block-end', index });
    return events;
  }

  #finish(native: string | undefined, delta: unknown): ChatEvent[] {
    if (this.#finished) return [];
    this.#finished = true;
    const events = [...this.#open.keys()].flatMap((place) => this.#closePlace(place));
    const explanation = asString(own(own(delta, 'stop_details'), 'explanation'));
    if (native === 'refusal' && this.#blocks === 0 && explanation !== undefined) events.push(...this.#explain(explanation));
    else if (own(delta, 'stop_details') !== undefined) this.#losses.dropped('reply.stop_details', 'only the stop reason is reported, without its details');
    const stopSequence = asString(own(delta, 'stop_sequence'));
    const servedModel = readFallbackModel(readIterations(this.#usage));
    const reason = native === undefined ? (this.#calledTool ? 'tool-calls' : 'other') : readStopReason(native, this.#calledTool);
    events.push({
      type: 'finish',
      reason,
      ...(stopSequence !== undefined && { stopSequence }),
      ...(native !== undefined && { native }),
      ...(this.#tier !== undefined && { servedTier: this.#tier }),
      ...(servedModel !== undefined && { servedModel }),
      ...lostIn(this.#losses),
    });
    return events;
  }

  #loseFacts(holder: unknown): void {
    if (own(holder, 'container') !== undefined) this.#losses.dropped('reply.container', 'where its vendor ran code');
    if (asArray(own(own(holder, 'context_management'), 'applied_edits'))?.length)
      this.#losses.dropped('reply.context_management', 'what its vendor took out of the conversation');
    if (asArray(own(holder, 'input_transformations'))?.length)
      this.#losses.dropped('reply.input_transformations', 'Which earlier reasoning the upstream left aside has no place.');
    const counts = Object.values(asObject(own(own(holder, 'usage'), 'server_tool_use')) ?? {});
    if (counts.some((count) => typeof count === 'number' && count > 0)) this.#losses.dropped('reply.usage.server_tool_use', 'how often its vendor ran tools');
  }

  #loseCaller(call: JsonObject): void {
    const caller = asString(own(own(call, 'caller'), 'type'));
    if (caller !== undefined && caller !== 'direct') this.#losses.dropped('reply.tool_use.caller', 'which code of the vendor called');
    if (own(call, 'toolset_name') !== undefined) this.#losses.dropped('reply.tool_use.toolset_name', 'toolsets exist at their own vendor alone');
  }

  /** A refusal may come without any block; its explanation is then all there is to show. */
  #explain(text: string): ChatEvent[] {
    const index = this.#blocks++;
    return [
      { type: 'block-start', index, block: { type: 'refusal' } },
      { type: 'refusal-delta', index, text },
      { type: 'block-end', index },
    ];
  }
}

const handlers: ReadonlyMap<string, (reader: BetaReader, json: unknown) => ChatEvent[]> = new Map([
  ['message_start', (reader, json) => reader.messageStart(json)],
  ['content_block_start', (reader, json) => reader.blockStart(json)],
  ['content_block_delta', (reader, json) => reader.blockDelta(json)],
  ['content_block_stop', (reader, json) => reader.blockStop(json)],
  ['message_delta', (reader, json) => reader.messageDelta(json)],
  ['message_stop', (reader) => reader.messageStop()],
]);

const kindByType: ReadonlyMap<string, BlockKind> = new Map([
  ['text', 'text'],
  ['thinking', 'thinking'],
  ['redacted_thinking', 'redacted'],
  ['tool_use', 'tool'],
]);

const impliedBlock: ReadonlyMap<string, string> = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
]);

function applyDelta(block: OpenBlock, delta: JsonObject): ChatEvent[] {
  const { index, kind } = block;
  if (kind === 'raw') return [{ type: 'raw-delta', index, value: delta }];
  const text = (key: string): string => asString(own(delta, key)) ?? '';
  switch (own(delta, 'type')) {
    case 'text_delta':
      return kind === 'text' ? [{ type: 'text-delta', index, text: text('text') }] : [];
    case 'citations_delta':
      return kind === 'text' ? [{ type: 'raw-delta', index, value: delta }] : [];
    case 'thinking_delta':
      return kind === 'thinking' ? [{ type: 'thinking-delta', index, text: text('thinking') }] : [];
    case 'signature_delta':
      if (kind === 'thinking') block.signature += text('signature');
      return [];
    case 'input_json_delta':
      if (kind !== 'tool') return [];
      block.fragments ||= text('partial_json') !== '';
      return [{ type: 'arguments-delta', index, text: text('partial_json') }];
    default:
      return [];
  }
}

export const createReader = (): ReplyReader => new BetaReader();

/** A whole reply as the stream it would have been. */
export function readWhole(body: unknown): ChatEvent[] {
  const content = asArray(own(body, 'content'));
  if (own(body, 'type') === 'error' || (content === undefined && own(body, 'error') !== undefined)) return [{ type: 'error', error: faultOf(body) }];
  if (content === undefined) return [unreadable('The upstream sent a reply that is not a message.')];
  const reader = new BetaReader();
  return [
    ...reader.messageStart({ message: body }),
    ...content.flatMap((block, index) => [...reader.blockStart({ index, content_block: block }), ...reader.blockStop({ index })]),
    ...reader.messageDelta({ delta: body, usage: own(body, 'usage') }),
    ...reader.messageStop(),
  ];
}

/** Usage of a message that says why it stopped. */
export function finishedUsage(body: unknown): Usage | undefined {
  if (own(body, 'type') !== 'message' || !asArray(own(body, 'content')) || !asString(own(body, 'stop_reason'))) return undefined;
  const usage = own(body, 'usage');
  // The row names the model that answered, which only a full reading tells.
  return asNumber(own(usage, 'output_tokens')) === undefined || readFallbackModel(readIterations(usage)) !== undefined ? undefined : readUsage(usage);
}

export function readTokenCount(body: unknown): number | null {
  const tokens = asNumber(own(body, 'input_tokens'));
  return tokens === undefined || tokens < 0 ? null : Math.trunc(tokens);
}
