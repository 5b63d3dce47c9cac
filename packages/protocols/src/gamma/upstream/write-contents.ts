/** Writes turns as `contents`: roles alternate, results follow their calls in order, signatures go back to their parts. */
import type { Conversation, MediaPart, Part, TextPart, ThinkingPart, ToolCallPart, ToolResultPart } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { asObject, type JsonObject } from '../../kit/read.ts';
import { supportsPhase } from '../../kit/text-phase.ts';
import { type Family, geminiFamily } from '../shared/families.ts';

import { writeMedia } from '../shared/media.ts';
import { customArgument } from '../shared/tools.ts';
import { WaitingCalls } from '../shared/waiting-calls.ts';
import { skipSignature, type WireContent, type WirePart } from '../shared/wire.ts';

interface Group {
  role: WireContent['role'];
  parts: Part[];
}

export function writeContents(conversation: Conversation, context: WriteRequestContext, losses: Losses): WireContent[] {
  const writer = new ContentsWriter(context, losses);
  const contents: WireContent[] = [];
  for (const content of groupTurns(conversation, losses).flatMap((group) => writer.write(group))) {
    // What stood between them was empty.
    const last = contents.at(-1);
    if (last?.role === content.role) for (const part of content.parts) last.parts.push(part);
    else contents.push(content);
  }
  if (contents[0]?.role !== 'model') return contents;
  // Calls of a first turn are refused unless a user turn precedes them.
  losses.add('messages.0', 'emulated', 'A user turn was put before the first turn of the model.');
  return [{ role: 'user', parts: [{ text: '…' }] }, ...contents];
}

/** Adjacent turns of one role are one content. There is no system role between turns, so such a turn speaks as the user. */
function groupTurns(conversation: Conversation, losses: Losses): Group[] {
  const groups: Group[] = [];
  for (const turn of conversation.turns) {
    if (turn.role === 'system') losses.add('messages.role', 'downgraded', 'A system message between turns was sent as user text.');
    if (turn.name !== undefined) losses.add('messages.name', 'dropped', 'Names of speakers have no counterpart.');
    if (supportsPhase(turn)) losses.add('messages.phase', 'dropped', 'What a text was for has no counterpart.');
    const role = turn.role === 'assistant' ? 'model' : 'user';
    const last = groups.at(-1);
    // One by one: a spread call has a limit, and a caller decides how many parts there are.
    if (last?.role === role) for (const part of turn.parts) last.parts.push(part);
    else groups.push({ role, parts: [...turn.parts] });
  }
  return groups;
}

/** A call waiting for its result. */
interface OpenCall {
  call: ToolCallPart;
  order: number;
}

class ContentsWriter {
  readonly #context: WriteRequestContext;
  readonly #losses: Losses;
  readonly #family: Family;
  readonly #waiting = new WaitingCalls<OpenCall>();
  #order = 0;

  constructor(context: WriteRequestContext, losses: Losses) {
    this.#context = context;
    this.#losses = losses;
    this.#family = geminiFamily(context.target);
  }

  write(group: Group): WireContent[] {
    const parts = group.role === 'model' ? this.#modelParts(group.parts) : this.#userParts(group.parts);
    return parts.length === 0 ? [] : [{ role: group.role, parts }];
  }

  // ---- the model's side ----

