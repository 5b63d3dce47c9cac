/** One output item of our own stream: the events that open it, carry it and close it. */

import { AccumulatedText } from '../../kit/accumulated-text.ts';
import type { CitedPage } from '../../kit/cited-pages.ts';
import type { JsonObject } from '../../kit/read.ts';
import type { ClientTool } from '../shared/client-tools.ts';
import type { OutputTextPart, RefusalContentPart } from '../shared/wire.ts';

/** Prints one event with the next sequence number. */
export type Print = (type: string, fields: JsonObject) => string;

/** One item of the reply's `output`: writes its opening, delta and closing events. */
export interface OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  open(print: Print): string;
  delta(print: Print, text: string): string;
  /** The events that end it, and the finished item. `cut`: the reply was cut here. */
  close(print: Print, cut: boolean): { text: string; item: JsonObject };
}

interface Place {
  id: string;
  outputIndex: number;
}

/** `item_id` and `output_index`, as every event of an item has them. */
const at = (place: Place): JsonObject => ({ item_id: place.id, output_index: place.outputIndex });

const statusOf = (cut: boolean): string => (cut ? 'incomplete' : 'completed');

export class MessageItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  readonly #kind: 'text' | 'refusal';
  readonly #phase: string | undefined;
  readonly #annotations: unknown[] = [];
  readonly #cited: CitedPage[] = [];
  readonly #probabilities: JsonObject[] = [];
  readonly #text = new AccumulatedText();

  constructor(place: Place, kind: 'text' | 'refusal', phase: string | undefined) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.#kind = kind;
    this.#phase = phase;
  }

  open(print: Print): string {
    const item = this.#item('in_progress', []);
    return (
      print('response.output_item.added', { output_index: this.outputIndex, item }) +
      print('response.content_part.added', { ...at(this), content_index: 0, part: this.#part() })
    );
  }

  delta(print: Print, text: string): string {
    this.#text.add(text);
    if (this.#kind === 'refusal') return print('response.refusal.delta', { ...at(this), content_index: 0, delta: text });
    return print('response.output_text.delta', { ...at(this), content_index: 0, delta: text, logprobs: [] });
  }

  annotate(print: Print, annotation: unknown): string {
    this.#annotations.push(annotation);
    return print('response.output_text.annotation.added', { ...at(this), content_index: 0, annotation_index: this.#annotations.length - 1, annotation });
  }

  /** Adds log probabilities of the tokens; written when the text ends. */
  probe(probabilities: readonly JsonObject[]): void {
    for (const one of probabilities) this.#probabilities.push(one);
  }

  /** Adds pages that another vendor cites; written when the text ends, since pages without a position cover all of it. */
  cite(pages: readonly CitedPage[]): void {
    this.#cited.push(...pages);
  }

  close(print: Print, cut: boolean): { text: string; item: JsonObject } {
    const length = this.#text.length;
    const cited = this.#cited.map(({ url, title, range: [start_index, end_index] = [0, length] }) =>
      this.annotate(print, { type: 'url_citation', start_index, end_index, title, url }),
    );
    const part = this.#part();
    const item = this.#item(statusOf(cut), [part]);
    const done =
      this.#kind === 'refusal'
        ? print('response.refusal.done', { ...at(this), content_index: 0, refusal: `${this.#text}` })
        : print('response.output_text.done', { ...at(this), content_index: 0, text: `${this.#text}`, logprobs: this.#probabilities });
    const text =
      cited.join('') +
      done +
      print('response.content_part.done', { ...at(this), content_index: 0, part }) +
      print('response.output_item.done', { output_index: this.outputIndex, item });
    return { text, item };
  }

  #part(): OutputTextPart | RefusalContentPart {
    if (this.#kind === 'refusal') return { type: 'refusal', refusal: `${this.#text}` };
    return { type: 'output_text', annotations: [...this.#annotations], logprobs: this.#probabilities, text: `${this.#text}` };
  }

  #item(status: string, content: unknown[]): JsonObject {
    return { id: this.id, type: 'message', status, content, role: 'assistant', ...(this.#phase !== undefined && { phase: this.#phase }) };
  }
}

export class ReasoningItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  /** Sealed and marked; what the caller sends back. */
  encrypted: string | undefined;
  readonly #text = new AccumulatedText();

  constructor(place: Place, encrypted?: string) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.encrypted = encrypted;
  }

  open(print: Print): string {
    return print('response.output_item.added', { output_index: this.outputIndex, item: { id: this.id, type: 'reasoning', summary: [] } });
  }

  delta(print: Print, text: string): string {
    const opened =
      this.#text.length === 0
        ? print('response.reasoning_summary_part.added', { ...at(this), summary_index: 0, part: { type: 'summary_text', text: '' } })
        : '';
    this.#text.add(text);
    return opened + print('response.reasoning_summary_text.delta', { ...at(this), summary_index: 0, delta: text });
  }

  close(print: Print, cut: boolean): { text: string; item: JsonObject } {
    const part = { type: 'summary_text', text: `${this.#text}` };
    const summary = this.#text.length === 0 ? [] : [part];
    const item: JsonObject = { id: this.id, type: 'reasoning', summary };
    if (this.encrypted !== undefined) item['encrypted_content'] = this.encrypted;
    if (cut) item['status'] = 'incomplete';
    const done = summary.length
      ? print('response.reasoning_summary_text.done', { ...at(this), summary_index: 0, text: `${this.#text}` }) +
        print('response.reasoning_summary_part.done', { ...at(this), summary_index: 0, part })
      : '';
    return { text: done + print('response.output_item.done', { output_index: this.outputIndex, item }), item };
  }
}

export class CallItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  readonly callId: string;
  readonly #named: JsonObject;
  #arguments = '';

  constructor(place: Place, callId: string, named: JsonObject) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.callId = callId;
    this.#named = named;
  }

  open(print: Print): string {
    return print('response.output_item.added', { output_index: this.outputIndex, item: this.#item('in_progress') });
  }

  delta(print: Print, text: string): string {
    this.#arguments += text;
    return print('response.function_call_arguments.delta', { ...at(this), delta: text });
  }

  /** Arguments that are not JSON were cut: the item says so and gets no `arguments.done`, so that no agent runs it. */
  close(print: Print, cut: boolean): { text: string; item: JsonObject } {
    if (cut && !isJson(this.#arguments)) {
      const item = this.#item('incomplete');
      return { text: print('response.output_item.done', { output_index: this.outputIndex, item }), item };
    }
    // A call without arguments must still parse.
    const filled = this.#arguments === '' ? this.delta(print, '{}') : '';
    const item = this.#item('completed');
    const done = print('response.function_call_arguments.done', { ...at(this), arguments: this.#arguments });
    return { text: filled + done + print('response.output_item.done', { output_index: this.outputIndex, item }), item };
  }

  #item(status: string): JsonObject {
    return { id: this.id, type: 'function_call', status, arguments: this.#arguments, call_id: this.callId, ...this.#named };
  }
}

export class CustomCallItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  readonly callId: string;
  readonly #named: JsonObject;
  #input = '';

  constructor(place: Place, callId: string, named: JsonObject) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.callId = callId;
    this.#named = named;
  }

  open(print: Print): string {
    return print('response.output_item.added', { output_index: this.outputIndex, item: this.#item('in_progress', '') });
  }

  delta(print: Print, text: string): string {
    this.#input += text;
    return print('response.custom_tool_call_input.delta', { ...at(this), delta: text });
  }

  close(print: Print, cut: boolean): { text: string; item: JsonObject } {
    const item = this.#item(statusOf(cut), this.#input);
    const done = cut ? '' : print('response.custom_tool_call_input.done', { ...at(this), input: this.#input });
    return { text: done + print('response.output_item.done', { output_index: this.outputIndex, item }), item };
  }

  #item(status: string, input: string): JsonObject {
    return { id: this.id, type: 'custom_tool_call', status, call_id: this.callId, input, ...this.#named };
  }
}

/** A tool that the caller runs and only this protocol knows: the model's arguments become what one item says, so it is shown when they are complete. */
export class ClientCallItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  readonly callId: string;
  readonly #tool: ClientTool;
  #arguments = '';

  constructor(place: Place, callId: string, tool: ClientTool) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.callId = callId;
    this.#tool = tool;
  }

  open(print: Print): string {
    return print('response.output_item.added', { output_index: this.outputIndex, item: this.#item('in_progress', null) });
  }

  delta(_print: Print, text: string): string {
    this.#arguments += text;
    return '';
  }

  /** Arguments that are not JSON were cut: nothing of them is shown, so that no agent runs half a command. */
  close(print: Print, cut: boolean): { text: string; item: JsonObject } {
    const given = cut ? null : this.#tool.readArguments(parseJson(this.#arguments));
    const item = this.#item(given ? 'completed' : 'incomplete', given);
    return { text: print('response.output_item.done', { output_index: this.outputIndex, item }), item };
  }

  #item(status: string, given: JsonObject | null): JsonObject {
    return { id: this.id, type: this.#tool.item, status, call_id: this.callId, ...this.#tool.empty, ...given };
  }
}

/** An item of an upstream of this same protocol that only its vendor knows (a search, a run of code). */
export class RawItem implements OutputItem {
  readonly id: string;
  readonly outputIndex: number;
  value: JsonObject;

  constructor(place: Place, value: JsonObject) {
    this.id = place.id;
    this.outputIndex = place.outputIndex;
    this.value = value;
  }

  open(print: Print): string {
    const added = print('response.output_item.added', { output_index: this.outputIndex, item: this.value });
    return this.#searches ? added + print('response.web_search_call.in_progress', at(this)) + print('response.web_search_call.searching', at(this)) : added;
  }

  delta(): string {
    return '';
  }

  get #searches(): boolean {
    return this.value['type'] === 'web_search_call';
  }

  close(print: Print): { text: string; item: JsonObject } {
    const searched = this.#searches && this.value['status'] === 'completed' ? print('response.web_search_call.completed', at(this)) : '';
    return { text: searched + print('response.output_item.done', { output_index: this.outputIndex, item: this.value }), item: this.value };
  }
}

const isJson = (text: string): boolean => parseJson(text) !== undefined;

/** undefined for what is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
