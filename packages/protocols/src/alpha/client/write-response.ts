import type { Loss } from '@model-gateway/contracts';
import type { ChatEvent } from '../../chat/event.ts';
import { type Message, unfoldMessage } from '../../chat/fold.ts';
import type { ReplyContext, ReplyWriter } from '../../contract/index.ts';
import { asArray, asObject, type JsonObject, own } from '../../kit/read.ts';
import { writeUsage } from '../shared/usage.ts';
import type { Echo, WireFinish, WireMessage, WireToolCall } from '../shared/wire.ts';
import { MessageSteps, type Step } from './reply-steps.ts';

const readEcho = (value: unknown): Echo => ({ includeUsage: own(value, 'includeUsage') === true, legacyFunctions: own(value, 'legacyFunctions') === true });

/** Canonical events → the caller's stream of chunks. */
export class AlphaWriter implements ReplyWriter {
  readonly #steps: MessageSteps;
  readonly #head: string;
  readonly #tail: string;
  readonly #includeUsage: boolean;
  #begun = false;
  #ended = false;
  #call: { index: number; step: Step } | null = null;

  constructor(context: ReplyContext) {
    const echo = readEcho(context.echo);
    this.#steps = new MessageSteps(context, echo.legacyFunctions);
    this.#includeUsage = echo.includeUsage;
    const { model, createdAt: created } = context;
    // All chunks repeat these, so they are printed once.
    this.#head = `data: ${JSON.stringify({ id: context.mintId('chatcmpl-'), object: 'chat.completion.chunk', created, model }).slice(0, -1)},"choices":[`;
    this.#tail = this.#includeUsage ? '],"usage":null}\n\n' : ']}\n\n';
  }

  get losses(): Loss[] {
    return this.#steps.losses.list;
  }

  write(event: ChatEvent): string {
    if (this.#ended || event.type === 'error') return '';
    if (event.type === 'start') return this.#begin();
    if (event.type === 'end') return this.#end();
    const step = this.#steps.take(event);
    if (event.type === 'block-start' && step?.delta?.tool_calls) {
      const held = this.#release();
      this.#call = { index: event.index, step };
      return held;
    }
    if (event.type === 'signature' && event.index === this.#call?.index && step !== null) this.#sign(step);
    else if (step !== null) return this.#release() + this.#begin() + this.#chunk(step);
    return event.type === 'signature' ? this.#release() : '';
  }

  /** Clients take the signature of a call from its first chunk alone, as its vendor sends it. */
  #sign({ delta }: Step): void {
    const { step } = this.#call!;
    const [call] = step.delta?.tool_calls ?? [];
    const { index: _index, function: _function, custom: _custom, ...signature } = delta?.tool_calls?.[0] ?? {};
    if (call) step.delta = { tool_calls: [{ ...call, ...signature }] };
  }

  /** The beginning of a call, which is kept back until it is known whether its signature comes next. */
  #release(): string {
    const held = this.#call;
    if (held === null) return '';
    this.#call = null;
    return this.#begin() + this.#chunk(held.step);
  }

  /** The first delta has the role, and only the first. */
  #begin(): string {
    if (this.#begun) return '';
    this.#begun = true;
    return this.#chunk({ delta: { role: 'assistant', content: '', refusal: null } });
  }

  #chunk({ delta, ...step }: Step): string {
    // What comes last has a chunk of its own: the one that ends the reply has no delta.
    if (delta && step.finish !== undefined) return this.#chunk({ delta }) + this.#chunk(step);
    const extra = step.choice === undefined ? '"logprobs":null' : JSON.stringify(step.choice).slice(1, -1);
    const finish = step.finish === undefined ? 'null' : `"${step.finish}"`;
    const tail = step.tier === undefined ? this.#tail : `],"service_tier":"${step.tier}"${this.#tail.slice(1)}`;
    return `${this.#head}{"index":0,"delta":${JSON.stringify(delta ?? {})},${extra},"finish_reason":${finish}}${tail}`;
  }

  #end(): string {
    const begun = this.#release() + this.#begin();
    const open = this.#steps.finishIfOpen();
    this.#ended = true;
    const usage = this.#includeUsage ? `${this.#head}],"usage":${JSON.stringify(writeUsage(this.#steps.usage))}}\n\n` : '';
    return `${begun}${open === null ? '' : this.#chunk(open)}${usage}data: [DONE]\n\n`;
  }
}

/** A whole reply as the JSON value to print. */
export function writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] } {
  const steps = new MessageSteps(context, readEcho(context.echo).legacyFunctions);
  const whole = new WholeMessage();
  for (const event of unfoldMessage(message)) {
    const step = steps.take(event);
    if (step !== null) whole.add(step);
  }
  return {
    body: {
      id: context.mintId('chatcmpl-'),
      object: 'chat.completion',
      created: context.createdAt,
      model: context.model,
      choices: [whole.print()],
      ...(whole.tier !== undefined && { service_tier: whole.tier }),
      usage: writeUsage(steps.usage),
    },
    losses: steps.losses.list,
  };
}

/** Steps, added up. */
class WholeMessage {
  tier: string | undefined;
  readonly #message: WireMessage = { role: 'assistant', content: null, refusal: null };
  readonly #calls: WireToolCall[] = [];
  readonly #choice: Record<string, unknown> = { logprobs: null };
  #finish: WireFinish = 'stop';

  add(step: Step): void {
    if (step.finish !== undefined) this.#finish = step.finish;
    this.tier ??= step.tier;
    for (const [key, value] of Object.entries(step.choice ?? {})) this.#choice[key] = mergeRaw(this.#choice[key], value);
    const { tool_calls, function_call, ...fields } = step.delta ?? {};
    for (const call of tool_calls ?? []) this.#addCall(call);
    if (function_call) {
      this.#message.function_call ??= { name: function_call.name ?? '', arguments: '' };
      this.#message.function_call.arguments += function_call.arguments;
    }
    for (const [key, value] of Object.entries(fields)) this.#message[key] = mergeRaw(this.#message[key], value);
  }

  #addCall({ index, ...call }: WireToolCall): void {
    const whole = this.#calls[index ?? 0];
    if (!whole) {
      this.#calls.push(call);
      return;
    }
    if (whole.function && call.function) whole.function.arguments += call.function.arguments;
    if (whole.custom && call.custom) whole.custom.input += call.custom.input;
    if (call.extra_content) whole.extra_content = call.extra_content;
  }

  print(): unknown {
    if (this.#calls.length > 0) this.#message.tool_calls = this.#calls;
    return { index: 0, message: this.#message, ...this.#choice, finish_reason: this.#finish };
  }
}

/** Texts and lists grow, objects take what is new, anything else is replaced. `before` is ours to change: it began as a copy. */
function mergeRaw(before: unknown, value: unknown): unknown {
  if (typeof before === 'string' && typeof value === 'string') return before + value;
  const list = asArray(before);
  if (list && Array.isArray(value)) {
    for (const entry of value as unknown[]) list.push(entry);
    return list;
  }
  const object = asObject(before);
  if (!object || !asObject(value)) return typeof value === 'object' ? structuredClone(value) : value;
  for (const [key, inner] of Object.entries(value as object)) define(object, key, mergeRaw(own(object, key), inner));
  return object;
}

/** Sets a key of the upstream's choosing; `__proto__` is a key like any other. */
const define = (object: JsonObject, key: string, value: unknown): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};
