import { AlphaReader, readWhole as readCompatible } from '../../alpha/index.ts';
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { readBodyError } from './errors.ts';
import { Increments, type StreamManner } from './increments.ts';
import { toCompatibleUsage } from './usage.ts';

/** More calls than one reply has; the others would only cost memory. */
const maxCalls = 256;

/** One event or body as this wire has it, whichever of its two result formats. */
interface Seen {
  content: unknown;
  reasoning: string;
  calls: unknown[];
  /** null while the reply goes on. */
  finish: string | null;
  logprobs: unknown;
  citations: unknown[];
  usage: unknown;
  id: string | undefined;
}

/**
 * The stream of one reply. The message inside is the compatible wire's, so its reader does the blocks, calls and reasons; what is done here is
 * the envelope, and turning a stream that repeats itself into pieces.
 */
export class DeltaReader implements ReplyReader {
  readonly #compatible = new AlphaReader();
  readonly #manner: StreamManner = { mode: 'unknown' };
  readonly #text = new Increments(this.#manner);
  readonly #reasoning = new Increments(this.#manner);
  readonly #arguments = new Map<number, Increments>();
  #tokens: number | undefined;
  #cited = false;
  #over = false;

  read(record: StreamRecord): ChatEvent[] {
    if (this.#over) return [];
    const error = readBodyError(record.json, record.event === 'error');
    if (error) {
      this.#over = true;
      return [{ type: 'error', error }];
    }
    const seen = readEnvelope(record.json);
    const context = { grew: this.#grew(seen.usage), last: seen.finish !== null };
    const delta: JsonObject = {
      reasoning_content: this.#reasoning.push(seen.reasoning, context),
      content: withOthers(this.#text.push(textOf(seen.content), context), seen.content),
      tool_calls: seen.calls.flatMap((call, position) => this.#readCall(call, position, context)),
      images: imagesOf(seen.content),
    };
    if (seen.citations.length > 0 && !this.#cited) {
      this.#cited = true;
      delta['annotations'] = seen.citations;
    }
    return this.#compatible.read({ data: '', json: this.#chunk(seen, delta) });
  }

  /** There is no end mark: a reply whose finish was seen is complete. */
  finish(): ChatEvent[] {
    if (this.#over) return [];
    this.#over = true;
    const calls = [...this.#arguments].flatMap(([index, held]) => writeFragment(index, held.finish()));
    const delta = { reasoning_content: this.#reasoning.finish(), content: this.#text.finish(), tool_calls: calls };
    return [...this.#compatible.read({ data: '', json: { choices: [{ index: 0, delta }] } }), ...this.#compatible.finish()];
  }

  #chunk(seen: Seen, delta: JsonObject): JsonObject {
    const usage = toCompatibleUsage(seen.usage);
    return {
      ...(seen.id !== undefined && { id: seen.id }),
      choices: [{ index: 0, delta, finish_reason: seen.finish, logprobs: seen.logprobs }],
      ...(usage && { usage }),
    };
  }

  /** Whether the output grew since the last event, by the token counts. */
  #grew(usage: unknown): boolean | undefined {
    const tokens = asNumber(own(usage, 'output_tokens'));
    const before = this.#tokens;
    this.#tokens = tokens ?? before;
    return tokens === undefined || before === undefined ? undefined : tokens > before;
  }

  #readCall(call: unknown, position: number, context: { grew: boolean | undefined; last: boolean }): unknown[] {
    const index = asNumber(own(call, 'index')) ?? position;
    let held = this.#arguments.get(index);
    if (!held) {
      if (this.#arguments.size >= maxCalls) return [];
      held = new Increments(this.#manner, true);
      this.#arguments.set(index, held);
    }
    const definition = own(call, 'function');
    const fragment = held.push(argumentText(own(definition, 'arguments')), context);
    return [{ index, id: own(call, 'id'), type: 'function', function: { name: own(definition, 'name'), arguments: fragment } }];
  }
}

const writeFragment = (index: number, text: string): unknown[] => (text === '' ? [] : [{ index, function: { arguments: text } }]);

/** `output.choices[0]` of the message format, or `output.text` of the older one. */
function readEnvelope(json: unknown): Seen {
  const output = own(json, 'output');
  const choice = asArray(own(output, 'choices'))?.[0];
  const message = own(choice, 'message');
  const finish = asString(own(choice, 'finish_reason')) ?? asString(own(output, 'finish_reason'));
  return {
    content: own(message, 'content') ?? own(output, 'text'),
    reasoning: asString(own(message, 'reasoning_content')) ?? '',
    calls: asArray(own(message, 'tool_calls')) ?? [],
    // The word "null", not the value, says that the reply goes on.
    finish: finish === undefined || finish === 'null' || finish === '' ? null : finish,
    logprobs: own(choice, 'logprobs'),
    citations: readCitations(own(output, 'search_info')),
    usage: own(json, 'usage'),
    id: asString(own(json, 'request_id')),
  };
}

/** Text, or a list of parts of which those with text are joined. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return (asArray(content) ?? []).map((part) => asString(part) ?? asString(own(part, 'text')) ?? '').join('');
}

const isOther = (part: unknown): boolean => own(part, 'audio') !== undefined || own(part, 'video') !== undefined;

/** The text, and beside it that there was sound or video, which the compatible wire's reader declares as lost. */
const withOthers = (text: string, content: unknown): unknown => (asArray(content)?.some(isOther) ? [{ type: 'text', text }, { type: 'other' }] : text);

const imagesOf = (content: unknown): unknown[] =>
  (asArray(content) ?? []).flatMap((part) => {
    const url = asString(own(part, 'image'));
    return url ? [{ type: 'image_url', image_url: { url } }] : [];
  });

/** Pages that a search found, in the form of chat completions. Their position in the text is unknown. */
const readCitations = (search: unknown): unknown[] =>
  (asArray(own(search, 'search_results')) ?? []).flatMap((result) => {
    const url = asString(own(result, 'url'));
    return url ? [{ type: 'url_citation', url_citation: { url, title: asString(own(result, 'title')) ?? '', start_index: 0, end_index: 0 } }] : [];
  });

/** A whole JSON reply → the same events. */
export function readWhole(body: unknown): ChatEvent[] {
  const error = readBodyError(body, false);
  if (error) return [{ type: 'error', error }];
  const seen = readEnvelope(body);
  if (asObject(own(body, 'output')) === undefined) return [unreadable('The reply holds no output.')];
  if (seen.content === undefined && seen.calls.length === 0 && seen.finish === null)
    return [{ type: 'error', error: { class: 'broken', message: 'The reply holds no output.' } }];
  const usage = toCompatibleUsage(seen.usage);
  const message = {
    content: withOthers(textOf(seen.content), seen.content),
    reasoning_content: seen.reasoning,
    tool_calls: seen.calls.slice(0, maxCalls),
    images: imagesOf(seen.content),
    annotations: seen.citations,
  };
  return readCompatible({
    ...(seen.id !== undefined && { id: seen.id }),
    choices: [{ index: 0, message, finish_reason: seen.finish, logprobs: seen.logprobs }],
    ...(usage && { usage }),
  });
}
