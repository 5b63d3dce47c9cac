/** Says what is wrong with a Responses stream as strict clients see it: order, numbering, matching `done` events, a terminal object equal to what was streamed. */
import { isDeepStrictEqual } from 'node:util';

// biome-ignore lint/suspicious/noExplicitAny: a validator looks at any value of the stream
type Json = any;

interface Part {
  type: string;
  text: string;
  textDone: boolean;
  done: boolean;
}

interface Item {
  type: string;
  id: string;
  content: Part[];
  summary: Part[];
  /** Arguments or input. */
  text: string;
  textDone: boolean;
  done: Json | null;
}

const textEvents: Record<string, { list: 'content' | 'summary'; index: string; field: string; part: string }> = {
  'response.output_text': { list: 'content', index: 'content_index', field: 'text', part: 'output_text' },
  'response.refusal': { list: 'content', index: 'content_index', field: 'refusal', part: 'refusal' },
  'response.reasoning_text': { list: 'content', index: 'content_index', field: 'text', part: 'reasoning_text' },
  'response.reasoning_summary_text': { list: 'summary', index: 'summary_index', field: 'text', part: 'summary_text' },
};
const partEvents: Record<string, { list: 'content' | 'summary'; index: string }> = {
  'response.content_part': { list: 'content', index: 'content_index' },
  'response.reasoning_summary_part': { list: 'summary', index: 'summary_index' },
};
const callEvents: Record<string, { type: string; field: string }> = {
  'response.function_call_arguments': { type: 'function_call', field: 'arguments' },
  'response.custom_tool_call_input': { type: 'custom_tool_call', field: 'input' },
};
const callField: Record<string, string> = { function_call: 'arguments', custom_tool_call: 'input' };
const terminals: Record<string, string> = { 'response.completed': 'completed', 'response.incomplete': 'incomplete', 'response.failed': 'failed' };

/** Violations, none for a good stream. `rotatingIds`: item ids may change between events, as one vendor's proxy does. */
export function validateStream(text: string, options: { rotatingIds?: boolean } = {}): string[] {
  return new Validator(options.rotatingIds ?? false).run(text);
}

const ordinaryStart = ['response.created', 'response.in_progress'];
/** Of a background run, which waits first; it may begin without saying that it waited. */
const backgroundStart = ['response.created', 'response.queued', 'response.in_progress'];

class Validator {
  readonly #violations: string[] = [];
  readonly #rotating: boolean;
  readonly #items: Item[] = [];
  readonly #ids = new Set<string>();
  #id: string | undefined;
  #at = 0;
  #over = false;
  #start: readonly string[] = ordinaryStart;

  constructor(rotating: boolean) {
    this.#rotating = rotating;
  }

  run(text: string): string[] {
    if (!text.endsWith('\n\n')) this.#say('the stream does not end with a blank line');
    const events = text.split('\n\n').filter((block) => block !== '' && !block.startsWith(':'));
    for (const block of events) this.#block(block);
    if (!this.#over) this.#say('no terminal event');
    return this.#violations;
  }

  #say(what: string): void {
    this.#violations.push(`event ${this.#at}: ${what}`);
  }

