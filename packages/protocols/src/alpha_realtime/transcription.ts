/** Sessions that transcribe speech: no responses, but a transcript of each part of the sound, with a usage of its own. */
import type { FirstFrame, RealtimeAdapter } from '../contract/index.ts';
import { asObject, asString, own } from '../kit/read.ts';
import { connectAt } from './endpoint.ts';
import { mayBeEvent, readEventType } from './event-type.ts';
import { exchangeModel, parseFrame, type ReadFault, readErrorNotice, readText, writeError, writeSettings } from './frames.ts';
import { readTranscriptUsage } from './usage.ts';

const updates: ReadonlySet<string> = new Set(['session.update', 'transcription_session.update']);
/** Where the model stands, under the present names and those of the beta. */
const places = [
  ['session', 'audio', 'input', 'transcription', 'model'],
  ['session', 'input_audio_transcription', 'model'],
] as const;

const prefix = 'conversation.item.input_audio_transcription.';

export const transcription = (readFault: ReadFault): RealtimeAdapter => ({
  connect: connectAt('/realtime', { intent: 'transcription' }),
  firstFrame,
  rewrite(frame, { upstreamModelId }) {
    return mayBeEvent(frame, updates) ? exchangeModel(frame, places, upstreamModelId) : frame;
  },
  readAsk: () => null,
  readNotice(frame) {
    const type = readEventType(frame);
    if (type === null) return null;
    if (type === 'session.created' || type === 'transcription_session.created') return { kind: 'session' };
    if (type === `${prefix}delta`) return readText(frame);
    if (type === 'error') return readErrorNotice(parseFrame(frame), frame, readFault);
    const failed = type === `${prefix}failed`;
    if (type !== 'input_audio_buffer.committed' && type !== `${prefix}completed` && !failed) return null;
    const event = parseFrame(frame);
    const id = asString(own(event, 'item_id'));
    if (id === undefined) return null;
    if (type === 'input_audio_buffer.committed') return { kind: 'response-started', id };
    const code = asString(own(own(event, 'error'), 'code')) ?? asString(own(own(event, 'error'), 'type')) ?? null;
    return { kind: 'response-ended', id, status: failed ? 'failed' : 'completed', code, usage: readTranscriptUsage(own(event, 'usage')) };
  },
  writeSettings,
  modelOf,
  writeError,
});

const firstFrame: FirstFrame = {
  opens: false,
  missing: 'Send session.update with session.audio.input.transcription.model first: it names the model of the session.',
  readModel(frame) {
    const type = readEventType(frame);
    if (type === null || !updates.has(type)) return null;
    return modelOf(own(parseFrame(frame), 'session')) ?? '';
  },
};

/** The model that the settings of such a session name. */
function modelOf(session: unknown): string | undefined {
  for (const [, ...path] of places) {
    const found = path.reduce<unknown>((value, name) => own(asObject(value), name), session);
    if (typeof found === 'string' && found !== '') return found;
  }
  return undefined;
}
