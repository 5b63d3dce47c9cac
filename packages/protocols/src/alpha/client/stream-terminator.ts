import type { Usage } from '@model-gateway/contracts';
import type { GatewayWarning, StreamTerminator, TerminatorContext } from '../../contract/index.ts';
import { asArray, asNumber, asString, own } from '../../kit/read.ts';
import { writeUsage } from '../shared/usage.ts';

const boundary = /\r?\n\r?\n/g;
const finishing = /"finish_reason"\s*:\s*"/;
const counting = /"usage"\s*:\s*\{/;
/** The first piece of a call; an empty list, or null, calls nothing. */
const calling = /"(?:tool_calls"\s*:\s*\[\s*\{|function_call"\s*:\s*\{)/;
const laterNumber = /"index"\s*:\s*[1-9]/;
const endMark = '[DONE]';
/**
 * Everything that is worth a look: a finish, the terminator, the counts, or a choice beyond the first. Quotes inside strings are escaped, so text can
 * fake none of them but the terminator, which is judged again. One after the other: an expression of alternatives is tried at every character.
 */
const isInteresting = (text: string): boolean => text.includes(endMark) || finishing.test(text) || counting.test(text) || laterNumber.test(text);
/** An event that never ends is not kept beyond this (characters). */
const maxCarried = 1 << 20;
/** Choices that are told apart. */
const maxChoices = 128;

/** Watches a stream of chunks on its way out and can end it. Only the first chunk and the few that finish a choice are parsed. */
export class AlphaTerminator implements StreamTerminator {
  ended = false;
  readonly #context: TerminatorContext;
  /** One byte, one character: what is looked for is ASCII, and a cut inside a character cannot matter. */
  #carry = '';
  #identity: { id: string; created: number; model: string } | null = null;
  /** The stream is one of legacy completions: text is a field of the choice itself. */
  readonly #legacy: boolean;
  #reportsUsage = false;
  #usageSent = false;
  #called = false;
  /** Choice numbers, and whether each has its finish. */
  readonly #choices = new Map<number, boolean>();
  /** Numbers above 0 that were looked at already: choices, or only positions of tool calls. */
  readonly #seenNumbers = new Set<string>();
  #lastFinish: string | null = null;

  constructor(context: TerminatorContext) {
    this.#context = context;
    this.#legacy = context.operation === 'complete';
  }

  observe(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    // A boundary may lie across two pieces: three characters back are enough to see it.
    const from = Math.max(0, this.#carry.length - 3);
    this.#carry += text;
    boundary.lastIndex = from;
    let last = -1;
    for (let match = boundary.exec(this.#carry); match !== null; match = boundary.exec(this.#carry)) last = boundary.lastIndex;
    if (last < 0) {
      if (this.#carry.length > maxCarried) this.#carry = this.#carry.slice(-1024);
      return;
    }
    const whole = this.#carry.slice(0, last);
    this.#called ||= calling.test(whole);
    this.#carry = this.#carry.slice(last);
    if (this.#identity === null || isInteresting(whole)) for (const event of whole.split(boundary)) this.#look(event);
  }

  /** The pieces of a call come one by one, and which is its last is not said: a caller with any of them may have acted on it. */
  get repeatable(): boolean {
    const finished = this.#choices.size > 0 && [...this.#choices.values()].every(Boolean);
    return !this.ended && !finished && !this.#called && !calling.test(this.#carry);
  }

  /** More words neither finish a choice nor open one. */
  passes(): boolean {
    return this.#identity !== null && this.#carry === '';
  }

  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string {
    // A last event without its blank line is whole nevertheless.
    const cut = this.#carry.trim() !== '';
    if (cut && !this.ended) {
      this.#look(this.#carry);
      if (this.ended) return '\n\n';
    }
    if (this.ended) return '';
    this.ended = true;
    const marked: GatewayWarning = { reason: warning.reason, detail: warning.detail, last_finish_reason: this.#lastFinish, timestamp: warning.timestamp };
    const role = this.#choices.size === 0 && !this.#legacy ? this.#print([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }]) : '';
    if (this.#choices.size === 0) this.#choices.set(0, false);
    const open = [...this.#choices]
      .filter(([, finished]) => !finished)
      .map(([index]) => ({ index, ...(this.#legacy ? { text: '', logprobs: null } : { delta: {} }), finish_reason: 'length' }));
    const counts = usage !== undefined && this.#reportsUsage && !this.#usageSent ? this.#print([], { usage: writeUsage(usage) }) : '';
    // The blank line that a cut event lacks lets the reader find the next one.
    return `${cut ? '\n\n' : ''}${role}${this.#print(open, { _gateway_warning: marked })}${counts}data: [DONE]\n\n`;
  }

  #print(choices: unknown[], extra: object = {}): string {
    this.#identity ??= { id: this.#mintId(), created: this.#context.createdAt, model: this.#context.model };
    const usage = this.#reportsUsage && !('usage' in extra) ? { usage: null } : {};
    return `data: ${JSON.stringify({ id: this.#identity.id, object: this.#legacy ? 'text_completion' : 'chat.completion.chunk', created: this.#identity.created, model: this.#identity.model, choices, ...usage, ...extra })}\n\n`;
  }

  #mintId(): string {
    return this.#context.mintId(this.#legacy ? 'cmpl-' : 'chatcmpl-');
  }

  #look(event: string): void {
    if (!event.includes('data:')) return;
    if (event.includes(endMark) && /^data: ?\[DONE\]\s*$/m.test(event)) {
      this.ended = true;
      return;
    }
    if (counting.test(event)) this.#usageSent = true;
    if (this.#identity !== null && !finishing.test(event) && !this.#hasNewNumber(event)) return;
    this.#readChunk(parseData(event));
  }

  #hasNewNumber(event: string): boolean {
    if (this.#seenNumbers.size >= maxChoices || !laterNumber.test(event)) return false;
    let fresh = false;
    for (const [, number] of event.matchAll(/"index"\s*:\s*([1-9]\d{0,8})/g)) {
      if (this.#seenNumbers.has(number!)) continue;
      this.#seenNumbers.add(number!);
      fresh = true;
    }
    return fresh;
  }

  #readChunk(chunk: unknown): void {
    const choices = asArray(own(chunk, 'choices'));
    if (!choices) return;
    // The first chunk of one vendor is about filters and has neither id nor model.
    if (this.#identity === null && (choices.length > 0 || asString(own(chunk, 'id')))) this.#identify(chunk);
    for (const choice of choices) {
      const index = asNumber(own(choice, 'index')) ?? 0;
      const finish = asString(own(choice, 'finish_reason')) || null;
      if (finish !== null) this.#lastFinish = finish;
      if (this.#choices.has(index) || this.#choices.size < maxChoices) this.#choices.set(index, (this.#choices.get(index) ?? false) || finish !== null);
    }
  }

  #identify(chunk: unknown): void {
    this.#identity = {
      id: asString(own(chunk, 'id')) || this.#mintId(),
      created: asNumber(own(chunk, 'created')) ?? this.#context.createdAt,
      model: asString(own(chunk, 'model')) || this.#context.model,
    };
    // Chunks carry `usage: null` exactly when the caller asked for the numbers at the end.
    this.#reportsUsage = Object.hasOwn(chunk as object, 'usage');
  }
}

const nonAscii = /[^\x00-\x7f]/;
const dataLines = (event: string): string =>
  event
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5))
    .join('\n');

/** The JSON of an event's data lines; undefined when it has none that parses. */
function parseData(event: string): unknown {
  const data = event.startsWith('data:') && !event.includes('\n') ? event.slice(5) : dataLines(event);
  try {
    return JSON.parse(nonAscii.test(data) ? Buffer.from(data, 'latin1').toString('utf8') : data);
  } catch {
    // Comments and foreign events are none of ours; they change nothing about how the stream is to end.
    return undefined;
  }
}
