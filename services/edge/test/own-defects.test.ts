/** A defect in the edge itself while it writes a reply: its caller gets an error at once, the places are released, and a row is written. */
import { afterEach, expect, test } from '@jest/globals';
import { createMemoryBus, type ServerStream } from '@model-gateway/bus';
import { buildSnapshot, type CatalogWatcher } from '@model-gateway/catalog';
import { loadConfig } from '@model-gateway/config';
import type { RequestRow } from '@model-gateway/contracts';
import { MemoryState } from '@model-gateway/distributed-state';
import { hashAccessKey, mintAccessKey } from '@model-gateway/secrets';
import { noPressure } from '@model-gateway/service-runtime';
import { createLogger, createMetrics } from '@model-gateway/telemetry';
import { sampleRow } from '../../../tests/support/bus-samples.ts';
import { createEdge, type Edge } from '../src/index.ts';

type Stream = ServerStream<'translator.run'>;
const key = mintAccessKey();
const running: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

interface Stage {
  edge: Edge;
  rows: RequestRow[];
  /** Why the translator's streams were cancelled. */
  reasons: string[];
  metrics: ReturnType<typeof createMetrics>;
  ask(stream: boolean): Promise<Response>;
}

/** An edge before a translator that answers with `reply`. */
async function stage(reply: (stream: Stream) => void): Promise<Stage> {
  const logger = createLogger({ level: 'silent', name: 'test' });
  const bus = createMemoryBus({ logger, strict: true });
  const rows: RequestRow[] = [];
  const reasons: string[] = [];
  const hearing = bus.listenDurably('stats.request', async (batch) => void rows.push(...batch.map(({ event }) => event)), { maxWaitMs: 5 });
  bus.serve({
    ask: { 'router.plan': () => ({ revision: 1, model: 'm', nodes: [], balanced: true }) },
    open: {
      'translator.run': (_job, _body, stream) => {
        stream.onCancel((reason) => reasons.push(reason));
        stream.onSettled((how) => reasons.push(how));
        reply(stream);
      },
    },
  });
  const snapshot = buildSnapshot({
    revision: 1,
    upstreams: [],
    models: [],
    load_balancers: [{ name: 'm', enabled: true, strategy: 'weighted', entries: [], aliases: [], static_binding: false } as never],
    key_groups: [{ name: 'g', models: ['*'], header_acl: [], strict_translation: false, enabled: true, description: '' }],
    access_keys: [{ name: 'k', group: 'g', enabled: true, expires_at: null, hash: hashAccessKey(key) }],
  });
  const catalog = { start: async () => {}, stop: async () => {}, current: () => snapshot, ready: true } as unknown as CatalogWatcher;
  const metrics = createMetrics({ service: 'test' });
  const { edge: config } = loadConfig({ env: { PORT: '0', HOST: '127.0.0.1', CONFIG_FILE: '/dev/null' } });
  const edge = createEdge({ bus, catalog, config, logger, metrics, state: new MemoryState(), priceOf: () => null, pressure: noPressure });
  await edge.start();
  running.push(async () => {
    await edge.stop();
    await hearing.dispose();
    await bus.drain();
  });
  return {
    edge,
    rows,
    reasons,
    metrics,
    ask: (stream) =>
      fetch(`http://127.0.0.1:${edge.port}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'm', stream, messages: [] }),
      }),
  };
}

const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 5));
};
/** No HTTP head can carry it. */
const unwritable = { 'x-broken': 'a\nb' };

test.each([
  ['a whole reply', false, (stream: Stream) => stream.whole({ status: 200, headers: unwritable }, new Uint8Array(3), { row: sampleRow('r') }), 'lost'],
  ['the head of a stream', true, (stream: Stream) => stream.head({ status: 200, headers: unwritable }), 'the opener failed'],
])('%s that cannot be written is told as our own error', async (_name, streamed, reply, reason) => {
  const { ask, rows, reasons, metrics } = await stage(reply);
  const answer = await ask(streamed);
  expect(answer.status).toBe(500);
  expect(await answer.json()).toMatchObject({ error: { code: 'internal', type: 'server_error' } });
  await until(() => rows.length > 0);
  expect(rows).toEqual([expect.objectContaining({ id: answer.headers.get('x-request-id'), status: 500, error_code: 'internal', authority: 1 })]);
  expect(reasons).toEqual([reason]);
  await until(async () => /gateway_requests_active\S* 0\n/.test(await metrics.text()));
});
