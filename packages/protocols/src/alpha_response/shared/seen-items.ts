/** The output items a caller has seen so far: finished ones as they are, open ones as far as their deltas go. */
import { AccumulatedText } from '../../kit/accumulated-text.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

interface SeenPart {
  value: JsonObject;
  /** Where its text stands: `text` or `refusal`. */
  field: 'text' | 'refusal';
  text: AccumulatedText;
  /** Own copy: the part came out of one event and is extended by many. */
  annotations: unknown[] | undefined;
  textDone: boolean;
  done: boolean;
}

/** Where a part lives, and the events that end it. */
interface PartWords {
  list: 'content' | 'summary';
  index: 'content_index' | 'summary_index';
  textDone: string;
  partDone: string;
}

const summaryWords: PartWords = {
  list: 'summary',
  index: 'summary_index',
  textDone: 'response.reasoning_summary_text.done',
  partDone: 'response.reasoning_summary_part.done',
};

const contentWords = (kind: string): PartWords => ({
  list: 'content',
  index: 'content_index',
  textDone: kind === 'refusal' ? 'response.refusal.done' : kind === 'reasoning_text' ? 'response.reasoning_text.done' : 'response.output_text.done',
  partDone: 'response.content_part.done',
});

type Apply = (item: SeenItem, event: JsonObject) => void;

const appliers: ReadonlyMap<string, Apply> = new Map<string, Apply>([
  ['response.content_part.added', (item, event) => item.addPart('content', event)],
  ['response.reasoning_summary_part.added', (item, event) => item.addPart('summary', event)],
  ['response.output_text.delta', (item, event) => item.extendPart('content', event)],
  ['response.refusal.delta', (item, event) => item.extendPart('content', event)],
  ['response.reasoning_text.delta', (item, event) => item.extendPart('content', event)],
  ['response.reasoning_summary_text.delta', (item, event) => item.extendPart('summary', event)],
  ['response.output_text.done', (item, event) => item.endText('content', event)],
  ['response.refusal.done', (item, event) => item.endText('content', event)],
  ['response.reasoning_text.done', (item, event) => item.endText('content', event)],
  ['response.reasoning_summary_text.done', (item, event) => item.endText('summary', event)],
  ['response.content_part.done', (item, event) => item.endPart('content', event)],
  ['response.reasoning_summary_part.done', (item, event) => item.endPart('summary', event)],
  ['response.output_text.annotation.added', (item, event) => item.annotate(event)],
  ['response.function_call_arguments.delta', (item, event) => item.extendField('arguments', event)],
  ['response.mcp_call_arguments.delta', (item, event) => item.extendField('arguments', event)],
  ['response.custom_tool_call_input.delta', (item, event) => item.extendField('input', event)],
  ['response.code_interpreter_call_code.delta', (item, event) => item.extendField('code', event)],
]);

export class SeenItems {
  readonly #items = new Map<number, SeenItem>();

  observe(type: string, event: JsonObject): void {
    const outputIndex = asNumber(own(event, 'output_index'));
    if (outputIndex === undefined) return;
    const value = asObject(own(event, 'item'));
    if (type === 'response.output_item.added' && value) this.#items.set(outputIndex, new SeenItem(outputIndex, value));
    const item = this.#items.get(outputIndex);
    if (!item || item.done) return;
    if (type === 'response.output_item.done' && value) item.end(value);
    else appliers.get(type)?.(item, event);
  }

  /** Those without their `output_item.done`, in order. */
  open(): SeenItem[] {
    return this.#ordered().filter((item) => !item.done);
  }

  get size(): number {
    return this.#items.size;
  }

  output(): JsonObject[] {
    return this.#ordered().map((item) => item.value);
  }

  #ordered(): SeenItem[] {
    return [...this.#items.values()].sort((a, b) => a.outputIndex - b.outputIndex);
  }
}

/** Hosted tools have their own words for "did not finish". */
const cutStatus: ReadonlyMap<string, string> = new Map([
  ['web_search_call', 'failed'],
  ['image_generation_call', 'failed'],
]);

/** Items that have no status at all. */
const withoutStatus: ReadonlySet<string> = new Set(['mcp_list_tools', 'mcp_approval_request', 'compaction']);

