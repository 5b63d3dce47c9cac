/** Canonical events → the caller's stream, and a whole reply as its JSON. */
import type { Loss, Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent } from '../../chat/event.ts';
import type { Block, Message } from '../../chat/fold.ts';
import type { ReplyContext, ReplyWriter } from '../../contract/index.ts';
import { Losses } from '../../kit/losses.ts';
import { asObject, asString, own } from '../../kit/read.ts';
import { type BlockEvent, SequentialBlocks } from '../../kit/sequential-blocks.ts';
import { type ServedTier, writeServedTier } from '../../kit/service-tier.ts';
import { markSignature } from '../../kit/signature-mark.ts';
import { tiersWritten } from '../shared/service-tiers.ts';
import { writeStopReason } from '../shared/stop-reasons.ts';
import { type HostedUses, writeHostedUses, writeUsage } from '../shared/usage.ts';
import { printEvent } from '../shared/wire.ts';
import { parseInput } from '../shared/write-content.ts';
import { readCitation } from './citations.ts';

/** An empty thinking block that holds the signature of a call: clients of this protocol return such blocks unchanged, and calls have no field for one. */
interface CallSignature {
  type: 'thinking';
  provesCall: string;
}

type CallStart = Extract<BlockStart, { type: 'tool-call' }>;
type Finish = Extract<ChatEvent, { type: 'finish' }>;

/** Blocks that this protocol cannot express are not shown; declared once here for streams and whole replies. */
function isShown(start: BlockStart, losses: Losses): boolean {
  if (start.type === 'raw' && start.protocol !== 'beta') losses.dropped('content', 'a block that only its own vendor understands');
  if (start.type === 'text' && start.phase !== undefined) losses.dropped('content.phase', '`phase` is not supported by messages');
  if (start.type === 'tool-call' && start.custom) losses.add('tool_use.input', 'emulated', 'free text is wrapped as `input`');
  return !(start.type === 'raw' && start.protocol !== 'beta') && !(start.type === 'redacted-thinking' && start.data === '');
}

class BetaWriter implements ReplyWriter {
  readonly #context: ReplyContext;
  readonly #losses = new Losses();
  readonly #blocks = new SequentialBlocks();
  readonly #hidden = new Set<number>();
  #started = false;
  #ended = false;
  #calledTool = false;
  #usage: Usage | null = null;
  #finish: Finish | null = null;
  #tier: ServedTier | undefined;
  /** The block that is open on the wire; its signature is written just before it stops. */
  #open: BlockStart | null = null;
  #signature = '';
  /** Calls so far, under the ids that the caller sees. */
  readonly #calls = new Map<number, CallStart>();
  /** A call begun with the last event: its signature, if any, comes with the next event and is written before the call. */
  #begun: number | null = null;
  /** Hosted tools that were called, and how often with a result. */
  readonly #uses: HostedUses = new Map();
  /** Characters shown so far, for an estimate when the upstream never counts. */
  #shown = 0;

  constructor(context: ReplyContext) {
    this.#context = context;
  }

  get losses() {
    return this.#losses.list;
  }

