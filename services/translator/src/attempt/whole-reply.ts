/** A whole reply: read, counted, and handed to its caller, as a body or as the stream that was asked for. */
import { inputTokensOf, isInUpstreamTerms, isObject, isUnary } from '@model-gateway/contracts';
import type { ChatEvent, UpstreamFault } from '@model-gateway/protocols';
import { isAnswer, modelFailure } from '../model-failure.ts';
import type { UpstreamRequest } from '../prepare/upstream-request.ts';
import type { ReplySink } from '../reply-sink.ts';
import { unwrapEvents } from '../reply-transform/emulated.ts';
import { observerOf } from '../reply-transform/passed-bytes.ts';
import { renameWhole } from '../reply-transform/renamed-reply.ts';
import type { ReplyTransform } from '../reply-transform/reply-transform.ts';
import type { TranslatedTransform } from '../reply-transform/translated.ts';
import { type UnaryAnswer, UnaryTransform } from '../reply-transform/unary.ts';
import { UsageObserver } from '../reply-transform/usage-observer.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { AttemptEnd } from './result.ts';

/** Where a whole reply belongs. */
export interface ReplyTarget extends Pick<CurrentRequest, 'request' | 'record' | 'body'> {
  readonly sink: ReplySink;
  readonly upstreamRequest: UpstreamRequest;
  readonly transform: ReplyTransform;
  /** As the upstream names it. */
  readonly contentType: string;
  /** A transform that prints the reply in the caller's protocol, whichever `transform` is. */
  readonly translate: () => Pick<TranslatedTransform, 'record' | 'finish'>;
}

const noEvents: ChatEvent[] = [];
type Failed = Extract<ChatEvent, { type: 'error' }>;

type Delivered = Omit<AttemptEnd, 'status'>;

/** Throws what reading meets in a body that is not a reply. A promise only where files have to be fetched for it. */
export function deliverWhole(bytes: Buffer, reply: ReplyTarget): Delivered | Promise<Delivered> {
  const { record, upstreamRequest } = reply;
  const { adapter, route } = upstreamRequest.target;
  if (upstreamRequest.target.passed) return passWhole(bytes, reply);
  if (isUnary(reply.request.job.operation)) return deliverUnary(bytes, reply);
  const json: unknown = JSON.parse(bytes.toString('utf8'));
  if (countPassed(json, reply)) {
    record.markContent();
    print(reply, bytes, json, noEvents);
    return { fault: null, committed: true };
  }
  const events = unwrapEvents(adapter.readWhole(json, route.target), upstreamRequest, record);
  const failed = events.find((event): event is Failed => event.type === 'error');
  if (failed) return { fault: failed.error, committed: false, body: bytes.toString('utf8') };
  const failure = upstreamRequest.target.verbatim === null && !events.some(isAnswer) ? events.map(modelFailure).find((fault) => fault !== null) : undefined;
  if (failure) {
    record.meter.see(events);
    return { fault: failure, committed: false };
  }
  if (!isReply(events, reply))
    return { fault: { class: 'broken', code: 'incomplete', message: 'the upstream sent a body that is not a complete reply' }, committed: false };
  record.meter.see(events);
  record.markContent();
  print(reply, bytes, json, events);
  return { fault: null, committed: true };
}

/** Of a family that nobody may know: what it used is read where that can be. */
function passWhole(bytes: Buffer, { request: { job }, record, sink, upstreamRequest: { target }, contentType }: ReplyTarget): Delivered {
  const observer = target.passed?.family && new UsageObserver({ family: target.passed.family, target: target.route.target, contentType, meter: record.meter });
  observer?.push(bytes);
  const usage = observer?.finish();
  if (usage) record.meter.count(usage);
  record.markContent();
  const said = isInUpstreamTerms(job.operation) || !/json/i.test(contentType) ? bytes : renameWhole(bytes, job.requestedModel);
  sink.whole(said, contentType === '' ? {} : { contentType });
  return { fault: null, committed: true };
}

