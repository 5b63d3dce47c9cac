import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord, Target } from '../../contract/index.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { LeadingThinking } from '../../kit/leading-thinking.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { tokensOfText } from '../../kit/written-tokens.ts';
import { readStreamError } from './errors.ts';
import { readFinish } from './stop-reasons.ts';
import { estimateUsage, readUsage } from './usage.ts';

interface OpenCall {
  id: string;
  index: number;
}

/** More calls than one reply has; the others would only cost memory. */
const maxCalls = 256;

/**
 * The stream of one reply. The service names neither the end nor, mostly, a reason: a reply is complete when its body ended after one of the events
 * that close every recorded reply (how full the context is, what it cost), with no call left open.
 */
export class IdeStreamingReader implements ReplyReader {
  readonly #target: Target;
  readonly #handlers: Readonly<Record<string, (payload: unknown, events: ChatEvent[], record: StreamRecord) => void>>;
  readonly #leading = new LeadingThinking('thinking');
  readonly #seenCalls = new Set<string>();
  #started = false;
  #over = false;
  #closing = false;
  #blocks = 0;
  #current: { kind: 'text' | 'thinking'; index: number } | null = null;
  #call: OpenCall | null = null;
  #calls = 0;
  #reason = '';
  #percentage: unknown;
  #counted = false;
  readonly #losses = new Losses();
  /** Tokens, in fractions. */
  readonly #said = { output: 0, reasoning: 0 };

