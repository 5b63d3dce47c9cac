/**
 * Speech (https://www.alibabacloud.com/help/en/model-studio/qwen-tts) and the words of short recordings
 * (https://www.alibabacloud.com/help/en/model-studio/qwen-asr-api-reference) by models of the multimodal endpoint.
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { Speech, SpeechPiece, SpeechRequest, Target, Transcription, TranscriptionRequest, UnaryUpstreamCodec } from '../../contract/index.ts';
import { audioTypeOf } from '../../kit/audio-type.ts';
import { writeDataUrl } from '../../kit/data-url.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asCount, asNumber, asString, type JsonObject, own } from '../../kit/read.ts';
import { refuseTimestamps } from '../../kit/transcription-limits.ts';
import { readBodyError } from './errors.ts';
import { addressOfWords, readRecorded, readsByAddress, upload, writeRecorded } from './recorded-files.ts';

/** What callers may say in this API's own words. */
const carried: ReadonlySet<string> = new Set(['language_type']);

export const speech: UnaryUpstreamCodec<SpeechRequest, Speech, SpeechPiece> = {
  writeRequest({ text, voice, instructions, format, options }, { target }) {
    const losses = new Losses();
    losses.unread('', options, carried);
    if (format !== 'wav' && format !== 'pcm') losses.add('response_format', 'downgraded', 'This upstream gives audio that is not compressed: it comes as WAV.');
    if (instructions !== undefined) losses.dropped('instructions', 'This upstream has no field for how a text is to be spoken.');
    const language = asString(options['language_type']);
    const input = { text, voice: voiceOf(voice, target), ...(language !== undefined && { language_type: language }) };
    return { body: { model: target.upstreamModelId, input }, losses: losses.list };
  },
  readReply(body) {
    const error = readBodyError(body, false);
    if (error) return { fault: error, usage: null };
    const audio = own(own(body, 'output'), 'audio');
    const [data, url] = [asString(own(audio, 'data')), asString(own(audio, 'url'))];
    const usage = readSpeechUsage(own(body, 'usage'));
    if (data) return { reply: { data, mimeType: 'audio/pcm' }, usage };
    if (!url) throw new Error('no audio');
    return { reply: { url }, usage };
  },
  /** The last event has the address of the whole beside what is left of it. */
  readEvent(event, name) {
    const fault = readBodyError(event, name === 'error');
    if (fault) return { pieces: [], fault };
    const output = own(event, 'output');
    const data = asString(own(own(output, 'audio'), 'data'));
    return {
      pieces: data ? [{ data, mimeType: 'audio/pcm' }] : [],
      usage: readSpeechUsage(own(event, 'usage')),
      ended: hasEnded(own(output, 'finish_reason')),
    };
  },
};

/** The word "null", not the value, says that an answer goes on. */
const hasEnded = (reason: unknown): boolean => typeof reason === 'string' && reason !== '' && reason !== 'null';

/** Names of voices differ between vendors: an operator maps them, others pass as they are. */
function voiceOf(voice: string, { extraConfig }: Target): string {
  return asString(own(extraConfig?.['voices'], voice)) ?? voice;
}

/** Characters in older models, tokens in newer ones. */
function readSpeechUsage(usage: unknown): Usage | null {
  const characters = asNumber(own(usage, 'characters'));
  const [input, audioOutput] = [asCount(own(usage, 'input_tokens')), asCount(own(usage, 'output_tokens'))];
  if (characters === undefined && input + audioOutput === 0) return null;
  return { ...noUsage, input, ...(audioOutput > 0 && { audioOutput }), ...(characters !== undefined && { characters: asCount(characters) }) };
}

/** Models that only transcribe take no words beside the audio. */
const onlyTranscribes = ({ upstreamModelId, modelId }: Target): boolean => /asr/i.test(modelId ?? upstreamModelId);
const transcribeWords = 'Transcribe the speech in this audio. Answer with the transcript alone.';
const translateWords = 'Translate the speech in this audio into English. Answer with the translation alone.';

export const transcription: UnaryUpstreamCodec<TranscriptionRequest, Transcription> = {
  writeRequest(request, { target }) {
    if (readsByAddress(target)) return writeRecorded(request, target);
    refuseTimestamps(request);
    const { task, file, language, prompt, temperature } = request;
    if (task === 'translate' && onlyTranscribes(target)) throw invalid('model', 'This model transcribes, and does not translate.');
    const losses = new Losses();
    if (language !== undefined && !onlyTranscribes(target)) losses.dropped('language', 'This upstream has no field for the language of a recording.');
    const audio = { audio: writeDataUrl(audioTypeOf(file), file.content.toString('base64')) };
    const words = task === 'translate' ? translateWords : transcribeWords;
    const parameters: JsonObject = {
      ...(temperature !== undefined && { temperature }),
      ...(onlyTranscribes(target) && language !== undefined && { asr_options: { language } }),
    };
    const messages = [
      ...(prompt === undefined ? [] : [{ role: 'system', content: [{ text: prompt }] }]),
      { role: 'user', content: onlyTranscribes(target) ? [audio] : [audio, { text: words }] },
    ];
    const body = { model: target.upstreamModelId, input: { messages }, ...(Object.keys(parameters).length > 0 && { parameters }) };
    return { body, losses: losses.list };
  },
  isTask: readsByAddress,
  replyAddress: addressOfWords,
  upload,
  readReply(body, _request, words) {
    if (own(own(body, 'output'), 'task_status') !== undefined) return readRecorded(body, words);
    const error = readBodyError(body, false);
    if (error) return { fault: error, usage: null };
    const choices = asArray(own(own(body, 'output'), 'choices')) ?? [];
    const content = own(own(choices[0], 'message'), 'content');
    const text = asString(content) ?? (asArray(content) ?? []).flatMap((part) => asString(own(part, 'text')) ?? []).join('');
    if (choices.length === 0) throw new Error('no transcript');
    return { reply: { text: text.trim() }, usage: readTranscriptionUsage(own(body, 'usage')) };
  },
};

/** Seconds in models that only transcribe, tokens of text and audio in the others. */
function readTranscriptionUsage(usage: unknown): Usage | null {
  const seconds = asNumber(own(usage, 'seconds'));
  const [read, written] = [asCount(own(usage, 'input_tokens')), asCount(own(usage, 'output_tokens'))];
  if (seconds === undefined && read + written === 0) return null;
  const audioInput = asCount(own(usage, 'audio_tokens')) || asCount(own(own(usage, 'input_tokens_details'), 'audio_tokens'));
  return {
    ...noUsage,
    input: Math.max(0, read - audioInput),
    output: written,
    ...(audioInput > 0 && { audioInput }),
    ...(seconds !== undefined && { seconds: Math.ceil(seconds) }),
  };
}
