/** The stored turn of one reply: it sees what the caller is sent, and writes it to the store. */
import { idsOfItems, outputOf, type TurnFacts, type TurnStatus, type Usage } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { ReplyTurn, TurnObserver } from '@model-gateway/protocols';
import { printResponse } from './ask-store.ts';
import type { Cancellable, RunningTurns } from './running-turns.ts';
import type { TurnWriter } from './turn-writer.ts';

/** What a turn is made of. */
export interface TurnParts {
  facts: TurnFacts;
  /** What the reply says of the turn. */
  reply: ReplyTurn;
  observer: TurnObserver;
  /** The response object as it begins. */
  begun(): object;
  writer: TurnWriter;
  running: RunningTurns;
}

export class RunningTurn implements Cancellable {
  readonly #parts: TurnParts;
  #delivered = false;
  #cancel: (() => void) | undefined;
  #cancelled = false;
  #over = false;
  #whole: Uint8Array | undefined;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    parts.running.add(this);
  }

  get id(): string {
    return this.#parts.facts.id;
  }

  get reply(): ReplyTurn {
    return this.#parts.reply;
  }

  /** It runs without a caller. */
  get background(): boolean {
    return this.#parts.facts.background;
  }

  /** What its caller is answered while it runs without one. */
  get queued(): unknown {
    return this.#parts.begun();
  }

  cancel(): void {
    this.#cancelled = true;
    this.#cancel?.();
  }

  onCancel(callback: () => void): void {
    this.#cancel = callback;
    if (this.#cancelled) callback();
  }

  /** The first event leaves: the turn's beginning is written, and not waited for. */
  begin(): void {
    if (this.#delivered) return;
    this.#delivered = true;
    void this.#parts.writer.begin(this.#parts.begun());
  }

  /** A run without a caller leaves its queue: written, and not waited for. */
  moveOn(): void {
    void this.#parts.writer.moveOn({ ...this.#parts.begun(), status: 'in_progress' });
  }

  /** Whole events leave. true: the reply's end is among them, which is held until the turn is stored. */
  sees(events: Uint8Array | string, onlyWords: boolean): boolean {
    const { observer } = this.#parts;
    // The text's characters are bytes.
    observer.written(typeof events === 'string' ? Buffer.from(events, 'latin1') : events, onlyWords);
    return !onlyWords && observer.ended() !== null;
  }

  /** `said`: what it says but for names, where its sender knows. */
  seesWhole(body: Uint8Array, said: unknown = parseBytes(body)): void {
    this.#delivered = true;
    this.#whole = body;
    this.#parts.observer.whole(said);
  }

  /** The reply came to its end. Resolves with whether it is stored, or lies in the outbox; null as `breakOff`. */
  complete(): Promise<boolean | null> {
    const ended = this.#parts.observer.ended();
    return ended ? this.#end(ended) : this.breakOff('incomplete');
  }

  /**
   * The reply broke off, or its caller left. A turn of which nobody has seen anything is taken back, unless its caller has its id already.
   * `usage`: as the end of the stream gives it to the caller. Resolves with null when it was taken back: nobody could have gone on from it.
   */
  breakOff(status: 'incomplete' | 'failed', error?: GatewayError, usage?: Usage): Promise<boolean | null> {
    const { observer, facts } = this.#parts;
    const ended = observer.ended();
    // The caller had asked for the end to be there, whether or not it could be handed over.
    if (ended) return this.#end(ended);
    if (this.#cancelled) return this.#finish('cancelled', observer.broken('cancelled', undefined, usage));
    if (facts.background)
      return this.#finish('failed', observer.broken('failed', { code: 'server_error', message: error?.message ?? 'The run broke off.' }, usage));
    if (this.#delivered) return this.#finish(status, observer.broken(status, undefined, usage));
    return this.discard().then(() => null);
  }

  /** Nobody knows its id. */
  discard(): Promise<void> {
    const { observer, writer } = this.#parts;
    this.#leave();
    return writer.discard(observer.broken('failed'));
  }

  /** A whole reply is stored as the bytes that its caller was sent. */
  #end({ status, response }: { status: TurnStatus; response: unknown }): Promise<boolean> {
    this.#leave();
    const whole = this.#whole;
    return this.#parts.writer.finish(status, whole ? { bytes: whole, items: idsOfItems(outputOf(response)) } : printResponse(response));
  }

  #finish(status: TurnStatus, response: unknown): Promise<boolean> {
    this.#leave();
    return this.#parts.writer.finish(status, printResponse(response));
  }

  #leave(): void {
    if (this.#over) return;
    this.#over = true;
    this.#parts.running.remove(this);
  }
}

const parseBytes = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
