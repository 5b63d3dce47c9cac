/** One request as the translator holds it: the job, its body read at most once, and the row it will leave behind. */
import { type AttemptRecord, type Job, type Loss, newRequestRow, type Plan, type ProtocolId, type RequestRow } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import { type KnownPlaces, type Need, type Projected, type Projection, RepeatedKey } from '@model-gateway/json-bytes';
import { type ClientAdapter, findProtocol, questionsOf, type ReadRequest } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { Span } from '@model-gateway/telemetry';
import type { AttemptWatch } from './attempt/outcomes.ts';
import type { FetchedFile } from './media/fetch-url.ts';
import { Meter } from './meter.ts';
import type { Carried } from './prepare/carried.ts';
import { promptTokens, usualBytesPerToken } from './prompt-sizes.ts';
import { LastRun } from './scripts/last-run.ts';

const maxLosses = 64;
/** Bytes of a body that is too short to hold a file worth the look. */
const maxPlainBodyLength = 4096;
const noRoutes: string[] = [];

const isMarked = (holder: object): boolean => 'cache' in holder && holder.cache !== undefined;
const own = (value: unknown, key: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? ((value as Record<string, unknown>)[key] ?? undefined) : undefined;

/** What the edge's scan found, and what it looked for. */
export interface FoundPlaces extends KnownPlaces {
  asked: readonly string[];
  words: readonly string[];
}

/** The edge's scan judges the structure of a body, and not what stands inside its strings. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_json', { cause });
  }
}

/** A longer key is not repeated to its caller: it may be as long as the body. */
const maxKeyLength = 100;

const repeated = (key = ''): { message: string; param?: string } =>
  key === '' || key.length > maxKeyLength ? { message: 'A key is given twice in one object.' } : { message: `The key "${key}" is given twice.`, param: key };

/** State saved before a reroute; restored if every node of the new plan fails. */
export interface CallMark {
  readonly plan: Plan;
  readonly base: Pick<Call, 'body' | 'places'>;
  readonly routes: number;
  readonly stepsOfHops: number;
}

export class Call {
  readonly job: Job;
  /** What the caller sent, or what a rule or script before the translation made of it. */
  body: Buffer;
  /** Where the edge found top-level values of `body`; absent for a body that is not the caller's own any more. */
  places: FoundPlaces | undefined;
  /** The body that the present plan was made for. */
  #base: Pick<Call, 'body' | 'places'>;
  /** The plan under way: the job's, until the request is rerouted to another model. */
  plan: Plan;
  /** Canonical names of the requested model and of the reroute targets, in order. */
  readonly routes: string[];
  readonly client: ClientAdapter;
  readonly meter = new Meter();
  /** Of the request as it was read, and of the current attempt. */
  readonly losses: Loss[] = [];
  #readLosses: readonly Loss[] = [];
  readonly attempts: AttemptRecord[] = [];
  /** Names of the steps that did something: those that sent the request on, then those of the current node. */
  readonly pipeline: string[] = [];
  #stepsOfHops = 0;
  readonly #arrived = performance.now();
  #parsed: { value: unknown } | undefined;
  #request: ReadRequest | undefined;
  /** What the prompt was estimated at, and of which body. */
  #estimated: { body: Buffer; tokens: number } | undefined;
  #systemPrompt: string | undefined;
  /** Canonical name of the model that serves; before the first attempt, of what was asked for. */
  model: string;
  /** The last body sent upstream, where the job asks for it. */
  sentBody: Buffer | null = null;
  /** Notified when the current attempt brings content. */
  watch: AttemptWatch | null = null;
  /** Of this run, where the request is traced. */
  span: Span | undefined;
  upstream: string | null = null;
  upstreamModelId: string | null = null;
  upstreamProtocol: ProtocolId | null = null;
  firstByteMs: number | null = null;
  firstContentMs: number | null = null;
  responseBytes = 0;
  /** What was fetched for this request, by address: shared by all attempts. */
  get files(): Map<string, FetchedFile> {
    this.#files ??= new Map();
    return this.#files;
  }
  #files: Map<string, FetchedFile> | undefined;
  #scripted: LastRun | undefined;
  #leaving: AbortController | undefined;
  /** Set when the opener left or died. */
  cancelled: string | null = null;
  /** Set when this process shuts down before the reply is complete: the caller's error. */
  interrupted: GatewayError | null = null;

  constructor(job: Job, body: Uint8Array) {
    this.job = job;
    this.plan = job.plan;
    this.model = job.plan.model;
    this.routes = [job.plan.model];
    this.body = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const client = findProtocol(job.clientProtocol)?.client;
    if (!client) throw new GatewayError('internal', { cause: new Error(`no client door for ${job.clientProtocol}`) });
    this.client = client;
    const { id, keys, words } = questionsOf(client);
    const { questions, values, end, words: there } = job.places;
    this.places = questions === id ? { keys, values, end, asked: words, words: there } : undefined;
    this.#base = { body: this.body, places: this.places };
  }

  /** Milliseconds since the caller's request arrived at the edge. */
  elapsedMs(): number {
    return Math.round(this.job.queueMs + performance.now() - this.#arrived);
  }

  /** By `performance.now()`, of what `elapsedMs` gave. */
  momentOf(elapsedMs: number): number {
    return this.#arrived + elapsedMs - this.job.queueMs;
  }

  /** Another body in the caller's protocol stands for the caller's on the present route; null: what stood there before this route was tried. */
  useBody(body: Buffer | null): void {
    const next = body === null ? this.#base : { body, places: undefined };
    if (next.body === this.body) return;
    this.body = next.body;
    this.places = next.places;
    this.#parsed = undefined;
    this.#request = undefined;
    this.#systemPrompt = undefined;
    this.#readLosses = [];
  }

  /** Another node's turn: nothing that steps did for the one before counts any more. */
  startNode(): void {
    this.useBody(null);
    this.pipeline.length = this.#stepsOfHops;
  }

  /** A step changed something. */
  did(step: string): void {
    if (!this.pipeline.includes(step, this.#stepsOfHops)) this.pipeline.push(step);
  }

  /** The request as it was prepared for the route that a script sent it on from: the next one gets it as it is. */
  carried: Carried | null = null;

  /** What the preparation lost stays lost on every route that gets it. */
  carry(prepared: Carried): void {
    this.carried = prepared;
    this.#readLosses = [...this.losses];
  }

  /** Reroutes the request with its current body. */
  reroute(plan: Plan): void {
    this.#stepsOfHops = this.pipeline.length;
    this.#base = { body: this.body, places: this.places };
    this.plan = plan;
    this.model = plan.model;
    this.routes.push(plan.model);
  }

  mark(): CallMark {
    return { plan: this.plan, base: this.#base, routes: this.routes.length, stepsOfHops: this.#stepsOfHops };
  }

  /** Restores the state before a reroute; attempts made since stay in the row. */
  restore({ plan, base, routes, stepsOfHops }: CallMark): void {
    this.plan = plan;
    this.model = plan.model;
    this.#base = base;
    this.routes.length = routes;
    this.#stepsOfHops = stepsOfHops;
    // A carried body is never rerouted again, so nothing was carried at the mark.
    this.carried = null;
    this.#readLosses = this.#request?.losses ?? [];
  }

  /** The body as JSON, parsed on first need and shared by all attempts. Never mutated. */
  parseBody(): unknown {
    if (!this.#parsed) {
      this.#parsed = { value: parseJson(this.body.toString('utf8')) };
    }
    return this.#parsed.value;
  }

  /** As much of the body as `projection` asks for. A repeated key that it looks into is a 400: the upstream might read its other value. Never mutated. */
  readBody(projection: Projection, more: readonly Need[]): Projected {
    try {
      return projection.read(this.body, more);
    } catch (cause) {
      if (cause instanceof RepeatedKey) throw new GatewayError('duplicate_key', repeated(cause.key));
      throw new GatewayError('invalid_json', { cause });
    }
  }

  /** The canonical request, read on first need and shared by all attempts. */
  readRequest(): ReadRequest {
    if (!this.#request) {
      this.#request = this.#read();
      this.#readLosses = this.#request.losses;
      this.lose(this.#readLosses);
    }
    return this.#request;
  }

  /**
   * The leading system text as the caller's protocol gives it, its parts on lines of their own; '' without one, and for a body that only the
   * upstream can make sense of. Reading for this alone loses nothing: the bytes may still pass as they are.
   */
  systemPrompt(): string {
    if (this.#systemPrompt === undefined) {
      try {
        const { conversation } = this.#request ?? this.#read();
        this.#systemPrompt = conversation.system.map(({ text }) => text).join('\n');
      } catch (error) {
        if (!isGatewayError(error)) throw error;
        this.#systemPrompt = '';
      }
    }
    return this.#systemPrompt;
  }

  #read(): ReadRequest {
    const { job } = this;
    return this.client.readRequest(this.parseBody(), {
      path: job.path,
      operation: job.operation,
      model: job.requestedModel,
      streamForm: job.streamForm,
      headers: job.headers,
    });
  }

  /** A top-level value of the body: by the place that the edge noted, else by parsing the whole. undefined when absent or null. */
  topLevel(key: string): unknown {
    if (!this.places?.keys.includes(key)) return own(this.parseBody(), key);
    const { values } = this.places;
    const place = Object.hasOwn(values, key) ? values[key] : undefined;
    return place && (parseJson(this.body.toString('utf8', place.start, place.end)) ?? undefined);
  }

  /** The JSON bytes of a top-level value; undefined when absent. */
  valueBytes(key: string): Buffer | undefined {
    if (!this.places?.keys.includes(key)) {
      const value = own(this.parseBody(), key);
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value), 'utf8');
    }
    const place = Object.hasOwn(this.places.values, key) ? this.places.values[key] : undefined;
    return place && this.body.subarray(place.start, place.end);
  }

  /** Whether the caller marked anything for caching. */
  hasCacheMarks(): boolean {
    const { system, tools, turns } = this.readRequest().conversation;
    return system.some(isMarked) || tools.some(isMarked) || turns.some((turn) => turn.parts.some(isMarked));
  }

  /** What scripts after the translation made of this request. */
  get scripted(): LastRun {
    this.#scripted ??= new LastRun();
    return this.#scripted;
  }

  /** Aborted when the caller leaves or this process does. */
  leaving(): AbortSignal {
    this.#leaving ??= new AbortController();
    if (this.cancelled !== null || this.interrupted !== null) this.#leaving.abort();
    return this.#leaving.signal;
  }

  leave(): void {
    this.#leaving?.abort();
  }

  /** An attempt begins: nothing of the one before shows in the reply or in the row, but that it was made. */
  startAttempt({ model, upstream, target, protocol }: Route): void {
    this.model = model.name;
    this.upstream = upstream.name;
    this.upstreamModelId = target.upstreamModelId;
    this.upstreamProtocol = protocol;
    this.meter.reset();
    this.firstByteMs = null;
    this.firstContentMs = null;
    if (this.losses.length === this.#readLosses.length) return;
    this.losses.length = 0;
    this.lose(this.#readLosses);
  }

  lose(losses: readonly Loss[]): void {
    for (const loss of losses) {
      if (this.losses.length >= maxLosses) return;
      if (!this.losses.some((known) => known.field === loss.field && known.action === loss.action)) this.losses.push(loss);
    }
  }

  markFirstByte(): void {
    this.firstByteMs ??= this.elapsedMs();
  }

  markContent(): void {
    this.firstContentMs ??= this.elapsedMs();
    this.watch?.content();
  }

  /** The figures of the reply, as its meter has them; where nobody counted the prompt, its size is estimated. */
  settle(complete: boolean): ReturnType<Meter['settle']> {
    return this.meter.settle(complete, () => this.#promptTokens());
  }

  /** A short body is taken by its bytes; in a longer one, files may be most of it, and they are no text. */
  #promptTokens(): number {
    if (this.#estimated?.body === this.body) return this.#estimated.tokens;
    let tokens = Math.ceil(this.body.length / usualBytesPerToken);
    if (this.body.length > maxPlainBodyLength) {
      try {
        tokens = promptTokens((this.#request ?? this.#read()).conversation, this.body.length);
      } catch {
        // A body that only its upstream can make sense of has a row all the same.
      }
    }
    this.#estimated = { body: this.body, tokens };
    return tokens;
  }

  /** The finished row. `complete`: the upstream said how it ended, so its usage is final. */
  row(status: number, errorCode: string | null, complete: boolean): RequestRow {
    const { job } = this;
    const usage = this.settle(complete);
    return newRequestRow({
      id: job.id,
      client_request_id: job.clientRequestId,
      started_at: job.startedAt,
      authority: 2,
      access_key: job.accessKey,
      key_group: job.keyGroup,
      // Whichever model serves it in the end, this one was requested.
      model: this.routes.length > 1 ? (this.routes[0] ?? this.model) : this.model,
      requested_model: job.requestedModel,
      upstream: this.upstream,
      // What answered is what is billed.
      upstream_model_id: this.meter.servedModel ?? this.upstreamModelId,
      client_protocol: job.clientProtocol,
      upstream_protocol: this.upstreamProtocol,
      stream: job.stream,
      status,
      error_code: errorCode,
      attempts: this.attempts,
      input_tokens: usage.tokens.input,
      output_tokens: usage.tokens.output,
      cache_read_tokens: usage.tokens.cacheRead,
      cache_write_tokens: usage.tokens.cacheWrite5m + usage.tokens.cacheWrite1h,
      cache_write_1h_tokens: usage.tokens.cacheWrite1h,
      reasoning_tokens: usage.tokens.reasoning,
      usage_source: usage.source,
      queue_ms: Math.round(job.queueMs),
      ttfb_ms: this.firstByteMs,
      first_content_ms: this.firstContentMs,
      duration_ms: this.elapsedMs(),
      request_bytes: this.body.length,
      response_bytes: this.responseBytes,
      client_ip: job.clientIp,
      user_agent: job.headers['user-agent'] ?? null,
      session_id: job.sessionId ?? null,
      losses: this.losses,
      pipeline: this.pipeline,
      routes: this.routes.length > 1 ? [...this.routes.slice(0, -1), this.model] : noRoutes,
    });
  }
}
