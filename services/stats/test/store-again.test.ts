/** Dead letters that this version can read: rows and records are stored at the start, whatever cannot be read stays. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Service } from '@model-gateway/service-runtime';
import type { Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { engines } from '../../../packages/storage/test/engines.ts';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { until } from '../../../tests/support/callers.ts';
import { createSetAside } from '../src/dead-letters/set-aside.ts';
import { createStats } from '../src/index.ts';

const logger = createLogger({ level: 'fatal', name: 'test', destination: { write: () => undefined } });
const keep = { rowDays: 0, hourDays: 0, dayDays: 0, auditDays: 0 };
const now = Date.now();
const day = now - (now % 86_400_000);

/** As the version before wrote it. */
function olderRow(id: string): unknown {
  const {
    image_input_tokens: _input,
    image_output_tokens: _output,
    helpers: _helpers,
    ...older
  } = sampleRow({ id, started_at: now, cost_micros: 7, currency: 'USD' });
  return older;
}
const record = (id: string, over: object = {}) => ({ id, occurred_at: now, actor: 'ada', action: 'create', entity_type: 'model', entity_id: 'm', ...over });

describe.each(engines())('$name', (engine) => {
  let bus: Bus;
  let storage: Storage;
  let stats: Service | undefined;
  beforeEach(async () => {
    await engine.start();
    storage = await engine.open();
    await storage.migrate();
    bus = createMemoryBus();
  });
  afterEach(async () => {
    await stats?.stop();
    await bus.drain();
    await storage.close();
    await engine.stop();
  });

  const setAside = createSetAsideOf(() => storage);
  const start = async (over: Partial<Storage> = {}): Promise<void> => {
    stats = createStats({ bus, storage: { ...storage, ...over }, logger, priceOf: () => null, keep });
    await stats.start();
  };
  const left = async () => (await storage.deadLetters.list({ limit: 500 })).items.map(({ item_id }) => item_id).sort();
  const rows = async () => (await storage.requests.listRows({ filters: { from: now - 1_000, to: now + 1_000 }, limit: 500 })).items.map(({ id }) => id).sort();

  test('rows of an earlier version are in the log, in sums and budgets, once', async () => {
    const ids = Array.from({ length: 250 }, (_, at) => `row-${String(at).padStart(3, '0')}`);
    await setAside(
      'stats.request',
      ids.map((id) => ({ id, event: olderRow(id), reason: 'image_input_tokens: missing' })),
    );
    // The translator's own copy of one came after all.
    await storage.requests.insertRows([sampleRow({ id: 'row-007', started_at: now, cost_micros: 7, currency: 'USD' })]);
    await start();
    await until(async () => (await left()).length === 0, 'no dead letter');
    expect(await rows()).toEqual(ids);
    const { micros } = await bus.ask('stats.spent', { owners: [{ kind: 'key', name: 'ada', currency: 'USD', from: day }] });
    expect(micros).toEqual([250 * 7]);
  });

  test('what no version wrote, was cut or masked, or what its subject does not allow stays', async () => {
    await setAside('stats.request', [
      { id: 'nonsense', event: 'nonsense', reason: 'is not an object' },
      { id: 'no-status', event: { ...sampleRow({ id: 'no-status', started_at: now }), status: null }, reason: 'status: …' },
      { id: 'cut', event: { ...(olderRow('cut') as object), user_agent: 'x'.repeat(9_000) }, reason: 'image_input_tokens: missing' },
      { id: 'masked', event: { ...(olderRow('masked') as object), user_agent: 'Bearer secret' }, reason: 'image_input_tokens: missing' },
      { id: 'readable', event: olderRow('readable'), reason: 'image_input_tokens: missing' },
    ]);
    await setAside('audit.record', [{ id: 'known', event: record('known'), reason: 'action: unknown' }]);
    await setAside('audit.violation', [{ id: 'forged', event: record('forged'), reason: 'is not a violation of an access key' }]);
    await start();
    await until(async () => (await left()).length === 5, 'those that can be read are stored');
    expect(await left()).toEqual(['cut', 'forged', 'masked', 'no-status', 'nonsense']);
    expect(await rows()).toEqual(['readable']);
    expect((await storage.audit.listRows({ filters: { from: now - 1_000, to: now + 1_000 }, limit: 10 })).items.map(({ id }) => id)).toEqual(['known']);
  });

  test('one that the database refuses keeps no other from being stored, and stays', async () => {
    await setAside(
      'stats.request',
      ['a', 'odd', 'b'].map((id) => ({ id, event: olderRow(id), reason: 'refused: TypeError' })),
    );
    await start({
      requests: {
        ...storage.requests,
        insertRows: async (some) => {
          if (some.some(({ id }) => id === 'odd')) throw new TypeError('a defect');
          return storage.requests.insertRows(some);
        },
      },
    });
    await until(async () => (await left()).length === 1, 'the others are stored');
    expect([await left(), await rows()]).toEqual([['odd'], ['a', 'b']]);
  });

  test('while the database is away nothing is dropped, and new rows are stored when it is back', async () => {
    // Once for each of the two, whichever is stored first.
    const met = new Set<string>();
    await setAside('stats.request', [{ id: 'a', event: olderRow('a'), reason: 'image_input_tokens: missing' }]);
    await start({
      requests: {
        ...storage.requests,
        insertRows: async (some) => {
          const others = some.filter(({ id }) => !met.has(id));
          for (const { id } of others) met.add(id);
          if (others.length > 0) throw new GatewayError('service_unavailable');
          return storage.requests.insertRows(some);
        },
      },
    });
    await bus.publishDurable('stats.request', 'new', sampleRow({ id: 'new', started_at: now }));
    await until(async () => (await rows()).includes('new'), 'the new row');
    expect(await left()).toEqual(['a']);
  });
});

function createSetAsideOf(storage: () => Storage): ReturnType<typeof createSetAside> {
  return (subject, items) =>
    createSetAside({ storage: storage(), logger, clean: (text) => text.replace('Bearer secret', '[masked]'), now: () => now })(subject, items);
}
