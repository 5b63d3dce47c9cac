/** What happens to one request while it runs: attempts, losses, timings, and at last its row in the request log. */
import {
  type AttemptRecord,
  isInUpstreamTerms,
  type Loss,
  newRequestRow,
  noUsage,
  type ProtocolId,
  pathOfRow,
  type ReplyHead,
  type RequestRow,
  type TurnAtUpstream,
  type Usage,
} from '@model-gateway/contracts';
import type { Route } from '@model-gateway/routing';
import type { SearchPrice } from '../hosted-tools/hosted-reply.ts';
import { addUsage, Meter } from '../meter.ts';
import type { RequestBody } from './body.ts';
import type { RequestContext } from './context.ts';
import { passedCallOf } from './passed.ts';
import type { RequestPlan } from './plan.ts';
import type { Paid, PaidCall } from './price-reply.ts';

const maxLosses = 64;
const noRoutes: string[] = [];

/** Notified when the reply of an attempt brings content. */
export interface ContentWatch {
  content(): void;
}

/** The only part of a request that changes. It is written by every step and read for the reply's headers, the trace and the row. */
export class RequestRecord {
  readonly meter = new Meter();
  readonly #request: RequestContext;
  readonly #losses: Loss[] = [];
  readonly #attempts: AttemptRecord[] = [];
  readonly #pipeline: string[] = [];
  /** How many of the pipeline's steps led to the present plan. */
  #stepsBefore = 0;
  #routes: readonly string[];
  #carriedLosses: readonly Loss[] | undefined;
  /** What is lost whichever attempt answers. */
  #lasting: readonly Loss[] = [];
  #late: Loss | null = null;
  #turnId: string | null = null;
  #task: string | undefined;
  #body: RequestBody;
  #model: string;
  #route: Route | null = null;
  #sentBody: Buffer | null = null;
  #watch: ContentWatch | null = null;
  #firstByteMs: number | null = null;
  #firstContentMs: number | null = null;
  #responseBytes = 0;
  #searched: SearchPrice | null = null;
  /** Calls of attempts that were given up after some rounds of hosted tools, or some parts of a question. */
  readonly #givenUp: PaidCall[] = [];

  constructor(request: RequestContext, body: RequestBody) {
    const { model } = request.job.plan;
    this.#request = request;
    this.#body = body;
    this.#model = model;
    this.#routes = [model];
  }

  /** Of the request as it was read, and of the present attempt. */
  get losses(): readonly Loss[] {
    return this.#losses;
  }

  /** Names of the steps that did something: those that rerouted the request, then those of the present node. */
  get pipeline(): readonly string[] {
    return this.#pipeline;
  }

  /** Name of the upstream of the last attempt. */
  get upstream(): string | null {
    return this.#route?.upstream.name ?? null;
  }

  get upstreamProtocol(): ProtocolId | null {
    return this.#route?.protocol ?? null;
  }

  /** Where the present attempt goes; undefined before the first. `account` is '' for an upstream without keys. */
  get servedBy(): TurnAtUpstream | undefined {
    return this.#route ? { model: this.#route.model.name, upstream: this.#route.upstream.name, account: this.#route.key?.id ?? '' } : undefined;
  }

  /** What answered, where it says so. */
  get upstreamModelId(): string | null {
    return this.meter.servedModel ?? this.#route?.target.upstreamModelId ?? null;
  }

