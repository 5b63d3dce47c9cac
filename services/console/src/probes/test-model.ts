/** One real call of a model, as a caller of a chosen protocol would make it, with what the translation made of it. */
import { isUnary, type Job, type Loss, type ReplyTail, testIdentity } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { scanBody } from '@model-gateway/json-bytes';
import { type ClientAdapter, questionsOf, type TestCall } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';
import { createSseParser } from '@model-gateway/stream-framing';
import type { ConsoleContext } from '../context.ts';
import { encodeCall, type TestedCall, type TestFile } from './tested-calls.ts';

/** A test request to a model. */
export interface ModelTest {
  model: string;
  call: TestedCall;
  stream: boolean;
  prompt: string;
  body: Record<string, unknown> | null;
  /** Of calls that take one. */
  file: TestFile | null;
}

/** The reply to a test request, and what translation did. */
export interface ModelTestResult {
  request_id: string;
  /** What a caller would have got. */
  status: number;
  latency_ms: number;
  /** Of a whole reply, and of a refusal. */
  response?: unknown;
  /** Of a reply that is not text: sound. `data` is base64. */
  file?: { content_type: string; data: string };
  /** Of a stream: its events as they came. */
  events?: { event?: string; data: unknown }[];
  translation: { client_protocol: string; upstream_protocol: string | null; upstream_body: unknown; losses: Loss[] };
}

const deadlineMs = 120_000;
const maxBytes = 8 * 1024 * 1024;
/** Of pictures and sound. */
const maxMediaBytes = 32 * 1024 * 1024;

/** Who watches a test while it runs. */
export interface TestWatcher {
  /** Bytes of the reply as a caller would get them. */
  data?(piece: Uint8Array): void;
  /** Aborted: nobody wants the rest. */
  signal: AbortSignal;
}

/** Rejects only when the gateway itself cannot make the call; what the upstream does is part of the answer. */
export async function testModel(
  { model, call: { operation, protocol, write }, stream, prompt, body, file }: ModelTest,
  watcher: TestWatcher,
  context: ConsoleContext,
): Promise<ModelTestResult> {
  const id = mintRequestId();
  const startedAt = Date.now();
  const began = performance.now();
  const call = write({ model, stream, prompt, body });
  const { tail, error, reply, contentType } = await send(
    { id, startedAt, model, operation, protocol, call, ...(await encodeCall(call, file)) },
    watcher,
    context,
  );
  const row = tail?.row;
  const translation = {
    client_protocol: protocol.id,
    upstream_protocol: row?.upstream_protocol ?? null,
    upstream_body: tail?.trace ? parse(tail.trace.body) : null,
    losses: row?.losses ?? [],
  };
  const common = { request_id: id, latency_ms: Math.round(performance.now() - began) };
  if (error && reply.length === 0) {
    const { status, code, message, param, retryAfter } = error;
    const drawn =
      error.body ??
      protocol.client.writeError({
        status,
        code,
        message,
        requestId: id,
        ...(param !== undefined && { param }),
        ...(retryAfter !== undefined && { retryAfter }),
      }).body;
    return { ...common, status, response: parse(drawn), translation };
  }
  if (call.streamForm !== 'sse')
    return {
      ...common,
      status: 200,
      ...(isText(contentType) ? { response: parse(reply.toString('utf8')) } : { file: { content_type: contentType, data: reply.toString('base64') } }),
      translation,
    };
  return { ...common, status: 200, events: readEvents(reply), translation };
}

interface Sending {
  id: string;
  startedAt: number;
  model: string;
  operation: TestedCall['operation'];
  protocol: TestedCall['protocol'];
  call: TestCall;
  bytes: Buffer;
  contentType: string;
  isForm: boolean;
}

/** How a call ended. */
interface Sent {
  tail: ReplyTail | null;
  error: GatewayError | null;
  reply: Buffer;
  /** Of the reply, '' where nothing said. */
  contentType: string;
}

async function send(sending: Sending, watcher: TestWatcher, context: ConsoleContext): Promise<Sent> {
  let job: Job;
  try {
    job = await makeJob(sending, context);
  } catch (error) {
    return { tail: null, error: toGatewayError(error), reply: Buffer.alloc(0), contentType: '' };
  }
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    let contentType = '';
    const limit = isUnary(sending.operation) ? maxMediaBytes : maxBytes;
    const end = (tail: ReplyTail | null, error: GatewayError | null, reply: Buffer) => resolve({ tail, error, reply, contentType });
    const stream = context.bus.open(
      'translator.run',
      job,
      {
        head({ headers }) {
          contentType = headers['content-type'] ?? '';
        },
        data(piece) {
          size += piece.length;
          stream.consumed(piece.length);
          watcher.data?.(piece);
          if (size <= limit) return void parts.push(Buffer.from(piece));
          stream.cancel('reply too large');
          end(null, new GatewayError('upstream_bad_reply', { message: 'The reply is larger than a test shows.' }), Buffer.alloc(0));
        },
        tail(tail) {
          // The row is ours to hand on, as the edge does with those of callers.
          context.bus.publishDurable('stats.request', tail.row.id, tail.row).then(
            () => stream.acknowledge(),
            (error: unknown) => context.logger.error({ request: tail.row.id, error }, 'row lost'),
          );
          end(tail, tail.error ? GatewayError.fromWire(tail.error) : null, Buffer.concat(parts));
        },
        broken: (error) => end(null, error, Buffer.concat(parts)),
      },
      { body: sending.bytes, deadlineMs },
    );
    watcher.signal.addEventListener('abort', () => stream.cancel('the tester left'), { once: true });
  });
}

async function makeJob({ id, startedAt, model, operation, protocol, call, bytes, contentType, isForm }: Sending, context: ConsoleContext): Promise<Job> {
  const { client } = protocol;
  const stream = call.streamForm !== 'whole';
  const places = isForm ? { questions: '', values: {}, end: 0, words: [] } : placesOf(bytes, client);
  const who = { accessKey: testIdentity, keyGroup: '', clientProtocol: protocol.id, operation, stream };
  const plan = await context.bus.ask('router.plan', { ...who, requestId: id, revision: await context.storage.catalog.revision(), model, internal: true });
  return {
    ...who,
    id,
    clientRequestId: null,
    startedAt,
    path: call.path,
    query: call.query,
    requestedModel: model,
    streamForm: call.streamForm,
    ...(isForm && { body: 'form' as const }),
    headers: { 'content-type': contentType, 'user-agent': 'model-gateway console' },
    clientIp: null,
    plan,
    deadlineMs,
    queueMs: Date.now() - startedAt,
    trace: true,
    places,
  };
}

/** What the edge finds in the body of a call. */
function placesOf(bytes: Buffer, client: ClientAdapter): Job['places'] {
  const questions = questionsOf(client);
  const scan = scanBody<string>(bytes, { ...questions, distinctKeys: true });
  if (!scan.ok) throw new GatewayError('invalid_request', { message: scan.message });
  return { questions: questions.id, values: scan.values as Job['places']['values'], end: scan.end, words: scan.words };
}

/** Replies that do not say what they are come in the protocol's own form, which is text. */
const isText = (contentType: string): boolean => contentType === '' || /^text\/|json|xml|subrip/i.test(contentType);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Shown as it is: an admin who tests wants to see it.
    return text;
  }
}

function readEvents(bytes: Buffer): { event?: string; data: unknown }[] {
  const parser = createSseParser({ maxEventBytes: maxBytes });
  return [...parser.push(bytes), ...parser.finish()].map(({ event, data }) => ({ ...(event !== undefined && { event }), data: parse(data) }));
}
