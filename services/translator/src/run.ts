/** One request against its upstreams: the one attempt loop. */
import type { ServerStream } from '@model-gateway/bus';
import type { Job, PlannedAttempt, RequestRow } from '@model-gateway/contracts';
import { type ErrorCode, errorCodes, GatewayError, toGatewayError } from '@model-gateway/errors';
import type { UpstreamFault } from '@model-gateway/protocols';
import { type Route, resolveTarget } from '@model-gateway/routing';
import { type FaultFacts, faultToError, mayTryNextKey } from './attempt/classify.ts';
import { type AttemptEnd, sendAttempt } from './attempt/send.ts';
import { withoutProofs } from './attempt/without-proofs.ts';
import { Call } from './call.ts';
import { countTokens } from './count-tokens/count-tokens.ts';
import { type Prepared, prepare } from './prepare.ts';
import { receiptHeaders, strictRefusal } from './receipt.ts';
import { ReplySink } from './reply-sink.ts';
import type { Room } from './room.ts';

type Stream = ServerStream<'translator.run'>;

/** The door on the bus: a defect in the loop itself ends the stream and nothing else. */
export function serveRun(job: Job, body: Uint8Array, stream: Stream, room: Room): void {
  run(job, body, stream, room).catch((error: unknown) => {
    room.logger.error({ request: job.id, error }, 'defect in the translator');
    stream.fail(toGatewayError(error));
  });
}

/** Every way out leaves a tail with its row, or the row alone when the caller has left. */
async function run(job: Job, body: Uint8Array, stream: Stream, room: Room): Promise<void> {
  const call = new Call(job, body);
  const sink = new ReplySink(stream, call);
  room.running.add(sink);
  try {
    if (job.operation === 'count-tokens') await countTokens(call, sink, room);
    else await walkAttempts(call, sink, room);
    finish(call, sink, stream, room);
  } catch (error) {
    fail(call, sink, stream, room, error);
  } finally {
    room.running.remove(sink);
  }
}

/** Tries the plan's attempts in order until one gives a reply; throws the error that the caller gets when none does. */
async function walkAttempts(call: Call, sink: ReplySink, room: Room): Promise<void> {
  const { plan } = call.job;
  const snapshot = await room.catalog.at(plan.revision);
  const strict = snapshot.keyGroups.get(call.job.keyGroup)?.strict_translation === true;
  let last: GatewayError | undefined;
  for (const planned of plan.attempts) {
    stopIfOver(call);
    const route = resolveTarget(snapshot, planned);
    call.upstream = route.upstream.name;
    call.upstreamModelId = route.target.upstreamModelId;
    call.upstreamProtocol = route.protocol;
    call.startAttempt();
    const preparing = prepare(call, route, room);
    const prepared = preparing instanceof Promise ? await preparing : preparing;
    const refusal = strict ? strictRefusal(call) : null;
    if (refusal) {
      last ??= refusal;
      continue;
    }
    stopIfOver(call);
    const end = await tryOnce(call, prepared, planned, sink, room);
    if (end.fault === null) return;
    stopIfOver(call);
    last = faultToError(end.fault, facts(call, route, end, room));
    if (end.committed || !mayTryNextKey(end.fault)) break;
    call.meter.reset();
  }
  throw last ?? new GatewayError('no_upstream');
}

/** No attempt for a caller who left, nor in a process that leaves. */
function stopIfOver(call: Call): void {
  if (call.cancelled !== null) throw new GatewayError('client_gone');
  if (call.interrupted !== null) throw call.interrupted;
}

/** One attempt; and, when the upstream refuses the proofs of earlier thinking, the same attempt once more without them. */
async function tryOnce(call: Call, prepared: Prepared, planned: PlannedAttempt, sink: ReplySink, room: Room): Promise<AttemptEnd> {
  const end = await attempt(call, prepared, planned, sink, room);
  const stripped = await withoutProofs(call, prepared, end, room);
  if (!stripped) return end;
  stopIfOver(call);
  return attempt(call, stripped, planned, sink, room);
}

