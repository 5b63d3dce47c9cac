/** What a session leaves: a row for each response, also of those that the vendor began, and one for itself. */
import {
  type AttemptRecord,
  inputTokensOf,
  newRequestRow,
  noUsage,
  outputTokensOf,
  type RealtimeJob,
  type RequestRow,
  type Usage,
} from '@model-gateway/contracts';
import type { Place } from '@model-gateway/distributed-state';
import type { RealtimeAsk, RealtimeNotice, WrittenTokens } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { addUsage } from '../meter.ts';

/** A response under way. */
interface Turn {
  readonly startedAt: number;
  readonly began: number;
  readonly keyGroup: string;
  firstContentMs: number | null;
  /** About how many tokens its content was so far. */
  written: { text: number; sound: number };
  /** What it took of the limits' tokens is known; absent: it never began. */
  readonly settle?: ((tokens: number) => void) | undefined;
}

/** A `response.create` that nothing has answered yet. */
interface Asked {
  readonly eventId: string | null;
  readonly startedAt: number;
  readonly began: number;
}

/** Of responses under way, and of requests that wait for theirs; a vendor allows far fewer. */
const maxOpen = 256;

/** The turn of a protocol that runs one at a time and names none. */
const nameless = '';

export interface SessionRecordContext {
  readonly job: RealtimeJob;
  /** Of the caller's key, by now. */
  keyGroup(): string;
  mintRowId(): string;
  publish(row: RequestRow): void;
}

export class SessionRecord {
  readonly #context: SessionRecordContext;
  readonly #began = performance.now();
  readonly #attempts: AttemptRecord[] = [];
  readonly #turns = new Map<string, Turn>();
  readonly #asked: Asked[] = [];
  /** Of the turn that runs without a name, or of the one after it. */
  #counted: Usage | null = null;
  #route: Route | null = null;
  #establishedMs: number | null = null;
  #ended = false;
  upBytes = 0;
  downBytes = 0;
  /** What the upstream counted of the session as a whole. */
  #seconds: number | null = null;
  #place: Place | null = null;

  constructor(context: SessionRecordContext) {
    this.#context = context;
  }

  /** Whether a response is running. */
  get responding(): boolean {
    return this.#turns.size > 0;
  }

  tried(attempt: AttemptRecord, route: Route): void {
    this.#attempts.push(attempt);
    this.#route = route;
  }

  /** `place`: each response counts there from its beginning. */
  established(place: Place): void {
    this.#place = place;
    this.#establishedMs = this.#elapsed();
  }

  asked({ eventId }: RealtimeAsk): void {
    if (this.#asked.length < maxOpen) this.#asked.push({ eventId, startedAt: Date.now(), began: performance.now() });
  }

  noticed(notice: RealtimeNotice): void {
    switch (notice.kind) {
      case 'response-started':
        // Also of a response that the vendor began by itself: then an earlier request has none yet, and is answered later.
        return this.#start(notice.id, this.#asked.shift());
      case 'content':
        return this.#content(notice);
      case 'response-ended':
        return this.#end(notice);
      case 'session-usage':
        this.#seconds = Math.max(this.#seconds ?? 0, notice.seconds);
        return;
      case 'turn':
        return this.#turn(notice);
      case 'error':
        return this.#refused(notice);
    }
  }

  /** Once: what runs is over, and so is the session. `errorCode` null: it was closed properly. `cutBy`: what ended a response that ran until then. */
  end(status: number, errorCode: string | null, cutBy = errorCode ?? 'client_gone'): void {
    if (this.#ended) return;
    this.#ended = true;
    for (const turn of this.#turns.values()) this.#publishTurn(turn, this.#takeCounted(), cutBy);
    this.#turns.clear();
    // Counts that came after the end of the last turn.
    if (this.#counted) this.#end({ id: nameless, status: 'completed', code: null, usage: this.#takeCounted() });
    const { job } = this.#context;
    this.#context.publish(
      newRequestRow({
        ...this.#common(),
        id: job.id,
        kind: 'realtime_session',
        started_at: job.startedAt,
        status,
        error_code: errorCode,
        attempts: this.#attempts,
        seconds: this.#seconds,
        usage_source: this.#seconds === null ? null : 'upstream',
        queue_ms: Math.round(job.queueMs),
        ttfb_ms: this.#establishedMs,
        duration_ms: this.#elapsed(),
        request_bytes: this.upBytes,
        response_bytes: this.downBytes,
      }),
    );
  }

  #content({ id, written }: Extract<RealtimeNotice, { kind: 'content' }>): void {
    for (const turn of this.#turns.values()) turn.firstContentMs ??= Math.round(performance.now() - turn.began);
    // What does not say whose it is belongs to the response of the conversation, of which one runs at a time.
    const turn = (id !== null && this.#turns.get(id)) || [...this.#turns.values()].at(-1);
    if (turn) addWritten(turn, written);
  }

  #start(id: string, asked: Asked | undefined): void {
    if (this.#turns.size >= maxOpen || this.#turns.has(id)) return;
    this.#turns.set(id, this.#begin(asked));
  }

  #begin(asked?: Asked): Turn {
    return {
      startedAt: asked?.startedAt ?? Date.now(),
      began: asked?.began ?? performance.now(),
      keyGroup: this.#context.keyGroup(),
      firstContentMs: null,
      written: { text: 0, sound: 0 },
      settle: this.#place?.begin(),
    };
  }

  #end({ id, status, code, usage }: Omit<Extract<RealtimeNotice, { kind: 'response-ended' }>, 'kind'>): void {
    const turn = this.#turns.get(id) ?? this.#begin();
    this.#turns.delete(id);
    this.#publishTurn(turn, usage, status === 'failed' ? (code ?? 'upstream_failed') : null);
  }

  #turn({ content, usage, over }: Extract<RealtimeNotice, { kind: 'turn' }>): void {
    if ((content || over) && !this.#turns.has(nameless)) this.#start(nameless, this.#asked.shift());
    const turn = this.#turns.get(nameless);
    if (turn && content) {
      turn.firstContentMs ??= Math.round(performance.now() - turn.began);
      addWritten(turn, content);
    }
    if (usage) this.#counted = this.#counted ? addUsage(this.#counted, usage) : usage;
    if (!over) return;
    // Its counts may come after its end.
    if (turn) turn.written = { text: 0, sound: 0 };
    this.#end({ id: nameless, status: 'completed', code: null, usage: this.#takeCounted() });
  }

  #takeCounted(): Usage | null {
    const counted = this.#counted;
    this.#counted = null;
    return counted;
  }

  /**
   * An error says which of the caller's events it is about, where that event had an id. One without may be about any other event without: the oldest
   * request of these has it, unless it tells otherwise. Should that request be answered all the same, its response has a row of its own.
   */
  #refused({ eventId, mayBeOfAsk, fault }: Extract<RealtimeNotice, { kind: 'error' }>): void {
    if (eventId === null && !mayBeOfAsk) return;
    const at = this.#asked.findIndex((one) => one.eventId === eventId);
    const asked = this.#asked[at];
    if (!asked) return;
    this.#asked.splice(at, 1);
    this.#publishTurn(
      { startedAt: asked.startedAt, began: asked.began, keyGroup: this.#context.keyGroup(), firstContentMs: null, written: { text: 0, sound: 0 } },
      null,
      fault.code ?? 'upstream_rejected',
    );
  }

