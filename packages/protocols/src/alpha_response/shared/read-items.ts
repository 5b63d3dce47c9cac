/** The items of `input`, in every form, into turns. */
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Part, SystemPart, TextPart, ThinkingPart, ToolCallPart, ToolResultPart, Turn } from '../../chat/conversation.ts';
import { argumentText } from '../../kit/argument-text.ts';
import { invalid } from '../../kit/fail.ts';
import type { Losses } from '../../kit/losses.ts';
import { asArray, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { readSignature } from '../../kit/signature-mark.ts';
import { readClientCall, readClientOutput } from './client-tools.ts';
import { type ContentPart, readContent } from './read-content.ts';
import { describeServerItem } from './server-items.ts';
import { declareToolLosses, joinNamespace, type ReadTools, readTools } from './tools.ts';

/** The error for an item that names state we do not hold; verbatim requests get it too. */
export const unresolvable = (path: string, id: string | undefined): GatewayError =>
  new GatewayError('invalid_request', {
    param: path,
    message: `Item${id ? ` '${id.slice(0, 128)}'` : ''} is a reference to a stored item, and none is stored here. Send the item itself, and set store:false so that replies carry all that later turns need.`,
  });

/** What only the vendor can do: its answer is a text that only it can read again. */
export const compactsNothing =
  'This model is not served by an upstream that compacts conversations: ask it for a summary at /v1/responses and go on with that. ' +
  'Codex does so by itself when its model_provider is one of its own in config.toml (name = "gateway"), in place of openai_base_url.';

export const cannotCompact = (path: string): GatewayError => invalid(path, compactsNothing);

/** Calls and what answers them: a program that the vendor runs may have made one. */
const madeByCall = /_call(?:_output)?$/;

export class ItemReader {
  readonly system: SystemPart[] = [];
  readonly turns: Turn[] = [];
  readonly #losses: Losses;
  readonly #tools: ReadTools;
  /** What a following signature may belong to: calls by id, and the latest text. */
  readonly #calls = new Map<string, ToolCallPart>();
  #lastText: TextPart | undefined;

  constructor(losses: Losses, tools: ReadTools) {
    this.#losses = losses;
    this.#tools = tools;
  }

  readInput(input: unknown): void {
    if (typeof input === 'string') {
      this.turns.push({ role: 'user', parts: [{ type: 'text', text: input }] });
      return;
    }
    const items = asArray(input);
    if (!items) throw invalid('input', 'must be a string or an array of items');
    this.readItems(items, 'input');
  }

  /** `path` names the list in the request. */
  readItems(items: readonly unknown[], path: string): void {
    items.forEach((item, index) => {
      this.#readItem(item, `${path}.${index}`);
    });
  }

  #readItem(value: unknown, path: string): void {
    if (typeof value === 'string') {
      this.turns.push({ role: 'user', parts: [{ type: 'text', text: value }] });
      return;
    }
    const item = asObject(value);
    if (!item) throw invalid(path, 'must be an object');
    const type = asString(own(item, 'type')) ?? (own(item, 'role') === undefined ? undefined : 'message');
    if (type !== undefined && madeByCall.test(type)) this.#declareCaller(item, path);
    switch (type) {
      case 'message':
        return this.#readMessage(item, path);
      case 'reasoning':
        return this.#readReasoning(item, path);
      case 'function_call':
        return this.#append('assistant', this.#readCall(item, path, 'arguments'));
      case 'custom_tool_call':
        return this.#append('assistant', { ...this.#readCall(item, path, 'input'), custom: true });
      case 'function_call_output':
        return this.#append('user', this.#readResult(item, path));
      case 'custom_tool_call_output':
        return this.#append('user', { ...this.#readResult(item, path), custom: true });
      case 'tool_search_output':
      case 'additional_tools':
        // Tools found on the way are tools like any other where there is no search.
        declareToolLosses(own(item, 'tools'), this.#losses);
        return readTools(own(item, 'tools'), `${path}.tools`, this.#tools);
      case 'item_reference':
        throw unresolvable(path, asString(own(item, 'id')));
      case 'compaction_trigger':
        throw cannotCompact(path);
      case undefined:
        throw invalid(`${path}.type`, 'must be given on an item without a role');
      default:
        return this.#readOther(item, type, path);
    }
  }

  #declareCaller(item: JsonObject, path: string): void {
    const caller = asString(own(own(item, 'caller'), 'type'));
    if (caller !== undefined && caller !== 'direct')
      this.#losses.dropped(`${path}.caller`, 'Calls made by the vendor’s code execution are shown as the model’s own.');
  }

  /** Calls and outputs of tools that the caller runs and only this protocol knows, and what its vendor ran. */
  #readOther(item: JsonObject, type: string, path: string): void {
    const call = readClientCall(item, type);
    if (call) return this.#append('assistant', call);
    const output = readClientOutput(item, type);
    if (output === undefined) return this.#readServerTool(item, type, path);
    if (output === null) return this.#append('user', this.#readResult(item, path));
    this.#append('user', { type: 'tool-result', callId: asString(own(item, 'call_id')) ?? '', ...output });
  }

  /** What a tool of the vendor was asked and found, as text; what holds nothing readable is left out. */
  #readServerTool(item: JsonObject, type: string, path: string): void {
    const described = describeServerItem(item, type);
    this.#losses.add(path, described === '' ? 'dropped' : 'downgraded', 'This kind of item exists only at its own vendor.');
    if (described !== '') this.#append('assistant', { type: 'text', text: described });
  }

  #readMessage(item: JsonObject, path: string): void {
    const role = asString(own(item, 'role'));
    const parts = readContent(own(item, 'content'), `${path}.content`, this.#losses);
    if (role === 'assistant') {
      const phase = asString(own(item, 'phase'));
      for (const part of parts) this.#append('assistant', part.type === 'text' && phase !== undefined ? { ...part, phase } : part);
      return;
    }
    if (role === 'user') {
      this.turns.push({ role: 'user', parts: parts.map((part) => (part.type === 'refusal' ? { type: 'text', text: part.text } : part)) });
      return;
    }
    if (role !== 'system' && role !== 'developer') throw invalid(`${path}.role`, 'must be user, assistant, system or developer');
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part] : []));
    if (texts.length < parts.length) this.#losses.add(`${path}.content`, 'dropped', 'Instructions hold text alone.');
    if (this.turns.length > 0) this.turns.push({ role: 'system', parts: texts });
    else for (const { text, cache } of texts) this.system.push({ text, ...(cache && { cache }) });
  }

  #readReasoning(item: JsonObject, path: string): void {
    const encrypted = asString(own(item, 'encrypted_content'));
    const signature = encrypted ? readSignature(encrypted) : undefined;
    if (signature?.owner.kind === 'call' || signature?.owner.kind === 'text') {
      this.#hangSignature(signature.owner.kind === 'call' ? signature.owner.callId : undefined, signature.sealed, path);
      return;
    }
    const summary = readTexts(own(item, 'summary'));
    const text = [...summary, ...readTexts(own(item, 'content'))].join('\n\n');
    const itemId = asString(own(item, 'id'));
    if (!signature && text === '') {
      this.#losses.add(path, 'dropped', 'The reasoning item names what an upstream stored; ask for reasoning.encrypted_content to carry it along.');
      return;
    }
    const thinking: ThinkingPart = {
      type: 'thinking',
      text,
      ...(signature && { signature: signature.sealed }),
      ...(signature?.owner.kind === 'redacted' && { redacted: true }),
      ...(itemId !== undefined && { itemId }),
      ...(summary.length > 0 && { summary }),
    };
    this.#append('assistant', thinking);
  }

  /** Puts a signature back on the call or text it came with, which precedes it. */
  #hangSignature(callId: string | undefined, signature: string, path: string): void {
    const owner = callId === undefined ? this.#lastText : this.#calls.get(callId);
    if (owner) owner.signature = signature;
    else this.#losses.add(path, 'dropped', 'The item that this signature belongs to is not before it.');
  }

  #readCall(item: JsonObject, path: string, field: 'arguments' | 'input'): ToolCallPart {
    const name = asString(own(item, 'name'));
    if (!name) throw invalid(`${path}.name`, 'must be a non-empty string');
    const namespace = asString(own(item, 'namespace'));
    return {
      type: 'tool-call',
      id: asString(own(item, 'call_id')) ?? '',
      name: namespace ? joinNamespace(namespace, name) : name,
      arguments: argumentText(own(item, field)),
    };
  }

  #readResult(item: JsonObject, path: string): ToolResultPart {
    const output = own(item, 'output');
    const parts: ContentPart[] =
      typeof output === 'string' || Array.isArray(output)
        ? readContent(output, `${path}.output`, this.#losses)
        : [{ type: 'text', text: output === undefined ? '' : JSON.stringify(output) }];
    const content = parts.map((part) => (part.type === 'refusal' ? ({ type: 'text', text: part.text } as const) : part));
    const name = asString(own(item, 'name'));
    const namespace = asString(own(item, 'namespace'));
    // The output of the older shell names its call by `id`; elsewhere that is its own name, and what has no `call_id` answers the oldest open call.
    const callId = asString(own(item, 'call_id')) ?? (own(item, 'type') === 'local_shell_call_output' ? asString(own(item, 'id')) : undefined) ?? '';
    return { type: 'tool-result', callId, content, ...(name && { name: namespace ? joinNamespace(namespace, name) : name }) };
  }

  /** What an assistant said and called in one breath, and the results that answer it, are one turn each. */
  #append(role: 'user' | 'assistant', part: Part): void {
    if (part.type === 'tool-call') this.#calls.set(part.id, part);
    else if (part.type === 'text') this.#lastText = part;
    const last = this.turns.at(-1);
    if (last?.role === role && (role === 'assistant' || last.parts.at(-1)?.type === 'tool-result')) last.parts.push(part);
    else this.turns.push({ role, parts: [part] });
  }
}

/** The texts of `summary` or `content` of a reasoning item. */
const readTexts = (value: unknown): string[] =>
  (asArray(value) ?? []).map((part) => asString(own(part, 'text')) ?? asString(part)).filter((text): text is string => text !== undefined && text !== '');
