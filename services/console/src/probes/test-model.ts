/** One real call of a model, as a caller of a chosen protocol would make it, with what the translation made of it. */
import { type Job, type Loss, type ReplyTail, testIdentity } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { scanBody } from '@model-gateway/json-bytes';
import { type ClientAdapter, type Protocol, questionsOf, type TestCall } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';
import { createSseParser } from '@model-gateway/stream-framing';
import type { ConsoleContext } from '../context.ts';

/** A test request to a model. */
export interface ModelTest {
  model: string;
  protocol: Protocol & { client: ClientAdapter & Required<Pick<ClientAdapter, 'testCall'>> };
  stream: boolean;
  prompt: string;
  body: Record<string, unknown> | null;
}

/** The reply to a test request, and what translation did. */
export interface ModelTestResult {
  request_id: string;
  /** What a caller would have got. */
  status: number;
  latency_ms: number;
  /** Of a whole reply, and of a refusal. */
  response?: unknown;
  /** Of a stream: its events as they came. */
  events?: { event?: string; data: unknown }[];
  translation: { client_protocol: string; upstream_protocol: string | null; upstream_body: unknown; losses: Loss[] };
}

const deadlineMs = 120_000;
const maxBytes = 8 * 1024 * 1024;

/** Who watches a test while it runs. */
export interface TestWatcher {
  /** Bytes of the reply as a caller would get them. */
  data(piece: Uint8Array): void;
  /** Aborted: nobody wants the rest. */
  signal: AbortSignal;
}

/** Rejects only when the gateway itself cannot make the call; what the upstream does is part of the answer. */
export async function testModel(
  { model, protocol, stream, prompt, body }: ModelTest,
  context: ConsoleContext,
  watcher?: TestWatcher,
): Promise<ModelTestResult> {
  const id = mintRequestId();
  const startedAt = Date.now();
  const began = performance.now();
  const call = protocol.client.testCall({ model, stream, prompt, body });
  const bytes = Buffer.from(JSON.stringify(call.body), 'utf8');
  const run = await send({ id, startedAt, model, protocol, call, bytes }, context, watcher);
  const { tail, error, reply } = run;
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
  if (call.streamForm === 'whole') return { ...common, status: 200, response: parse(reply.toString('utf8')), translation };
  return { ...common, status: 200, events: readEvents(reply), translation };
}

interface Sending {
  id: string;
  startedAt: number;
  model: string;
  protocol: ModelTest['protocol'];
  call: TestCall;
  bytes: Buffer;
}

async function send(
  sending: Sending,
  context: ConsoleContext,
  watcher: TestWatcher | undefined,
): Promise<{ tail: ReplyTail | null; error: GatewayError | null; reply: Buffer }> {
  let job: Job;
  try {
    job = await makeJob(sending, context);
  } catch (error) {
    return { tail: null, error: toGatewayError(error), reply: Buffer.alloc(0) };
  }
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let size = 0;
    const reply = () => Buffer.concat(parts);
    const stream = context.bus.open(
      'translator.run',
      job,
      {
        head: () => undefined,
        data(piece) {
          size += piece.length;
          stream.consumed(piece.length);
          watcher?.data(piece);
          if (size <= maxBytes) return void parts.push(Buffer.from(piece));
          stream.cancel('reply too large');
          resolve({ tail: null, error: new GatewayError('upstream_bad_reply', { message: 'The reply is larger than a test shows.' }), reply: Buffer.alloc(0) });
        },
        tail(tail) {
          // The row is ours to hand on, as the edge does with those of callers.
          context.bus.publishDurable('stats.request', tail.row.id, tail.row).then(
            () => stream.acknowledge(),
            (error: unknown) => context.logger.error({ request: tail.row.id, error }, 'row lost'),
          );
          resolve({ tail, error: tail.error ? GatewayError.fromWire(tail.error) : null, reply: reply() });
        },
        broken: (error) => resolve({ tail: null, error, reply: reply() }),
      },
      { body: sending.bytes, deadlineMs },
    );
    watcher?.signal.addEventListener('abort', () => stream.cancel('the tester left'), { once: true });
  });
}

async function makeJob({ id, startedAt, model, protocol, call, bytes }: Sending, context: ConsoleContext): Promise<Job> {
  const { client } = protocol;
  const stream = call.streamForm !== 'whole';
  const questions = questionsOf(client);
  const scan = scanBody<string>(bytes, { ...questions, distinctKeys: true });
  if (!scan.ok) throw new GatewayError('invalid_request', { message: scan.message });
  const who = { accessKey: testIdentity, keyGroup: '', clientProtocol: protocol.id, operation: 'generate' as const, stream };
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
    headers: { 'content-type': 'application/json', 'user-agent': 'model-gateway console' },
    clientIp: null,
    plan,
    deadlineMs,
    queueMs: Date.now() - startedAt,
    trace: true,
    places: { questions: questions.id, values: scan.values as Job['places']['values'], end: scan.end, words: scan.words },
  };
}

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