  #block(block: string): void {
    const lines = block.split('\n');
    const name = lines[0]?.startsWith('event: ') ? lines[0].slice(7) : undefined;
    if (lines.length !== 2 || name === undefined || !lines[1]?.startsWith('data: ')) this.#say(`not an event line and a data line: ${block.slice(0, 80)}`);
    else this.#event(name, JSON.parse(lines[1].slice(6)));
    this.#at += 1;
  }

  #event(name: string, event: Json): void {
    if (this.#over) this.#say(`${name} after the terminal event`);
    if (event.type !== name) this.#say(`event line ${name}, type ${event.type}`);
    if (event.sequence_number !== this.#at) this.#say(`sequence_number ${event.sequence_number}`);
    if (this.#at === 0 && event.response?.status === 'queued') this.#start = backgroundStart;
    if (this.#at === 1 && name === 'response.in_progress') this.#start = ordinaryStart;
    const first = this.#start[this.#at];
    if (first && name !== first) this.#say(`${name} instead of ${first}`);
    if (name === 'response.created' || name === 'response.queued' || name === 'response.in_progress') return this.#lifecycle(name, event);
    if (terminals[name]) return this.#terminal(name, event);
    if (name === 'response.output_item.added') return this.#added(event);
    const item = this.#items[event.output_index];
    if (!item) return this.#say(`${name} for an item that was never added`);
    if (item.done) return this.#say(`${name} after the item was done`);
    if (name === 'response.output_item.done') return this.#itemDone(item, event);
    if (!this.#rotating && event.item_id !== item.id) this.#say(`item_id ${event.item_id} instead of ${item.id}`);
    const dot = name.lastIndexOf('.');
    this.#inner(name, name.slice(0, dot), name.slice(dot + 1), item, event);
  }

  #lifecycle(name: string, event: Json): void {
    const { response } = event;
    if (this.#at >= this.#start.length) this.#say(`${name} too late`);
    const status = this.#start === backgroundStart && this.#at < 2 ? 'queued' : 'in_progress';
    if (response.object !== 'response' || response.status !== status) this.#say(`${name} is not a response ${status}`);
    if (!Array.isArray(response.output) || response.output.length > 0) this.#say(`${name} has output`);
    if (response.usage !== null) this.#say(`${name} has usage`);
    for (const field of ['id', 'model', 'created_at', 'tools', 'tool_choice', 'parallel_tool_calls', 'metadata'])
      if (!(field in response)) this.#say(`${name} lacks ${field}`);
    this.#id ??= response.id;
    if (!this.#rotating && response.id !== this.#id) this.#say('the response id changed');
  }

  #added(event: Json): void {
    if (event.output_index !== this.#items.length) this.#say(`output_index ${event.output_index} instead of ${this.#items.length}`);
    const { id, type } = event.item;
    if (typeof id !== 'string' || this.#ids.has(id)) this.#say(`item id ${id} is missing or repeated`);
    this.#ids.add(id);
    if (type === 'message' && event.item.content.length > 0) this.#say('a message begins with content');
    if (type in callField && (event.item[callField[type] as string] !== '' || !event.item.call_id))
      this.#say('a call begins without its id, or with arguments');
    if (type in callField && !event.item.name) this.#say('a call has no name');
    this.#items.push({ type, id, content: [], summary: [], text: '', textDone: false, done: null });
  }

  #inner(name: string, base: string, verb: string, item: Item, event: Json): void {
    const text = textEvents[base];
    const part = partEvents[base];
    const call = callEvents[base];
    if (text) return this.#text(name, verb, text, item, event);
    if (part) return this.#part(name, verb, part, item, event);
    if (call) {
      if (item.type !== call.type) this.#say(`${name} in a ${item.type}`);
      if (item.textDone) this.#say(`${name} after its done`);
      if (verb === 'delta') item.text += event.delta;
      else {
        item.textDone = true;
        if (event[call.field] !== item.text) this.#say(`${name} differs from its deltas`);
      }
    }
  }

  #text(name: string, verb: string, words: (typeof textEvents)[string], item: Item, event: Json): void {
    const part = item[words.list][event[words.index]];
    if (!part) return this.#say(`${name} without its part`);
    if (part.type !== words.part) this.#say(`${name} in a ${part.type}`);
    if (part.textDone || part.done) this.#say(`${name} after its done`);
    if (verb === 'delta') {
      if (event.delta === '') this.#say(`${name} is empty`);
      part.text += event.delta;
    } else if (verb === 'done') {
      part.textDone = true;
      if (event[words.field] !== part.text) this.#say(`${name} differs from its deltas`);
    }
  }

  #part(name: string, verb: string, words: (typeof partEvents)[string], item: Item, event: Json): void {
    const list = item[words.list];
    if (verb === 'added') {
      if (event[words.index] !== list.length) this.#say(`${name} at ${event[words.index]} instead of ${list.length}`);
      list.push({ type: event.part.type, text: '', textDone: false, done: false });
      return;
    }
    const part = list[event[words.index]];
    if (!part) return this.#say(`${name} without its beginning`);
    if (!part.textDone) this.#say(`${name} before its text was done`);
    part.done = true;
    if (textOf(event.part) !== part.text) this.#say(`${name} differs from its deltas`);
  }

  #itemDone(item: Item, event: Json): void {
    const value = event.item;
    item.done = value;
    if (!this.#rotating && value.id !== item.id) this.#say(`done item has id ${value.id}`);
    if (value.type !== item.type) this.#say(`done item is a ${value.type}`);
    if (value.status === 'in_progress') this.#say('done item is in progress');
    for (const list of ['content', 'summary'] as const) {
      if (item[list].some((part) => !part.done)) this.#say('item done before its parts');
      const texts = (value[list] ?? []).map(textOf);
      if (
        item[list].length > 0 &&
        !isDeepStrictEqual(
          texts,
          item[list].map((part) => part.text),
        )
      )
        this.#say(`${list} of the done item differs from its deltas`);
    }
    const field = callField[item.type];
    if (!field) return;
    if (value[field] !== item.text && value.status !== 'incomplete') this.#say(`${field} of the done item differ from the deltas`);
    if (value.status === 'completed' && !item.textDone) this.#say(`${item.type} completed without its done event`);
    if (item.type === 'function_call' && item.textDone) parses(value[field]) || this.#say('arguments are no JSON');
  }

  #terminal(name: string, event: Json): void {
    this.#over = true;
    const { response } = event;
    if (response.status !== terminals[name]) this.#say(`${name} with status ${response.status}`);
    if (!this.#rotating && response.id !== this.#id) this.#say('the response id changed');
    if (name === 'response.incomplete' && !response.incomplete_details?.reason) this.#say('incomplete without a reason');
    if (name === 'response.completed' && response.incomplete_details) this.#say('completed with incomplete_details');
    if (this.#items.some((item) => !item.done)) this.#say('an item was never done');
    if (
      !isDeepStrictEqual(
        response.output,
        this.#items.map((item) => item.done),
      )
    )
      this.#say('output differs from the done items');
    const { usage } = response;
    if (!usage || usage.input_tokens + usage.output_tokens !== usage.total_tokens) this.#say('usage is missing or does not add up');
    if (typeof usage?.input_tokens_details?.cached_tokens !== 'number' || typeof usage?.output_tokens_details?.reasoning_tokens !== 'number')
      this.#say('usage lacks its details');
  }
}

const textOf = (part: Json): string => part.text ?? part.refusal;

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