async function attempt(call: Call, prepared: Prepared, planned: PlannedAttempt, sink: ReplySink, room: Room): Promise<AttemptEnd> {
  const began = performance.now();
  const end = await sendAttempt(call, prepared, sink, room);
  call.attempts.push({
    upstream: prepared.route.upstream.name,
    key_index: planned.keyIndex,
    status: end.status,
    error_code: end.fault ? faultName(end.fault, room) : null,
    duration_ms: Math.round(performance.now() - began),
  });
  return end;
}

/** Longer than any code that a vendor means. */
const longestCode = 64;

/** The upstream's own code for what went wrong. Its words: they may hold our credential, and have no bound. */
const faultName = ({ code, class: kind }: UpstreamFault, room: Room): string => (code === undefined ? kind : room.redactor.redact(code).slice(0, longestCode));

/** Upstream text is for the caller only without our credential and without the upstream's name for the model. */
function facts(call: Call, route: Route, end: AttemptEnd, room: Room): FaultFacts {
  const { upstreamModelId } = route.target;
  const { requestedModel } = call.job;
  const clean = (text: string, spell = (name: string) => name): string => {
    const safe = room.redactor.redact(text);
    return upstreamModelId.length > 3 && upstreamModelId !== requestedModel ? safe.replaceAll(spell(upstreamModelId), spell(requestedModel)) : safe;
  };
  const body = route.protocol === call.job.clientProtocol && end.body !== undefined && end.body.length <= longestBody ? clean(end.body, inJson) : undefined;
  return { clean: (text) => clean(text).slice(0, longestBody), body: body !== undefined && isJsonObject(body) ? body : undefined };
}

/** A larger error body is told in our own shape, since half of one is no JSON. */
const longestBody = 64 * 1024;

/** A name as it stands inside a JSON string. */
const inJson = (name: string): string => JSON.stringify(name).slice(1, -1);

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function finish(call: Call, sink: ReplySink, stream: Stream, room: Room): void {
  if (call.cancelled !== null) return tellOwnRow(call, sink, room, true);
  // Counting uses no tokens.
  const tail = { row: call.row(200, null, call.job.operation !== 'count-tokens') };
  const body = sink.wholeBody;
  keepUntilSettled(stream, tail.row, room);
  if (body)
    stream.whole(
      { status: 200, headers: { 'content-type': call.client.contentType('whole'), 'content-length': String(body.length), ...receiptHeaders(call) } },
      body,
      tail,
    );
  else stream.tail(tail);
}

function fail(call: Call, sink: ReplySink, stream: Stream, room: Room, cause: unknown): void {
  const error = toGatewayError(cause);
  if (error.code === 'internal') room.logger.error({ request: call.job.id, error: error.cause ?? error }, 'defect in the translator');
  else if (error.cause) room.logger.info({ request: call.job.id, upstream: call.upstream, code: error.code, error: error.cause }, 'request failed');
  if (call.cancelled !== null) return tellOwnRow(call, sink, room, false);
  const row = call.row(sink.committed ? 200 : error.status, error.code, false);
  keepUntilSettled(stream, row, room);
  stream.tail({ row, error: error.toWire(), ...(call.meter.usage && { usage: call.meter.usage }) });
}

/** The row is ours until the edge says that it is in safe hands. The closure holds the row alone: the request's bytes must not wait with it. */
function keepUntilSettled(stream: Stream, row: RequestRow, room: Room): void {
  stream.onSettled((how) => {
    if (how === 'lost') tellRow(row, room);
  });
}

/** What the reasons of a cancel mean; any other is an edge that died. */
const endings: ReadonlyMap<string | null, ErrorCode> = new Map([
  ['client gone', 'client_gone'],
  ['drain', 'draining'],
  ['deadline', 'timeout'],
]);

/** Nobody takes a tail any more, so the row goes from here. `complete`: the upstream was read to its end all the same. */
function tellOwnRow(call: Call, sink: ReplySink, room: Room, complete: boolean): void {
  const code = endings.get(call.cancelled) ?? 'service_lost';
  // The edge that gave up, or died, is not a caller who left: that one has its own status even after content.
  const status = sink.committed && code !== 'client_gone' ? 200 : errorCodes[code].status;
  tellRow(call.row(status, code, complete && call.job.operation !== 'count-tokens'), room);
}

function tellRow(row: RequestRow, room: Room): void {
  const { id } = row;
  room.bus.tellDurably('stats.request', id, row).catch((error: unknown) => room.logger.error({ request: id, error }, 'row lost'));
}
