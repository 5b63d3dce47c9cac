/** Speech (https://ai.google.dev/gemini-api/docs/speech-generation) and the words of recordings (https://ai.google.dev/gemini-api/docs/audio) by `generateContent`. */
import type { Usage } from '@model-gateway/contracts';
import type {
  Speech,
  SpeechPiece,
  SpeechRequest,
  Target,
  Transcription,
  TranscriptionPiece,
  TranscriptionRequest,
  UnaryUpstreamCodec,
} from '../../contract/index.ts';
import { audioTypeOf } from '../../kit/audio-type.ts';
import { Losses } from '../../kit/losses.ts';
import { asString, type JsonObject, own } from '../../kit/read.ts';
import { refuseTimestamps } from '../../kit/transcription-limits.ts';
import { readErrorValue } from '../shared/errors.ts';
import { field, listField, objectField, textField } from '../shared/fields.ts';
import { UsageReader } from '../shared/usage.ts';

export const speech: UnaryUpstreamCodec<SpeechRequest, Speech, SpeechPiece> = {
  writeRequest({ text, voice, instructions, format, options }, { target }) {
    const losses = new Losses();
    losses.unread('', options, new Set());
    if (format !== 'wav' && format !== 'pcm') losses.add('response_format', 'downgraded', 'This upstream gives audio that is not compressed: it comes as WAV.');
    if (instructions !== undefined) losses.add('instructions', 'emulated', 'The instructions stand before the text.');
    const words = instructions === undefined ? text : `${instructions}\n\n${text}`;
    const body: JsonObject = {
      contents: [{ role: 'user', parts: [{ text: words }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: voiceOf(voice, target) } } },
      },
    };
    return { body, losses: losses.list };
  },
  readReply(body) {
    const parts = soundOf(body);
    const usage = readUsage(body);
    const [first, ...more] = parts;
    if (!first) return { fault: { class: 'server', code: 'no_audio', message: `The upstream answered without audio: ${endOf(body)}.` }, usage };
    const data = more.length === 0 ? first.data : Buffer.concat(parts.map((part) => Buffer.from(part.data, 'base64'))).toString('base64');
    return { reply: { data, mimeType: first.mimeType }, usage };
  },
  readEvent(event) {
    if (field(event, 'error') !== undefined) return { pieces: [], fault: readErrorValue(0, {}, event, '') };
    return { pieces: soundOf(event), usage: readUsage(event), ended: hasEnded(event) };
  },
};

const soundOf = (body: unknown): SpeechPiece[] =>
  partsOf(body).flatMap((part) => {
    const inline = objectField(part, 'inlineData');
    const data = textField(inline, 'data');
    const mimeType = textField(inline, 'mimeType');
    return data !== undefined && mimeType?.startsWith('audio/') ? [{ data, mimeType }] : [];
  });

/** Said by the last chunk, whatever the reason. */
const hasEnded = (chunk: unknown): boolean =>
  textField(field(chunk, 'promptFeedback'), 'blockReason') !== undefined || Boolean(textField(listField(chunk, 'candidates')[0], 'finishReason'));

/** Names of voices differ between vendors: an operator maps them, others pass as they are. */
function voiceOf(voice: string, { extraConfig }: Target): string {
  return asString(own(extraConfig?.['voices'], voice)) ?? voice;
}

const transcribeWords = 'Transcribe the speech in this audio. Answer with the transcript alone.';
const translateWords = 'Translate the speech in this audio into English. Answer with the translation alone.';

export const transcription: UnaryUpstreamCodec<TranscriptionRequest, Transcription, TranscriptionPiece> = {
  writeRequest(request) {
    const { task, file, language, prompt, temperature } = request;
    refuseTimestamps(request);
    const losses = new Losses();
    if (language !== undefined) losses.add('language', 'emulated', 'The language is named in the instruction.');
    if (prompt !== undefined) losses.add('prompt', 'emulated', 'The prompt stands in the instruction.');
    const words = [
      task === 'translate' ? translateWords : transcribeWords,
      ...(language === undefined ? [] : [`The language of the speech is ${language}.`]),
      ...(prompt === undefined ? [] : [`Context: ${prompt}`]),
    ].join('\n');
    const audio = { inlineData: { mimeType: audioTypeOf(file), data: file.content.toString('base64') } };
    const body: JsonObject = {
      contents: [{ role: 'user', parts: [{ text: words }, audio] }],
      ...(temperature !== undefined && { generationConfig: { temperature } }),
    };
    return { body, losses: losses.list };
  },
  readReply(body) {
    const usage = readUsage(body);
    const texts = textsOf(body);
    if (texts.length === 0 && endOf(body) !== 'STOP')
      return { fault: { class: 'server', code: 'no_transcript', message: `The upstream answered without words: ${endOf(body)}.` }, usage };
    return { reply: { text: texts.join('').trim() }, usage };
  },
  readEvent(event) {
    if (field(event, 'error') !== undefined) return { pieces: [], fault: readErrorValue(0, {}, event, '') };
    return { pieces: textsOf(event).map((text) => ({ text })), usage: readUsage(event), ended: hasEnded(event) };
  },
};

const textsOf = (body: unknown): string[] =>
  partsOf(body)
    .filter((part) => field(part, 'thought') !== true)
    .flatMap((part) => textField(part, 'text') ?? []);

const partsOf = (body: unknown): unknown[] => listField(body, 'candidates').flatMap((candidate) => listField(field(candidate, 'content'), 'parts'));

const endOf = (body: unknown): string =>
  textField(field(body, 'promptFeedback'), 'blockReason') ?? textField(listField(body, 'candidates')[0], 'finishReason') ?? 'it did not say why';

function readUsage(body: unknown): Usage | null {
  const counter = new UsageReader();
  return counter.take(field(body, 'usageMetadata')) ? counter.usage : null;
}