/** The answer to one question, which is not a conversation. What is not JSON passes as it is, where it passes at all. */
function deliverUnary(bytes: Buffer, reply: ReplyTarget): Delivered | Promise<Delivered> {
  const { request, record, sink, upstreamRequest, transform, contentType } = reply;
  const { target } = upstreamRequest;
  if (transform instanceof UnaryTransform) {
    const answer = transform.answer(JSON.parse(bytes.toString('utf8')));
    return answer instanceof Promise ? answer.then((made) => deliverAnswer(made, reply)) : deliverAnswer(answer, reply);
  }
  // Where events were asked for, nothing but JSON may take their place.
  if (target.verbatim && request.job.streamForm !== 'sse' && contentType !== '' && !/json/i.test(contentType)) {
    estimate(bytes, reply);
    record.markContent();
    sink.whole(bytes, { contentType });
    return { fault: null, committed: true };
  }
  const json: unknown = transform.look?.(bytes) ?? JSON.parse(bytes.toString('utf8'));
  const failure = failureIn(json, reply);
  if (failure) return { fault: failure, committed: false, body: bytes.toString('utf8') };
  const usage = target.verbatim ? target.adapter.readUnaryUsage?.(json) : undefined;
  if (usage) record.meter.count(usage);
  else estimate(bytes, reply);
  const body = transform.whole(bytes, json, noEvents);
  record.markContent();
  if (body !== undefined) sink.whole(body);
  return { fault: null, committed: true };
}

/** What a reply says that is a success by its status alone: some servers answer so for the vendor behind them. */
function failureIn(json: unknown, { upstreamRequest: { target } }: ReplyTarget): UpstreamFault | undefined {
  if (!isObject(json) || !isObject(json['error'])) return undefined;
  const failed = target.adapter.readWhole(json, target.route.target).find((event): event is Failed => event.type === 'error');
  return failed?.error ?? { class: 'server', code: 'error', message: 'the upstream answered with an error under a status of success' };
}

/** Of an answer without figures: what its upstream's protocol makes of it. */
function estimate(bytes: Buffer, { request, record, body, upstreamRequest: { target }, contentType }: ReplyTarget): void {
  if (!target.verbatim) return;
  const observer = observerOf({ request, body }, target, contentType);
  observer?.push(bytes);
  const seen = observer?.finish();
  if (seen) record.meter.see([{ type: 'usage', ...seen }]);
}

function deliverAnswer(answer: UnaryAnswer, { record, sink }: ReplyTarget): Delivered {
  if ('fault' in answer) return { fault: answer.fault, committed: false };
  // The other parts of the question are asked first.
  if ('more' in answer) return { fault: null, committed: false };
  record.markContent();
  sink.whole(answer.body, { contentType: answer.contentType });
  return { fault: null, committed: true };
}

/** Counts the usual verbatim reply, which is read for its usage alone. false: it has to be read in full. */
function countPassed(json: unknown, { request, record, upstreamRequest }: ReplyTarget): boolean {
  const { target, emulation, bridge } = upstreamRequest;
  if (!target.verbatim || request.job.stream || emulation || bridge) return false;
  const usage = target.adapter.finishedUsage?.(json);
  // No prompt is empty: what is estimated then goes by the text of the reply.
  if (!usage || inputTokensOf(usage) === 0) return false;
  record.meter.count(usage);
  if (request.span) noteFinish(json, { record, upstreamRequest });
  return true;
}

/** For its span alone: what passes is not read otherwise, and what cannot be read passes all the same. */
function noteFinish(json: unknown, { record, upstreamRequest: { target } }: Pick<ReplyTarget, 'record' | 'upstreamRequest'>): void {
  try {
    const finish = target.adapter.readWhole(json, target.route.target).find((event) => event.type === 'finish');
    record.meter.finish = finish?.reason ?? null;
  } catch {
    record.meter.finish = null;
  }
}

/** Only a caller who gets the very bytes may make something of a reply that has not ended (a turn in the background). */
function isReply(events: readonly ChatEvent[], { request, upstreamRequest }: ReplyTarget): boolean {
  return events.some(({ type }) => type === 'end') || (upstreamRequest.target.verbatim !== null && !request.job.stream);
}

/** A whole reply to a caller that asked for a stream is printed as that stream. */
function print({ request, sink, transform, translate }: ReplyTarget, bytes: Buffer, json: unknown, events: ChatEvent[]): void {
  if (!request.job.stream) {
    const body = transform.whole(bytes, json, events);
    if (body !== undefined) sink.whole(body, { said: transform.lastWhole?.() });
    return;
  }
  const printer = translate();
  const text = printer.record({ data: '', json, raw: bytes }, events) + printer.finish([]);
  sink.commit();
  sink.send(Buffer.from(text, 'utf8'));
}
