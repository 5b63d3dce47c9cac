/** Spans as services use them: only for sampled requests, and with nothing in them that must not leave the process. */
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type Tracer as SdkTracer,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { cleanText } from './clean.ts';
import type { Redactor } from './redactor.ts';
import { parseTraceparent, printTraceparent, type TraceParent } from './trace-context.ts';

/** null and undefined are left out. */
export type SpanValue = string | number | boolean | readonly string[] | null | undefined;
export type SpanAttributes = Readonly<Record<string, SpanValue>>;
/** `server`: answers a caller · `client`: calls another service · `internal`: neither. */
export type SpanRole = 'server' | 'client' | 'internal';

/** Name, kind and first attributes of a new span. */
export interface SpanStart {
  /** From a small fixed set: never a caller's text. */
  name: string;
  role: SpanRole;
  attributes?: SpanAttributes;
  /** By `performance.now()`; now when absent. */
  at?: number;
}

/** Times are those of `performance.now()`. Texts are redacted and cut. */
export interface Span {
  readonly traceId: string;
  /** The `traceparent` for messages to other services, whose spans become children of this one. */
  readonly traceparent: string;
  set(attributes: SpanAttributes): void;
  event(name: string, at: number): void;
  /** A child span. */
  child(start: SpanStart): Span;
  /** Marks the span as failed: a word for the reason, from a small fixed set. */
  fail(type: string): void;
  /** Ends the span. Calls after the first one, and changes after it, are ignored. */
  end(): void;
}

/** Starts spans for requests that are sampled. */
export interface Tracer {
  /**
   * Starts the root span of a request from outside; `traceparent` is the caller's header, unchecked. undefined: the request is not sampled, and
   * `start` was not called.
   */
  enter(traceparent: string | undefined, start: () => SpanStart): Span | undefined;
  /** Starts a span of a request that another service began; `traceparent` is that service's. undefined: there is none. */
  join(traceparent: string, start: SpanStart): Span | undefined;
}

/** The OpenTelemetry tracer, the sampler and the redactor behind a `Tracer`. */
export interface TracerParts {
  /** Records every span that it is asked for. */
  tracer: SdkTracer;
  decide: (parent: TraceParent | undefined) => boolean;
  redactor: Redactor;
}

const roles: Readonly<Record<SpanRole, SpanKind>> = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
const sampledFlag = 1;

const contextOf = ({ traceId, spanId }: TraceParent): Context =>
  trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: sampledFlag, isRemote: true });

/** Milliseconds since the epoch at `performance.now() === 0`: computed once for each trace, since the two clocks drift apart. */
const readClock = (): number => Date.now() - performance.now();

export function createTracer({ tracer, decide, redactor }: TracerParts): Tracer {
  const open = (start: SpanStart, parent: Context): Span => new RecordedSpan(start, parent, { tracer, redactor, clock: readClock() });
  return {
    enter(traceparent, start) {
      const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
      return decide(parent) ? open(start(), parent ? contextOf(parent) : ROOT_CONTEXT) : undefined;
    },
    join(traceparent, start) {
      const parent = parseTraceparent(traceparent);
      return parent && open(start, contextOf(parent));
    },
  };
}

interface Recording {
  tracer: SdkTracer;
  redactor: Redactor;
  clock: number;
}

class RecordedSpan implements Span {
  readonly #span: SdkSpan;
  readonly #recording: Recording;
  readonly traceId: string;
  readonly traceparent: string;

  constructor({ name, role, attributes = {}, at = performance.now() }: SpanStart, parent: Context, recording: Recording) {
    this.#recording = recording;
    const options: SpanOptions = { kind: roles[role], startTime: timeOf(at, recording.clock), attributes: cleaned(attributes, recording.redactor) };
    this.#span = recording.tracer.startSpan(cleanText(name, recording.redactor), options, parent);
    const { traceId, spanId } = this.#span.spanContext();
    this.traceId = traceId;
    this.traceparent = printTraceparent(traceId, spanId);
  }

  set(attributes: SpanAttributes): void {
    this.#span.setAttributes(cleaned(attributes, this.#recording.redactor));
  }

  event(name: string, at: number): void {
    this.#span.addEvent(name, timeOf(at, this.#recording.clock));
  }

  child(start: SpanStart): Span {
    return new RecordedSpan(start, trace.setSpan(ROOT_CONTEXT, this.#span), this.#recording);
  }

  fail(type: string): void {
    this.set({ 'error.type': type });
    this.#span.setStatus({ code: SpanStatusCode.ERROR });
  }

  end(): void {
    this.#span.end(timeOf(performance.now(), this.#recording.clock));
  }
}

function cleaned(attributes: SpanAttributes, redactor: Redactor): Attributes {
  const out: Attributes = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) continue;
    if (typeof value === 'string') out[name] = cleanText(value, redactor);
    else out[name] = typeof value === 'object' ? value.map((one) => cleanText(one, redactor)) : value;
  }
  return out;
}

/** Seconds and nanoseconds since the epoch. */
function timeOf(at: number, clock: number): [number, number] {
  const ms = clock + at;
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.min(999_999_999, Math.round((ms - seconds * 1000) * 1e6))];
}

/** Ends the span of the service that answered a request. A stream that broke keeps its 200, a session its 101; a fault of the caller (4xx), or his leaving, is not an error of the service. */
export function endServed(span: Span, { status, error_code: code }: { status: number; error_code: string | null }): void {
  if (code !== null && code !== 'client_gone' && (status >= 500 || status < 400)) span.fail(code);
  else span.set({ 'error.type': code });
  span.end();
}

/** Fields for the log lines of a request that lead to its trace. */
export const traceFields = (span: Span | undefined): { trace_id: string } | undefined => span && { trace_id: span.traceId };
