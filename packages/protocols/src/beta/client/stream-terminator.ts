/** Watches the bytes that go to a caller and can end the stream properly after any event; deltas are counted, never parsed. */
import type { Usage } from '@model-gateway/contracts';
import type { GatewayWarning, StreamTerminator, TerminatorContext } from '../../contract/index.ts';
import { asNumber, asString, own } from '../../kit/read.ts';
import { writeUsage } from '../shared/usage.ts';
import { printEvent } from '../shared/wire.ts';

/** What is kept of one line. Events that are looked into are far shorter, except a tool's whole result, of which the head is enough. */
const maxLineLength = 16_384;

/** About what JSON and names cost around a delta's text, for the estimate of what was written. */
const deltaFrame = 100;

/** The same for the whole event with its name; more bytes than the second may be several events, and are counted one by one. */
const eventFrame = 130;
const maxPassed = 250;

/** In the head of an event too long to be parsed. */
const toolUse = /"content_block"\s*:\s*\{\s*(?:"[a-z_]+"\s*:\s*"[^"\\]*"\s*,\s*)*"type"\s*:\s*"tool_use"/;

class BetaTerminator implements StreamTerminator {
  readonly #context: TerminatorContext;
  /** The line that has not ended yet, up to its bound, and how long it really is. */
  #line = '';
  #lineLength = 0;
  #event = '';
  #data = '';
  #started = false;
  #delivered = false;
  #ended = false;
  /** Index of the block that is open; there is never more than one. */
  #open: number | null = null;
  #blocks = 0;
  /** The open block is a call that the caller runs. */
  #calling = false;
  /** Such a block was completed. */
  #called = false;
  #stopReason: string | null = null;
  #shownBytes = 0;

  constructor(context: TerminatorContext) {
    this.#context = context;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get repeatable(): boolean {
    return !this.#ended && !this.#delivered && !this.#called;
  }

  observe(bytes: Uint8Array): void {
    // One byte, one character: nothing but ASCII is looked at, and a cut inside a character cannot matter.
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    let from = 0;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      this.#append(text, from, at);
      this.#endLine();
      from = at + 1;
    }
    this.#append(text, from, text.length);
  }

  passes(length: number): boolean {
    if (length > maxPassed || this.#line !== '' || this.#event !== '') return false;
    this.#shownBytes += Math.max(0, length - eventFrame);
    return true;
  }

  close(warning: Omit<GatewayWarning, 'last_finish_reason'>, usage?: Usage): string {
    if (this.#ended || this.#context.streamForm !== 'sse') return '';
    this.#ended = true;
    const { reason, detail, timestamp } = warning;
    const _gateway_warning: GatewayWarning = { reason, detail, last_finish_reason: this.#stopReason, timestamp };
    if (this.#delivered) return printEvent({ type: 'message_stop', _gateway_warning });
    return (
      (this.#started ? '' : this.#start(usage)) +
      (this.#open === null ? '' : printEvent({ type: 'content_block_stop', index: this.#open })) +
      // Never `tool_use` nor a natural end, or an agent would run a call that was cut.
      printEvent({ type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage: this.#count(usage), _gateway_warning }) +
      printEvent({ type: 'message_stop' })
    );
  }

  #append(text: string, from: number, to: number): void {
    const remaining = maxLineLength - this.#line.length;
    if (remaining > 0 && to > from) this.#line += text.slice(from, Math.min(to, from + remaining));
    this.#lineLength += to - from;
  }

  #endLine(): void {
    const line = this.#line.endsWith('\r') ? this.#line.slice(0, -1) : this.#line;
    if (line === '') this.#endEvent();
    else if (line.startsWith('event:')) this.#event = line.slice(6).trim();
    else if (line.startsWith('data:')) this.#readData(line);
    this.#line = '';
    this.#lineLength = 0;
  }

  #readData(line: string): void {
    if (this.#event === '') this.#event = /"type"\s*:\s*"([a-z_]+)"/.exec(line.slice(0, 256))?.[1] ?? '';
    if (this.#event === 'content_block_delta') this.#shownBytes += Math.max(0, this.#lineLength - deltaFrame);
    else this.#data = line.slice(5);
  }

  #endEvent(): void {
    observers.get(this.#event)?.(this);
    this.#event = '';
    this.#data = '';
  }

  sawStart(): void {
    this.#started = true;
  }

  sawBlockStart(): void {
    this.#open = asNumber(own(this.#json(), 'index')) ?? this.#namedIndex() ?? this.#blocks;
    this.#blocks = Math.max(this.#blocks, this.#open) + 1;
    this.#calling = this.#isCall();
  }

  sawBlockStop(): void {
    this.#open = null;
    this.#called ||= this.#calling;
    this.#calling = false;
  }

  sawDelta(): void {
    const stopReason = asString(own(own(this.#json(), 'delta'), 'stop_reason'));
    if (stopReason === undefined) return;
    this.#delivered = true;
    this.#stopReason = stopReason;
  }

  sawStop(): void {
    this.#ended = true;
  }

  /** The event's JSON; undefined when it was longer than what is kept. */
  #json(): unknown {
    try {
      return JSON.parse(this.#data) as unknown;
    } catch {
      return undefined;
    }
  }

  #isCall(): boolean {
    const type = asString(own(own(this.#json(), 'content_block'), 'type'));
    return type === undefined ? toolUse.test(this.#data) : type === 'tool_use';
  }

  /** From the head of a long event, where this protocol has it. */
  #namedIndex(): number | undefined {
    const found = /^\s*\{\s*(?:"type"\s*:\s*"content_block_start"\s*,\s*)?"index"\s*:\s*(\d{1,9})/.exec(this.#data)?.[1];
    return found === undefined ? undefined : Number(found);
  }

  #start(usage: Usage | undefined): string {
    const { context, output } = { context: this.#context, output: 1 };
    const counts = writeUsage({ input: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0, reasoning: 0, ...usage, output });
    return printEvent({
      type: 'message_start',
      message: {
        id: context.mintId('msg_'),
        type: 'message',
        role: 'assistant',
        model: context.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: counts,
      },
    });
  }

  /** What was metered, else the output as the bytes suggest it; the input stays as `message_start` said it. */
  #count(usage: Usage | undefined): unknown {
    return usage ? writeUsage(usage) : { output_tokens: Math.ceil(this.#shownBytes / 4) };
  }
}

const observers: ReadonlyMap<string, (terminator: BetaTerminator) => void> = new Map([
  ['message_start', (terminator) => terminator.sawStart()],
  ['content_block_start', (terminator) => terminator.sawBlockStart()],
  ['content_block_stop', (terminator) => terminator.sawBlockStop()],
  ['message_delta', (terminator) => terminator.sawDelta()],
  ['message_stop', (terminator) => terminator.sawStop()],
]);

export const createTerminator = (context: TerminatorContext): StreamTerminator => new BetaTerminator(context);
