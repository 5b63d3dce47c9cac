/** Invalid durable messages: whatever is no row becomes a dead letter, every row after it is written, and budgets go on. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, connectNatsBus, createMemoryBus } from '@model-gateway/bus';
import type { AuditRow, DurableSubject } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Service } from '@model-gateway/service-runtime';
import type { Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { connectRaw } from '../../../packages/bus/test/raw-connection.ts';
import { engines } from '../../../packages/storage/test/engines.ts';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { type NatsServer, natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { createStats } from '../src/index.ts';

/** Of each subject, half of them before the service starts. The full measure is 50,000. */
const malformed = Number(process.env['MALFORMED_ITEMS'] ?? 400);
const maxWaitMs = 60_000 + malformed * 10;

const logger = createLogger({ level: 'fatal', name: 'test', destination: { write: () => undefined } });
const quiet = { info() {}, warn() {}, error() {} };
const keep = { rowDays: 0, hourDays: 0, dayDays: 0, auditDays: 0 };
const now = Date.now();

const until = async (condition: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (const end = performance.now() + maxWaitMs; !(await condition()); ) {
    if (performance.now() > end) throw new Error(`waited in vain for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

const auditRow = (over: object = {}): AuditRow => ({
  id: 'a1',
  occurred_at: now,
  actor: 'ada',
  action: 'create',
  entity_type: 'model',
  entity_id: 'm',
  diff: null,
  ip_address: null,
  request_id: null,
  ...over,
});

const deep = (depth: number): unknown => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);

/** Everything that a row is not, and what no database takes. */
const noRows: readonly unknown[] = [
  null,
  5,
  'text',
  [],
  {},
  { id: 'x' },
  sampleRow({ status: null as never }),
  sampleRow({ started_at: 9_007_199_254_740_991 }),
  sampleRow({ started_at: now + 400 * 86_400_000 }),
  sampleRow({ started_at: -1 }),
  sampleRow({ id: 'x'.repeat(5_000) }),
  sampleRow({ id: '' }),
  sampleRow({ attempts: [null] as never }),
  sampleRow({ losses: deep(2_000) as never }),
  sampleRow({ authority: 9 as never }),
];
const noRecords: readonly unknown[] = [
  null,
  'text',
  {},
  auditRow({ occurred_at: 9_007_199_254_740_991 }),
  auditRow({ id: 7 }),
  auditRow({ action: 'DROP TABLE' }),
  auditRow({ actor: null }),
  auditRow({ diff: [1] }),
  auditRow({ diff: { long: 'x'.repeat(300_000) } }),
];
/** Messages that are no batch of items at all, and batches in which something is no item. */
const noBatches: readonly string[] = ['[["r2",null]]', 'no json', '[]', '{}', '[null]', '[1,2,3]', '\0\0\0', '[["only id"]]', `[${'1,'.repeat(2_000)}1]`];

const audited = ['audit.record', 'audit.violation'] as const;

interface Way {
  bus: Bus;
  /** Puts `count` of them on the bus, and nobody waits. */
  spoil(subject: DurableSubject, values: readonly unknown[], count: number): Promise<void>;
  /** Nothing is left on the way. */
  isEmpty(): Promise<boolean>;
  close(): Promise<void>;
}

const ways: { name: string; open(): Promise<Way> }[] = [
  {
    name: 'in memory',
    async open() {
      const bus = createMemoryBus({ outbox: { items: 300_000, bytes: 4e9 } });
      return {
        bus,
        async spoil(subject, values, count) {
          for (let at = 0; at < count; at++) void bus.publishDurable(subject, `bad-${at}`, values[at % values.length] as never);
        },
        isEmpty: async () => bus.stats().outboxItems === 0,
        close: () => bus.drain(),
      };
    },
  },
];
if (natsAvailable('malformed durable news over NATS') && !process.env['NATS_URL'])
  ways.push({
    name: 'over NATS',
    async open() {
      const server: NatsServer = await startNatsServer();
      const bus = await connectNatsBus({ url: server.url, name: 'stats', logger: quiet, drainMs: 1_000, ackWaitMs: 20_000 });
      const { connection: raw } = await connectRaw(server.url, 'spoiler');
      await until(() => bus.connected, 'a connection');
      // Makes the stream.
      await bus.publishDurable('stats.request', 'first', sampleRow({ id: 'first', started_at: now }));
      const messages = async (): Promise<number> => {
        const answer = await raw.request('$JS.API.STREAM.INFO.gw_news');
        return answer.json<{ state: { messages: number } }>().state.messages;
      };
      return {
        bus,
        async spoil(subject, values, count) {
          const texts = [...noBatches, ...values.map((value, at) => JSON.stringify([[`bad-${at}`, value]]))];
          for (let at = 0; at < count; at++) {
            raw.publish(`gw.v1.${subject}`, texts[at % texts.length]!);
            if (at % 1_000 === 999) await raw.flush();
          }
          await raw.flush();
        },
        isEmpty: async () => (await messages()) === 0,
        async close() {
          await raw.close();
          await bus.drain();
          await server.dispose();
        },
      };
    },
  });

describe.each(ways)('malformed durable messages $name', ({ open }) => {
  describe.each(engines())('$name', (engine) => {
    let way: Way;
    let storage: Storage;
    let stats: Service;
    beforeEach(async () => {
      await engine.start();
      storage = await engine.open();
      way = await open();
    });
    afterEach(async () => {
      await stats.stop();
      await way.close();
      await storage.close();
      await engine.stop();
    });

    const start = async (over: Partial<Parameters<typeof createStats>[0]> = {}): Promise<void> => {
      stats = createStats({ bus: way.bus, storage, logger, priceOf: () => null, keep, ...over });
      await stats.start();
    };
    const rows = async (prefix: string) =>
      (await storage.requests.listRows({ filters: { from: now - 1_000, to: now + 1_000 }, limit: 500 })).items.filter(({ id }) => id.startsWith(prefix));
    const records = async () => (await storage.audit.listRows({ filters: { from: now - 1_000, to: now + 1_000 }, limit: 500 })).items;
    const spent = async (): Promise<number> =>
      (await way.bus.ask('stats.spent', { owners: [{ kind: 'key', name: 'ada', currency: 'USD', from: now - (now % 86_400_000) }] })).micros[0]!;

    test(
      `${malformed} of each subject leave every later row written and budgets moving`,
      async () => {
        const half = Math.ceil(malformed / 2);
        await way.spoil('stats.request', noRows, half);
        for (const subject of audited) await way.spoil(subject, noRecords, half);
        await start();
        await way.spoil('stats.request', noRows, malformed - half);
        for (const subject of audited) await way.spoil(subject, noRecords, malformed - half);
        await Promise.all(
          Array.from({ length: 100 }, (_, at) =>
            way.bus.publishDurable('stats.request', `good-${at}`, sampleRow({ id: `good-${at}`, started_at: now, cost_micros: 1_000_000, currency: 'USD' })),
          ),
        );
        await Promise.all(Array.from({ length: 20 }, (_, at) => way.bus.publishDurable('audit.record', `good-${at}`, auditRow({ id: `good-${at}` }))));
        const violation = (id: string): AuditRow => auditRow({ id, actor: 'api_key:gk-a****wxyz', action: 'acl.violation' });
        await Promise.all(Array.from({ length: 20 }, (_, at) => way.bus.publishDurable('audit.violation', `late-${at}`, violation(`late-${at}`))));
        await until(async () => (await rows('good-')).length === 100 && (await records()).length === 40, 'every row and record');
        await until(() => way.isEmpty(), 'nothing left on the bus');
        expect(stats.health()).toEqual({ ready: true, reasons: [] });
        expect(await spent()).toBe(100_000_000);
        const { items } = await storage.deadLetters.list({ limit: 200 });
        expect(new Set(items.map(({ subject }) => subject))).toEqual(new Set(['stats.request', ...audited]));
        expect(items.reduce((sum, { times }) => sum + times, 0)).toBeGreaterThanOrEqual(malformed);
        expect(Math.max(...items.map(({ excerpt }) => excerpt.length))).toBeLessThanOrEqual(8_192);
      },
      maxWaitMs,
    );

    test(
      'a row that the database refuses for no known reason is tried again, and then set aside',
      async () => {
        let tries = 0;
        const insertRows: Storage['requests']['insertRows'] = async (some) => {
          if (some.some(({ id }) => id === 'odd')) {
            if (some.length === 1) tries++;
            throw new TypeError('a defect');
          }
          return storage.requests.insertRows(some);
        };
        await start({ storage: { ...storage, requests: { ...storage.requests, insertRows } } });
        const described = ['a', 'odd', 'b'].map((id) =>
          way.bus.publishDurable('stats.request', id, sampleRow({ id: id === 'odd' ? id : `good-${id}`, started_at: now })),
        );
        await Promise.all(described);
        await until(async () => (await storage.deadLetters.count()) === 1, 'the odd one is set aside');
        await until(() => way.isEmpty(), 'nothing left on the bus');
        expect(await rows('good-')).toHaveLength(2);
        expect(tries).toBeGreaterThanOrEqual(5);
        expect((await storage.deadLetters.list({ limit: 2 })).items).toMatchObject([
          { subject: 'stats.request', item_id: 'odd', reason: 'refused: TypeError' },
        ]);
        expect(stats.health().ready).toBe(true);
      },
      maxWaitMs,
    );

    test('rows that wait for the database are no dead letters, however often they are delivered', async () => {
      let away = 6;
      const insertRows: Storage['requests']['insertRows'] = async (some) => {
        if (away-- > 0) throw new GatewayError('service_unavailable');
        return storage.requests.insertRows(some);
      };
      await start({ storage: { ...storage, requests: { ...storage.requests, insertRows } } });
      await way.bus.publishDurable('stats.request', 'a', sampleRow({ id: 'good-a', started_at: now }));
      await until(async () => (await rows('good-')).length === 1, 'the row');
      expect(await storage.deadLetters.count()).toBe(0);
    }, 120_000);
  });
});

test('what is set aside holds no credential', async () => {
  const [engine] = engines();
  await engine!.start();
  const storage = await engine!.open();
  const bus = createMemoryBus();
  const stats = createStats({ bus, storage, logger, priceOf: () => null, keep });
  await stats.start();
  await bus.publishDurable('stats.request', 'bad', { api_key: 'verysecretvalue', note: 'Bearer abcdefgh12345678' } as never);
  await until(async () => (await storage.deadLetters.count()) === 1, 'it is set aside');
  const { items } = await storage.deadLetters.list({ limit: 1 });
  expect(JSON.stringify(items)).not.toMatch(/verysecretvalue|abcdefgh12345678/);
  expect(items[0]).toMatchObject({ item_id: 'bad', times: 1, bytes: 62 });
  await stats.stop();
  await storage.close();
  await engine!.stop();
});
