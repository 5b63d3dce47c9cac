/**
 * Canonical turns → `messages`. Holds the rules of the wire about order: roles alternate and the first is the user's, results stand first in the
 * user turn after their calls and answer all of them, a document never stands without text.
 */

import { ToolIds } from '../../beta/index.ts';
import type { CacheMark, Conversation, Part, ToolResultPart, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { isCachePoint, takesPointAfter, writeCachePoint } from './cache-points.ts';
import { DocumentNames, writeMedia } from './media.ts';
import type { CloudFamily } from './model-family.ts';
import type { WireBlock, WireMessage } from './wire.ts';
import { writeOrphanResult, writeText, writeThinking, writeToolCall, writeToolResult } from './write-content.ts';

/** What the turns of a request depend on besides the conversation. */
export interface TurnsContext {
  family: CloudFamily;
  losses: Losses;
  openSignature: WriteRequestContext['openSignature'];
}

export function writeTurns(conversation: Conversation, context: TurnsContext): WireMessage[] {
  const writer = new TurnWriter(context);
  for (const turn of conversation.turns) writer.add(turn);
  return writer.finish();
}

class TurnWriter {
  readonly #messages: WireMessage[] = [];
  readonly #ids = new ToolIds();
  readonly #documents: DocumentNames;
  readonly #context: TurnsContext;
  readonly #losses: Losses;
  /** Results and other blocks of the user message that is being gathered; results are printed first. */
  #results: WireBlock[] = [];
  #others: WireBlock[] = [];

  constructor(context: TurnsContext) {
    this.#context = context;
    // The messages vendor's models take neither audio nor video.
    this.#documents = new DocumentNames(context.family.reasoning !== 'messages');
    this.#losses = context.losses;
  }

  add(turn: Turn): void {
    if (turn.name !== undefined) this.#losses.add('name', 'dropped', 'turns have no names');
    if (turn.role === 'assistant') this.#addAssistant(turn);
    else if (turn.role === 'system') this.#addSystem(turn);
    else for (const part of turn.parts) this.#addUserPart(part);
  }

  finish(): WireMessage[] {
    this.#closeUser();
    if (this.#messages[0]?.role === 'assistant') {
      this.#losses.add('messages.0', 'emulated', 'a user turn was put before the first assistant turn');
      this.#messages.unshift({ role: 'user', content: [{ text: '…' }] });
    }
    for (const message of this.#messages) this.#endThinking(message);
    this.#trimPrefill();
    return mergeNeighbours(this.#messages.filter((message) => message.content.some((block) => !isCachePoint(block))));
  }

  #addAssistant(turn: Turn): void {
    this.#closeUser();
    const content = turn.parts.flatMap((part) => this.#marked(asList(this.#writeAssistantPart(part)), 'cache' in part ? part.cache : undefined));
    if (content.length === 0) return;
    this.#messages.push({ role: 'assistant', content });
  }

  #writeAssistantPart(part: Part): WireBlock | null {
    switch (part.type) {
      case 'text':
        return writeText(part, this.#losses);
      case 'thinking':
        return writeThinking(part, this.#context.openSignature, this.#losses);
      case 'tool-call':
        return writeToolCall(part, this.#ids.nameCall(part.id, part.name), this.#losses);
      case 'refusal':
        this.#losses.add('refusal', 'renamed', 'sent as text');
        return writeText({ type: 'text', text: part.text }, this.#losses);
      case 'media':
        this.#losses.add('media', 'downgraded', 'media in an assistant turn was replaced by a note');
        return { text: `[${part.kind}]` };
      default:
        this.#losses.add('tool_result', 'dropped', 'stands in an assistant turn');
        return null;
    }
  }

  #addUserPart(part: Part): void {
    if (part.type === 'tool-result') this.#addResult(part);
    else if (part.type === 'media') this.#others.push(...this.#marked([writeMedia(part, this.#documents, this.#losses)], part.cache));
    else if (part.type === 'text') this.#others.push(...this.#marked(asList(writeText(part, this.#losses)), part.cache));
    else if (part.type === 'thinking') this.#losses.add('thinking', 'dropped', 'stands in a user turn');
    else if (part.type === 'refusal') this.#others.push(...asList(writeText({ type: 'text', text: part.text }, this.#losses)));
    else this.#losses.add('tool_use', 'dropped', 'stands in a user turn');
  }

  #addResult(part: ToolResultPart): void {
    const id = this.#ids.nameResult(part.callId, part.name);
    const mark = part.cache ?? part.content.findLast(({ cache }) => cache !== undefined)?.cache;
    if (id === null) this.#others.push(...this.#marked(writeOrphanResult(part, this.#documents, this.#losses), mark));
    else this.#results.push(...this.#marked([writeToolResult(part, id, this.#context.family, this.#documents, this.#losses)], mark));
  }

  /** Between other turns there is no system text on this wire: it is marked as such in the user's turn. */
  #addSystem(turn: Turn): void {
    const blocks = turn.parts.flatMap((part) => (part.type === 'text' ? (writeText(part, this.#losses) ?? []) : []));
    if (blocks.length === 0) return;
    this.#losses.add('system', 'downgraded', 'system text between turns was sent in the user turn');
    for (const block of blocks) if ('text' in block) this.#others.push({ text: `<system>\n${block.text}\n</system>` });
  }

  #marked(blocks: WireBlock[], mark: CacheMark | undefined): WireBlock[] {
    const { family } = this.#context;
    if (blocks.length === 0 || !mark) return blocks;
    if (takesPointAfter(blocks.at(-1), family)) return [...blocks, ...writeCachePoint(mark, 'messages', family, this.#losses)];
    this.#losses.add('cache_control', 'dropped', 'this model takes cache points after text alone');
    return blocks;
  }

  /** Ends the user message, if there is one; calls that it leaves open are answered for it, since each must be. */
  #closeUser(): void {
    if (this.#results.length === 0 && this.#others.length === 0) return;
    for (const id of this.#ids.takeUnanswered()) {
      this.#losses.add('tool_result', 'emulated', 'a call without a result was answered with an error');
      const part: ToolResultPart = { type: 'tool-result', callId: id, content: [{ type: 'text', text: 'No result was recorded.' }], isError: true };
      this.#results.push(writeToolResult(part, id, this.#context.family, this.#documents, this.#losses));
    }
    const content = [...this.#results, ...this.#others];
    if (content.some((block) => 'document' in block) && !content.some((block) => 'text' in block)) {
      this.#losses.add('media', 'emulated', 'a document without text was given a line of text, as it is refused alone');
      content.push({ text: 'The document is attached.' });
    }
    this.#messages.push({ role: 'user', content });
    this.#results = [];
    this.#others = [];
  }

  /** An assistant message that ends in thinking (a reply that was cut there) is refused. */
  #endThinking(message: WireMessage): void {
    for (let last = message.content.at(-1); message.role === 'assistant' && last && 'reasoningContent' in last; last = message.content.at(-1)) {
      message.content.pop();
      this.#losses.add('thinking', 'dropped', 'thinking that nothing followed');
    }
  }

  /** A reply that is begun for the model may not end in blanks. */
  #trimPrefill(): void {
    const last = this.#messages.at(-1);
    const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
    if (!block || !('text' in block) || block.text === block.text.trimEnd()) return;
    block.text = block.text.trimEnd();
    this.#losses.add('messages', 'downgraded', 'blanks at the end of the begun reply were cut');
  }
}

/** Equal roles may not follow one another. */
function mergeNeighbours(messages: readonly WireMessage[]): WireMessage[] {
  const merged: WireMessage[] = [];
  for (const message of messages) {
    const last = merged.at(-1);
    if (last?.role === message.role) for (const block of message.content) last.content.push(block);
    else merged.push(message);
  }
  return merged;
}

const asList = <T>(value: T | null): T[] => (value === null ? [] : [value]);
