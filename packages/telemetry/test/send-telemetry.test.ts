/** Against a collector of the test's own: what arrives there, and that its absence harms nobody. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger, createMetrics, type Sending, type SendingOptions, sendTelemetry } from '@model-gateway/telemetry';
import { type OtlpCollector, startOtlpCollector } from '../../../tests/support/otlp-collector.ts';

const secret = 'canary-credential-8f2a';
let collector: OtlpCollector;
let lines: { level: string; msg: string; signal?: string }[];
let sending: Sending | undefined;

beforeEach(async () => {
  collector = await startOtlpCollector();
  lines = [];
});
afterEach(async () => {
  await sending?.close(0);
  sending = undefined;
  await collector.stop();
});

const metrics = () => createMetrics({ service: 'test' });
async function start(options: Partial<SendingOptions> = {}, numbers = metrics()): Promise<Sending> {
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(JSON.parse(line)) } });
  logger.redactor.add(secret);
  sending = await sendTelemetry(
    {
      endpoint: collector.url,
      protocol: 'http/json',
      headers: [],
      compression: 'none',
      timeoutMs: 30_000,
      traces: { sampler: 'always_on', share: 1, batchEveryMs: 2000 },
      metrics: null,
      resource: [
        ['service.name', 'model-gateway-test'],
        ['service.version', '1.2.3'],
      ],
      ...options,
    },
    { logger, metrics: numbers },
  );
  return sending;
}
const tracerOf = ({ tracer }: Sending) => tracer as NonNullable<typeof tracer>;

describe('traces', () => {
  test('a trace goes on from its caller, and on to other services', async () => {
    const one = await start();
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const before = Date.now();
    const arrived = performance.now() - 5;
    const root = tracerOf(one).enter(`00-${traceId}-00f067aa0ba902b7-01`, () => ({
      name: 'POST /v1/messages',
      role: 'server',
      at: arrived,
      attributes: { 'gateway.model': 'm', nothing: null, absent: undefined, list: ['a', 'b'], stream: true, count: 3 },
    }));
    const part = root?.child({ name: 'inner', role: 'internal' });
    const elsewhere = tracerOf(one).join(root?.traceparent ?? '', { name: 'chat m', role: 'client' });
    elsewhere?.event('first byte', performance.now());
    elsewhere?.fail('overloaded');
    for (const span of [part, elsewhere, root]) span?.end();
    await one.close(5000);

    const spans = collector.spans();
    const named = (name: string) => spans.find((span) => span.name === name);
    const top = named('POST /v1/messages');
    expect(spans.map((span) => span.traceId)).toEqual([traceId, traceId, traceId]);
    expect(top).toMatchObject({ service: 'model-gateway-test', parentSpanId: '00f067aa0ba902b7', kind: 2, status: 0 });
    expect(top?.attributes).toEqual({ 'gateway.model': 'm', list: ['a', 'b'], stream: true, count: 3 });
    expect(named('inner')).toMatchObject({ parentSpanId: top?.spanId, kind: 1 });
    expect(named('chat m')).toMatchObject({
      parentSpanId: top?.spanId,
      kind: 3,
      status: 2,
      attributes: { 'error.type': 'overloaded' },
      events: [{ name: 'first byte' }],
    });
    for (const { startMs, endMs } of spans) {
      expect(startMs).toBeGreaterThanOrEqual(before - 7);
      expect(endMs).toBeGreaterThanOrEqual(startMs);
      expect(endMs).toBeLessThanOrEqual(Date.now() + 2);
    }
    expect((top?.endMs ?? 0) - (top?.startMs ?? 0)).toBeGreaterThanOrEqual(5);
    expect(collector.resources()[0]).toMatchObject({ 'service.name': 'model-gateway-test', 'service.version': '1.2.3' });
    expect(collector.calls.map(({ path }) => path)).toEqual(['/v1/traces']);
  });

  test('garbage begins a trace of its own, and what is not sampled asks for nothing', async () => {
    const tracer = tracerOf(await start({ traces: { sampler: 'parentbased_always_on', share: 1, batchEveryMs: 2000 } }));
    const span = tracer.enter('00-xyz', () => ({ name: 'a', role: 'server' }));
    expect(span?.traceId).toMatch(/^[0-9a-f]{32}$/);
    span?.end();
    const never = () => {
      throw new Error('asked');
    };
    expect(tracer.enter(`00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`, never)).toBeUndefined();
    expect(tracer.join('garbage', { name: 'a', role: 'server' })).toBeUndefined();
  });

  test('no secret leaves, and no text without end', async () => {
    const one = await start();
    const span = tracerOf(one).enter(undefined, () => ({ name: 'a', role: 'server', attributes: { code: `refused ${secret}`, long: 'x'.repeat(100_000) } }));
    span?.set({ list: [`Bearer ${secret}`, 'sk-ant-abcdefghijklmnop'] });
    span?.fail(`key ${secret} is wrong`);
    span?.end();
    await one.close(5000);
    expect(collector.spans()).toHaveLength(1);
    const bytes = Buffer.concat(collector.calls.map(({ body }) => body)).toString('utf8');
    expect(bytes).not.toContain(secret);
    expect(bytes).not.toContain('abcdefghijklmnop');
    expect(bytes.length).toBeLessThan(10_000);
  });

  test('as protobuf, packed, with the headers for the collector, below a path', async () => {
    const one = await start({ protocol: 'http/protobuf', compression: 'gzip', headers: [['authorization', 'Bearer abc']], endpoint: `${collector.url}/otlp/` });
    tracerOf(one)
      .enter(undefined, () => ({ name: 'the name of a span', role: 'server' }))
      ?.end();
    await one.close(5000);
    const [call] = collector.calls;
    expect(call).toMatchObject({
      path: '/otlp/v1/traces',
      headers: { authorization: 'Bearer abc', 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
    });
    expect(call?.body.toString('latin1')).toContain('the name of a span');
    expect(call?.body.toString('latin1')).toContain('model-gateway-test');
    expect(lines).toEqual([]);
  });
});

describe('a collector that is not there', () => {
  const endSpans = (one: Sending, count: number) => {
    for (let i = 0; i < count; i++)
      tracerOf(one)
        .enter(undefined, () => ({ name: 'a', role: 'server' }))
        ?.end();
  };

  test('is said once, and so is its return', async () => {
    collector.behaviour = 'refuse';
    const numbers = metrics();
    const one = await start({}, numbers);
    // Full batches go at once.
    for (let round = 1; round <= 2; round++) {
      endSpans(one, 512);
      await collector.until(({ calls }) => calls.length >= round, 'a batch');
    }
    collector.behaviour = 'take';
    endSpans(one, 1);
    await one.close(5000);
    expect(lines.map(({ level, signal, msg }) => [level, signal, msg])).toEqual([
      ['warn', 'traces', 'the collector does not accept telemetry'],
      ['info', 'traces', 'the collector accepts telemetry again'],
    ]);
    expect(await numbers.text()).toContain('gateway_telemetry_lost_total{service="test",signal="traces"} 2');
  });

  test('that hangs holds a bounded number of spans, and does not delay the shutdown', async () => {
    collector.behaviour = 'hang';
    const numbers = metrics();
    const one = await start({ timeoutMs: 60_000 }, numbers);
    endSpans(one, 6000);
    await collector.until(({ calls }) => calls.length > 0, 'a batch');
    await one.close(200);
    // It did not wait for the time-out.
    expect(lines).toEqual([]);
    const dropped = Number(/gateway_spans_dropped_total\{service="test"\} (\d+)/.exec(await numbers.text())?.[1]);
    // What waits, and what was on its way.
    expect(dropped).toBeGreaterThanOrEqual(6000 - 2048 - 512);
  });

  test('that nobody listens for', async () => {
    const one = await start({ endpoint: 'http://127.0.0.1:1', timeoutMs: 100 });
    endSpans(one, 1);
    await one.close(5000);
    expect(lines.map(({ msg }) => msg)).toEqual(['the collector does not accept telemetry']);
  });
});

describe('metrics', () => {
  test('the same numbers as in the text, with honest times', async () => {
    const numbers = metrics();
    const before = Date.now();
    numbers.counter('gateway_requests_total', 'Requests.').add(3, { status: '200' });
    numbers.histogram('gateway_request_seconds', 'Time.', [0.1, 1]).record(0.5);
    numbers.gauge('gateway_streams_active', 'Streams.', () => 4);
    const one = await start({ traces: null, metrics: { everyMs: 100 } }, numbers);
    expect(one.tracer).toBeUndefined();
    await collector.until(({ calls }) => calls.length >= 2, 'two readings');
    await one.close(5000);
    expect(collector.calls[0]?.path).toBe('/v1/metrics');
    const points = collector.points();
    for (const [name, value] of [
      ['gateway_requests_total', 3],
      ['gateway_request_seconds', 0.5],
      ['gateway_streams_active', 4],
    ] as const) {
      const point = points.find((one) => one.name === name);
      expect([name, point?.value]).toEqual([name, value]);
      expect(point?.startMs).toBeGreaterThanOrEqual(before - 60_000);
      expect(point?.endMs).toBeGreaterThanOrEqual(before);
      expect(point?.startMs).toBeLessThanOrEqual(point?.endMs ?? 0);
    }
    expect(points.find(({ name }) => name === 'gateway_requests_total')?.attributes).toEqual({ service: 'test', status: '200' });
    expect(collector.resources()[0]).toMatchObject({ 'service.name': 'model-gateway-test' });
  });
});
