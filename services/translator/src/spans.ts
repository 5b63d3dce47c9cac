/** The translator's spans of a request that is traced: the run, each call of an upstream, each script. */
import {
  type AttemptRecord,
  inputTokensOf,
  type Job,
  type Operation,
  outputTokensOf,
  type RealtimeJob,
  type RequestRow,
  type ScriptSlot,
} from '@model-gateway/contracts';
import { toGatewayError } from '@model-gateway/contracts/errors';
import type { Route } from '@model-gateway/routing';
import { endServed, type Span, type Tracer } from '@model-gateway/telemetry';
import type { RequestContext } from './request/context.ts';
import type { RequestRecord } from './request/record.ts';
import type { RunnerAnswer } from './scripts/ask-runner.ts';

/** undefined: the request is not traced, or this process traces nothing. */
export function beginRun({ traceparent, id, operation }: Pick<Job, 'traceparent' | 'id' | 'operation'>, tracer: Tracer | undefined): Span | undefined {
  if (traceparent === undefined) return undefined;
  return tracer?.join(traceparent, { name: 'translator.run', role: 'server', attributes: { 'gateway.request_id': id, 'gateway.operation': operation } });
}

export function endRun(span: Span, row: RequestRow): void {
  const { model, attempts, pipeline, routes, losses } = row;
  span.set({
    'gateway.model': model,
    'gateway.attempts': attempts.length,
    'gateway.pipeline': pipeline.length > 0 ? pipeline : null,
    'gateway.routes': routes.length > 0 ? routes : null,
    'gateway.losses': losses.length,
  });
  endServed(span, row);
}

/** As the conventions call them; they have no word for the others. */
const operationNames: Readonly<Record<Operation, string>> = {
  generate: 'chat',
  complete: 'text_completion',
  'count-tokens': 'count_tokens',
  compact: 'compact',
  embed: 'embeddings',
  rerank: 'rerank',
  moderate: 'moderate',
  decide: 'decide',
  image: 'image',
  'image-edit': 'image_edit',
  'image-variation': 'image_variation',
  speech: 'speech',
  transcribe: 'transcribe',
  'translate-speech': 'translate_speech',
  native: 'native',
  passthrough: 'passthrough',
  realtime: 'realtime',
};

/** What the span of an upstream call says of the request. */
export interface TracedCall {
  readonly endpoint: { readonly url: string };
  readonly target: {
    readonly route: Route;
    /** Null: the reply is translated. */
    readonly verbatim: object | null;
  };
}

/** Begins the span of an upstream call (https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/). Of its address only host and port are recorded. */
export function beginAttempt(run: Span, { job }: RequestContext, { endpoint, target: { route, verbatim } }: TracedCall): Span {
  return beginCall(run, { ...job, url: endpoint.url }, route, verbatim ? 'verbatim' : 'translated');
}

/** Begins the span of a handshake with an upstream of realtime sessions, up to its first frame. */
export function beginDial(run: Span, { clientProtocol, sessionId }: RealtimeJob, route: Route): Span {
  return beginCall(run, { operation: 'realtime', stream: true, clientProtocol, sessionId, url: route.target.baseUrl ?? '' }, route, 'verbatim');
}

type Called = Pick<Job, 'operation' | 'stream' | 'clientProtocol'> & { sessionId?: string | null | undefined; url: string };

function beginCall(run: Span, { operation, stream, clientProtocol, sessionId, url }: Called, route: Route, passage: 'verbatim' | 'translated'): Span {
  const name = operationNames[operation];
  // What cannot be called is for the call to say.
  const address = URL.parse(url);
  return run.child({
    name: `${name} ${route.target.upstreamModelId}`,
    role: 'client',
    attributes: {
      'gen_ai.operation.name': name,
      'gen_ai.provider.name': route.protocol,
      'gen_ai.request.model': route.target.upstreamModelId,
      'gen_ai.request.stream': stream,
      'gen_ai.conversation.id': sessionId,
      'server.address': address?.hostname,
      'server.port': address && portOf(address),
      ...placeOf(route),
      'gateway.client_protocol': clientProtocol,
      'gateway.upstream_protocol': route.protocol,
      'gateway.passage': passage,
    },
  });
}

