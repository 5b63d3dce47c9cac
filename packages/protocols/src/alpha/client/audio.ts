/** Callers of `/v1/audio`, where an upstream of another protocol answers: https://platform.openai.com/docs/api-reference/audio */
import type { Usage } from '@model-gateway/contracts';
import type { FormBody, Speech, SpeechFormat, SpeechRequest, Transcription, TranscriptionRequest, UnaryBody, UnaryClientCodec } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asString, own } from '../../kit/read.ts';
import { isPcm, rateOf, readWave, writeWave } from '../../kit/wave.ts';

const formats: readonly SpeechFormat[] = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const speechFields: ReadonlySet<string> = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'stream_format']);
const maxCharacters = 100_000;
/** Of audio in one event. */
const eventBytes = 48 * 1024;

export const speechClient: UnaryClientCodec<SpeechRequest, Speech> = {
  readRequest(body) {
    const text = asString(own(body, 'input')) ?? '';
    if (text.trim() === '') throw invalid('input', 'input must be a text.');
    if (text.length > maxCharacters) throw invalid('input', `input must not be longer than ${maxCharacters} characters.`);
    const given = own(body, 'voice');
    const voice = asString(given) ?? asString(own(given, 'id'));
    if (!voice) throw invalid('voice', 'voice must be the name of a voice.');
    const format = readFormat(own(body, 'response_format'));
    const instructions = asString(own(body, 'instructions'));
    const options = Object.fromEntries(
      Object.entries(body as object).filter(([key, value]) => !speechFields.has(key) && value !== null && !isUsual(key, value)),
    );
    return { request: { text, voice, ...(instructions && { instructions }), ...(format && { format }), options }, losses: [] };
  },
  addresses: (reply) => ('url' in reply ? [reply.url] : []),
  withFiles: (reply, files) => ('url' in reply ? (files.get(reply.url) ?? reply) : reply),
  writeReply(): never {
    throw new Error('speech is no JSON');
  },
  writeBody: (reply, request) => bytesOf(reply, request),
  writeStream(reply, request, { usage }) {
    const { body } = bytesOf(reply, request);
    const audio = Buffer.from(body);
    const events: object[] = [];
    for (let at = 0; at < audio.length; at += eventBytes)
      events.push({ type: 'speech.audio.delta', audio: audio.subarray(at, at + eventBytes).toString('base64') });
    return [...events, { type: 'speech.audio.done', ...(usage && { usage: speechUsage(usage) }) }].map(writeEvent).join('');
  },
};

const isUsual = (key: string, value: unknown): boolean => key === 'speed' && value === 1;

function readFormat(value: unknown): SpeechFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const known = formats.find((format) => format === value);
  if (!known) throw invalid('response_format', `response_format must be one of ${formats.join(', ')}.`);
  return known;
}

/** What is no PCM leaves as it is, by its own name: nothing is ever called what it is not. */
function bytesOf(reply: Speech, { format }: SpeechRequest): UnaryBody {
  if ('url' in reply) throw new Error('the audio was not fetched');
  const audio = Buffer.from(reply.data, 'base64');
  if (isPcm(reply.mimeType))
    return format === 'pcm' ? { body: audio, contentType: 'audio/pcm' } : { body: writeWave(audio, rateOf(reply.mimeType)), contentType: 'audio/wav' };
  const samples = format === 'pcm' ? readWave(audio) : undefined;
  if (samples) return { body: samples, contentType: 'audio/pcm' };
  return { body: audio, contentType: readWave(audio) ? 'audio/wav' : reply.mimeType };
}

const speechUsage = ({ input, output, audioOutput = 0 }: Usage) => ({
  input_tokens: input,
  output_tokens: output + audioOutput,
  total_tokens: input + output + audioOutput,
});

const writeEvent = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

const forms = ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const;
const formFields: ReadonlySet<string> = new Set(['model', 'language', 'prompt', 'temperature', 'response_format', 'stream']);

/** How callers ask for the words of a recording, in its own language or in English. */
export const transcriptionClient = (task: TranscriptionRequest['task']): UnaryClientCodec<TranscriptionRequest, Transcription> => ({
  readRequest(): never {
    throw invalid('file', 'A form with a file is needed.');
  },
  readForm: (form) => readTranscription(form, task),
  writeReply: ({ text }, _request, { usage }) => ({ text, ...(usage && { usage: transcriptionUsage(usage) }) }),
  writeBody: ({ text }, { form }) => (form === 'text' ? { body: `${text}\n`, contentType: 'text/plain; charset=utf-8' } : undefined),
  writeStream: ({ text }, _request, { usage }) =>
    [
      { type: 'transcript.text.delta', delta: text },
      { type: 'transcript.text.done', text, ...(usage && { usage: transcriptionUsage(usage) }) },
    ]
      .map(writeEvent)
      .join(''),
});

function readTranscription(
  { fields, files }: FormBody,
  task: TranscriptionRequest['task'],
): ReturnType<UnaryClientCodec<TranscriptionRequest, Transcription>['readRequest']> {
  const losses = new Losses();
  const value = (name: string): string | undefined => fields.find((one) => one.name === name)?.value;
  losses.unread('', Object.fromEntries(fields.map(({ name }) => [name.replace(/\[.*$/, ''), true])), formFields);
  const file = files.find(({ name }) => name === 'file');
  if (!file) throw invalid('file', 'The form has no file named file.');
  const asked = value('response_format') ?? 'json';
  const form = forms.find((one) => one === asked);
  if (!form) throw invalid('response_format', `response_format must be one of ${forms.join(', ')}.`);
  const [language, prompt, temperature] = [value('language'), value('prompt'), readTemperature(value('temperature'))];
  return {
    request: { task, file, form, ...(language && { language }), ...(prompt && { prompt }), ...(temperature !== undefined && { temperature }) },
    losses: losses.list,
  };
}

function readTemperature(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const temperature = Number(text);
  if (!(temperature >= 0 && temperature <= 2)) throw invalid('temperature', 'temperature must be a number from 0 to 2.');
  return temperature;
}

/** In the words of the vendor's own models: tokens, or seconds where nobody counted these. */
function transcriptionUsage({ input, output, reasoning, audioInput = 0, seconds }: Usage): object {
  const read = input + audioInput;
  const written = output + reasoning;
  if (seconds !== undefined && read + written === 0) return { type: 'duration', seconds };
  return {
    type: 'tokens',
    input_tokens: read,
    input_token_details: { text_tokens: input, audio_tokens: audioInput },
    output_tokens: written,
    total_tokens: read + written,
  };
}
