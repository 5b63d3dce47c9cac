/** An OpenTelemetry collector of a test's own: takes OTLP over HTTP, and misbehaves where it is told to. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { until } from './gateway.ts';

export interface HeardSpan {
  /** `service.name` of who told it. */
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** '' at the root. */
  parentSpanId: string;
  /** As OTLP counts them: 1 internal, 2 server, 3 client. */
  kind: number;
  /** 0 unset, 2 error. */
  status: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  events: { name: string; ms: number }[];
}

export interface HeardPoint {
  name: string;
  attributes: Record<string, unknown>;
  /** The sum of a histogram. */
  value: number;
  startMs: number;
  endMs: number;
}

export interface HeardCall {
  path: string;
  headers: IncomingMessage['headers'];
  /** As it was before it was packed. */
  body: Buffer;
}

export interface OtlpCollector {
  readonly url: string;
  /** Everything so far. */
  readonly calls: HeardCall[];
  /** `hang`: takes calls and never answers. */
  behaviour: 'take' | 'refuse' | 'hang';
  /** Of calls in JSON. */
  spans(): HeardSpan[];
  points(): HeardPoint[];
  /** Waits for what is told in batches. */
  until(check: (collector: OtlpCollector) => boolean, what: string): Promise<void>;
  /** Resources of all calls in JSON. */
  resources(): Record<string, unknown>[];
  stop(): Promise<void>;
}

// biome-ignore lint/suspicious/noExplicitAny: a foreign format, read freely; a wrong guess shows as a failed comparison.
type Json = any;

const readValue = (value: Json): unknown =>
  value.arrayValue
    ? value.arrayValue.values.map(readValue)
    : (value.stringValue ?? value.boolValue ?? value.doubleValue ?? (value.intValue === undefined ? null : Number(value.intValue)));
const readAttributes = (list: Json[] = []): Record<string, unknown> => Object.fromEntries(list.map(({ key, value }) => [key, readValue(value)]));
const msOf = (nanos: string): number => Number(BigInt(nanos) / 1000n) / 1000;

function spansOf({ resourceSpans = [] }: Json): HeardSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Json) =>
    scopeSpans.flatMap(({ spans }: Json) =>
      spans.map((span: Json) => ({
        service: readAttributes(resource.attributes)['service.name'],
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        kind: span.kind,
        status: span.status?.code ?? 0,
        startMs: msOf(span.startTimeUnixNano),
        endMs: msOf(span.endTimeUnixNano),
        attributes: readAttributes(span.attributes),
        events: (span.events ?? []).map((event: Json) => ({ name: event.name, ms: msOf(event.timeUnixNano) })),
      })),
    ),
  );
}

function pointsOf({ resourceMetrics = [] }: Json): HeardPoint[] {
  return resourceMetrics.flatMap(({ scopeMetrics }: Json) =>
    scopeMetrics.flatMap(({ metrics }: Json) =>
      metrics.flatMap((metric: Json) =>
        (metric.sum ?? metric.gauge ?? metric.histogram).dataPoints.map((point: Json) => ({
          name: metric.name,
          attributes: readAttributes(point.attributes),
          value: Number(point.asDouble ?? point.asInt ?? point.sum),
          startMs: msOf(point.startTimeUnixNano),
          endMs: msOf(point.timeUnixNano),
        })),
      ),
    ),
  );
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const calls: HeardCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const bytes = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
      calls.push({ path: request.url ?? '', headers: request.headers, body });
      if (collector.behaviour === 'hang') return;
      response.writeHead(collector.behaviour === 'take' ? 200 : 400, { 'content-type': request.headers['content-type'] ?? 'application/json' });
      response.end(request.headers['content-type'] === 'application/json' ? '{}' : '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const parsed = (): Json[] =>
    calls.filter(({ headers }) => headers['content-type'] === 'application/json').map(({ body }) => JSON.parse(body.toString('utf8')));
  const collector: OtlpCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    behaviour: 'take',
    spans: () => parsed().flatMap(spansOf),
    points: () => parsed().flatMap(pointsOf),
    resources: () =>
      parsed().flatMap((one) => [...(one.resourceSpans ?? []), ...(one.resourceMetrics ?? [])].map(({ resource }) => readAttributes(resource.attributes))),
    until: (check, what) => until(async () => check(collector), what),
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}
