/** Building blocks of message shapes. A shape names only the fields its readers rely on; other fields pass, so that the next version may add some. */
import { z } from 'zod';
import { realtimeKinds } from '../realtime.ts';

export const text = z.string();
export const orNull = <T extends z.ZodType>(shape: T) => z.union([shape, z.null()]);
export const amount = z.number().min(0);
export const whole = z.int().min(0);
/** Milliseconds since the epoch, within what a Date holds. */
export const instant = z.number().min(0).max(8_640_000_000_000_000);
/** What processes mint to name a request, a question or themselves. */
export const id = z.string().min(1).max(200);
export const texts = z.array(text);
export const textByName = z.record(z.string(), z.string());
/** An object whose fields no reader relies on. */
export const anything = z.looseObject({});

const count = z.number();
export const usage = z.looseObject({ input: count, cacheRead: count, cacheWrite5m: count, cacheWrite1h: count, output: count, reasoning: count });

export const errorWire = z.looseObject({
  code: text,
  message: text,
  status: z.int().min(100).max(599),
  retryAfter: amount.optional(),
  headers: textByName.optional(),
  param: text.optional(),
  body: text.optional(),
});

/** Only the fields read on a row's way to the stats service, which validates it in full. */
export const passingRow = z.looseObject({
  id,
  started_at: instant,
  authority: z.union([z.literal(1), z.literal(2)]),
  status: z.int(),
  attempts: z.array(anything),
  losses: z.array(anything),
  pipeline: texts,
  routes: texts,
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_read_tokens: z.number(),
  cache_write_tokens: z.number(),
  cache_write_1h_tokens: z.number(),
  reasoning_tokens: z.number(),
});

export const plan = z.looseObject({
  revision: whole,
  model: text,
  nodes: z.array(z.looseObject({ model: text, upstream: text, keys: z.array(z.int().min(-1)), probe: z.literal(true).optional() })),
  balanced: z.boolean(),
  retryAfterMs: amount.optional(),
  lasting: z.literal(true).optional(),
  tentative: z.literal(true).optional(),
});

export const planRequest = z.looseObject({
  requestId: text,
  revision: whole,
  model: text,
  accessKey: text,
  keyGroup: text,
  clientProtocol: text,
  operation: text,
  stream: z.boolean(),
  owner: text.optional(),
  tentative: z.literal(true).optional(),
  internal: z.literal(true).optional(),
  traceparent: text.optional(),
  exclude: texts.optional(),
  hops: whole.optional(),
});

export const explainRequest = planRequest.extend({ body: text.optional() });

const place = z.looseObject({ start: whole, end: whole });

/** Millionths of a currency, by its code. */
export const moneyByCurrency = z.record(z.string(), whole);

export const job = z.looseObject({
  id,
  clientRequestId: orNull(text),
  startedAt: instant,
  accessKey: text,
  accessKeyId: id.optional(),
  streamId: id.optional(),
  socket: z.looseObject({ repeats: z.looseObject({ turn: text, items: whole }).optional() }).optional(),
  keyGroup: text,
  clientProtocol: text,
  operation: text,
  path: text,
  query: text,
  requestedModel: text,
  stream: z.boolean(),
  method: text.optional(),
  streamForm: z.enum(['whole', 'sse', 'json-array', 'bytes']),
  body: z.enum(['json', 'form', 'raw']).optional(),
  headers: textByName,
  clientIp: orNull(text),
  sessionId: text.optional(),
  plan,
  deadlineMs: amount,
  queueMs: amount,
  reserved: moneyByCurrency.optional(),
  traceparent: text.optional(),
  trace: z.literal(true).optional(),
  places: z.looseObject({
    questions: text,
    values: z.record(z.string(), place),
    end: whole,
    words: texts,
    files: z.looseObject({ bytes: whole, tokens: whole, seconds: amount.optional() }).optional(),
  }),
});

export const served = z.looseObject({
  model: orNull(text),
  upstream: orNull(text),
  upstream_model_id: orNull(text),
  upstream_protocol: orNull(text),
  routes: texts,
});

export const realtimeJob = z.looseObject({
  id,
  clientRequestId: orNull(text),
  startedAt: instant,
  accessKey: text,
  accessKeyHash: text.optional(),
  keyGroup: text,
  kind: z.enum(realtimeKinds).optional(),
  version: text.optional(),
  shortLived: z.looseObject({ carried: text, parentHash: text }).optional(),
  clientProtocol: text,
  requestedModel: text,
  headers: textByName,
  clientIp: orNull(text),
  sessionId: text.optional(),
  plan,
  queueMs: amount,
  traceparent: text.optional(),
  maxFrameBytes: whole,
});

export const outcome = z.looseObject({
  model: text,
  upstream: text,
  key: text,
  sign: z.enum(['none', 'line', 'hang', 'node', 'key']),
  ok: whole,
  latencyMs: amount.optional(),
  waitMs: amount.optional(),
  probe: z.literal(true).optional(),
});

export const scriptRun = z.looseObject({
  script: text,
  slot: z.enum(['request_transform_before', 'request_transform_after', 'response_transform']),
  context: z.looseObject({ headers: textByName, query: textByName, requestId: text, responseHeaders: textByName.optional() }),
  owner: text,
});

export const scriptOutcome = z.looseObject({
  operations: amount,
  execution_time_ms: amount,
  use_model: orNull(text),
  fault: orNull(z.looseObject({ code: text, message: text, line: orNull(z.number()) })),
  places: orNull(z.array(whole)),
});

const sentBody = z.looseObject({ size: whole, sent: whole, whole: z.boolean() });

export const bodiesToKeep = z.looseObject({
  id,
  startedAt: instant,
  accessKey: text,
  keyGroup: text,
  model: orNull(text),
  clientProtocol: text,
  path: text,
  stream: z.boolean(),
  status: z.int(),
  request: sentBody,
  response: sentBody,
  maxBytes: whole,
  ttlHours: amount.max(1_000_000),
  revision: whole.optional(),
});

export const spendOwner = z.looseObject({ kind: z.enum(['key', 'group']), name: text, currency: text, from: instant });
