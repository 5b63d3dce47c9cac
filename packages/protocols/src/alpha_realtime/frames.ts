/** What frames of a session say, under the present event names and those of the beta. */
import { applyEdits } from '@model-gateway/json-bytes';
import type { RealtimeAdapter, RealtimeNotice } from '../contract/index.ts';
import { asString, own } from '../kit/read.ts';
import { ofSound, ofText, openAiSoundBytes } from '../kit/written-tokens.ts';
import { mayBeEvent, readEventType } from './event-type.ts';
import { readUsage } from './usage.ts';

/** Events by which a session begins; vendors differ. */
const sessionEvents: ReadonlySet<string> = new Set(['session.created', 'conversation.created']);
/** Content of a response; the beta's names lack `output_`. */
const contentEvent = /^response\.(?:(?:output_)?(?:text|audio|audio_transcript)|function_call_arguments)\.delta$/;

const soundEvent = /\.(?:output_)?audio\.delta$/;

/** Of a response, or of the item that is transcribed. */
export function readText(frame: Buffer): RealtimeNotice {
  const event = parseFrame(frame);
  const id = asString(own(event, 'response_id')) ?? asString(own(event, 'item_id')) ?? null;
  return { kind: 'content', id, written: ofText(asString(own(event, 'delta')) ?? '') };
}

export function parseFrame(frame: Buffer): unknown {
  try {
    return JSON.parse(frame.toString('utf8'));
  } catch {
    return null;
  }
}

/** A code that the vendor uses for an account, a key or a limit says more than the status that an event has not got. */
export type ReadFault = (body: string) => Extract<RealtimeNotice, { kind: 'error' }>['fault'];

export const readNotice =
  (readFault: ReadFault): RealtimeAdapter['readNotice'] =>
  (frame) => {
    const type = readEventType(frame);
    if (type === null) return null;
    if (sessionEvents.has(type)) return { kind: 'session' };
    if (contentEvent.test(type)) return soundEvent.test(type) ? { kind: 'content', id: null, written: ofSound(frame, openAiSoundBytes) } : readText(frame);
    if (type !== 'response.created' && type !== 'response.done' && type !== 'error') return null;
    const event = parseFrame(frame);
    if (type === 'error') return readErrorNotice(event, frame, readFault);
    const response = own(event, 'response');
    const id = asString(own(response, 'id'));
    if (id === undefined) return null;
    if (type === 'response.created') return { kind: 'response-started', id };
    const details = own(response, 'status_details');
    return {
      kind: 'response-ended',
      id,
      status: asString(own(response, 'status')) ?? 'completed',
      code: asString(own(own(details, 'error'), 'code')) ?? asString(own(own(details, 'error'), 'type')) ?? null,
      usage: readUsage(own(response, 'usage')),
    };
  };

/** What vendors say of events other than `response.create`: its own parameters are those of `response`. */
const otherCodes = /^(?:(?:input_audio_buffer|output_audio_buffer|response_cancel|conversation_item|item|session|cannot_update)_|invalid_json$)/;
const otherParams = /^(?:session|audio|audio_end_ms|content_index|item|item_id|previous_item_id|type)(?:[.[]|$)/;

/** An error names the caller's event that it is about, where that has an id; newer sessions spell it otherwise. */
export function readErrorNotice(event: unknown, frame: Buffer, readFault: ReadFault): Extract<RealtimeNotice, { kind: 'error' }> {
  const error = own(event, 'error');
  const eventId = asString(own(error, 'event_id')) || asString(own(error, 'client_event_id')) || null;
  const isOfOther = otherCodes.test(asString(own(error, 'code')) ?? '') || otherParams.test(asString(own(error, 'param')) ?? '');
  return { kind: 'error', fault: readFault(frame.toString('utf8')), eventId, mayBeOfAsk: !isOfOther };
}

export const readAsk: RealtimeAdapter['readAsk'] = (frame) =>
  readEventType(frame) === 'response.create' ? { kind: 'respond', eventId: asString(own(parseFrame(frame), 'event_id')) || null } : null;

const updates: ReadonlySet<string> = new Set(['session.update']);

/** A session stays with the model that was granted, whatever name the caller gives here. */
export const rewrite: RealtimeAdapter['rewrite'] = (frame, target) =>
  mayBeEvent(frame, updates) ? exchangeModel(frame, [['session', 'model']], target.upstreamModelId) : frame;

/** The same object where none of the places is there. */
export function exchangeModel(frame: Buffer, places: readonly (readonly string[])[], model: string): Buffer {
  const edited = applyEdits(
    frame,
    places.map((path) => ({ path: [...path], value: model })),
  );
  return edited === frame ? frame : Buffer.from(edited.buffer, edited.byteOffset, edited.byteLength);
}

export const writeSettings: RealtimeAdapter['writeSettings'] = (session) => JSON.stringify({ type: 'session.update', session });

/** Where the settings of most sessions name it. */
export const modelOf = (session: unknown): string | undefined => asString(own(session, 'model')) || undefined;

export const writeError: RealtimeAdapter['writeError'] = ({ code, message, status }, eventId) =>
  JSON.stringify({
    type: 'error',
    event_id: eventId,
    error: { type: status >= 500 ? 'server_error' : 'invalid_request_error', code, message, param: null, event_id: null },
  });
