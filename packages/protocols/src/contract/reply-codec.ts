/** From an upstream's reply to canonical events, and from there to the caller's reply. */

import type { Loss, StreamForm, Usage } from '@model-gateway/contracts';
import type { Edit } from '@model-gateway/json-bytes';
import type { ChatEvent } from '../chat/event.ts';
import type { Message } from '../chat/fold.ts';
import type { Target } from './target.ts';
import type { ReplyTurn } from './turns.ts';

/** What a reply writer may use; clocks and random are arguments, so that writers stay pure. */
export interface ReplyContext {
  requestId: string;
  /** The name the caller used: what `model` says in every reply. */
  model: string;
  /** Seconds since the epoch. */
  createdAt: number;
  /** The time now, likewise. */
  now(): number;
  streamForm: StreamForm;
  /** A globally unique id with this prefix, carrying no data: `mintId('toolu_')`. */
  mintId(prefix: string): string;
  /** Wraps a vendor's signature into the gateway's envelope: standard base64 text. */
  sealSignature(signature: string): string;
  /** What this client protocol's own reader put aside. */
  echo?: unknown;
  /** Prompt tokens as far as known when the stream starts (an estimate from bytes), for `message_start`. */
  inputEstimate: number;
  /** The stored turn that this reply is; absent: none was asked for, or there is no store. */
  turn?: ReplyTurn;
}

/** Writes canonical events as a stream of one client protocol. */
export interface ReplyWriter {
  /** Text to send for this event, whole wire events only; '' when nothing. A canonical `error` is never written: the stream terminator ends such streams. */
  write(event: ChatEvent): string;
  losses: Loss[];
}

/** Writes replies for callers. Example: `createWriter(context).write({ type: 'text', … })` gives the SSE event as text. */
export interface ClientReplyCodec {
  /** Canonical events → text of the caller's stream. */
  createWriter(context: ReplyContext): ReplyWriter;
  /** A whole reply, as the JSON value to print. */
  writeWhole(message: Message, context: ReplyContext): { body: unknown; losses: Loss[] };
  /** Reply of a `count-tokens` call. */
  writeTokenCount(tokens: number): unknown;
  contentType(form: StreamForm): string;
  /** Bytes that keep the line alive between events, or null when this form has none (JSON arrays, whole replies). */
  keepAlive(form: StreamForm, headers: Readonly<Record<string, string | undefined>>): string | null;
  /**
   * One record of an upstream stream, framed for the caller, where the caller's framing differs from the upstream's (a JSON array). `json` is the
   * record's JSON text, `index` counts the records written before it. Absent: raw bytes pass as they are.
   */
  frameRecord?(json: string, index: number, form: StreamForm): string;
  /** What follows the last record of a stream that ended properly; at least one record was framed before. Absent: nothing. */
  frameEnd?(form: StreamForm): string;
  /** The number that the protocol itself gives an event of a stream, by which callers name the last one that they have. `event`: its text on the wire. */
  eventNumber?(event: string): number | undefined;
  /** Extra headers of every reply (`request-id` of beta). */
  replyHeaders?(requestId: string): Record<string, string>;
}

/** One record of an upstream stream. `json` is `data` parsed once by the pump, undefined when it is not JSON (`[DONE]`). */
export interface StreamRecord {
  /** SSE event name, when it had one. */
  event?: string | undefined;
  data: string;
  json: unknown;
  /** Binary event streams only: the message says that the stream has failed; `event` is its type or code. */
  failure?: 'exception' | 'error' | undefined;
}

/** A record after framing, before its data is parsed. `dataStart`, `dataEnd`: offsets of `data` in `raw`, when it is one piece of it. */
export interface FramedRecord extends Omit<StreamRecord, 'json'> {
  raw: Uint8Array;
  /** Set by who has parsed it already. */
  json?: unknown;
  dataStart?: number | undefined;
  dataEnd?: number | undefined;
}

/** Record in, events out. Holds the state of one reply. Tolerates unknown fields, nulls, empty arrays; never throws on content. */
export interface ReplyReader {
  read(record: StreamRecord): ChatEvent[];
  /** The body ended: closes what a proper end leaves open (protocols that end by EOF emit `finish` and `end` here if the reply was complete). */
  finish(): ChatEvent[];
  /** false: the next record's meaning depends on its content, so it has to be read even if it looks like the last. Absent: it does not. */
  readonly steady?: boolean;
}

/**
 * Where the records of a stream differ while a block grows. Of a record that gave one delta and nothing else, one that follows at once and differs from it
 * in these values alone gives the same with other words and changes nothing else in the reader: it need not be parsed.
 */
export interface DeltaFields {
  /** Texts that are a delta's words, as they are. */
  words: readonly Edit['path'][];
  /** Texts and whole numbers that neither reader nor verbatim rules look at. */
  idle: readonly Edit['path'][];
}

/** Reads replies of upstreams. Example: `createReader(target).read({ data, json })` gives the canonical events of one record. */
export interface UpstreamReplyCodec {
  framing: 'sse' | 'json-array' | 'event-stream';
  /** Absent: each record is parsed. */
  deltaFields?: DeltaFields;
  /** Takes a record out of the envelope in which a host carries another protocol's events, as that protocol would have framed it (`raw` too). */
  unwrapRecord?: ((record: FramedRecord) => FramedRecord) | undefined;
  /** `target`: for protocols behind which several vendors' shapes stand. */
  createReader(target: Target): ReplyReader;
  /** A whole JSON reply → the same events. */
  readWhole(body: unknown, target: Target): ChatEvent[];
  /**
   * The usage of a whole reply that is plainly finished and failed at nothing: all that a reply which passes as it is must be read for. undefined:
   * not that plain, or without figures, and `readWhole` has to tell. Absent: it always has.
   */
  finishedUsage?(body: unknown): Usage | undefined;
  /** Whether this upstream has a counter of its own. */
  countsTokens: boolean;
  readTokenCount(body: unknown): number | null;
}