  /** What answers, as the row says it. */
  get served(): NonNullable<ReplyHead['served']> {
    const rerouted = this.#routes.length > 1;
    return {
      // Whichever model serves it in the end, this one was requested.
      model: rerouted ? (this.#routes[0] ?? this.#model) : this.#model,
      upstream: this.upstream,
      // What answered is what is billed.
      upstream_model_id: this.upstreamModelId,
      upstream_protocol: this.upstreamProtocol,
      routes: rerouted ? [...this.#routes.slice(0, -1), this.#model] : noRoutes,
    };
  }

  get firstByteMs(): number | null {
    return this.#firstByteMs;
  }

  get firstContentMs(): number | null {
    return this.#firstContentMs;
  }

  /** The last body sent upstream, where the job asks for it. */
  get sentBody(): Buffer | null {
    return this.#sentBody;
  }

  /** Id of the task that the call began. */
  get task(): string | undefined {
    return this.#task;
  }

  /** A task of an upstream is kept under this id. */
  began(task: string): void {
    this.#task = task;
  }

  /** The attempts of this plan begin, or go on after those of a reroute failed. */
  startPlan({ plan, routes, steps, carried }: RequestPlan): void {
    this.#model = plan.model;
    this.#routes = routes;
    this.#stepsBefore = steps.length;
    this.#carriedLosses = carried?.losses;
  }

  /** Another node begins: nothing that steps did for the one before counts any more. */
  startNode(body: RequestBody): void {
    this.#body = body;
    this.#pipeline.length = this.#stepsBefore;
  }

  /** A script made another body in the caller's protocol for the present node. */
  useBody(body: RequestBody): void {
    this.#body = body;
  }

  /** An attempt begins: nothing of the one before shows in the reply or in the row, but that it was made. */
  startAttempt(route: Route): void {
    this.#givenUp.push(...this.#earlierCalls());
    this.#model = route.model.name;
    this.#route = route;
    this.meter.reset();
    this.#firstByteMs = null;
    this.#firstContentMs = null;
    // What reading the request loses is declared by the attempts that translate it: one that passes the body as it is loses none of it.
    const kept = this.#carriedLosses ?? this.#lasting;
    if (this.#losses.length === kept.length) return;
    this.#losses.length = 0;
    this.lose(kept);
  }

  /** The attempt is about to be sent. */
  startSending(body: Buffer, watch: ContentWatch): void {
    if (this.#request.job.trace) this.#sentBody = body;
    this.#watch = watch;
  }

  /** The attempt is over. */
  endSending(): void {
    this.#watch = null;
  }

  addAttempt(attempt: AttemptRecord): void {
    this.#attempts.push(attempt);
  }

  /** A step changed something. */
  addStep(step: string): void {
    if (!this.#pipeline.includes(step, this.#stepsBefore)) this.#pipeline.push(step);
  }

  lose(losses: readonly Loss[]): void {
    for (const loss of losses) {
      if (this.#losses.length >= maxLosses) return;
      if (!this.#losses.some((known) => known.field === loss.field && known.action === loss.action)) this.#losses.push(loss);
    }
  }

  /** Lost before the first attempt, and by every one of them. */
  loseAlways(losses: readonly Loss[]): void {
    this.#lasting = losses;
    this.lose(losses);
  }

  /** Known when the reply is over, and declared in the row alone. */
  loseAtEnd(loss: Loss): void {
    this.#late = loss;
  }

  /** The reply is this stored turn. */
  setTurn(id: string): void {
    this.#turnId = id;
  }

  markFirstByte(): void {
    this.#firstByteMs ??= this.#request.clock.elapsedMs();
  }

  markContent(): void {
    this.#firstContentMs ??= this.#request.clock.elapsedMs();
    this.#watch?.content();
  }

  /** Searches of the web that were made for the reply, and what one of them costs. */
  addSearches(count: number, price: SearchPrice | null): void {
    if (!price || count === 0) return;
    this.#searched = { micros: (this.#searched?.micros ?? 0) + count * price.micros, currency: price.currency };
  }

  /** Bytes of the reply left for the caller. */
  addResponseBytes(count: number): void {
    this.#responseBytes += count;
  }

  /** The size of a reply that leaves as a whole. */
  setResponseBytes(count: number): void {
    this.#responseBytes = count;
  }

  /** The figures of the reply, as its meter has them; where nobody counted the prompt, its size is estimated. */
  settle(complete: boolean): ReturnType<Meter['settle']> {
    // Nobody knows what is in a call that passes. One that its caller leaves before the figures come is estimated, where its reply is read as a conversation's.
    const known = this.meter.usage !== undefined || (!complete && this.meter.hasSeenText);
    if (this.#route && !known && passedCallOf(this.#request.job, this.#route)) return { tokens: noUsage, source: null };
    return this.meter.settle(complete, () => this.#body.estimateTokens());
  }

  /** What is paid for beside a single call of an upstream: all calls, where there were several, and searches. */
  paid(complete: boolean): Paid {
    const calls = [...this.#givenUp, ...this.#earlierCalls()];
    if (calls.length > 0) {
      const last = this.meter.settleCall(complete, () => this.#body.estimateTokens());
      if (last.source !== null) calls.push(this.#callOf(last.tokens));
    }
    return { calls, searched: this.#searched };
  }

  #earlierCalls(): PaidCall[] {
    return this.meter.earlierCalls.map((tokens) => this.#callOf(tokens));
  }

  #callOf(tokens: Usage): PaidCall {
    return { model: this.#model, upstreamModelId: this.upstreamModelId, tokens };
  }

  /** The figures of the row: those of the reply, and what was paid for beside it. */
  #settleRow(complete: boolean): ReturnType<Meter['settle']> {
    const { tokens, source } = this.settle(complete);
    if (this.#givenUp.length === 0) return { tokens, source };
    return { tokens: this.#givenUp.reduce((sum, call) => addUsage(sum, call.tokens), tokens), source: source ?? 'partial' };
  }

  /** The same of the present call of the upstream alone. */
  settleCall(): ReturnType<Meter['settle']> {
    return this.meter.settleCall(false, () => this.#body.estimateTokens());
  }

  /** An upstream is asked again for the same reply: what was used so far is paid for. */
  nextCall(): void {
    this.meter.nextCall(() => this.#body.estimateTokens());
  }

  /** The finished row. `complete`: the upstream said how it ended, so its usage is final. */
  row(status: number, errorCode: string | null, complete: boolean): RequestRow {
    const { job, clock } = this.#request;
    if (this.#late) this.lose([this.#late]);
    const usage = this.#settleRow(complete);
    return newRequestRow({
      id: job.id,
      client_request_id: job.clientRequestId,
      started_at: job.startedAt,
      authority: 2,
      access_key: job.accessKey,
      key_group: job.keyGroup,
      requested_model: job.requestedModel,
      ...this.served,
      client_protocol: job.clientProtocol,
      stream: job.stream,
      status,
      error_code: errorCode,
      attempts: this.#attempts,
      input_tokens: usage.tokens.input,
      output_tokens: usage.tokens.output,
      cache_read_tokens: usage.tokens.cacheRead,
      cache_write_tokens: usage.tokens.cacheWrite5m + usage.tokens.cacheWrite1h,
      cache_write_1h_tokens: usage.tokens.cacheWrite1h,
      reasoning_tokens: usage.tokens.reasoning,
      usage_source: usage.source,
      audio_input_tokens: usage.tokens.audioInput ?? 0,
      audio_output_tokens: usage.tokens.audioOutput ?? 0,
      image_input_tokens: usage.tokens.imageInput ?? 0,
      image_output_tokens: usage.tokens.imageOutput ?? 0,
      helpers: usage.tokens.helper ? [usage.tokens.helper] : [],
      images: usage.tokens.images ?? null,
      seconds: usage.tokens.seconds ?? null,
      characters: usage.tokens.characters ?? null,
      service_tier: usage.tokens.serviceTier ?? null,
      queue_ms: Math.round(job.queueMs),
      ttfb_ms: this.#firstByteMs,
      first_content_ms: this.#firstContentMs,
      duration_ms: clock.elapsedMs(),
      request_bytes: this.#body.bytes.length,
      response_bytes: this.#responseBytes,
      client_ip: job.clientIp,
      user_agent: job.headers['user-agent'] ?? null,
      session_id: job.sessionId ?? null,
      turn_id: this.#turnId,
      path: isInUpstreamTerms(job.operation) ? pathOfRow(job.method, job.path) : null,
      losses: this.#losses,
      pipeline: this.#pipeline,
    });
  }
}
