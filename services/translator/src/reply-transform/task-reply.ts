/** The reply to a call that begins a task: gathered, since its id is exchanged; status and headers pass. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { Pieces } from '@model-gateway/stream-framing';
import type { AttemptEnd } from '../attempt/result.ts';
import type { ReplySink } from '../reply-sink.ts';
import type { CurrentRequest } from '../request/current.ts';
import { passedReplyHeaders } from './passed-reply.ts';

/** Such replies name a task and little else. */
const maxBytes = 1024 * 1024;

interface ReplyHead {
  status: number;
  headers: Record<string, string>;
}

export class TaskReply {
  readonly #current: CurrentRequest;
  readonly #sink: ReplySink;
  readonly #head: ReplyHead;
  readonly #begin: (bytes: Buffer) => Promise<Buffer>;
  readonly #pieces = new Pieces();
  #size = 0;

  /** `begin` makes the caller's body of the upstream's. */
  constructor(current: CurrentRequest, sink: ReplySink, head: ReplyHead, begin: (bytes: Buffer) => Promise<Buffer>) {
    this.#current = current;
    this.#sink = sink;
    this.#head = head;
    this.#begin = begin;
  }

  push(chunk: Buffer): boolean {
    this.#size += chunk.length;
    if (this.#size <= maxBytes) this.#pieces.add(chunk);
    return true;
  }

  /** Rejects with what the caller gets where the reply cannot be read, or the task cannot be noted: no other upstream is asked, since this one works on it. */
  async finish(): Promise<Omit<AttemptEnd, 'status'>> {
    if (this.#size > maxBytes) throw new GatewayError('upstream_bad_reply', { message: 'The reply to a call that begins a task is too large.' });
    const bytes = await this.#begin(this.#pieces.take());
    const { status, headers } = this.#head;
    this.#current.record.markContent();
    this.#sink.commit(headers['content-type'], { status, headers: passedReplyHeaders(headers) });
    this.#sink.send(bytes);
    return { fault: null, committed: true };
  }
}