export class SeenItem {
  readonly outputIndex: number;
  value: JsonObject;
  done = false;
  readonly #parts = { content: new Map<number, SeenPart>(), summary: new Map<number, SeenPart>() };
  readonly #fields = new Map<string, string>();

  constructor(outputIndex: number, value: JsonObject) {
    this.outputIndex = outputIndex;
    this.value = value;
  }

  end(value: JsonObject): void {
    this.value = value;
    this.done = true;
  }

  addPart(list: PartWords['list'], event: JsonObject): void {
    const value = asObject(own(event, 'part')) ?? {};
    const field = own(value, 'type') === 'refusal' ? 'refusal' : 'text';
    const annotations = asArray(own(value, 'annotations'))?.slice();
    this.#parts[list].set(indexIn(list, event), {
      value,
      field,
      text: new AccumulatedText(asString(own(value, field))),
      annotations,
      textDone: false,
      done: false,
    });
  }

  extendPart(list: PartWords['list'], event: JsonObject): void {
    const part = this.#parts[list].get(indexIn(list, event));
    part?.text.add(asString(own(event, 'delta')) ?? '');
  }

  endText(list: PartWords['list'], event: JsonObject): void {
    const part = this.#parts[list].get(indexIn(list, event));
    if (!part) return;
    replaceText(part, own(event, part.field));
    part.textDone = true;
  }

  endPart(list: PartWords['list'], event: JsonObject): void {
    const part = this.#parts[list].get(indexIn(list, event));
    const value = asObject(own(event, 'part'));
    if (!part) return;
    part.done = true;
    if (!value) return;
    part.value = value;
    replaceText(part, own(value, part.field));
    part.annotations = undefined;
  }

  annotate(event: JsonObject): void {
    const part = this.#parts.content.get(indexIn('content', event));
    if (!part) return;
    part.annotations ??= [];
    part.annotations.push(own(event, 'annotation'));
  }

  extendField(field: string, event: JsonObject): void {
    const known = this.#fields.get(field) ?? asString(own(this.value, field)) ?? '';
    this.#fields.set(field, known + (asString(own(event, 'delta')) ?? ''));
  }

  /** The `…done` events of parts that were begun. A call's arguments get none: their JSON never completed. */
  missingEvents(): { type: string; fields: JsonObject }[] {
    const events: { type: string; fields: JsonObject }[] = [];
    for (const list of ['summary', 'content'] as const) {
      for (const [index, part] of this.#parts[list]) {
        const words = list === 'summary' ? summaryWords : contentWords(asString(own(part.value, 'type')) ?? '');
        const place = { item_id: own(this.value, 'id') ?? '', output_index: this.outputIndex, [words.index]: index };
        const logprobs = words.textDone === 'response.output_text.done' ? { logprobs: [] } : {};
        if (!part.textDone && !part.done) events.push({ type: words.textDone, fields: { ...place, [part.field]: `${part.text}`, ...logprobs } });
        if (!part.done) events.push({ type: words.partDone, fields: { ...place, part: finished(part) } });
      }
    }
    return events;
  }

  /** Ends the item as incomplete with what was seen, and returns it. The signature of an unfinished thought is not valid and is left out. */
  finish(): JsonObject {
    const type = asString(own(this.value, 'type')) ?? '';
    const { encrypted_content: _proof, ...rest } = this.value;
    const value: JsonObject = { ...rest, ...Object.fromEntries(this.#fields) };
    for (const list of ['content', 'summary'] as const) {
      if (this.#parts[list].size > 0) value[list] = [...this.#parts[list].values()].map(finished);
    }
    if (!withoutStatus.has(type)) value['status'] = cutStatus.get(type) ?? 'incomplete';
    this.end(value);
    return value;
  }
}

/** The finished text, where the event brings it. */
function replaceText(part: SeenPart, value: unknown): void {
  const text = asString(value);
  if (text !== undefined) part.text = new AccumulatedText(text);
}

const finished = (part: SeenPart): JsonObject => ({ ...part.value, [part.field]: `${part.text}`, ...(part.annotations && { annotations: part.annotations }) });

const indexIn = (list: PartWords['list'], event: JsonObject): number => asNumber(own(event, list === 'summary' ? 'summary_index' : 'content_index')) ?? 0;