  #modelParts(parts: readonly Part[]): WirePart[] {
    const written: WirePart[] = [];
    let firstCall = true;
    for (const part of parts) {
      if (part.type === 'tool-call') {
        written.push(this.#call(part, firstCall));
        firstCall = false;
      } else if (part.type === 'thinking') written.push(...this.#thinking(part));
      else if (part.type === 'text') written.push(...this.#text(part));
      else if (part.type === 'refusal') written.push({ text: part.text });
      else if (part.type === 'media') written.push(writeMedia(part, this.#losses));
    }
    return written;
  }

  /** The signature of a part, opened for this attempt; undefined when there is none to send. */
  #signature(sealed: string | undefined): string | undefined {
    if (sealed === undefined || sealed === skipSignature) return sealed;
    const opened = this.#context.openSignature(sealed);
    if (opened === null) this.#losses.add('messages.signature', 'dropped', 'A signature of another model, upstream or account was left out.');
    return opened ?? undefined;
  }

  /**
   * Families that check signatures refuse a step whose first call has none, as every history from another vendor or account would. The vendor accepts
   * a fixed value in its place; of parallel calls only the first carries one. See https://ai.google.dev/gemini-api/docs/thought-signatures
   */
  #call(part: ToolCallPart, first: boolean): WirePart {
    this.#waiting.add({ call: part, order: this.#order++ }, part.id === '' ? ['anonymous', `name ${part.name}`] : [`id ${part.id}`]);
    let signature = this.#signature(part.signature);
    if (signature === undefined && first && (this.#family.needsCallSignature || this.#context.signaturesRefused)) {
      signature = skipSignature;
      this.#losses.add('messages.tool_calls.signature', 'emulated', 'A tool call without a signature of its own was sent with the value that skips the check.');
    }
    if (part.cache) this.#cacheLoss();
    return {
      functionCall: { ...(part.id !== '' && { id: part.id }), name: part.name, args: this.#args(part) },
      ...(signature !== undefined && { thoughtSignature: signature }),
    };
  }

  #args(part: ToolCallPart): JsonObject {
    if (part.arguments.trim() === '') return {};
    const value = parse(part.arguments);
    const object = asObject(value);
    if (object) return object;
    this.#losses.add('messages.tool_calls.arguments', 'downgraded', `Arguments that are no JSON object were wrapped in ${customArgument}.`);
    return { [customArgument]: value === undefined ? part.arguments : value };
  }

  /** Readable thinking is sent even without its signature: the vendor's own SDK sends such parts back in its chats. */
  #thinking(part: ThinkingPart): WirePart[] {
    const signature = part.signature === undefined || part.redacted ? undefined : this.#signature(part.signature);
    if (signature !== undefined) return [{ text: part.text, thought: true, thoughtSignature: signature }];
    if (part.text !== '') return [{ text: part.text, thought: true }];
    this.#losses.add('messages.thinking', 'dropped', 'Thinking without readable text or a signature of this model was left out.');
    return [];
  }

  #text(part: TextPart): WirePart[] {
    if (part.cache) this.#cacheLoss();
    const signature = this.#signature(part.signature);
    return part.text === '' && signature === undefined ? [] : [{ text: part.text, ...(signature !== undefined && { thoughtSignature: signature }) }];
  }

  #cacheLoss(): void {
    this.#losses.add('messages.cache_control', 'dropped', 'Cache marks have no counterpart: caching is implicit.');
  }

  // ---- the user's side ----

  /** Results first, in the order of their calls, whatever order and however many turns they came in. */
  #userParts(parts: readonly Part[]): WirePart[] {
    const results: { order: number; parts: WirePart[] }[] = [];
    const others: WirePart[] = [];
    for (const part of parts) {
      if (part.type === 'tool-result') {
        const open = this.#take(part);
        results.push({ order: open?.order ?? Number.MAX_SAFE_INTEGER, parts: this.#result(part, open?.call) });
      } else if (part.type === 'text') others.push(...this.#text({ ...part, signature: undefined } as TextPart));
      else if (part.type === 'media') others.push(writeMedia(part, this.#losses));
      else if (part.type === 'refusal') others.push({ text: part.text });
    }
    results.sort((one, other) => one.order - other.order);
    return [...results.flatMap((result) => result.parts), ...others];
  }

  /** The call that a result answers: by id, and by name and order where there is none. */
  #take(result: ToolResultPart): OpenCall | undefined {
    if (result.callId !== '') return this.#waiting.take(`id ${result.callId}`) ?? this.#waiting.take(`name ${result.name}`);
    return this.#waiting.take(result.name === undefined ? 'anonymous' : `name ${result.name}`);
  }

  #result(part: ToolResultPart, call: ToolCallPart | undefined): WirePart[] {
    if (part.cache) this.#cacheLoss();
    const name = call?.name ?? part.name;
    if (name === undefined) this.#losses.add('messages.tool_result', 'downgraded', 'A result whose call is not in the conversation got a made-up name.');
    const media = part.content.filter((item): item is MediaPart => item.type === 'media').map((item) => writeMedia(item, this.#losses));
    const binary = media.filter((item) => item.text === undefined);
    const inside = this.#family.mediaInResults;
    if (binary.length > 0 && !inside)
      this.#losses.add('messages.tool_result.content', 'renamed', 'Images and files of a result stand beside it: this model takes none inside.');
    const response: WirePart = {
      functionResponse: {
        ...(part.callId !== '' && { id: part.callId }),
        name: name ?? 'unknown',
        response: this.#response(part, media),
        ...(binary.length > 0 && inside && { parts: binary }),
      },
    };
    return [response, ...(inside ? [] : binary)];
  }

  /** `response` must be an object: the one that came, or the text wrapped. */
  #response(part: ToolResultPart, media: readonly WirePart[]): JsonObject {
    const object = asObject(part.json);
    if (object) return object;
    const texts = part.content.flatMap((item) => (item.type === 'text' ? [item.text] : []));
    const text = [...texts, ...media.flatMap((item) => item.text ?? [])].join('\n');
    return { [part.isError ? 'error' : 'result']: text };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Arguments of a model are often broken; the caller of this function wraps them and says so.
  }
}
