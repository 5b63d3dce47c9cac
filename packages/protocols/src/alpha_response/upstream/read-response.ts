/** An upstream's events, or its whole reply, into canonical events. */

import type { Usage } from '@model-gateway/contracts';
import { tiersRead } from '../../alpha/index.ts';
import type { ChatEvent } from '../../chat/event.ts';
import type { ReplyReader, StreamRecord } from '../../contract/index.ts';
import { Losses, lostIn } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';
import { billedTier, readServedTier } from '../../kit/service-tier.ts';
import { unreadable } from '../../kit/unreadable.ts';
import { readStreamError } from '../shared/errors.ts';
import { readCompleted, readIncomplete } from '../shared/stop-reasons.ts';
import { readUsage } from '../shared/usage.ts';
import { ItemBlocks } from './read-output.ts';

type Handler = (reader: ResponseReader, event: JsonObject) => void;

const handlers: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['response.created', (reader, event) => reader.start(own(event, 'response'))],
  ['response.in_progress', (reader, event) => reader.start(own(event, 'response'))],
  ['response.output_item.added', (reader, event) => reader.blocks.addItem(event)],
  ['response.output_item.done', (reader, event) => reader.blocks.endItem(event)],
  ['response.content_part.added', (reader, event) => reader.blocks.openPart(event)],
  ['response.content_part.done', (reader, event) => reader.blocks.endPart(event)],
  ['response.output_text.delta', (reader, event) => reader.blocks.delta(event, 'text')],
  ['response.output_text.done', (reader, event) => reader.blocks.complete(event, 'text', 'text')],
  ['response.output_text.annotation.added', (reader, event) => reader.blocks.annotate(event)],
  ['response.refusal.delta', (reader, event) => reader.blocks.delta(event, 'refusal')],
  ['response.refusal.done', (reader, event) => reader.blocks.complete(event, 'refusal', 'refusal')],
  ['response.reasoning_summary_text.delta', (reader, event) => reader.blocks.delta(event, 'thinking')],
  ['response.reasoning_summary_text.done', (reader, event) => reader.blocks.complete(event, 'thinking', 'text')],
  ['response.reasoning_text.delta', (reader, event) => reader.blocks.delta(event, 'thinking')],
  ['response.reasoning_text.done', (reader, event) => reader.blocks.complete(event, 'thinking', 'text')],
  ['response.function_call_arguments.delta', (reader, event) => reader.blocks.delta(event, 'tool-call')],
  ['response.function_call_arguments.done', (reader, event) => reader.blocks.complete(event, 'tool-call', 'arguments')],
  ['response.custom_tool_call_input.delta', (reader, event) => reader.blocks.delta(event, 'tool-call')],
  ['response.custom_tool_call_input.done', (reader, event) => reader.blocks.complete(event, 'tool-call', 'input')],
  ['response.completed', (reader, event) => reader.end(own(event, 'response'), 'completed')],
  ['response.incomplete', (reader, event) => reader.end(own(event, 'response'), 'incomplete')],
  ['response.failed', (reader, event) => reader.fail(event)],
  ['response.cancelled', (reader, event) => reader.fail(event)],
  ['error', (reader, event) => reader.fail(event)],
]);

export class ResponseReader implements ReplyReader {
  readonly blocks: ItemBlocks;
  #events: ChatEvent[] = [];
  #started = false;
  #over = false;

  constructor() {
    this.blocks = new ItemBlocks((event) => {
      this.start(undefined);
      this.#events.push(event);
    });
  }

