import type { Usage } from '@model-gateway/contracts';
import type { BlockStart, ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { LeadingThinking } from '../../kit/leading-thinking.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';
import { billedTier, readServedTier, type ServedTier } from '../../kit/service-tier.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { openAiSoundBytes } from '../../kit/written-tokens.ts';
import { failureBeside, readStreamError } from '../shared/errors.ts';
import { readThinkingOf } from '../shared/read-parts.ts';
import { tiersRead } from '../shared/service-tiers.ts';
import { readSignatureOf } from '../shared/signatures.ts';
import { isFailingReason, readFinish } from '../shared/stop-reasons.ts';
import { type ReadDetail, readDetails, readReasoningText, readThinking, thinkingTag } from '../shared/thinking.ts';
import { readUsage } from '../shared/usage.ts';
import type { RawFields } from '../shared/wire.ts';
import { loseBeside, loseCounts, readSearched } from './read-beside.ts';
import { CallReader } from './read-calls.ts';

/** Vendor fields that no other protocol has a word for; kept raw, so that a caller of this protocol still gets them. */
const rawMessageFields = ['annotations', 'audio', 'images'] as const;
/** Of base64. The one form of sound that is streamed is that of realtime sessions. */
const soundPerToken = (openAiSoundBytes * 4) / 3;
const soundIn = (fields: unknown): number => (asString(own(own(fields, 'audio'), 'data'))?.length ?? 0) / soundPerToken;
const rawChoiceFields = ['logprobs'] as const;

type Kind = 'text' | 'thinking' | 'refusal';

/** Servers that do not take a model's reasoning out of its text leave it between tags in front of the answer. */
const mayBeThinking = (text: string): boolean => /^\s*(?:<|$)/.test(text);

/** A reply that ended by itself within its thinking has no answer: it speaks of the tag, and is its own answer. */
const speaksOfTag = (choice: unknown, text: string, tag: string): boolean => asString(own(choice, 'finish_reason')) === 'stop' && !text.includes(`</${tag}>`);

/** What the model and its host tell about replies. */
export interface ReplyTraits {
  /** Of a vendor that runs its own models alone, which leave no tags in a text. */
  readonly firstParty?: boolean;
  /** The tag around thinking in front of the text. */
  readonly tag?: string;
}

/** The stream of one reply, or a whole reply as its only chunk. Only choice 0 is read. */
export class AlphaReader implements ReplyReader {
  #started = false;
  #over = false;
  #blocks = 0;
  /** The open block that is not a call. */
  #current: { kind: Kind; index: number; detail: unknown; signed: boolean } | null = null;
  /** Undefined before anything was said, null where no tag can come any more. */
  #leading: LeadingThinking | null | undefined;
  #refused = false;
  #finish: string | null = null;
  #tier: ServedTier | undefined;
  #searched = false;
  readonly #calls = new CallReader(() => this.#newBlock());
  readonly #losses = new Losses();
  readonly #whole: boolean;
  readonly #tag: string;

  constructor({ firstParty = false, tag = thinkingTag }: ReplyTraits = {}, whole = false) {
    if (firstParty) this.#leading = null;
    this.#whole = whole;
    this.#tag = tag;
  }

  /** Within leading thinking each piece may hold the tag that ends it. */
  get steady(): boolean {
    return !this.#leading;
  }

  read(record: StreamRecord): ChatEvent[] {
    if (this.#over) return [];
    const events: ChatEvent[] = [];
    if (record.json === undefined) {
      if (record.data.trim() === '[DONE]') this.#end(events);
      else if (record.event === 'error') this.#fail(readStreamError(undefined, record.data), events);
      return events;
    }
    if (own(record.json, 'error') !== undefined || record.event === 'error') {
      this.#fail(readStreamError(record.json, record.data), events);
      return events;
    }
    this.#readChunk(record.json, events);
    return events;
  }

  /** Some vendors omit `[DONE]`: a reply whose finish was seen is complete; without one the stream broke. */
  finish(): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (!this.#over && this.#finish !== null) this.#end(events);
    return events;
  }

  #readChunk(chunk: unknown, events: ChatEvent[]): void {
    const choices = asArray(own(chunk, 'choices')) ?? [];
    if (choices.length === 0 && failureBeside(chunk) !== undefined) return this.#fail(readStreamError(chunk, ''), events);
    if (choices.length > 0 || asString(own(chunk, 'id'))) this.#start(chunk, events);
    const choice = choices.find((candidate) => (asNumber(own(candidate, 'index')) ?? 0) === 0);
    if (choice !== undefined) this.#readChoice(choice, events);
    const stopped = asString(own(own(chunk, 'x_groq'), 'error'));
    if (stopped && !this.#over) return this.#fail(readStreamError({ error: stopped }, ''), events);
    if (choices.length > (choice === undefined ? 0 : 1)) this.#losses.add('reply.choices', 'dropped', 'Further answers have no place.');
    // Two vendors have their own places for it.
    const counts = own(chunk, 'usage') ?? own(own(chunk, 'x_groq'), 'usage') ?? own(choice, 'usage');
    const usage = readUsage(counts);
    if (this.#over) return;
    if (this.#finish !== null || choices.length === 0) this.#readBeside(chunk, choice, events);
    if (!usage) return;
    this.#start(chunk, events);
    loseCounts(counts, this.#losses);
    events.push({ type: 'usage', usage: { ...usage, ...billedTier(own(chunk, 'service_tier') ?? this.#tier, tiersRead) } });
  }

  #readBeside(chunk: unknown, choice: unknown, events: ChatEvent[]): void {
    this.#tier = readServedTier(own(chunk, 'service_tier'), tiersRead, this.#losses) ?? this.#tier;
    loseBeside(chunk, choice, this.#losses);
    const annotations = this.#searched ? undefined : readSearched(chunk, this.#losses);
    if (!annotations) return;
    this.#searched = true;
    this.#start(chunk, events);
    this.#emitRaw({ place: 'message', fields: { annotations } }, events);
  }
  #start(chunk: unknown, events: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    const id = asString(own(chunk, 'id'));
    const model = asString(own(chunk, 'model'));
    const createdAt = asNumber(own(chunk, 'created'));
    this.#tier = readServedTier(own(chunk, 'service_tier'), tiersRead, this.#losses);
    events.push({
      type: 'start',
      ...(id && { id }),
      ...(model && { model }),
      ...(createdAt !== undefined && { createdAt }),
      ...(this.#tier !== undefined && { servedTier: this.#tier }),
    });
  }

  #readChoice(choice: unknown, events: ChatEvent[]): void {
    // Perplexity has both in every choice: the message is whole, and its delta empty, unless the reply is a stream
    // (https://raw.githubusercontent.com/api-evangelist/perplexity/refs/heads/main/json-schema/perplexity-choice-schema.json).
    const delta = this.#whole && own(choice, 'message') !== undefined ? undefined : own(choice, 'delta');
    // A filtered whole reply may lack its message altogether.
    const message = delta ?? own(choice, 'message');
    if (delta === undefined) this.#readWholeThinking(message, events);
    else this.#readThinking(message, events);
    // A legacy completion has its text where others have a message.
    const content = message === undefined ? own(choice, 'text') : own(message, 'content');
    if (this.#leading === undefined && typeof content === 'string' && delta === undefined && speaksOfTag(choice, content, this.#tag)) this.#leading = null;
    this.#readContent(content, events);
    const refusal = asString(own(message, 'refusal'));
    if (refusal) {
      this.#endLeading(events);
      this.#refused = true;
      this.#say('refusal', refusal, events);
    }
    // While the text is open to which annotations and probabilities belong.
    this.#readRaw('message', message, rawMessageFields, events);
    this.#readRaw('choice', choice, rawChoiceFields, events);
    this.#readCalls(message, events);
    this.#readMessageSignature(message, events);
    this.#readReason(choice, events);
  }

  #readThinking(message: unknown, events: ChatEvent[]): void {
    const text = readReasoningText(message);
    const details = readDetails(message);
    if (text !== '' && !details.some((detail) => detail.text !== '')) {
      this.#endLeading(events);
      this.#say('thinking', text, events);
    }
    for (const detail of details) this.#readDetail(detail, events);
  }

  /** In a whole message, texts and signatures are separate fields; they are paired as in a caller's history. */
  #readWholeThinking(message: unknown, events: ChatEvent[]): void {
    for (const { text, signature, redacted } of readThinking(message)) {
      this.#endLeading(events);
      const index = this.#newBlock();
      if (redacted) events.push({ type: 'block-start', index, block: { type: 'redacted-thinking', data: signature ?? '' } });
      else events.push({ type: 'block-start', index, block: { type: 'thinking' } });
      if (text !== '') events.push({ type: 'thinking-delta', index, text });
      if (signature !== undefined && !redacted) events.push({ type: 'signature', index, signature });
      events.push({ type: 'block-end', index });
    }
  }

  #readDetail(detail: ReadDetail, events: ChatEvent[]): void {
    if (detail.sealed) {
      if (detail.signature === undefined) return;
      this.#endLeading(events);
      this.#closeCurrent(events);
      const index = this.#newBlock();
      events.push({ type: 'block-start', index, block: { type: 'redacted-thinking', data: detail.signature } }, { type: 'block-end', index });
      return;
    }
    if (detail.text === '' && detail.signature === undefined) return;
    this.#endLeading(events);
    const current = this.#current;
    const other =
      current?.kind === 'thinking' && (current.signed || (current.detail !== undefined && detail.index !== undefined && current.detail !== detail.index));
    if (other) this.#closeCurrent(events);
    const block = this.#open('thinking', events);
    block.detail ??= detail.index;
    if (detail.text !== '') events.push({ type: 'thinking-delta', index: block.index, text: detail.text });
    if (detail.signature === undefined) return;
    block.signed = true;
    events.push({ type: 'signature', index: block.index, signature: detail.signature });
  }

  /** Text, or a list of parts of which thinking parts are one kind. */
  #readContent(content: unknown, events: ChatEvent[]): void {
    if (typeof content === 'string') {
      if (content !== '') this.#readText(content, events);
      return;
    }
    for (const part of asArray(content) ?? []) {
      const thinking = readThinkingOf(part);
      const text = thinking ?? asString(part) ?? asString(own(part, 'text')) ?? '';
      const isSigned = thinking !== undefined && (asArray(own(part, 'summary')) ?? []).some((piece) => asString(own(piece, 'signature')));
      if (isSigned) this.#losses.add('reply.signature', 'dropped', 'A signature on a part of this kind has no counterpart.');
      if (text === '') {
        if (thinking === undefined) this.#losePart(part);
        continue;
      }
      this.#endLeading(events);
      this.#say(thinking === undefined ? 'text' : 'thinking', text, events);
    }
  }

  #losePart(part: unknown): void {
    const type = asString(own(part, 'type')) ?? 'text';
    if (type !== 'text') this.#losses.add('reply.content', 'dropped', 'A part that is no text has no place.');
  }

  #readText(text: string, events: ChatEvent[]): void {
    if (this.#leading === undefined) this.#leading = mayBeThinking(text) ? new LeadingThinking(this.#tag) : null;
    if (this.#leading === null) return this.#say('text', text, events);
    for (const piece of this.#leading.push(text)) this.#say(piece.kind, piece.text, events);
    if (this.#leading.over) this.#leading = null;
  }

  /** Something else than text follows: what looked like the beginning of a tag was text. */
  #endLeading(events: ChatEvent[]): void {
    if (this.#leading) for (const piece of this.#leading.finish()) this.#say(piece.kind, piece.text, events);
    this.#leading = null;
  }

  #readCalls(message: unknown, events: ChatEvent[]): void {
    const called = own(message, 'tool_calls');
    // One call by itself, as TGI streams it (https://github.com/huggingface/text-generation-inference/issues/2864).
    const listed = asArray(called) ?? (own(called, 'function') === undefined ? [] : [called]);
    const legacy = own(message, 'function_call');
    const fragments = listed.length === 0 && legacy !== undefined ? [{ index: 0, function: legacy }] : listed;
    if (fragments.length > 0) {
      this.#endLeading(events);
      this.#closeCurrent(events);
    }
    for (const fragment of fragments) this.#calls.read(fragment, events);
  }

  /** A signature on the whole message or delta belongs to the call in it, else to the text. */
  #readMessageSignature(message: unknown, events: ChatEvent[]): void {
    const signature = readSignatureOf(message);
    if (signature === undefined) return;
    if (this.#calls.any) return this.#calls.sign(signature, events);
    this.#endLeading(events);
    events.push({ type: 'signature', index: this.#open('text', events).index, signature });
  }

  #readRaw(place: RawFields['place'], holder: unknown, names: readonly string[], events: ChatEvent[]): void {
    const fields: JsonObject = {};
    for (const name of names) {
      const value = own(holder, name);
      if (value !== undefined && asArray(value)?.length !== 0) fields[name] = value;
    }
    if (Object.keys(fields).length === 0) return;
    // Fields that accompany each piece, such as those of a choice, do not mean that the text is over.
    if (place === 'message' && this.#leading?.undecided) this.#endLeading(events);
    this.#emitRaw({ place, fields }, events);
  }

  #emitRaw(value: RawFields, events: ChatEvent[]): void {
    const index = this.#newBlock();
    const sound = soundIn(value.fields);
    const block: BlockStart = { type: 'raw', protocol: 'alpha', value, ...(sound > 0 && { sound }) };
    events.push({ type: 'block-start', index, block }, { type: 'block-end', index });
  }

  /** Kept until the end is sure: some vendors repeat it, and some send content after a first one. */
  #readReason(choice: unknown, events: ChatEvent[]): void {
    const reason = asString(own(choice, 'finish_reason'));
    if (reason === undefined) return;
    if (isFailingReason(reason)) {
      // One aggregator puts the error of the vendor behind it into the choice.
      const error = own(choice, 'error');
      if (error !== undefined) return this.#fail(readStreamError({ error }, ''), events);
      this.#fail(
        {
          class: reason === 'insufficient_system_resource' ? 'overloaded' : 'server',
          code: reason,
          message: 'The upstream gave up in the middle of its reply.',
        },
        events,
      );
      return;
    }
    // '' is one vendor's end and other vendors' "not yet": only the terminator tells, so it proves nothing.
    if (reason !== '') this.#finish = reason;
  }

  #say(kind: Kind, text: string, events: ChatEvent[]): void {
    const { index } = this.#open(kind, events);
    events.push({ type: `${kind}-delta`, index, text });
  }

  /** The open block of this kind, or a new one: what follows another kind is a block of its own. */
  #open(kind: Kind, events: ChatEvent[]): { index: number; detail: unknown; signed: boolean } {
    if (this.#current?.kind === kind) return this.#current;
    this.#closeCurrent(events);
    this.#calls.settle(events);
    this.#current = { kind, index: this.#newBlock(), detail: undefined, signed: false };
    events.push({ type: 'block-start', index: this.#current.index, block: { type: kind } });
    return this.#current;
  }

  #closeCurrent(events: ChatEvent[]): void {
    if (this.#current) events.push({ type: 'block-end', index: this.#current.index });
    this.#current = null;
  }

  #newBlock(): number {
    return this.#blocks++;
  }

  #end(events: ChatEvent[]): void {
    this.#over = true;
    this.#endLeading(events);
    if (this.#finish === null && this.#blocks === 0) {
      // Nothing but a terminator: a break, whatever the upstream calls it.
      return;
    }
    this.#closeCurrent(events);
    this.#calls.closeAll(events);
    const native = this.#finish ?? '';
    events.push(
      {
        type: 'finish',
        reason: readFinish(native, { toolCall: this.#calls.any, refusal: this.#refused }),
        ...(native !== '' && { native }),
        ...(this.#tier !== undefined && { servedTier: this.#tier }),
        ...lostIn(this.#losses),
      },
      { type: 'end' },
    );
  }

  #fail(error: ReturnType<typeof readStreamError>, events: ChatEvent[]): void {
    this.#over = true;
    events.push({ type: 'error', error });
  }
}

/** A whole JSON reply → the same events. */
export function readWhole(body: unknown, traits?: ReplyTraits): ChatEvent[] {
  const reader = new AlphaReader(traits, true);
  const events = reader.read({ data: '', json: body ?? {} });
  if (events.at(-1)?.type === 'error') return events;
  const choices = asArray(own(body, 'choices'));
  // Where nothing else shows that a chat completion came, something else answered.
  const isCompletion = choices !== undefined || own(body, 'object') === 'chat.completion' || own(body, 'usage') !== undefined;
  if (!isCompletion) return [unreadable('The reply holds no choices.')];
  if (!choices?.length) return [{ type: 'error', error: { class: 'broken', message: 'The reply holds no choices.' } }];
  return [...events, ...reader.read({ data: '[DONE]', json: undefined })];
}

/** Usage of a reply whose choices all ended well. */
export function finishedUsage(body: unknown): Usage | undefined {
  const choices = asArray(own(body, 'choices'));
  if (!choices?.length || own(body, 'error') !== undefined) return undefined;
  let isThere = false;
  for (const choice of choices) {
    const reason = asString(own(choice, 'finish_reason'));
    if (!reason || isFailingReason(reason)) return undefined;
    isThere ||= (asNumber(own(choice, 'index')) ?? 0) === 0;
  }
  const usage = isThere ? readUsage(own(body, 'usage')) : undefined;
  return usage && { ...usage, ...billedTier(own(body, 'service_tier'), tiersRead) };
}
