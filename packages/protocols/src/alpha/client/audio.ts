/** Callers of `/v1/audio`, where an upstream of another protocol answers: https://platform.openai.com/docs/api-reference/audio */
import type { Usage } from '@model-gateway/contracts';
import type {
  FormBody,
  Speech,
  SpeechFormat,
  SpeechPiece,
  SpeechRequest,
  Transcription,
  TranscriptionPiece,
  TranscriptionRequest,
  UnaryBody,
  UnaryClientCodec,
  UnaryReplyContext,
  UnaryStreamWriter,
} from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { Losses } from '../../kit/losses.ts';
import { asString, own } from '../../kit/read.ts';
import { isPcm, rateOf, readWave, writeWave } from '../../kit/wave.ts';
import { SpeechWriter, writeDeltas, writeDone, writeEvent } from './speech-writer.ts';
import { writeSrt, writeVerbose, writeVtt } from './timed-transcripts.ts';

const formats: readonly SpeechFormat[] = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'];
const speechFields: ReadonlySet<string> = new Set(['model', 'input', 'voice', 'instructions', 'response_format', 'stream_format']);
const maxCharacters = 100_000;

export const speechClient: UnaryClientCodec<SpeechRequest, Speech, SpeechPiece> = {
  readRequest(body) {
    const text = asString(own(body, 'input')) ?? '';
    if (text.trim() === '') throw invalid('input', 'input must be a non-empty string.');
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
    throw new Error('speech is not JSON');
  },
  writeBody: (reply, request) => bytesOf(reply, request),
  writeStream(reply, request, { usage }) {
    const { body } = bytesOf(reply, request);
    return writeDeltas(Buffer.from(body)) + writeDone(usage);
  },
  createWriter: (request, form) => new SpeechWriter(request, form),
};

const isUsual = (key: string, value: unknown): boolean => key === 'speed' && value === 1;

function readFormat(value: unknown): SpeechFormat | undefined {
  if (value === undefined || value === null) return undefined;
  const known = formats.find((format) => format === value);
  if (!known) throw invalid('response_format', `response_format must be one of ${formats.join(', ')}.`);
  return known;
}

/** What is not PCM leaves as it is, by its own name: nothing is ever called what it is not. */
function bytesOf(reply: Speech, { format }: SpeechRequest): UnaryBody {
  if ('url' in reply) throw new Error('the audio was not fetched');
  const audio = Buffer.from(reply.data, 'base64');
  if (isPcm(reply.mimeType))
    return format === 'pcm' ? { body: audio, contentType: 'audio/pcm' } : { body: writeWave(audio, rateOf(reply.mimeType)), contentType: 'audio/wav' };
  const samples = format === 'pcm' ? readWave(audio) : undefined;
  if (samples) return { body: samples, contentType: 'audio/pcm' };
  return { body: audio, contentType: readWave(audio) ? 'audio/wav' : reply.mimeType };
}

const forms = ['json', 'text', 'srt', 'vtt', 'verbose_json', 'diarized_json'] as const;
const formFields: ReadonlySet<string> = new Set(['model', 'language', 'prompt', 'temperature', 'response_format', 'stream']);

/** How callers ask for the words of a recording, in its own language or in English. */
export const transcriptionClient = (task: TranscriptionRequest['task']): UnaryClientCodec<TranscriptionRequest, Transcription, TranscriptionPiece> => ({
  readRequest(): never {
    throw invalid('file', 'A form with a file is needed.');
  },
  readForm: (form) => readTranscription(form, task),
  writeReply: (reply, request, { usage }) => ({
    ...(request.form === 'verbose_json' && writeVerbose(reply, request)),
    text: reply.text,
    ...(usage && { usage: transcriptionUsage(usage) }),
  }),
  writeBody(reply, { form }) {
    const body = form === 'text' ? `${reply.text}\n` : form === 'srt' ? writeSrt(reply) : form === 'vtt' ? writeVtt(reply) : undefined;
    return body === undefined ? undefined : { body, contentType: 'text/plain; charset=utf-8' };
  },
  writeStream(reply, _request, context) {
    const writer = new TranscriptionWriter();
    return writer.write(reply) + writer.end(context);
  },
  createWriter: () => new TranscriptionWriter(),
});

/** Words as they come, and all of them at the end. */
class TranscriptionWriter implements UnaryStreamWriter<TranscriptionPiece> {
  readonly contentType: undefined;
  #text = '';

  write({ text }: TranscriptionPiece): string {
    const delta = this.#text === '' ? text.trimStart() : text;
    this.#text += delta;
    return delta === '' ? '' : writeEvent({ type: 'transcript.text.delta', delta });
  }

  end({ usage }: UnaryReplyContext): string {
    return writeEvent({ type: 'transcript.text.done', text: this.#text.trimEnd(), ...(usage && { usage: transcriptionUsage(usage) }) });
  }
}

function readTranscription(
  { fields, files }: FormBody,
  task: TranscriptionRequest['task'],
): ReturnType<UnaryClientCodec<TranscriptionRequest, Transcription>['readRequest']> {
  const losses = new Losses();
  const value = (name: string): string | undefined => fields.find((one) => one.name === name)?.value;
  losses.unread('', Object.fromEntries(fields.map(({ name }) => [name.split('[', 1)[0]!, true])), formFields);
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