  #publishTurn({ startedAt, began, keyGroup, firstContentMs, written, settle }: Turn, usage: Usage | null, errorCode: string | null): void {
    const estimate = usage ? null : estimateOf(written);
    const tokens: Usage = usage ?? estimate ?? noUsage;
    const { audioInput = 0, audioOutput = 0 } = tokens;
    // Where they are unknown, what was expected stays counted.
    if (usage) settle?.(inputTokensOf(tokens) + outputTokensOf(tokens));
    this.#context.publish(
      newRequestRow({
        ...this.#common(),
        id: this.#context.mintRowId(),
        kind: 'realtime_turn',
        key_group: keyGroup,
        started_at: startedAt,
        status: 200,
        error_code: errorCode?.slice(0, 64) ?? null,
        input_tokens: tokens.input,
        cache_read_tokens: tokens.cacheRead,
        output_tokens: tokens.output,
        reasoning_tokens: tokens.reasoning,
        audio_input_tokens: audioInput,
        audio_output_tokens: audioOutput,
        seconds: tokens.seconds ?? null,
        service_tier: tokens.serviceTier ?? null,
        usage_source: usage ? 'upstream' : estimate && 'estimated',
        first_content_ms: firstContentMs,
        duration_ms: Math.round(performance.now() - began),
      }),
    );
  }

  /** The rows of a session are found together by its id, unless its client has named a session of its own. */
  #common() {
    const { job } = this.#context;
    return {
      client_request_id: job.clientRequestId,
      authority: 2 as const,
      access_key: job.accessKey,
      key_group: job.keyGroup,
      model: this.#route?.model.name ?? job.plan.model,
      requested_model: job.requestedModel,
      upstream: this.#route?.upstream.name ?? null,
      upstream_model_id: this.#route?.target.upstreamModelId ?? null,
      client_protocol: job.clientProtocol,
      upstream_protocol: this.#route?.protocol ?? null,
      stream: true,
      client_ip: job.clientIp,
      user_agent: job.headers['user-agent']?.slice(0, 512) ?? null,
      session_id: job.sessionId ?? job.id,
    };
  }

  #elapsed(): number {
    return Math.round(performance.now() - this.#began);
  }
}

function addWritten({ written }: Pick<Turn, 'written'>, { text, sound }: WrittenTokens): void {
  written.text += text;
  written.sound += sound;
}

/** Nobody listens to a response for nothing by leaving before its end, where the counts are. null: nothing of it came. */
function estimateOf({ text, sound }: Turn['written']): Usage | null {
  return text + sound === 0 ? null : { ...noUsage, output: Math.ceil(text), audioOutput: Math.ceil(sound) };
}
