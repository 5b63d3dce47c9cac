/** One call from the playground: through the console's test, which shows the translation, or as a client with an access key. */
import type { ModelTest } from '@model-gateway/console/answers';
import type { PlaygroundDialect, PlaygroundPiece, PlaygroundRequest } from '@model-gateway/protocols/playground';
import { createParser } from 'eventsource-parser';
import { ApiProblem } from '../../api/problem.ts';
import { streamCall } from '../../api/stream.ts';

/** What the inspector shows. */
export interface CallRecord {
  clientBody: unknown;
  /** The reply as it came: an event each line, or one JSON value. */
  raw: string;
  status: number | null;
  requestId: string | null;
  firstMs: number | null;
  totalMs: number | null;
  /** Of a test alone: what the upstream was sent. */
  translation: ModelTest['translation'] | null;
  /** Of a client's call: the header that sums up its translation. */
  translationHeader: string | null;
}

/** A call from the playground and what is notified of its progress. */
export interface CallOptions {
  dialect: PlaygroundDialect;
  request: PlaygroundRequest;
  /** null: as a test. */
  key: string | null;
  signal: AbortSignal;
  onPieces: (pieces: PlaygroundPiece[]) => void;
  onRecord: (change: Partial<CallRecord>) => void;
}

export const emptyRecord: CallRecord = {
  clientBody: null,
  raw: '',
  status: null,
  requestId: null,
  firstMs: null,
  totalMs: null,
  translation: null,
  translationHeader: null,
};

/** Rejects when nothing of the gateway answered; a refusal comes as an `error` piece. Aborting ends it quietly. */
export async function runCall(options: CallOptions): Promise<void> {
  const { dialect, request, key, signal, onRecord } = options;
  const began = performance.now();
  onRecord({ clientBody: dialect.body(request) });
  try {
    await (key === null ? callAsTest(options, began) : callAsClient(options, key, began));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    onRecord({ totalMs: performance.now() - began });
  }
}

async function callAsTest({ dialect, request, signal, onPieces, onRecord }: CallOptions, began: number): Promise<void> {
  const reader = createReplyReader(dialect, request.stream, { onPieces, onRecord }, began);
  let result: ModelTest | null = null;
  const response = await streamCall('models/test', {
    body: { model: request.model, client_protocol: dialect.id, stream: request.stream, body: dialect.body(request) },
    signal,
  });
  const events = createParser({
    onEvent({ event, data }) {
      if (event === 'data') reader.push(JSON.parse(data) as string);
      if (event === 'result') result = JSON.parse(data) as ModelTest;
    },
  });
  await readText(response, (text) => events.feed(text));
  if (result === null) throw new ApiProblem(0, 'cut', 'The answer ended before its result.');
  const { status, request_id, translation, response: reply }: ModelTest = result;
  onRecord({ status, requestId: request_id, translation });
  if (status >= 400) reader.refuse(JSON.stringify(reply));
  else reader.finish();
}

async function callAsClient({ dialect, request, signal, onPieces, onRecord }: CallOptions, key: string, began: number): Promise<void> {
  const response = await fetch(dialect.path(request), {
    method: 'POST',
    headers: { ...dialect.headers(key), 'content-type': 'application/json' },
    body: JSON.stringify(dialect.body(request)),
    signal,
    redirect: 'error',
  });
  onRecord({ status: response.status, requestId: response.headers.get('x-request-id'), translationHeader: response.headers.get('x-gateway-translation') });
  const reader = createReplyReader(dialect, request.stream && response.ok, { onPieces, onRecord }, began);
  if (!response.ok) return reader.refuse(await response.text());
  await readText(response, (text) => reader.push(text));
  reader.finish();
}

async function readText(response: Response, push: (text: string) => void): Promise<void> {
  if (!response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    push(value);
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** Shown raw text ends here: a reply of megabytes is not laid out twice. */
const maxRaw = 400_000;

/** Turns the reply's text into pieces, and keeps it as it came. */
function createReplyReader(dialect: PlaygroundDialect, stream: boolean, { onPieces, onRecord }: Pick<CallOptions, 'onPieces' | 'onRecord'>, began: number) {
  let raw = '';
  let first = true;
  const events = createParser({
    onEvent: ({ data }) => {
      if (data !== '[DONE]') onPieces(dialect.readEvent(parse(data)));
    },
  });
  return {
    push(text: string) {
      if (first) onRecord({ firstMs: performance.now() - began });
      first = false;
      raw += text;
      onRecord({ raw: raw.slice(0, maxRaw) });
      if (stream) events.feed(text);
    },
    finish() {
      if (!stream) onPieces(dialect.readWhole(parse(raw)));
    },
    refuse(text: string) {
      onRecord({ raw: text.slice(0, maxRaw) });
      const pieces = dialect.readWhole(parse(text));
      onPieces(pieces.some(({ kind }) => kind === 'error') ? pieces : [{ kind: 'error', message: text.slice(0, 500) }]);
    },
  };
}
