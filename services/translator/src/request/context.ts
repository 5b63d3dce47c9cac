/** What stays the same while one request runs. */
import type { Job, ProtocolId } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { type ClientAdapter, findProtocol } from '@model-gateway/protocols';
import type { Span } from '@model-gateway/telemetry';
import type { HostedReply } from '../hosted-tools/hosted-reply.ts';
import type { HostedSession } from '../hosted-tools/session.ts';
import type { FetchedFile } from '../media/fetch-url.ts';
import { LastRun } from '../scripts/last-run.ts';
import type { RunningTurn } from '../turns/running-turn.ts';
import type { UpstreamRegistration } from '../turns/upstream-registration.ts';
import type { Cancellation } from './cancellation.ts';
import type { UnaryParts } from './unary-parts.ts';

/** What stays the same while one request runs. */
export interface RequestContext {
  /** Another one only before the attempts begin, where the request goes on from a response that one account of one upstream keeps. */
  job: Job;
  /** The caller's side of the caller's protocol. */
  readonly client: ClientAdapter;
  /** The deadline and everything else that ends the request early. */
  readonly cancellation: Cancellation;
  readonly clock: RequestClock;
  /** Results that later attempts use again. */
  readonly cache: RequestCache;
  /** The span of this run; undefined where the request is not traced. */
  readonly span: Span | undefined;
  /** The gateway runs it without its caller, who gets `queued` at once; `stream`: is the first reader of its events instead. */
  readonly background: 'queued' | 'stream' | undefined;
  /** The stored turn that the reply is, set before the attempts begin; absent: none. */
  turn?: RunningTurn;
  /** The upstream keeps the reply: its owner is noted. */
  registration?: UpstreamRegistration;
}

export function findClient({ clientProtocol }: Job): ClientAdapter {
  const client = findProtocol(clientProtocol)?.client;
  if (!client) throw new GatewayError('internal', { cause: new Error(`no client adapter for ${clientProtocol}`) });
  return client;
}

/** Measures from the arrival of the caller's request at the edge. */
export class RequestClock {
  readonly #queueMs: number;
  readonly #arrived = performance.now();

  constructor(queueMs: number) {
    this.#queueMs = queueMs;
  }

  elapsedMs(): number {
    return Math.round(this.#queueMs + performance.now() - this.#arrived);
  }

  /** What `elapsedMs` gave, by `performance.now()`. */
  momentOf(elapsedMs: number): number {
    return this.#arrived + elapsedMs - this.#queueMs;
  }
}

/** What was fetched and run for a request, so that its next attempt need not do so again. Made on first need. */
export class RequestCache {
  #files: Map<string, FetchedFile> | undefined;
  #lastRun: LastRun | undefined;
  /** Protocol of the first upstream that takes a call in its own terms: those of another do not understand it. */
  passedTo: ProtocolId | undefined;
  /** Of the present attempt at a question that is not a conversation: the calls that it needs. undefined: none was prepared yet. */
  parts: UnaryParts | undefined;
  /** Of the present attempt: the hosted tools that the gateway runs for it. */
  hosted: HostedSession | undefined;
  /** Its reply, over all calls of the upstream. */
  hostedReply: HostedReply | undefined;

  /** Fetched files by address. */
  get files(): Map<string, FetchedFile> {
    this.#files ??= new Map();
    return this.#files;
  }

  /** The last run of a script after the translation. */
  get lastRun(): LastRun {
    this.#lastRun ??= new LastRun();
    return this.#lastRun;
  }
}
