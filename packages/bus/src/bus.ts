import type { AskSubjects, DurableSubject, EventSubjects, OpenSubjects } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';

export type AskSubject = keyof AskSubjects;
export type OpenSubject = keyof OpenSubjects;
export type EventSubject = keyof EventSubjects;

/** Options of a question. */
export interface AskOptions {
  /** Milliseconds until the asker gives up with `timeout`. Default 5,000. Travels with the question. */
  deadlineMs?: number;
}

/**
 * What the opener of a stream is called with, never before `open` has returned. Calls come in order: head?, data*, then exactly one of tail or broken.
 * A handler that throws has failed the stream: the callee gets a cancel, and `broken` follows, also after a tail or whole that threw.
 * The callee's `data` bytes belong to the receiver; it must report them with `consumed` once they are written on, or the sender stops.
 */
export interface StreamHandlers<S extends OpenSubject> {
  head(head: OpenSubjects[S]['head']): void;
  data(bytes: Uint8Array, flags: number): void;
  /** Bytes that the callee passed as a string, when both ends are in one process. Without this handler they arrive as `data`. */
  text?(text: string, flags: number): void;
  /** Proper end: every frame was counted and is here. */
  tail(tail: OpenSubjects[S]['tail']): void;
  /** A reply that was sent as one message. Without this handler it arrives as head, data and tail. Its bytes need no `consumed`. */
  whole?(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void;
  /** The other side failed, died, or the bus lost frames: `service_lost`, `service_unavailable` (nobody listens), or the callee's own error. */
  broken(error: GatewayError): void;
}

/** Options of an opening. */
export interface OpenOptions {
  body?: Uint8Array;
  deadlineMs?: number;
  /** Only the process that serves the subject under this name gets it (`serveAs`). Any text: it never becomes a part of a subject as it is. */
  to?: string;
  /**
   * All of a body that went to another process in parcels is with the bus: the opener need not hold it any more. Never called for a body that travels
   * with the request, or that both ends share.
   */
  bodySent?(): void;
}

/** The opener's end of a stream. */
export interface StreamCall {
  readonly id: string;
  /** Bytes to the callee. false: wait for `onSendable` (out of credit). */
  send(bytes: Uint8Array, flags?: number): boolean;
  onSendable(callback: () => void): void;
  endSend(): void;
  /** The receiver is done with this many bytes of `data`: gives the callee credit. */
  consumed(bytes: number): void;
  /** No more handlers are called; the callee's `onCancel` runs. Idempotent. */
  cancel(reason: string): void;
  /**
   * The tail is stored (its row was accepted as a durable event): the callee may forget it. Until then, or the opener's death,
   * the callee keeps it. Batched; costs nothing per request.
   */
  acknowledge(): void;
}

/** What the callee sends. */
export interface StreamReply<S extends OpenSubject> {
  head(head: OpenSubjects[S]['head']): void;
  /**
   * Bytes, or the text whose characters they are, one each (latin1). false: credit is used up; pause the source until `onWritable`. A sender with any
   * credit left may send one frame and go negative by it.
   */
  data(bytes: Uint8Array | string, flags?: number): boolean;
  onWritable(callback: () => void): void;
  /** Ends the stream. */
  tail(tail: OpenSubjects[S]['tail']): void;
  /** Head, all bytes and tail as one message; nothing may have been sent before. */
  whole(head: OpenSubjects[S]['head'], bytes: Uint8Array, tail: OpenSubjects[S]['tail']): void;
  /** Ends the stream with an error instead of a tail. */
  fail(error: GatewayError): void;
  /** Frames of attempts below this number are dropped and counted at the receiver. */
  dropBefore(attempt: number): void;
}

/** What the callee receives after the open (duplex). */
export interface StreamInput {
  onData(callback: (bytes: Uint8Array, flags: number) => void): void;
  onDataEnd(callback: () => void): void;
  /** Gives the opener credit for this many bytes. */
  consumed(bytes: number): void;
}

/** The callee's end. */
export interface ServerStream<S extends OpenSubject> extends StreamReply<S>, StreamInput {
  readonly id: string;
  /** Milliseconds left when the open arrived. */
  readonly deadlineMs: number;
  /** The opener left, cancelled, or died (its pulse stopped). Called at most once, never after tail or fail. */
  onCancel(callback: (reason: string) => void): void;
  /** The opener acknowledged the tail, or died before it could (`lost`). Called at most once, after tail. */
  onSettled(callback: (how: 'acknowledged' | 'lost') => void): void;
}

/** Handlers of questions, by subject. */
export type AskHandlers = {
  [S in AskSubject]?: (request: AskSubjects[S]['request'], info: { deadlineMs: number }) => Promise<AskSubjects[S]['reply']> | AskSubjects[S]['reply'];
};
/** Handlers of streams, by subject. */
export type OpenServerHandlers = { [S in OpenSubject]?: (request: OpenSubjects[S]['request'], body: Uint8Array, stream: ServerStream<S>) => void };

/** A registration that can be ended. */
export interface Disposable {
  /** Stops taking new work at once; resolves when what was accepted has ended. */
  dispose(): Promise<void>;
}

/**
 * One durable event. The batch is redelivered until `handle` resolves; ids repeat after a crash, so the database's key decides. Both fields are
 * as they were published, and the type is only what they claim to be: parse them with a schema before committing them.
 */
export interface EventItem<S extends EventSubject> {
  id: string;
  event: EventSubjects[S];
  /** How often this item was handed out, this time included; what is refused without being at fault (the database is away) counts too. */
  deliveries: number;
}

/** What a process has in flight on its bus. */
export interface BusStats {
  openCalls: number;
  openServed: number;
  outboxItems: number;
  fencedFrames: number;
  /** They came with another shape than their subject's. */
  refusedMessages: number;
  /** Durable listeners that get no events: NATS has no JetStream, or refuses its use. */
  refusedListeners: number;
}

/** How the services talk to each other: questions, streams and events. */
export interface Bus {
  /** Small request/reply. Rejects with `service_unavailable` at once when nobody listens, `timeout` after the deadline, else the callee's GatewayError. */
  ask<S extends AskSubject>(subject: S, request: AskSubjects[S]['request'], options?: AskOptions): Promise<AskSubjects[S]['reply']>;
  /** Opens a stream. `body` travels with the request, in parcels under credit when it is large; the handler gets it whole. */
  open<S extends OpenSubject>(subject: S, request: OpenSubjects[S]['request'], handlers: StreamHandlers<S>, options?: OpenOptions): StreamCall;
  /** Fire and forget. Throws nothing; events of a non-durable subject are lost while disconnected. */
  publish<S extends Exclude<EventSubject, DurableSubject>>(subject: S, event: EventSubjects[S]): void;
  /**
   * A durable event with a message id. Resolves when it is stored (JetStream's acknowledgement; in process, the listener's commit).
   * While disconnected it waits in a bounded outbox; rejects `overloaded` when that is full.
   */
  publishDurable<S extends DurableSubject>(subject: S, id: string, event: EventSubjects[S]): Promise<void>;
  /** Answers questions and streams. One of all servers of a subject gets each. */
  serve(handlers: { ask?: AskHandlers; open?: OpenServerHandlers }): Disposable;
  /** Answers streams that are opened `to` this name, and no others. A name belongs to one process. */
  serveAs(name: string, handlers: OpenServerHandlers): Disposable;
  /** Subscribes to events; every listener gets each one. */
  listen<S extends Exclude<EventSubject, DurableSubject>>(subject: S, onMessage: (event: EventSubjects[S]) => void): Disposable;
  /** Consumes durable events in batches; acknowledged when `handle` resolves, redelivered when it rejects. One of all listeners gets each batch. */
  listenDurably<S extends DurableSubject>(
    subject: S,
    handle: (batch: EventItem<S>[]) => Promise<void>,
    options?: { maxBatch?: number; maxWaitMs?: number },
  ): Disposable;
  /** Whether publishing would work now. */
  readonly connected: boolean;
  /** Registers a callback for every change of `connected`. */
  onConnection(callback: (connected: boolean) => void): void;
  /** Gauges of what is in flight. */
  stats(): BusStats;
  /** Finishes what was accepted, then closes. */
  drain(): Promise<void>;
}
