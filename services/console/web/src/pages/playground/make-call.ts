/** One call of one question and one answer: through the console's test, which shows the translation, or as a client with an access key. */
import type { ModelTest } from '@model-gateway/console/answers';
import type { PlaygroundCall, PlaygroundInput, PlaygroundResult } from '@model-gateway/protocols/playground';
import { call as callApi } from '../../api/client.ts';
import { type CallRecord, emptyRecord } from './run-call.ts';

/** What a call is made with. */
export interface CallRequest {
  call: PlaygroundCall;
  input: PlaygroundInput;
  /** Of calls that are about one. */
  file: File | null;
  /** null: as a test. */
  key: string | null;
  signal: AbortSignal;
}

/** The answer. `refusal`: its error message. */
export interface CallOutcome {
  results: readonly PlaygroundResult[];
  /** Its address is released by `release`. */
  sound: { url: string; type: string; bytes: number; name: string } | null;
  refusal: string | null;
  record: CallRecord;
}

interface Answer {
  status: number;
  /** JSON, or text that is none. */
  reply: unknown;
  file: Blob | null;
  known: Partial<CallRecord>;
}

/** Rejects when nothing of the gateway answered, and when `signal` is aborted. */
export async function makeCall(request: CallRequest): Promise<CallOutcome> {
  const { call, input, file, key } = request;
  const began = performance.now();
  const body = call.body(input);
  const { status, reply, file: sound, known } = await (key === null ? askAsTest(request, body) : askAsClient(request, key, body));
  const isGood = status < 400;
  return {
    results: isGood && !sound ? call.readReply(reply) : [],
    sound: isGood && sound ? { url: URL.createObjectURL(sound), type: sound.type, bytes: sound.size, name: `${input.model}.${endingOf(sound.type)}` } : null,
    refusal: isGood ? null : sentenceOf(reply),
    record: {
      ...emptyRecord,
      ...known,
      clientBody: file ? { ...body, [call.file?.field ?? 'file']: `${file.name} (${file.size})` } : body,
      raw: sound ? `${sound.type} (${sound.size})` : printShort(reply),
      status,
      totalMs: performance.now() - began,
    },
  };
}

export const release = (outcome: CallOutcome | null): void => {
  if (outcome?.sound) URL.revokeObjectURL(outcome.sound.url);
};

async function askAsTest({ call, input, file, signal }: CallRequest, body: Record<string, unknown>): Promise<Answer> {
  const result = await callApi<ModelTest>('models/test', {
    method: 'POST',
    body: {
      model: input.model,
      client_protocol: call.clientProtocol,
      operation: call.operation,
      body,
      ...(file && { file: { name: file.name, content_type: file.type, data: await readBase64(file) } }),
    },
    signal,
  });
  return {
    status: result.status,
    reply: result.response,
    file: result.file ? blobOf(result.file) : null,
    known: { requestId: result.request_id, translation: result.translation },
  };
}

async function askAsClient({ call, file, signal }: CallRequest, key: string, body: Record<string, unknown>): Promise<Answer> {
  const response = await fetch(call.path, {
    method: 'POST',
    headers: { ...call.headers(key), ...(!call.file && { 'content-type': 'application/json' }) },
    body: call.file ? formOf(body, call.file.field, file) : JSON.stringify(body),
    signal,
    redirect: 'error',
  });
  const known = { requestId: response.headers.get('x-request-id'), translationHeader: response.headers.get('x-gateway-translation') };
  const type = response.headers.get('content-type') ?? '';
  if (response.ok && /^(?:audio|video|image)\/|octet-stream/i.test(type)) return { status: response.status, reply: null, file: await response.blob(), known };
  return { status: response.status, reply: parse(await response.text()), file: null, known };
}

function formOf(body: Record<string, unknown>, field: string, file: File | null): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  if (file) form.append(field, file);
  return form;
}

function blobOf({ content_type, data }: { content_type: string; data: string }): Blob {
  const text = atob(data);
  return new Blob([Uint8Array.from(text, (char) => char.charCodeAt(0))], { type: content_type });
}

const readBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(',')[1] ?? '');
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** What a protocol says of a refusal; the words themselves where they are no error of a protocol. */
function sentenceOf(reply: unknown): string {
  const error = (reply as { error?: { message?: unknown } | string } | null)?.error;
  const message = typeof error === 'string' ? error : error?.message;
  return typeof message === 'string' ? message : printShort(reply).slice(0, 500);
}

const longText = 400;
const shownNumbers = 16;

/** Pictures and vectors would hide the rest. */
function printShort(reply: unknown): string {
  if (typeof reply === 'string') return reply;
  return JSON.stringify(
    reply,
    (_name, value: unknown) => {
      if (typeof value === 'string' && value.length > longText) return `${value.slice(0, 80)}… (${value.length})`;
      return Array.isArray(value) && value.length > shownNumbers && typeof value[0] === 'number'
        ? [...value.slice(0, shownNumbers), `… (${value.length})`]
        : value;
    },
    2,
  );
}

const endings: Record<string, string> = { mpeg: 'mp3', 'x-wav': 'wav', wave: 'wav' };
function endingOf(type: string): string {
  const [, kind = 'bin'] = /^[a-z]+\/([\w.+-]+)/i.exec(type) ?? [];
  return endings[kind] ?? kind;
}
