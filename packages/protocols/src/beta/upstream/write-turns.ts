/**
 * Canonical turns → `messages`. Holds the rules of the wire about order: equal neighbours are merged, results stand first in the user turn after
 * their calls and answer all of them, the first message is the user's.
 */
import type { Conversation, Part, ToolResultPart, Turn } from '../../chat/conversation.ts';
import type { WriteRequestContext } from '../../contract/index.ts';
import type { Losses } from '../../kit/losses.ts';
import { absentResult } from '../shared/fit-history.ts';
import type { ModelFamily } from '../shared/model-family.ts';
import type { WireBlock, WireMessage } from '../shared/wire.ts';
import { writeMedia, writeOrphanResult, writeText, writeThinking, writeToolCall, writeToolResult } from '../shared/write-content.ts';
import { ToolIds } from './tool-ids.ts';

export function writeTurns(conversation: Conversation, family: ModelFamily, context: WriteRequestContext, losses: Losses): WireMessage[] {
  const writer = new TurnWriter(family, context, losses);
  for (const turn of conversation.turns) writer.add(turn);
  return writer.finish();
}

class TurnWriter {
  readonly #messages: WireMessage[] = [];
  readonly #ids = new ToolIds();
  readonly #family: ModelFamily;
  readonly #context: WriteRequestContext;
  readonly #losses: Losses;
  /** Results and other blocks of the user message that is being gathered; results are printed first. */
  #results: WireBlock[] = [];
  #others: WireBlock[] = [];

  constructor(family: ModelFamily, context: WriteRequestContext, losses: Losses) {
    this.#family = family;
    this.#context = context;
    this.#losses = losses;
  }

  add(turn: Turn): void {
    if (turn.name !== undefined) this.#losses.dropped('name', 'turns have no names');
    if (turn.role === 'assistant') this.#addAssistant(turn);
    else if (turn.role === 'system') this.#addSystem(turn);
    else for (const part of turn.parts) this.#addUserPart(part);
  }

  finish(): WireMessage[] {
    this.#closeUser();
    this.#answerLast();
    if (this.#messages[0]?.role === 'assistant') {
      this.#losses.add('messages.0', 'emulated', 'a user turn was put before the first assistant turn');
      this.#messages.unshift({ role: 'user', content: [{ type: 'text', text: '…' }] });
    }
    for (const message of this.#messages) this.#endThinking(message);
    this.#trimPrefill();
    return this.#messages.filter((message) => message.content.length > 0);
  }

  #addAssistant(turn: Turn): void {
    this.#closeUser();
    const content = turn.parts.flatMap((part) => this.#writeAssistantPart(part) ?? []);
    if (content.length === 0) return;
    const last = this.#messages.at(-1);
    if (last?.role === 'assistant') for (const block of content) last.content.push(block);
    else this.#messages.push({ role: 'assistant', content });
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
        return { type: 'text', text: `[${part.kind}]` };
      default:
        this.#losses.dropped('tool_result', 'stands in an assistant turn');
        return null;
    }
  }

  #addUserPart(part: Part): void {
    if (part.type === 'tool-result') this.#addResult(part);
    else if (part.type === 'media') this.#others.push(writeMedia(part, this.#losses));
    else if (part.type === 'text') this.#others.push(...asList(writeText(part, this.#losses)));
    else if (part.type === 'thinking') this.#losses.dropped('thinking', 'stands in a user turn');
    else if (part.type === 'refusal') this.#others.push(...asList(writeText({ type: 'text', text: part.text }, this.#losses)));
    else this.#losses.dropped('tool_use', 'stands in a user turn');
  }

  #addResult(part: ToolResultPart): void {
    const id = this.#ids.nameResult(part.callId, part.name);
    if (id === null) this.#others.push(...writeOrphanResult(part, this.#losses));
    else this.#results.push(writeToolResult(part, id, this.#losses));
  }

  /** Between other turns: as it is where the model takes it and no result is awaited, else marked as such in the user's turn. */
  #addSystem(turn: Turn): void {
    const blocks = turn.parts.flatMap((part) => (part.type === 'text' ? (writeText(part, this.#losses) ?? []) : [])).filter((block) => block.type === 'text');
    if (blocks.length === 0) return;
    if (this.#family.systemTurns && !this.#awaitsResults()) {
      this.#closeUser();
      const last = this.#messages.at(-1);
      if (last?.role === 'system') for (const block of blocks) last.content.push(block);
      else this.#messages.push({ role: 'system', content: blocks });
      return;
    }
    this.#losses.add('system', 'downgraded', 'system text between turns was sent in the user turn');
    for (const block of blocks) this.#others.push({ ...block, text: `<system>\n${block.text}\n</system>` });
  }

  #awaitsResults(): boolean {
    return this.#ids.hasOpenCalls && this.#messages.at(-1)?.role === 'assistant';
  }

  /** Ends the user message, if there is one; calls that it leaves open are answered for it, since each must be. */
  #closeUser(): void {
    if (this.#results.length === 0 && this.#others.length === 0) return;
    for (const id of this.#ids.takeUnanswered()) {
      this.#losses.add('tool_result', 'emulated', 'a call without a result was answered with an error');
      this.#results.push(absentResult(id));
    }
    this.#messages.push({ role: 'user', content: [...this.#results, ...this.#others] });
    this.#results = [];
    this.#others = [];
  }

  /** Calls at the end wait for results as well: a history that ends in them is refused. */
  #answerLast(): void {
    const ids = this.#messages.at(-1)?.role === 'assistant' ? this.#ids.takeUnanswered() : [];
    if (ids.length === 0) return;
    this.#losses.add('tool_result', 'emulated', 'a call without a result was answered with an error');
    this.#messages.push({ role: 'user', content: ids.map(absentResult) });
  }

  /** An assistant message that ends in thinking (a reply that was cut there) is refused. */
  #endThinking(message: WireMessage): void {
    while (message.role === 'assistant' && /thinking$/.test(message.content.at(-1)?.type ?? '')) {
      message.content.pop();
      this.#losses.dropped('thinking', 'thinking that nothing followed');
    }
  }

  /** A reply that is begun for the model may not end in blanks. */
  #trimPrefill(): void {
    const last = this.#messages.at(-1);
    const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
    if (block?.type !== 'text' || block.text === block.text.trimEnd()) return;
    block.text = block.text.trimEnd();
    this.#losses.add('messages', 'downgraded', 'blanks at the end of the begun reply were cut');
  }
}

const asList = <T>(value: T | null): T[] => (value === null ? [] : [value]);
