/**
 * A call of a caller of the newer era whose server, of an older one, asks for something before it answers. The caller is answered `input_required` and sends
 * the answers in a request of its own; the call at the server goes on meanwhile, in this process, whose name is in the `requestState`.
 */
import { randomBytes } from 'node:crypto';
import { mcpStateForm, mcpStatePrefix } from '@model-gateway/contracts';
import { type Message, RpcError } from '../protocol/json-rpc.ts';
import { errorCodes } from '../protocol/versions.ts';
import type { PeerReply } from '../servers/peer.ts';
import { canBeAsked } from './ask-inputs.ts';
import type { Reply } from './reply.ts';

/** A person may have to answer. */
const answerMs = 10 * 60_000;
/** Servers that ask for more than one thing ask at once. */
const gatherMs = 20;
const maxQuestions = 20;
const maxHeld = 1000;

interface Question {
  method: string;
  params: string | undefined;
  /** `result`: JSON text; null: nobody answers. */
  settle(result: string | null): void;
}

export class Conversation {
  /** What the caller said that it can be asked for. */
  readonly #able: Record<string, unknown>;
  readonly #questions = new Map<string, Question>();
  readonly #cancel = new AbortController();
  #asked = Promise.withResolvers<null>();
  #next = 1;
  /** Of the exchange that waits for the answer now. */
  reply: Reply;
  /** The caller's own of that exchange. */
  progressToken: unknown;

  constructor(able: Record<string, unknown>, reply: Reply) {
    this.#able = able;
    this.reply = reply;
  }

  /** Aborted when nobody waits for the call any more. */
  get signal(): AbortSignal {
    return this.#cancel.signal;
  }

  /** false: the caller cannot be asked this. */
  ask({ method, params }: Message & { kind: 'request' }, settle: Question['settle']): boolean {
    if (!canBeAsked(method, this.#able) || this.#questions.size >= maxQuestions) return false;
    this.#questions.set(`input-${this.#next++}`, { method, params, settle });
    const { resolve } = this.#asked;
    setTimeout(() => resolve(null), gatherMs);
    return true;
  }

  /** The server's answer; null: the caller has to be asked first. `left`: aborted when the caller of this exchange has left, which gives the call up. */
  async next(work: Promise<PeerReply>, left: AbortSignal): Promise<PeerReply | null> {
    const giveUp = (): void => this.end();
    if (left.aborted) giveUp();
    left.addEventListener('abort', giveUp, { once: true });
    try {
      return await Promise.race([work, this.#asked.promise]);
    } finally {
      left.removeEventListener('abort', giveUp);
    }
  }

  /** Passes on what the caller answered; what was left out is asked again. `inputs`: results by the questions' keys. */
  take(inputs: Record<string, unknown>): void {
    for (const [key, { settle }] of this.#questions) {
      if (inputs[key] === undefined) continue;
      this.#questions.delete(key);
      settle(JSON.stringify(inputs[key]));
    }
    this.#asked = Promise.withResolvers<null>();
    if (this.#questions.size > 0) this.#asked.resolve(null);
  }

  /** The caller sends no answers: the server learns of it, and its call is cancelled. */
  end(): void {
    for (const { settle } of this.#questions.values()) settle(null);
    this.#questions.clear();
    this.#cancel.abort();
  }

  /** What waits for an answer, as JSON text of `inputRequests`. */
  print(): string {
    const texts = [...this.#questions].map(
      ([key, { method, params }]) => `"${key}":{"method":${JSON.stringify(method)}${params === undefined ? '' : `,"params":${params}`}}`,
    );
    return `{${texts.join(',')}}`;
  }
}

/** A call that waits for its caller. */
export interface HeldCall {
  conversation: Conversation;
  work: Promise<PeerReply>;
  /** Id of the access key that made it. */
  owner: string;
  /** What it was made with: another request cannot go on with it. */
  target: { server: string; tool: string };
}

/** The calls of one process that wait for their callers. */
export class HeldCalls {
  readonly #process: string;
  readonly #calls = new Map<string, { call: HeldCall; timer: NodeJS.Timeout }>();

  /** `process`: the name that streams to this process alone are opened with. */
  constructor(process: string) {
    this.#process = process;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Gives the state by which the caller comes back. Throws RpcError when too many wait. */
  hold(call: HeldCall): string {
    if (this.#calls.size >= maxHeld) {
      call.conversation.end();
      throw new RpcError(errorCodes.server, 'Too many calls wait for input.', { data: { code: 'overloaded' } });
    }
    const state = `${mcpStatePrefix}${this.#process}.${randomBytes(18).toString('base64url')}`;
    const timer = setTimeout(() => {
      this.#calls.delete(state);
      call.conversation.end();
    }, answerMs).unref();
    this.#calls.set(state, { call, timer });
    // The server may give up first: a caller that answers later gets its error.
    call.work.catch(() => undefined);
    return state;
  }

  /** undefined: the state is another's. Throws RpcError for a state of the gateway that no call waits under. */
  resume(state: unknown, owner: string, target: HeldCall['target']): HeldCall | undefined {
    if (typeof state !== 'string' || !mcpStateForm.test(state)) return undefined;
    const held = this.#calls.get(state);
    const isOwn = held?.call.owner === owner && held.call.target.server === target.server && held.call.target.tool === target.tool;
    if (!held || !isOwn) throw new RpcError(errorCodes.invalidParams, 'Invalid params: no call waits under this requestState');
    clearTimeout(held.timer);
    this.#calls.delete(state);
    return held.call;
  }

  close(): void {
    for (const { call, timer } of this.#calls.values()) {
      clearTimeout(timer);
      call.conversation.end();
    }
    this.#calls.clear();
  }
}