export function endDial(span: Span, { key_index, status, error_code }: AttemptRecord): void {
  span.set({ 'gateway.key_index': key_index, 'http.response.status_code': status });
  if (error_code !== null) span.fail(error_code);
  span.end();
}

/** One response of a realtime session, once it is over. */
export function noteTurn(run: Span, row: RequestRow): void {
  const ended = performance.now();
  const span = run.child({ name: 'realtime.response', role: 'internal', at: ended - (row.duration_ms ?? 0) });
  if (row.first_content_ms !== null) span.event('first content', ended - (row.duration_ms ?? 0) + row.first_content_ms);
  if (row.usage_source !== null)
    span.set({
      'gen_ai.usage.input_tokens': row.input_tokens + row.cache_read_tokens + row.audio_input_tokens,
      'gen_ai.usage.output_tokens': row.output_tokens + row.reasoning_tokens + row.audio_output_tokens,
      'gen_ai.usage.cache_read.input_tokens': row.cache_read_tokens,
      'gateway.usage_source': row.usage_source,
    });
  endServed(span, row);
}

const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));
const placeOf = ({ model, upstream }: Route) => ({ 'gateway.model': model.name, 'gateway.upstream': upstream.name });

/** Nothing was sent, or nobody waits for an answer any more. */
export function abandonAttempt(span: Span, error: unknown): void {
  span.fail(toGatewayError(error).code);
  span.end();
}

/** An attempt that is over. */
export interface EndedAttempt {
  readonly request: RequestContext;
  readonly record: RequestRecord;
  readonly attempt: AttemptRecord;
  /** By `performance.now()`. */
  readonly began: number;
  /** The upstream said how its reply ended. */
  readonly complete: boolean;
}

export function endAttempt(span: Span, { request, record, attempt, began, complete }: EndedAttempt): void {
  const { firstByteMs, firstContentMs, meter } = record;
  const firstByte = momentIn(request, firstByteMs, began);
  const firstContent = momentIn(request, firstContentMs, began);
  if (firstByte !== null) span.event('first byte', firstByte);
  if (firstContent !== null) span.event('first content', firstContent);
  span.set({
    'gateway.key_index': attempt.key_index,
    'http.response.status_code': attempt.status,
    'gen_ai.response.time_to_first_chunk': firstContent === null ? null : (firstContent - began) / 1000,
    'gen_ai.response.finish_reasons': meter.finish === null ? null : [meter.finish],
  });
  const { tokens, source } = record.settle(complete);
  if (source !== null && (complete || request.job.operation !== 'count-tokens'))
    span.set({
      'gen_ai.usage.input_tokens': inputTokensOf(tokens),
      'gen_ai.usage.output_tokens': outputTokensOf(tokens),
      'gen_ai.usage.cache_read.input_tokens': tokens.cacheRead,
      'gen_ai.usage.cache_creation.input_tokens': tokens.cacheWrite5m + tokens.cacheWrite1h,
      'gen_ai.usage.reasoning.output_tokens': tokens.reasoning,
      'gateway.usage_source': source,
    });
  if (attempt.error_code !== null) span.fail(attempt.error_code);
  span.end();
}

/** What is known is rounded to milliseconds; null for what an attempt before left. */
function momentIn({ clock }: RequestContext, elapsedMs: number | null, began: number): number | null {
  if (elapsedMs === null) return null;
  const moment = clock.momentOf(elapsedMs);
  return moment < began - 1 ? null : Math.max(began, moment);
}

/** A script's run, from here to the runner and back. */
export async function traceScript(run: Span, slot: ScriptSlot, asking: Promise<RunnerAnswer>): Promise<RunnerAnswer> {
  const span = run.child({ name: 'script.run', role: 'client', attributes: { 'gateway.script.slot': slot } });
  try {
    const answer = await asking;
    const { operations, execution_time_ms, fault } = answer.outcome;
    span.set({ 'gateway.script.operations': operations, 'gateway.script.execution_ms': execution_time_ms });
    if (fault) span.fail(fault.code);
    return answer;
  } catch (error) {
    span.fail('unavailable');
    throw error;
  } finally {
    span.end();
  }
}
