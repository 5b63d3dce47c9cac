/** One request from the edge's hand to its tail: runs the attempts, and leaves a row whatever happens. */
import type { ServerStream } from '@model-gateway/bus';
import type { Job, ReplyTail, RequestRow } from '@model-gateway/contracts';
import { type ErrorCode, errorCodes, GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { takenAnyway } from '@model-gateway/service-runtime';
import { traceFields } from '@model-gateway/telemetry';
import { walkAttempts } from './attempt/walk-attempts.ts';
import { Call } from './call.ts';
import type { TranslatorContext } from './context.ts';
import { countTokens } from './count-tokens/count-tokens.ts';
import { receiptHeaders } from './receipt.ts';
import { ReplySink } from './reply-sink.ts';
import { beginRun, endRun } from './spans.ts';

type Stream = ServerStream<'translator.run'>;

/** Serves one job from the bus: a defect in the loop itself ends the stream and nothing else. */
export function serveRun(job: Job, body: Uint8Array, stream: Stream, context: TranslatorContext): void {
  run(job, body, stream, context).catch((error: unknown) => {
    // The job itself may be at fault: nothing of it is touched here.
    context.logger.error({ stream: stream.id, error }, 'defect in the translator');
    stream.fail(toGatewayError(error));
  });
}

/** Every way out leaves a tail with its row, or the row alone when the caller has left. */
async function run(job: Job, body: Uint8Array, stream: Stream, context: TranslatorContext): Promise<void> {
  const call = new Call(job, body);
  if (job.traceparent !== undefined) call.span = beginRun(job, context.tracer);
  const sink = new ReplySink(stream, call);
  context.running.add(sink);
  try {
    if (context.pressure.level >= 2) refuseUnderPressure(job, context);
    if (job.operation === 'count-tokens') await countTokens(call, sink, context);
    else await walkAttempts(call, sink, context);
    finish(call, sink, stream, context);
  } catch (error) {
    fail(call, sink, stream, context, error);
  } finally {
    context.running.remove(sink);
  }
}

/** An edge has its own memory, and this process its own. The first few are let in at any level, as at the edge. */
function refuseUnderPressure({ stream }: Job, { pressure, running }: TranslatorContext): void {
  if (running.size > takenAnyway && (stream || pressure.level === 3))
    throw new GatewayError(stream ? 'too_many_streams' : 'overloaded', { message: 'The gateway is short of memory.' });
}

function finish(call: Call, sink: ReplySink, stream: Stream, context: TranslatorContext): void {
  if (call.cancelled !== null) return publishOwnRow(call, sink, context, true);
  // Counting uses no tokens.
  const tail = { row: rowOf(call, 200, null, call.job.operation !== 'count-tokens'), ...traceOf(call, context) };
  const body = sink.wholeBody;
  keepUntilSettled(stream, tail.row, context);
  if (body)
    stream.whole(
      { status: 200, headers: { 'content-type': call.client.contentType('whole'), 'content-length': String(body.length), ...receiptHeaders(call) } },
      body,
      tail,
    );
  else stream.tail(tail);
}

function fail(call: Call, sink: ReplySink, stream: Stream, context: TranslatorContext, cause: unknown): void {
  const error = toGatewayError(cause);
  if (error.code === 'internal')
    context.logger.error({ request: call.job.id, ...traceFields(call.span), error: error.cause ?? error }, 'defect in the translator');
  else if (error.cause)
    context.logger.info({ request: call.job.id, ...traceFields(call.span), upstream: call.upstream, code: error.code, error: error.cause }, 'request failed');
  if (call.cancelled !== null) return publishOwnRow(call, sink, context, false);
  const row = rowOf(call, sink.committed ? 200 : error.status, error.code, false);
  keepUntilSettled(stream, row, context);
  // What the ending of a stream tells its caller are the figures of the row.
  const { tokens, source } = call.settle(false);
  stream.tail({ row, error: error.toWire(), ...(source !== null && { usage: tokens }), ...traceOf(call, context) });
}

/** The finished row, with which the run's span ends. */
function rowOf(call: Call, status: number, errorCode: string | null, complete: boolean): RequestRow {
  const row = call.row(status, errorCode, complete);
  if (call.span) endRun(call.span, row);
  return row;
}

/** An admin who tests a model reads what was sent, without credentials and within bounds. */
const maxTraceLength = 1024 * 1024;
const traceOf = ({ sentBody }: Call, context: TranslatorContext): Pick<ReplyTail, 'trace'> =>
  sentBody === null ? {} : { trace: { body: context.redactor.redact(sentBody.toString('utf8')).slice(0, maxTraceLength) } };

/** The row is ours until the edge confirms that it is stored. The closure holds the row alone: the request's bytes must not wait with it. */
function keepUntilSettled(stream: Stream, row: RequestRow, context: TranslatorContext): void {
  stream.onSettled((how) => {
    if (how === 'lost') publishRow(row, context);
  });
}

/** What the reasons of a cancel mean; any other is an edge that died. */
const endings: ReadonlyMap<string | null, ErrorCode> = new Map([
  ['client gone', 'client_gone'],
  ['drain', 'draining'],
  ['deadline', 'timeout'],
  ['the opener failed', 'internal'],
]);

/** Nobody takes a tail any more, so the row goes from here. `complete`: the upstream was read to its end all the same. */
function publishOwnRow(call: Call, sink: ReplySink, context: TranslatorContext, complete: boolean): void {
  const code = endings.get(call.cancelled) ?? 'service_lost';
  // The edge that gave up, or died, is not a caller who left: that one has its own status even after content.
  const status = sink.committed && code !== 'client_gone' ? 200 : errorCodes[code].status;
  publishRow(rowOf(call, status, code, complete && call.job.operation !== 'count-tokens'), context);
}

function publishRow(row: RequestRow, context: TranslatorContext): void {
  const { id } = row;
  context.bus.publishDurable('stats.request', id, row).catch((error: unknown) => context.logger.error({ request: id, error }, 'row lost'));
}
