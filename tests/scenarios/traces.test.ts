/** Traces of whole requests, as a collector of OpenTelemetry gets them from the gateway in either arrangement, and what a collector that fails does to requests. */
import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeRealtime, type FakeUpstream, startFakeRealtime, startFakeUpstream } from '../fake-upstream/index.ts';
import { until } from '../support/callers.ts';
import { arrangements, startGateway, type TestGateway } from '../support/gateway.ts';
import { type HeardSpan, type OtlpCollector, startOtlpCollector } from '../support/otlp-collector.ts';
import { shakeHands } from '../support/realtime-talk.ts';

/** In the upstream's key, the prompt and the collector's header: none of them may be told. */
const keyCanary = 'sk-canary-key-0123456789';
const promptCanary = 'prompt-canary-4711';

const newTrace = () => ({ traceId: randomBytes(16).toString('hex'), parent: randomBytes(8).toString('hex') });

let good: FakeUpstream;
let talking: FakeRealtime;
let leaky: Server;
let leakyUrl: string;
beforeAll(async () => {
  good = await startFakeUpstream();
  talking = await startFakeRealtime();
  // Says the credential it was given wherever an error has words.
  leaky = createServer((request, response) => {
    const key = request.headers.authorization ?? '';
    response.writeHead(500, { 'content-type': 'application/json', 'x-echo': key });
    response.end(JSON.stringify({ error: { message: `${key} is wrong`, type: key, code: key.slice('Bearer '.length) } }));
  });
  await new Promise<void>((resolve) => leaky.listen(0, '127.0.0.1', resolve));
  leakyUrl = `http://127.0.0.1:${(leaky.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await good.close();
  await talking.close();
  leaky.closeAllConnections();
  await new Promise((resolve) => leaky.close(resolve));
});

const configuration = () => ({
  upstreams: [
    { name: 'good', protocol: 'alpha' as const, base_url: good.url, api_keys: [{ key: keyCanary }] },
    { name: 'leaky', protocol: 'alpha' as const, base_url: leakyUrl, api_keys: [{ key: keyCanary }] },
    { name: 'talking', protocol: 'alpha_realtime' as const, base_url: talking.url, api_keys: [{ key: keyCanary }] },
  ],
  models: [
    { name: 'works', upstream: 'good', upstream_model_id: 'ok' },
    { name: 'fails', upstream: 'leaky', upstream_model_id: 'ok' },
    { name: 'voice', upstream: 'talking', upstream_model_id: 'talk' },
    { name: 'mute', upstream: 'talking', upstream_model_id: 'status:503' },
  ],
  load_balancers: [{ name: 'both', strategy: 'priority' as const, entries: [{ model: 'fails' }, { model: 'works' }] }],
});

async function ask(gateway: TestGateway, path: string, model: string, headers: Record<string, string> = {}, stream = false) {
  const reply = await fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, stream, max_tokens: 100, messages: [{ role: 'user', content: promptCanary }] }),
  });
  return { status: reply.status, id: reply.headers.get('x-request-id'), text: await reply.text() };
}

describe.each(arrangements('traces.test.ts'))('%s', (arrangement) => {
  let collector: OtlpCollector;
  let gateway: TestGateway;
  const described = new Set<string>();
  const serviceOf = (name: string) => (arrangement === 'embedded' ? 'model-gateway' : `model-gateway-${name}`);

  beforeAll(async () => {
    collector = await startOtlpCollector();
    gateway = await startGateway({
      arrangement,
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=tests',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
        OTEL_METRIC_EXPORT_INTERVAL: '500',
        OTEL_BSP_SCHEDULE_DELAY: '100',
        // Of those that do not ask for it themselves, none.
        OTEL_TRACES_SAMPLER_ARG: '0',
      },
    });
    await gateway.configure(configuration());
  });
  afterAll(async () => {
    await gateway?.stop();
    await collector?.stop();
  });

  /** One request whose caller traces it, and its trace once it has so many spans. */
  async function traced(path: string, model: string, count: number, stream = false) {
    const { traceId, parent } = newTrace();
    described.add(traceId);
    const reply = await ask(gateway, path, model, { traceparent: `00-${traceId}-${parent}-01` }, stream);
    const mine = () => collector.spans().filter((span) => span.traceId === traceId);
    await collector.until(() => mine().length >= count, `${count} spans of ${path}`);
    const spans = mine();
    const named = (name: string): HeardSpan => spans.find((span) => span.name === name) as HeardSpan;
    return { ...reply, traceId, parent, spans, named };
  }

  test('a request that fails over is one trace, with both calls in it', async () => {
    const { status, id, parent, spans, named } = await traced('/v1/messages', 'both', 5, true);
    expect(status).toBe(200);
    expect(spans.map(({ name }) => name).sort()).toEqual(['POST /v1/messages', 'chat ok', 'chat ok', 'router.plan', 'translator.run']);
    const edge = named('POST /v1/messages');
    const plan = named('router.plan');
    const run = named('translator.run');
    const [first, second] = spans.filter(({ name }) => name === 'chat ok').sort((a, b) => a.startMs - b.startMs) as [HeardSpan, HeardSpan];
    expect(edge).toMatchObject({ service: serviceOf('edge'), parentSpanId: parent, kind: 2, status: 0 });
    expect(edge.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/messages',
      'http.response.status_code': 200,
      'gen_ai.request.model': 'both',
      'gateway.request_id': id,
      'gateway.client_protocol': 'beta',
      'gateway.access_key': 'caller',
      'gateway.key_group': 'everyone',
      'gateway.upstream': 'good',
      'gateway.stream': true,
    });
    expect(plan).toMatchObject({ service: serviceOf('router'), parentSpanId: edge.spanId, kind: 2 });
    expect(plan.attributes).toMatchObject({ 'gateway.model': 'both', 'gateway.nodes': ['fails at leaky', 'works at good'] });
    expect(run).toMatchObject({ service: serviceOf('translator'), parentSpanId: edge.spanId, kind: 2, status: 0, attributes: { 'gateway.attempts': 2 } });
    expect(first).toMatchObject({ service: serviceOf('translator'), parentSpanId: run.spanId, kind: 3, status: 2 });
    expect(first.attributes).toMatchObject({ 'gateway.upstream': 'leaky', 'gateway.model': 'fails', 'http.response.status_code': 500 });
    expect(String(first.attributes['error.type'])).toContain('[redacted]');
    expect(second).toMatchObject({ parentSpanId: run.spanId, kind: 3, status: 0 });
    expect(second.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'alpha',
      'gen_ai.request.model': 'ok',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'gateway.upstream': 'good',
      'gateway.passage': 'translated',
      'gateway.usage_source': 'upstream',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(good.url).port),
    });
    expect(Number(second.attributes['gen_ai.usage.output_tokens'])).toBeGreaterThan(0);
    expect(Number(second.attributes['gen_ai.response.time_to_first_chunk'])).toBeGreaterThanOrEqual(0);
    expect(second.events.map(({ name }) => name)).toEqual(['first byte', 'first content']);
    // Each part lies within the whole, whoever measured it: all are on one machine.
    for (const part of [plan, run, first, second]) {
      expect(part.startMs).toBeGreaterThanOrEqual(edge.startMs - 5);
      expect(part.endMs).toBeGreaterThanOrEqual(part.startMs);
    }
  });

  test('a whole reply that passes as it is tells why it ended, too', async () => {
    const { status, spans } = await traced('/v1/chat/completions', 'works', 4);
    expect(status).toBe(200);
    expect(spans.find(({ name }) => name === 'chat ok')?.attributes).toMatchObject({
      'gateway.passage': 'verbatim',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': expect.any(Number),
      'http.response.status_code': 200,
    });
  });

  test('a caller who asks for what is not there made no error of the gateway', async () => {
    const { status, spans } = await traced('/v1/chat/completions', 'nowhere', 1);
    expect(status).toBe(404);
    expect(spans).toMatchObject([{ status: 0, attributes: { 'error.type': 'model_not_found', 'http.response.status_code': 404 } }]);
  });

  test('when all is spent the failure shows at every step, and the log leads to the trace', async () => {
    const { status, traceId, spans, named } = await traced('/v1/chat/completions', 'fails', 4);
    expect(status).toBe(502);
    expect(spans.map(({ status: code }) => code).sort()).toEqual([0, 2, 2, 2]);
    expect(named('POST /v1/chat/completions').attributes).toMatchObject({ 'http.response.status_code': 502 });
    const { gateway: whole, translator = whole } = gateway.processes;
    const lines = (): readonly string[] => translator?.logs().filter((line) => line.includes(`"trace_id":"${traceId}"`)) ?? [];
    await until(() => lines().length > 0, 'the line in the log');
    expect(lines()).toHaveLength(1);
  });

  test('the numbers of /metrics arrive as well', async () => {
    const expected =
      arrangement === 'embedded' ? ['model-gateway'] : ['console', 'edge', 'router', 'stats', 'translator'].map((name) => `model-gateway-${name}`);
    const names = () => [...new Set(collector.resources().map((resource) => resource['service.name']))].sort();
    await collector.until(() => names().length >= expected.length, 'word of every process');
    expect(names()).toEqual(expected);
    await collector.until(({ points }) => points().some(({ name, value }) => name === 'gateway_requests_total' && value > 0), 'metrics');
    for (const resource of collector.resources())
      expect(resource).toMatchObject({
        'deployment.environment.name': 'test',
        'service.instance.id': expect.any(String),
        'service.version': expect.any(String),
      });
    expect(collector.calls.every(({ headers }) => headers['x-tenant'] === 'tests')).toBe(true);
  });

  /** A session that its caller traces, with one response where it begins, and its spans once there are so many; the key comes as `sent` says. */
  async function tracedTalk(model: string, count: number, { breaksOff, ...sent }: { key?: string; offered?: string[]; breaksOff?: boolean }) {
    const { traceId, parent } = newTrace();
    described.add(traceId);
    const headers = { traceparent: `00-${traceId}-${parent}-01` };
    const talk = await shakeHands(gateway.url, { path: `/v1/realtime?model=${model}`, headers, ...sent });
    if ('socket' in talk) {
      talk.send({ type: 'response.create' });
      await until(() => talk.events.some(({ type }) => type === 'response.done'), 'the response');
      if (breaksOff) talk.socket.terminate();
      else talk.socket.close();
      await talk.closed;
    }
    const mine = () => collector.spans().filter((span) => span.traceId === traceId);
    await collector.until(() => mine().length >= count, `${count} spans of a session`);
    const spans = mine();
    return { parent, spans, named: (name: string): HeardSpan => spans.find((span) => span.name === name) as HeardSpan };
  }

  test.each([
    ['a header', () => ({ key: gateway.key })],
    // The last test looks for the key in all that was told.
    ['a subprotocol', () => ({ offered: ['realtime', `openai-insecure-api-key.${gateway.key}`] })],
  ])('a realtime session is one trace, its handshake and its responses in it; its key comes in %s', async (_where, sent) => {
    const { parent, spans, named } = await tracedTalk('voice', 5, sent());
    const names = ['GET /v1/realtime', 'router.plan', 'translator.run', 'realtime talk', 'realtime.response'] as const;
    expect(spans.map(({ name }) => name).sort()).toEqual([...names].sort());
    const [edge, plan, run, call, response] = names.map(named) as [HeardSpan, HeardSpan, HeardSpan, HeardSpan, HeardSpan];
    expect(plan).toMatchObject({ service: serviceOf('router'), parentSpanId: edge.spanId });
    expect(edge).toMatchObject({ service: serviceOf('edge'), parentSpanId: parent, kind: 2, status: 0 });
    expect(edge.attributes).toMatchObject({
      'http.route': '/v1/realtime',
      'http.response.status_code': 101,
      'gen_ai.request.model': 'voice',
      'gateway.operation': 'realtime',
      'gateway.access_key': 'caller',
    });
    expect(run).toMatchObject({ service: serviceOf('translator'), parentSpanId: edge.spanId, kind: 2, status: 0, attributes: { 'gateway.attempts': 1 } });
    expect(call).toMatchObject({ parentSpanId: run.spanId, kind: 3, status: 0 });
    expect(call.attributes).toMatchObject({ 'gen_ai.operation.name': 'realtime', 'gateway.upstream': 'talking', 'http.response.status_code': 101 });
    expect(response).toMatchObject({ parentSpanId: run.spanId, kind: 1, status: 0 });
    expect(response.attributes['gen_ai.usage.output_tokens']).toBeGreaterThan(0);
    // The handshake is over with the first frame, the session with its end.
    expect(run.endMs).toBeGreaterThanOrEqual(response.endMs);
    expect(call.endMs).toBeLessThanOrEqual(response.endMs);
    for (const { headers } of talking.sessions) expect(Object.keys(headers).filter((name) => name.startsWith('trace'))).toEqual([]);
  });

  test('a caller that breaks off a realtime session made no error of the gateway', async () => {
    const { named } = await tracedTalk('voice', 5, { key: gateway.key, breaksOff: true });
    expect(named('translator.run')).toMatchObject({ status: 0, attributes: { 'error.type': 'client_gone' } });
    expect(named('GET /v1/realtime')).toMatchObject({ status: 0 });
  });

  test('a realtime session that no upstream begins is a trace that says so', async () => {
    const { named } = await tracedTalk('mute', 4, { key: gateway.key });
    expect(named('GET /v1/realtime')).toMatchObject({ status: 2, attributes: { 'gen_ai.request.model': 'mute' } });
    expect(named('GET /v1/realtime').attributes['http.response.status_code']).toBeGreaterThanOrEqual(500);
    expect(named('translator.run')).toMatchObject({ status: 2, attributes: { 'gateway.attempts': 1 } });
    expect(named('realtime status:503')).toMatchObject({ kind: 3, status: 2, attributes: { 'http.response.status_code': 503 } });
  });

  test('who is not sampled, writes nonsense or has no key is not told of, no provider hears of the trace, and no secret leaves', async () => {
    const { traceId, parent } = newTrace();
    const upstreamHeard = good.requests.length;
    for (const traceparent of [`00-${traceId}-${parent}-00`, `00-${traceId}-${parent}`, 'nonsense', `00-${'0'.repeat(32)}-${parent}-01`])
      expect((await ask(gateway, '/v1/chat/completions', 'works', { traceparent, tracestate: 'a=b' })).status).toBe(200);
    expect((await ask(gateway, '/v1/chat/completions', 'works')).status).toBe(200);
    expect(
      (await ask(gateway, '/v1/chat/completions', 'works', { authorization: 'Bearer gk-unknown', traceparent: `00-${traceId}-${parent}-01` })).status,
    ).toBe(401);
    // The edge still knows where this one goes: the router is not asked.
    await traced('/v1/chat/completions', 'works', 3);
    expect(good.requests.length).toBeGreaterThan(upstreamHeard);
    for (const { headers } of good.requests) expect(Object.keys(headers).filter((name) => name.startsWith('trace'))).toEqual([]);
    // Whatever was still waiting is sent when they leave.
    await gateway.stop();
    expect(new Set(collector.spans().map((span) => span.traceId))).toEqual(described);
    const everything = Buffer.concat(collector.calls.map(({ body }) => body)).toString('latin1');
    for (const canary of [keyCanary, 'canary-key', promptCanary, gateway.key, gateway.consoleKey]) expect(everything).not.toContain(canary);
    expect(everything).not.toContain(leakyUrl);
  });
});

describe('a collector that fails', () => {
  test.each(['hang', 'refuse'] as const)('%s: requests are answered, it is said once, and the process leaves in time', async (behaviour) => {
    const collector = await startOtlpCollector();
    collector.behaviour = behaviour;
    const gateway = await startGateway({
      arrangement: 'embedded',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'always_on', OTEL_METRIC_EXPORT_INTERVAL: '200', OTEL_BSP_SCHEDULE_DELAY: '100' },
    });
    try {
      await gateway.configure(configuration());
      for (let i = 0; i < 20; i++) expect((await ask(gateway, '/v1/chat/completions', 'works')).status).toBe(200);
      await collector.until(({ calls }) => new Set(calls.map(({ path }) => path)).size === 2, 'traces and metrics');
      if (behaviour === 'refuse') await collector.until(({ calls }) => calls.length >= 6, 'several calls');
    } finally {
      // Fails when the process has to be killed, or ends with an error.
      await gateway.stop();
      await collector.stop();
    }
    const said = (gateway.processes['gateway']?.logs() ?? []).filter((line) => line.includes('the collector does not accept'));
    if (behaviour === 'refuse') expect(said).toHaveLength(2);
    expect(collector.calls.every(({ headers }) => headers['content-type'] === 'application/x-protobuf')).toBe(true);
  });
});
