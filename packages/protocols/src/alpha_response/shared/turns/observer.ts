/** Finds the turn in a reply as its caller sees it: the response object of its end, or what had been said when it broke off. */

import { noUsage, type TurnStatus, type Usage } from '@model-gateway/contracts';
import type { ReplyTurn, TurnObserver, TurnReply } from '../../../contract/index.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../../kit/read.ts';
import { parseBounded, parseObject } from '../parse-event.ts';
import { SeenItems } from '../seen-items.ts';
import { writeUsage } from '../usage.ts';
import { terminalEvents } from '../wire.ts';
import { startedResponse, turnFields } from './response-object.ts';

const statuses: ReadonlySet<string> = new Set<TurnStatus>(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled']);
/** Characters of events that are kept unread. */
const maxUnread = 128 * 1024;

type Piece = string | Uint8Array;

/** Events that say where the reply stands; all others extend an item that is open. */
const isOfReply = (type: string): boolean => lifecycle.has(type) || terminalEvents.has(type);
const lifecycle: ReadonlySet<string> = new Set(['response.created', 'response.queued', 'response.in_progress']);
const added = 'response.output_item.added';
const done = 'response.output_item.done';

export class ResponseObserver implements TurnObserver {
  readonly #turn: ReplyTurn;
  readonly #reply: TurnReply;
  /** The response object of the last event that had one. */
  #response: JsonObject | undefined;
  #end: TurnStatus | undefined;
  /** Finished items by their place. */
  readonly #done = new Map<number, JsonObject>();
  readonly #open = new Set<number>();
  /** Items that are open, as far as their events were read. */
  #seen = new SeenItems();
  /** Events of open items that were not read yet: most are never needed, since the finished item repeats them. */
  #unread: Piece[] = [];
  #unreadLength = 0;
  readonly #decoder = new TextDecoder();

  constructor(turn: ReplyTurn, reply: TurnReply) {
    this.#turn = turn;
    this.#reply = reply;
  }

  record({ event, data }: { event?: string | undefined; data: string }): void {
    const type = event ?? typeIn(data);
    if (type === undefined || this.#end) return;
    if (isOfReply(type)) this.#readReply(type, data);
    else if (type === added || type === done) this.#readItem(type, data);
    else if (type.startsWith('response.')) this.#keep(framed(data));
  }

  written(events: Piece, onlyWords = false): void {
    if (onlyWords) return this.#keep(events);
    for (const record of recordsIn(this.#text(events))) this.record(record);
  }

  whole(body: unknown): void {
    const response = asObject(body);
    if (!response) return;
    this.#response = response;
    this.#end = statusOf(response) ?? 'completed';
  }

  ended(): { status: TurnStatus; response: unknown } | null {
    if (!this.#end || !this.#response) return null;
    return { status: this.#end, response: this.#named(this.#response) };
  }

  broken(status: 'incomplete' | 'failed' | 'cancelled', error?: { code: string; message: string }, usage?: Usage): unknown {
    this.#readKept();
    for (const item of this.#seen.open()) {
      const index = item.outputIndex;
      const value = item.finish();
      if (!this.#done.has(index)) this.#done.set(index, value);
    }
    this.#open.clear();
    return this.#named({
      ...(this.#response ?? startedResponse(this.#turn, this.#reply)),
      status,
      error: error ?? null,
      // The vendor has no word for a reply that broke off; this one makes clients ask for the rest.
      incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
      output: this.#items(),
      usage: usage || status === 'incomplete' ? writeUsage(usage ?? noUsage) : null,
    });
  }

  #readReply(type: string, data: string): void {
    const status = terminalEvents.has(type) ? (type.slice('response.'.length) as TurnStatus) : undefined;
    const response = asObject(own(parseBounded(data), 'response'));
    if (response) this.#response = response;
    if (!status) return;
    // What nests too deep cannot be printed again: the turn ends without it.
    const base = response ?? this.#response ?? startedResponse(this.#turn, this.#reply);
    const listed = asArray(own(base, 'output'));
    this.#response = { ...base, status: statusOf(response) ?? status, ...(!listed?.length && { output: this.#items() }) };
    this.#end = statusOf(response) ?? status;
    this.#forget();
  }

  #readItem(type: string, data: string): void {
    const event = parseBounded(data);
    const item = asObject(own(event, 'item'));
    const index = asNumber(own(event, 'output_index'));
    if (!event || !item || index === undefined) return;
    if (type === added) {
      this.#open.add(index);
      this.#keep(framed(data));
      return;
    }
    this.#done.set(index, item);
    this.#open.delete(index);
    if (this.#open.size === 0) this.#forget();
  }

  #keep(events: Piece): void {
    this.#unread.push(events);
    this.#unreadLength += events.length;
    if (this.#unreadLength > maxUnread) this.#readKept();
  }

  #readKept(): void {
    for (const piece of this.#unread) {
      for (const { data } of recordsIn(this.#text(piece))) {
        const event = parseObject(data);
        const type = asString(own(event, 'type'));
        if (event && type !== undefined) this.#seen.observe(type, event);
      }
    }
    this.#unread = [];
    this.#unreadLength = 0;
  }

  #forget(): void {
    this.#unread = [];
    this.#unreadLength = 0;
    this.#seen = new SeenItems();
  }

  #items(): JsonObject[] {
    return [...this.#done].sort(([a], [b]) => a - b).map(([, item]) => item);
  }

  #text(piece: Piece): string {
    return typeof piece === 'string' ? piece : this.#decoder.decode(piece);
  }

  /** The response object as its caller reads it again. */
  #named(response: JsonObject): JsonObject {
    return { ...response, ...turnFields(this.#turn) };
  }
}

const statusOf = (response: unknown): TurnStatus | undefined => {
  const status = asString(own(response, 'status'));
  return status !== undefined && statuses.has(status) ? (status as TurnStatus) : undefined;
};

/** Kept as it is framed to callers, since most comes that way. */
const framed = (data: string): string => `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`;

/** The type of an event whose line has no name. */
function typeIn(data: string): string | undefined {
  const [, early] = /^\{\s*"type"\s*:\s*"([a-z_.]+)"/.exec(data) ?? [];
  return early ?? asString(own(parseObject(data), 'type'));
}

/** The records of whole events. */
function recordsIn(text: string): { event?: string; data: string }[] {
  const records: { event?: string; data: string }[] = [];
  let event: string | undefined;
  let data: string[] = [];
  for (const raw of text.split('\n')) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
    else if (line === '') {
      if (data.length > 0) records.push({ ...(event !== undefined && { event }), data: data.join('\n') });
      event = undefined;
      data = [];
    }
  }
  return records;
}