  constructor(target: Target) {
    this.#target = target;
    const text = (payload: unknown, events: ChatEvent[]): void => this.#readText(asString(own(payload, 'content')) ?? '', events);
    const closing = (): void => {
      this.#closing = true;
    };
    this.#handlers = {
      'initial-response': (payload, events) => this.#start(asString(own(payload, 'conversationId')), events),
      messageMetadataEvent: (payload, events) => this.#start(asString(own(payload, 'utteranceId')), events),
      assistantResponseEvent: text,
      codeEvent: text,
      reasoningContentEvent: (payload, events) => this.#readReasoning(payload, events),
      toolUseEvent: (payload, events) => this.#readCall(payload, events),
      supplementaryWebLinksEvent: (payload, events) => this.#cite(asArray(own(payload, 'supplementaryWebLinks')) ?? [], events),
      citationEvent: (payload, events) => this.#cite([{ url: own(payload, 'citationLink'), title: own(payload, 'citationText') }], events),
      codeReferenceEvent: () => this.#losses.dropped('reply.codeReferences', 'Whose code an answer resembles has no place.'),
      contextUsageEvent: (payload) => {
        closing();
        this.#percentage = own(payload, 'contextUsagePercentage');
      },
      meteringEvent: closing,
      followupPromptEvent: closing,
      metadataEvent: (payload, events) => this.#readMetadata(payload, events),
      invalidStateEvent: (_payload, events, record) => this.#fail(record, events),
      error: (_payload, events, record) => this.#fail(record, events),
    };
  }

  read(record: StreamRecord): ChatEvent[] {
    if (this.#over) return [];
    const events: ChatEvent[] = [];
    const name = record.event ?? '';
    if (record.failure !== undefined) this.#fail(record, events);
    // Other events are about things that no caller of ours knows.
    else if (Object.hasOwn(this.#handlers, name)) this.#handlers[name]?.(record.json, events, record);
    return events;
  }

  finish(): ChatEvent[] {
    const events: ChatEvent[] = [];
    if (this.#over) return events;
    this.#over = true;
    this.#say(this.#leading.finish(), events);
    // A call without its stop, or no closing event: the reply was cut.
    if (this.#call !== null || !this.#closing) return events;
    this.#start(undefined, events);
    this.#closeCurrent(events);
    events.push({
      type: 'finish',
      reason: readFinish(this.#reason, this.#calls > 0),
      ...(this.#reason !== '' && { native: this.#reason }),
      ...lostIn(this.#losses),
    });
    const guess = this.#counted ? undefined : estimateUsage(this.#percentage, this.#target.family?.context, this.#said);
    if (guess) events.push({ type: 'usage', usage: guess, estimated: true });
    events.push({ type: 'end' });
    return events;
  }

  #start(id: string | undefined, events: ChatEvent[]): void {
    if (this.#started) return;
    this.#started = true;
    events.push({ type: 'start', ...(id && { id }) });
  }

  #readText(text: string, events: ChatEvent[]): void {
    this.#start(undefined, events);
    this.#say(this.#leading.push(text), events);
  }

  #say(pieces: ReturnType<LeadingThinking['push']>, events: ChatEvent[]): void {
    for (const { kind, text } of pieces) {
      const { index } = this.#open(kind, events);
      this.#said[kind === 'text' ? 'output' : 'reasoning'] += tokensOfText(text);
      events.push({ type: `${kind}-delta`, index, text });
    }
  }

  #readReasoning(payload: unknown, events: ChatEvent[]): void {
    this.#start(undefined, events);
    const redacted = asString(own(payload, 'redactedContent'));
    if (redacted) {
      this.#closeCurrent(events);
      const index = this.#blocks++;
      events.push({ type: 'block-start', index, block: { type: 'redacted-thinking', data: redacted } }, { type: 'block-end', index });
      return;
    }
    this.#say(
      [{ kind: 'thinking' as const, text: asString(own(payload, 'text')) ?? '' }].filter(({ text }) => text !== ''),
      events,
    );
    const signature = asString(own(payload, 'signature'));
    if (!signature) return;
    events.push({ type: 'signature', index: this.#open('thinking', events).index, signature });
    // Reasoning after a signature is a new block.
    this.#closeCurrent(events);
  }

  #open(kind: 'text' | 'thinking', events: ChatEvent[]): { index: number } {
    if (this.#current?.kind === kind) return this.#current;
    this.#closeCurrent(events);
    this.#current = { kind, index: this.#blocks++ };
    events.push({ type: 'block-start', index: this.#current.index, block: { type: kind } });
    return this.#current;
  }

  #closeCurrent(events: ChatEvent[]): void {
    if (this.#current) events.push({ type: 'block-end', index: this.#current.index });
    this.#current = null;
  }

  /** Calls come one after the other: start, fragments of the arguments, stop. */
  #readCall(payload: unknown, events: ChatEvent[]): void {
    this.#start(undefined, events);
    const id = asString(own(payload, 'toolUseId')) ?? '';
    if (this.#call === null || this.#call.id !== id) this.#openCall(id, asString(own(payload, 'name')) ?? '', events);
    const call = this.#call;
    if (call === null) return;
    const text = argumentText(own(payload, 'input'));
    if (text !== '') events.push({ type: 'arguments-delta', index: call.index, text });
    this.#said.output += tokensOfText(text);
    if (own(payload, 'stop') === true) this.#closeCall(events);
  }

  #openCall(id: string, name: string, events: ChatEvent[]): void {
    // Repeated events of a call that has stopped add nothing to it.
    if (this.#calls >= maxCalls || (id !== '' && this.#seenCalls.has(id))) return;
    this.#say(this.#leading.finish(), events);
    this.#closeCurrent(events);
    this.#closeCall(events);
    this.#calls++;
    this.#seenCalls.add(id);
    this.#call = { id, index: this.#blocks++ };
    events.push({ type: 'block-start', index: this.#call.index, block: { type: 'tool-call', id, name } });
  }

  #closeCall(events: ChatEvent[]): void {
    if (this.#call) events.push({ type: 'block-end', index: this.#call.index });
    this.#call = null;
  }

  /** Pages that an answer cites, in the form of chat completions; for callers of other protocols they are a declared loss. */
  #cite(links: readonly unknown[], events: ChatEvent[]): void {
    const annotations = links.flatMap((link) => {
      const url = asString(own(link, 'url'));
      return url ? [{ type: 'url_citation', url_citation: { url, title: asString(own(link, 'title')) ?? '', start_index: 0, end_index: 0 } }] : [];
    });
    if (annotations.length === 0) return;
    this.#start(undefined, events);
    const index = this.#blocks++;
    const value = { place: 'message', fields: { annotations } };
    events.push({ type: 'block-start', index, block: { type: 'raw', protocol: 'alpha', value } }, { type: 'block-end', index });
  }

  #readMetadata(payload: unknown, events: ChatEvent[]): void {
    this.#closing = true;
    this.#start(undefined, events);
    this.#reason = asString(own(payload, 'stopReason')) ?? this.#reason;
    const usage = readUsage(own(payload, 'tokenUsage'));
    if (!usage) return;
    this.#counted = true;
    events.push({ type: 'usage', usage });
  }

  #fail(record: StreamRecord, events: ChatEvent[]): void {
    this.#over = true;
    events.push({ type: 'error', error: readStreamError(record) });
  }
}

/** The service has no whole replies: a JSON body after 200 is an error, or nothing of its. */
export function readWhole(body: unknown): ChatEvent[] {
  if (own(body, '__type') !== undefined) return [{ type: 'error', error: readStreamError({ data: '', json: body }) }];
  return [unreadable('The upstream answered with JSON instead of a stream.')];
}