  write(event: ChatEvent): string {
    if (this.#ended) return '';
    switch (event.type) {
      // Held until something follows, so that a usage report that comes with it is in `message_start` already.
      case 'start':
        this.#tier = event.servedTier;
        return '';
      case 'error':
        return '';
      case 'usage':
        this.#usage = event.usage;
        return '';
      case 'finish':
        this.#finish = event;
        return this.#begin() + this.#finishBlocks();
      case 'end':
        return this.#begin() + this.#finishBlocks() + this.#terminate();
      default:
        return this.#writeBlockEvent(event);
    }
  }

  #writeBlockEvent(event: BlockEvent): string {
    if (event.type === 'block-start' && !isShown(event.block, this.#losses)) this.#hidden.add(event.index);
    if (this.#hidden.has(event.index)) return this.#begin();
    return (
      this.#begin() +
      this.#printAll(event.type === 'block-start' && event.block.type === 'tool-call' ? this.#beginCall(event.index, event.block) : this.#push(event))
    );
  }

  /** The call's start waits for one event, which brings its signature or shows that there is none. */
  #beginCall(index: number, block: CallStart): BlockEvent[] {
    const earlier = this.#startCall();
    this.#calls.set(index, { ...block, id: this.#context.mintId('toolu_') });
    this.#begun = index;
    return earlier;
  }

  #startCall(): BlockEvent[] {
    const index = this.#begun;
    const block = index === null ? undefined : this.#calls.get(index);
    this.#begun = null;
    return index === null || !block ? [] : this.#blocks.push({ type: 'block-start', index, block });
  }

  #push(event: BlockEvent): BlockEvent[] {
    const call = event.type === 'signature' ? this.#calls.get(event.index) : undefined;
    if (event.type === 'signature' && !call && this.#blocks.kindOf(event.index) !== 'thinking') {
      // One vendor's last part is a signature on empty text: this protocol refuses an empty text block in the next request.
      this.#losses.dropped('signature', 'only thinking and calls carry a signature here');
      return [];
    }
    if (event.type !== 'signature' || !call) return [...this.#startCall(), ...this.#blocks.push(event)];
    const signature: CallSignature = { type: 'thinking', provesCall: call.id };
    // A number that no block of the upstream has.
    const index = -1 - event.index;
    const blocks: BlockEvent[] = [
      { type: 'block-start', index, block: signature },
      { ...event, index },
      { type: 'block-end', index },
    ];
    const others = this.#begun === event.index ? [] : this.#startCall();
    return [...others, ...blocks.flatMap((one) => this.#blocks.push(one)), ...this.#startCall()];
  }

  #begin(): string {
    if (this.#started) return '';
    this.#started = true;
    const known = this.#usage ?? { input: this.#context.inputEstimate, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, output: 0, reasoning: 0 };
    return printEvent({
      type: 'message_start',
      message: {
        id: this.#context.mintId('msg_'),
        type: 'message',
        role: 'assistant',
        model: this.#context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        // The output count here is never final on this wire, and never 0.
        usage: { ...writeUsage({ ...known, output: Math.max(1, known.output) }), service_tier: tierOf(this.#tier, this.#losses) },
      },
    });
  }

  #finishBlocks(): string {
    return this.#printAll([...this.#startCall(), ...this.#blocks.finish()]);
  }

  #printAll(events: readonly BlockEvent[]): string {
    return events.map((event) => this.#print(event)).join('');
  }

  #print(event: BlockEvent): string {
    const { index } = event;
    if (event.type === 'block-start') return this.#printStart(index, event.block);
    if (event.type === 'block-end') return this.#printStop(index);
    if (event.type === 'signature') {
      this.#signature = event.signature;
      return '';
    }
    const delta = this.#deltaOf(event);
    return delta === null ? '' : printEvent({ type: 'content_block_delta', index, delta });
  }

  #deltaOf(event: Exclude<BlockEvent, { type: 'block-start' | 'block-end' | 'signature' }>): unknown {
    if (event.type === 'raw-delta') return this.#rawDelta(event.value);
    this.#shown += event.text.length;
    if (event.type === 'thinking-delta') return { type: 'thinking_delta', thinking: event.text };
    if (event.type !== 'arguments-delta') return { type: 'text_delta', text: event.text };
    // The free text of a custom tool cannot be a fragment of JSON until it is whole.
    if (this.#open?.type !== 'tool-call' || !this.#open.custom) return { type: 'input_json_delta', partial_json: event.text };
    return { type: 'input_json_delta', partial_json: JSON.stringify(event.text).slice(1, -1) };
  }

  /** A delta of a raw block of this protocol, or citations on text; anything else has no counterpart here. */
  #rawDelta(value: unknown): unknown {
    if (this.#open?.type === 'raw') return value;
    const citation = this.#open?.type === 'text' ? readCitation(value) : null;
    if (citation !== null) return { type: 'citations_delta', citation };
    this.#losses.dropped('content.annotations', 'has no counterpart');
    return null;
  }

  #printStart(index: number, start: BlockStart): string {
    this.#open = start;
    this.#signature = '';
    if (start.type === 'tool-call') this.#calledTool = true;
    countUse(start, this.#uses);
    const first = start.type !== 'tool-call' ? '' : printEvent({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: '' } });
    const opening = start.type === 'tool-call' && start.custom ? this.#printFragment(index, '{"input":"') : '';
    return printEvent({ type: 'content_block_start', index, content_block: emptyBlock(start, this.#context) }) + first + opening;
  }

  #printFragment(index: number, text: string): string {
    return printEvent({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: text } });
  }

  #printStop(index: number): string {
    const closing = this.#open?.type === 'tool-call' && this.#open.custom ? this.#printFragment(index, '"}') : '';
    const signature =
      this.#signature === ''
        ? ''
        : printEvent({
            type: 'content_block_delta',
            index,
            delta: { type: 'signature_delta', signature: sealSignature(this.#open, this.#signature, this.#context) },
          });
    this.#open = null;
    this.#signature = '';
    return closing + signature + printEvent({ type: 'content_block_stop', index });
  }

  #terminate(): string {
    this.#ended = true;
    const usage = this.#usage ?? estimate(this.#context, this.#shown);
    const served = this.#finish?.servedTier;
    // Some upstreams report it only at the end.
    const tier = served === undefined || served === this.#tier ? {} : { service_tier: tierOf(served, this.#losses) };
    return (
      printEvent({
        type: 'message_delta',
        delta: stopFields(this.#finish ?? { reason: 'other' }, this.#calledTool),
        usage: { ...writeUsage(usage), ...writeHostedUses(this.#uses), ...tier },
      }) + printEvent({ type: 'message_stop' })
    );
  }
}

/** Counted is what was done: the vendor does not bill a search that was refused or failed, and its count is what it bills by. */
function countUse(start: BlockStart, uses: HostedUses): void {
  if (start.type !== 'raw') return;
  const type = asString(own(start.value, 'type')) ?? '';
  const name = type === 'server_tool_use' ? asString(own(start.value, 'name')) : /^(web_search|web_fetch)_tool_result$/.exec(type)?.[1];
  if (name === undefined) return;
  const isDone = type !== 'server_tool_use' && !asString(own(own(start.value, 'content'), 'type'))?.endsWith('_tool_result_error');
  uses.set(name, (uses.get(name) ?? 0) + (isDone ? 1 : 0));
}

const estimate = (context: ReplyContext, characters: number): Usage => ({
  input: context.inputEstimate,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  output: Math.ceil(characters / 4),
  reasoning: 0,
});

/** undefined where the upstream reported no counts: every real reply has read some tokens. */
const counted = (usage: Usage): Usage | undefined => (Object.values(usage).some((tokens) => tokens > 0) ? usage : undefined);

const shownIn = (blocks: readonly Block[]): number => blocks.reduce((sum, block) => sum + (block.start.type === 'raw' ? 0 : block.text.length), 0);

/** Upstreams that say nothing of tiers have one. */
const tierOf = (served: ServedTier | undefined, losses: Losses): string | null => writeServedTier(served ?? 'default', tiersWritten, losses) ?? null;

const stopFields = (finish: Message['finish'], calledTool: boolean) => {
  const reason = writeStopReason(finish.reason, calledTool);
  return { stop_reason: reason, stop_sequence: reason === 'stop_sequence' ? (finish.stopSequence ?? null) : null };
};

/** The sealed signature, marked when it belongs to a call. */
const sealSignature = (start: BlockStart | CallSignature | null, signature: string, context: ReplyContext): string =>
  markSignature(context.sealSignature(signature), start && 'provesCall' in start ? { kind: 'call', callId: start.provesCall } : { kind: 'thinking' });

/** A block as its start event shows it: everything that deltas will bring is empty. A call's id is the one minted for the caller. */
function emptyBlock(start: BlockStart, context: ReplyContext): unknown {
  switch (start.type) {
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: context.sealSignature(start.data) };
    case 'tool-call':
      return { type: 'tool_use', id: start.id, name: start.name, input: {} };
    case 'raw':
      return start.value;
    default:
      return { type: 'text', text: '' };
  }
}

export const createWriter = (context: ReplyContext): ReplyWriter => new BetaWriter(context);

export function writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] } {
  const losses = new Losses();
  const shown = message.blocks.filter((block) => isShown(block.start, losses));
  const uses: HostedUses = new Map();
  for (const { start } of shown) countUse(start, uses);
  const body = {
    id: context.mintId('msg_'),
    type: 'message',
    role: 'assistant',
    model: context.model,
    content: shown.flatMap((block) => wholeBlock(block, context, losses) ?? []),
    ...stopFields(
      message.finish,
      shown.some((block) => block.start.type === 'tool-call'),
    ),
    usage: {
      ...writeUsage(counted(message.usage) ?? estimate(context, shownIn(shown))),
      ...writeHostedUses(uses),
      service_tier: tierOf(message.finish.servedTier, losses),
    },
  };
  return { body, losses: losses.list };
}

function wholeBlock(block: Block, context: ReplyContext, losses: Losses): unknown {
  const { start, text, signature } = block;
  if (signature !== undefined && start.type !== 'thinking' && start.type !== 'tool-call')
    losses.dropped('signature', 'only thinking and calls carry a signature here');
  switch (start.type) {
    case 'thinking':
      if (text === '' && !signature) return null;
      return { type: 'thinking', thinking: text, signature: signature ? context.sealSignature(signature) : '' };
    case 'redacted-thinking':
      return emptyBlock(start, context);
    case 'tool-call': {
      const call = { ...start, id: context.mintId('toolu_') };
      const use = { ...asObject(emptyBlock(call, context)), input: start.custom ? { input: text } : parseInput(text, losses) };
      if (signature === undefined) return use;
      return [{ type: 'thinking', thinking: '', signature: sealSignature({ type: 'thinking', provesCall: call.id }, signature, context) }, use];
    }
    case 'raw':
      return withRawDeltas(block);
    default: {
      const cited = citationsOf(block, losses);
      if (text !== '') return { type: 'text', text, ...cited };
      if (cited.citations) losses.dropped('content.annotations', 'citations without words of their own');
      return null;
    }
  }
}

function citationsOf(block: Block, losses: Losses): { citations?: unknown[] } {
  const citations = (block.deltas ?? []).map(readCitation).filter((citation) => citation !== null);
  if (citations.length < (block.deltas?.length ?? 0)) losses.dropped('content.annotations', 'has no counterpart');
  return citations.length === 0 ? {} : { citations };
}

/** A server tool's arguments come in fragments in a stream and whole otherwise. */
function withRawDeltas(block: Block): unknown {
  const value = block.start.type === 'raw' ? block.start.value : undefined;
  const json = (block.deltas ?? []).map((delta) => asString(own(delta, 'partial_json')) ?? '').join('');
  if (json === '') return value;
  return { ...asObject(value), input: parseInput(json, new Losses()) };
}
