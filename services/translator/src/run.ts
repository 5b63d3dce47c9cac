/** One request from the edge's hand to its tail: runs the attempts, and leaves a row whatever happens. */
import type { ServerStream } from '@model-gateway/bus';
import type { Job, ReplyTail, RequestRow } from '@model-gateway/contracts';
import { codeOfCancel, errorCodes, GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { takenAnyway } from '@model-gateway/service-runtime';
import { traceFields } from '@model-gateway/telemetry';
import { runAttempts } from './attempt/run-attempts.ts';
import { countTokens } from './count-tokens/count-tokens.ts';
import { receiptHeaders } from './receipt.ts';
import { ReplySink } from './reply-sink.ts';
import { settlePlan } from './request/ask-router.ts';
import { RequestBody } from './request/body.ts';
import { Cancellation } from './request/cancellation.ts';
import { findClient, RequestCache, RequestClock, type RequestContext } from './request/context.ts';
import type { CurrentRequest } from './request/current.ts';
import { priceReply } from './request/price-reply.ts';
import { RequestRecord } from './request/record.ts';
import type { RunDeps } from './run-deps.ts';
import { beginRun, endRun } from './spans.ts';
import { asStream, isRunHere } from './turns/background.ts';
import { breakOffTurn, completeTurn, openTurns } from './turns/open-turns.ts';
import { refuseUnknownTurn } from './turns/unknown-turn.ts';

type Stream = ServerStream<'translator.run'>;

/** Serves one job from the bus: a defect in the loop itself ends the stream and nothing else. */
export function serveRun(job: Job, body: Uint8Array, stream: Stream, deps: RunDeps): void {
  run(job, body, stream, deps).catch((error: unknown) => {
    // The job itself may be at fault: nothing of it is touched here.
    deps.logger.error({ stream: stream.id, error }, 'defect in the translator');
    stream.fail(toGatewayError(error));
  });
}

/** One request under way, and the stream that its reply leaves by. */
interface Run {
  readonly request: RequestContext;
  readonly record: RequestRecord;
  readonly sink: ReplySink;
  readonly stream: Stream;
  readonly deps: RunDeps;
}

/** Every way out leaves a tail with its row, or the row alone when the caller has left. */
async function run(job: Job, bytes: Uint8Array, stream: Stream, deps: RunDeps): Promise<void> {
  const background = isRunHere(job, bytes, deps);
  const opened = openRequest(job, bytes, background instanceof Promise ? await background : background, deps);
  const { request, record } = opened;
  const sink = new ReplySink(stream, request, record);
  const run: Run = { request, record, sink, stream, deps };
  deps.running.add(sink);
  try {
    if (deps.pressure.level >= 2) refuseUnderPressure(job, deps);
    const opening = openTurns(opened, deps.turns);
    const current: CurrentRequest = { request, record, body: opening instanceof Promise ? await opening : opening };
    refuseUnknownTurn(current);
    if (request.job.plan.tentative) request.job = { ...request.job, plan: await settlePlan(request, current.body, deps.turns.bus) };
    if (request.background) sink.runInBackground();
    if (job.operation === 'count-tokens') await countTokens(current, sink, deps.counting);
    else await runAttempts(current, sink, deps.attempts);
    if (request.turn || request.registration) await completeTurn(request, record);
    finish(run);
  } catch (error) {
    if (request.turn) await breakOffTurn(request, record, toGatewayError(error));
    fail(run, error);
  } finally {
    deps.running.remove(sink);
  }
}

function openRequest(sent: Job, bytes: Uint8Array, background: boolean, { tracer, attempts: { prepare } }: RunDeps): CurrentRequest {
  const client = findClient(sent);
  const job = background ? asStream(sent) : sent;
  const body = RequestBody.ofJob({ job, client, openPage: prepare.hosted.openPage }, bytes);
  const request: RequestContext = {
    job,
    client,
    background: background ? (sent.stream ? 'stream' : 'queued') : undefined,
    cancellation: new Cancellation(),
    clock: new RequestClock(job.queueMs),
    cache: new RequestCache(),
    span: beginRun(job, tracer),
  };
  return { request, record: new RequestRecord(request, body), body };
}

/** An edge has its own memory, and this process its own. The first few are let in at any level, as at the edge. */
function refuseUnderPressure({ stream }: Job, { pressure, running }: RunDeps): void {
  if (running.size > takenAnyway && (stream || pressure.level === 3))
    throw new GatewayError(stream ? 'too_many_streams' : 'overloaded', { message: 'The gateway is short of memory.' });
}

function finish(run: Run): void {
  const { request, record, sink, stream, deps } = run;
  const { job, client, cancellation } = request;
  if (cancellation.reason !== null) return publishOwnRow(run, true);
  sink.release();
  // Counting uses no tokens.
  const tail = { row: rowOf(run, 200, null, job.operation !== 'count-tokens'), ...taskOf(run), ...traceOf(run) };
  const body = sink.wholeBody;
  keepUntilSettled(stream, tail.row, deps);
  if (body)
    stream.whole(
      {
        status: 200,
        headers: { 'content-type': sink.wholeType ?? client.contentType('whole'), 'content-length': String(body.length), ...receiptHeaders(request, record) },
      },
      body,
      tail,
    );
  else stream.tail(tail);
}

function fail(run: Run, cause: unknown): void {
  const { request, record, sink, stream, deps } = run;
  const { job, cancellation, span } = request;
  const error = toGatewayError(cause);
  if (error.code === 'internal') deps.logger.error({ request: job.id, ...traceFields(span), error: error.cause ?? error }, 'defect in the translator');
  else if (error.cause)
    deps.logger.info({ request: job.id, ...traceFields(span), upstream: record.upstream, code: error.code, error: error.cause }, 'request failed');
  if (cancellation.reason !== null) return publishOwnRow(run, false);
  sink.release();
  const row = rowOf(run, sink.committed ? 200 : error.status, error.code, false);
  keepUntilSettled(stream, row, deps);
  // What the ending of a stream tells its caller are the figures of the row.
  const { tokens, source } = record.settle(false);
  stream.tail({ row, error: error.toWire(), ...(source !== null && { usage: tokens }), ...taskOf(run), ...traceOf(run) });
}

/** The finished row, with which the run's span ends. */
function rowOf({ request, record, deps }: Run, status: number, errorCode: string | null, complete: boolean): RequestRow {
  const row = priceReply(record.row(status, errorCode, complete), record.paid(complete), deps.priceOf);
  if (request.span) endRun(request.span, row);
  return row;
}

/** An admin who tests a model reads what was sent, without credentials and within bounds. */
const maxTraceLength = 1024 * 1024;
const traceOf = ({ record: { sentBody }, deps }: Run): Pick<ReplyTail, 'trace'> =>
  sentBody === null ? {} : { trace: { body: deps.redactor.redact(sentBody.toString('utf8')).slice(0, maxTraceLength) } };

const taskOf = ({ record: { task } }: Run): Pick<ReplyTail, 'task'> => (task === undefined ? {} : { task });

/** The row is ours until the edge confirms that it is stored. The closure holds the row alone: the request's bytes must not wait with it. */
function keepUntilSettled(stream: Stream, row: RequestRow, deps: RunDeps): void {
  stream.onSettled((how) => {
    if (how === 'lost') publishRow(row, deps);
  });
}

/** Nobody takes a tail any more, so the row goes from here. `complete`: the upstream was read to its end all the same. */
function publishOwnRow(run: Run, complete: boolean): void {
  const { request, sink, deps } = run;
  const code = codeOfCancel(request.cancellation.reason);
  // The edge that gave up, or died, is not a caller who left: that one has its own status even after content.
  const status = sink.committed && code !== 'client_gone' ? 200 : errorCodes[code].status;
  publishRow(rowOf(run, status, code, complete && request.job.operation !== 'count-tokens'), deps);
}

function publishRow(row: RequestRow, { bus, logger }: Pick<RunDeps, 'bus' | 'logger'>): void {
  const { id } = row;
  bus.publishDurable('stats.request', id, row).catch((error: unknown) => logger.error({ request: id, error }, 'row lost'));
}
