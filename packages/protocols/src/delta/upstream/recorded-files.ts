/**
 * The words of recordings by models that read them by address, as tasks: https://www.alibabacloud.com/help/en/model-studio/paraformer-recorded-speech-recognition-restful-api
 * and https://www.alibabacloud.com/help/en/model-studio/qwen-asr-api-reference. Files go into the vendor's own storage first:
 * https://www.alibabacloud.com/help/en/model-studio/get-temporary-file-url
 */
import { noUsage, type Usage } from '@model-gateway/contracts';
import type { Target, Transcription, TranscriptionRequest, UnaryReply, UnaryUpload, WrittenRequest } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { joinUrl } from '../../kit/join-url.ts';
import { Losses } from '../../kit/losses.ts';
import { asArray, asNumber, asString, own } from '../../kit/read.ts';
import { rootOf } from './address.ts';
import { readTaskFailure } from './errors.ts';
import { readUnaryUsage } from './usage.ts';

export const readsByAddress = ({ kind }: Target): boolean => kind === 'delta-audio-asr';

/** These take one file under a name of their own, and one language where others take hints. */
const takesOneFile = ({ upstreamModelId, modelId }: Target): boolean => /filetrans/i.test(modelId ?? upstreamModelId);

/** The form of a request whose file is in the vendor's storage. */
export function writeRecorded({ task, address, language, prompt, temperature, form }: TranscriptionRequest, target: Target): WrittenRequest {
  if (task === 'translate') throw invalid('model', 'This model transcribes, and does not translate.');
  if (form === 'diarized_json') throw invalid('response_format', 'This model names no speakers: response_format must not be diarized_json.');
  if (address === undefined) throw invalid('file', 'This model reads audio by address, not from an upload.');
  const losses = new Losses();
  if (prompt !== undefined) losses.dropped('prompt', 'This upstream takes no prompt beside a recording.');
  if (temperature !== undefined) losses.dropped('temperature', 'This upstream has no temperature for transcriptions.');
  const one = takesOneFile(target);
  const parameters = language === undefined ? undefined : one ? { language } : { language_hints: [language] };
  const input = one ? { file_url: address } : { file_urls: [address] };
  return { body: { model: target.upstreamModelId, input, ...(parameters && { parameters }) }, losses: losses.list };
}

/** Of a task that ended: where its words are. undefined: there are none. */
export const addressOfWords = (body: unknown): string | undefined => asString(own(resultOf(body), 'transcription_url')) || undefined;

function resultOf(body: unknown): unknown {
  const output = own(body, 'output');
  return own(output, 'result') ?? asArray(own(output, 'results'))?.[0];
}

/** `words`: what is at that address. */
export function readRecorded(body: unknown, words: unknown): UnaryReply<Transcription> {
  const fault = readTaskFailure(own(body, 'output')) ?? (words === undefined ? readTaskFailure(resultOf(body)) : undefined);
  if (fault) return { fault, usage: null };
  const transcripts = asArray(own(words, 'transcripts'));
  if (!transcripts) throw new Error('no transcript');
  const segments = transcripts
    .flatMap((one) => asArray(own(one, 'sentences')) ?? [])
    .flatMap((one) => {
      const [start, end, text] = [asNumber(own(one, 'begin_time')), asNumber(own(one, 'end_time')), asString(own(one, 'text'))];
      return start === undefined || end === undefined || text === undefined ? [] : [{ start: start / 1000, end: end / 1000, text: text.trim() }];
    })
    .sort((one, other) => one.start - other.start);
  const text = transcripts.flatMap((one) => asString(own(one, 'text')) ?? []).join('\n');
  const usage = secondsOf(body);
  const length = asNumber(own(own(words, 'properties'), 'original_duration_in_milliseconds'));
  const duration = length === undefined ? usage?.seconds : length / 1000;
  return { reply: { text: text.trim(), segments, ...(duration !== undefined && { duration }) }, usage };
}

/** Sold by the second. */
function secondsOf(body: unknown): Usage | null {
  const seconds = readUnaryUsage(body)?.seconds;
  return seconds === undefined ? null : { ...noUsage, seconds: Math.ceil(seconds) };
}

const mebibyte = 1024 * 1024;

export const upload: UnaryUpload<TranscriptionRequest> = {
  file: ({ file }, target) => (readsByAddress(target) ? file : undefined),
  request: (target) => ({
    method: 'GET',
    url: joinUrl(rootOf(target.baseUrl), 'api/v1', `/uploads?action=getPolicy&model=${encodeURIComponent(target.upstreamModelId)}`),
    headers: { accept: 'application/json' },
  }),
  readPlace(body, name) {
    const data = own(body, 'data');
    const text = (field: string): string => {
      const value = asString(own(data, field));
      if (!value) throw new Error(`an upload policy without ${field}`);
      return value;
    };
    const key = `${text('upload_dir')}/${name}`;
    const limit = asNumber(own(data, 'max_file_size_mb'));
    return {
      url: text('upload_host'),
      address: `oss://${key}`,
      fields: [
        ['OSSAccessKeyId', text('oss_access_key_id')],
        ['Signature', text('signature')],
        ['policy', text('policy')],
        ['x-oss-object-acl', text('x_oss_object_acl')],
        ['x-oss-forbid-overwrite', text('x_oss_forbid_overwrite')],
        ['key', key],
        ['success_action_status', '200'],
      ],
      ...(limit !== undefined && { maxBytes: limit * mebibyte }),
    };
  },
  withAddress: (request, address) => ({ ...request, address }),
};