  read(record: StreamRecord): ChatEvent[] {
    const event = asObject(record.json);
    if (!event || this.#over) return [];
    // A bare `{"error":{…}}` has no type of its own; some servers name the event only in the SSE line.
    const type = asString(own(event, 'type')) ?? record.event ?? (own(event, 'error') === undefined ? '' : 'error');
    handlers.get(type)?.(this, event);
    return this.#take();
  }

  /** The proper end is a terminal event; a body that stops without one broke, and nothing is added. */
  finish(): ChatEvent[] {
    return [];
  }

  readWhole(body: unknown): ChatEvent[] {
    const response = asObject(body);
    const status = asString(own(response, 'status'));
    if (!response || status === 'failed' || status === 'cancelled' || (own(response, 'error') !== undefined && !asArray(own(response, 'output'))?.length)) {
      this.fail(body);
    } else if (!asArray(own(response, 'output'))) {
      this.#events.push(unreadable('The reply holds no output.'));
    } else if (status === undefined || status === 'completed' || status === 'incomplete') {
      this.end(response, status ?? 'completed');
    }
    // queued and in_progress: the reply is not there, so there is neither a finish nor an end.
    return this.#take();
  }

  start(value: unknown): void {
    if (this.#started) return;
    this.#started = true;
    const id = asString(own(value, 'id'));
    const model = asString(own(value, 'model'));
    const createdAt = asNumber(own(value, 'created_at'));
    this.#events.push({ type: 'start', ...(id && { id }), ...(model && { model }), ...(createdAt !== undefined && { createdAt: Math.trunc(createdAt) }) });
  }

  end(value: unknown, status: 'completed' | 'incomplete'): void {
    this.start(value);
    // Some servers send the terminal event alone.
    if (!this.blocks.seenItems) {
      for (const [index, item] of (asArray(own(value, 'output')) ?? []).entries()) this.blocks.endItem({ output_index: index, item });
    }
    this.blocks.endAll();
    const reason = asString(own(own(value, 'incomplete_details'), 'reason'));
    const cut = status === 'incomplete' || own(value, 'status') === 'incomplete';
    const usage = usageOf(value);
    const losses = new Losses();
    const servedTier = readServedTier(own(value, 'service_tier'), tiersRead, losses);
    loseBeside(value, losses);
    this.#events.push({
      type: 'finish',
      reason: cut ? readIncomplete(reason) : readCompleted(this.blocks.produced),
      native: reason ?? status,
      ...(servedTier !== undefined && { servedTier }),
      ...lostIn(losses),
    });
    if (usage) this.#events.push({ type: 'usage', usage });
    this.#events.push({ type: 'end' });
    this.#over = true;
  }

  fail(value: unknown): void {
    const usage = usageOf(own(value, 'response'));
    if (usage) this.#events.push({ type: 'usage', usage });
    this.#events.push({ type: 'error', error: readStreamError(value) });
    this.#over = true;
  }

  #take(): ChatEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }
}

/** What the response object says beside its items, and no other protocol has a place for. */
function loseBeside(response: unknown, losses: Losses): void {
  if (asArray(own(response, 'input_transformations'))?.length)
    losses.dropped('reply.input_transformations', 'Which earlier reasoning the upstream left aside has no place.');
  if (own(response, 'moderation') !== undefined) losses.dropped('reply.moderation', 'How a filter rated the answer has no place.');
  if (Object.values(asObject(own(response, 'tool_usage')) ?? {}).some(isUsed))
    losses.dropped('reply.tool_usage', 'How often its vendor ran tools has no place.');
  if (own(response, 'prompt_cache_diagnostics') !== undefined)
    losses.dropped('reply.prompt_cache_diagnostics', 'How a reply compares with an earlier one in the cache of its vendor has no place.');
  const usage = own(response, 'usage');
  const details = [own(usage, 'input_tokens_details'), own(usage, 'output_tokens_details')];
  if (details.some((one) => asCount(own(one, 'audio_tokens')) > 0)) losses.dropped('reply.usage.audio_tokens', 'Tokens of sound are counted with the others.');
}

const isUsed = (tool: unknown): boolean => Object.values(asObject(tool) ?? {}).some((count) => asCount(count) > 0);

export const readWhole = (body: unknown): ChatEvent[] => new ResponseReader().readWhole(body);

/** Usage of a response that is completed and says something. */
export function finishedUsage(body: unknown): Usage | undefined {
  if (own(body, 'status') !== 'completed' || own(body, 'error') !== undefined || !asArray(own(body, 'output'))?.length) return undefined;
  return usageOf(body) ?? undefined;
}

function usageOf(response: unknown): Usage | null {
  const usage = readUsage(own(response, 'usage'));
  return usage && { ...usage, ...billedTier(own(response, 'service_tier'), tiersRead) };
}
