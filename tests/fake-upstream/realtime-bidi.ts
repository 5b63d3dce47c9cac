/** Gemini Live as its vendor plays it: the client's setup comes first, frames are JSON in binary messages, and what is wrong is said by the close. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { WebSocket } from 'ws';
import { type RecordedFrame, readFrames } from './realtime-frames.ts';

export const bidiPath = /^\/ws\/google\.ai\.generativelanguage\.v1(?:alpha|beta)?\.GenerativeService\.BidiGenerateContent$/;

export interface BidiPlay {
  readonly socket: WebSocket;
  readonly key: string;
  refused(code: string): void;
}

type Frame = Record<string, unknown>;

const closes: Readonly<Record<'key' | 'setup' | 'unknown' | 'model' | 'quota' | 'handle', readonly [code: number, reason: string]>> = {
  key: [1007, 'API key not valid. Please pass a valid API key.'],
  setup: [1007, 'setup must be the first message and only the first'],
  unknown: [1007, 'Request contains an invalid argument.'],
  model: [1008, 'models/nothing is not found for API version v1beta, or is not supported for bidiGenerateContent.'],
  handle: [1008, 'BidiGenerateContent session not found'],
  quota: [1011, 'You exceeded your current quota, please check your plan and billing details.'],
};

/** The members of which a client's frame has exactly one; each in either spelling. */
const clientFrames: ReadonlySet<string> = new Set(['setup', 'clientContent', 'realtimeInput', 'toolResponse']);
const setupFields: ReadonlySet<string> = new Set([
  'model',
  'generationConfig',
  'systemInstruction',
  'tools',
  'realtimeInputConfig',
  'sessionResumption',
  'contextWindowCompression',
  'inputAudioTranscription',
  'outputAudioTranscription',
  'proactivity',
]);

const camel = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const keyOfBidi = ({ headers, url }: IncomingMessage): string =>
  String(headers['x-goog-api-key'] ?? new URL(url ?? '/', 'http://fake').searchParams.get('key') ?? '');

/** Models: `fixture/<case>` replays, `nothing` is unknown, `full` has spent its quota, `silent` never begins; any other answers each turn with words and sound. */
export function playBidi({ socket, key, refused }: BidiPlay): void {
  const send = (frame: unknown): void => socket.send(Buffer.from(JSON.stringify(frame)), { binary: true });
  const close = (why: keyof typeof closes): void => {
    refused(why);
    socket.close(...closes[why]);
  };
  let replay: ((frame: Frame) => void) | undefined;
  let isSetUp = false;
  socket.on('message', (data) => {
    const frame = JSON.parse(data.toString()) as Frame;
    const [name, ...more] = Object.keys(frame).map(camel);
    if (name === undefined || more.length > 0 || !clientFrames.has(name)) return close('unknown');
    if (isSetUp === (name === 'setup')) return close('setup');
    if (isSetUp) return replay ? replay(frame) : answer(name, Object.values(frame)[0] as Frame, send);
    const setup = frame['setup'] as Frame;
    if (!Object.keys(setup).every((field) => setupFields.has(camel(field)))) return close('unknown');
    if (key.includes('bad')) return close('key');
    const model = /^models\/(.+)$/.exec(String(setup['model']))?.[1];
    if (model === undefined || model === 'nothing') return close('model');
    if (model === 'full') return close('quota');
    if (model === 'silent') return;
    const resumption = (setup['sessionResumption'] ?? setup['session_resumption']) as { handle?: string } | undefined;
    // A session is known to the account that began it.
    if (resumption?.handle !== undefined && !resumption.handle.startsWith(`of ${key}`)) return close('handle');
    isSetUp = true;
    if (resumption) {
      send({ setupComplete: {} });
      return send({ sessionResumptionUpdate: { newHandle: `of ${key} ${randomUUID()}`, resumable: true } });
    }
    const recorded = /^fixture\/(.+)$/.exec(model)?.[1];
    if (recorded === undefined) return send({ setupComplete: {} });
    replay = replayer(readFrames(`gamma_live/${recorded}`), { send, refused });
    replay({ setup: { ...setup, model: recordedModel(recorded) } });
  });
}

/** The model that a recorded session was held with. */
export const recordedModel = (name: string): unknown => (readFrames(`gamma_live/${name}`)[0]!.data['setup'] as Frame)['model'];

/** Each frame of the server's once the frames of the client before it have come. */
function replayer(frames: readonly RecordedFrame[], { send, refused }: { send(frame: unknown): void; refused(code: string): void }) {
  let at = 0;
  return (frame: Frame): void => {
    if (frames[at]?.dir === 'client' && isDeepStrictEqual(frame, frames[at]?.data)) at++;
    else refused(`not frame ${at}: ${JSON.stringify(frame).slice(0, 200)}`);
    while (frames[at]?.dir === 'server') send(frames[at++]?.data);
  };
}

const counts = {
  promptTokenCount: 30,
  cachedContentTokenCount: 10,
  responseTokenCount: 12,
  thoughtsTokenCount: 5,
  totalTokenCount: 42,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 12 },
    { modality: 'AUDIO', tokenCount: 18 },
  ],
  cacheTokensDetails: [{ modality: 'TEXT', tokenCount: 10 }],
  responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 12 }],
};

/** A turn is asked for by text that ends it, or by the end of sound; the words `wait` and `late` make one that stays open, and one whose counts come after it. */
function answer(name: string, value: Frame, send: (frame: unknown) => void): void {
  const isTurn =
    name === 'clientContent' ? (value['turnComplete'] ?? value['turn_complete']) === true : 'audioStreamEnd' in value || 'audio_stream_end' in value;
  if (!isTurn) return;
  const text = JSON.stringify(value);
  send({ serverContent: { outputTranscription: { text: 'words' } } });
  send({ serverContent: { modelTurn: { parts: [{ inlineData: { mimeType: 'audio/pcm;rate=24000', data: 'AAAA' } }] } } });
  if (text.includes('wait')) return;
  send({ serverContent: { generationComplete: true } });
  if (!text.includes('late')) return send({ serverContent: { turnComplete: true }, usageMetadata: counts });
  send({ serverContent: { turnComplete: true } });
  send({ usageMetadata: counts });
}
