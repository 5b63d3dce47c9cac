import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus } from '@model-gateway/bus';
import { type AuditRow, type DurableSubject, newRequestRow, type RequestRow } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Service } from '@model-gateway/service-runtime';
import { openStorage, type Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { sampleRow } from '../../../packages/storage/test/samples.ts';
import { createStats } from '../src/index.ts';

const lines: string[] = [];
const keep = { rowDays: 0, hourDays: 0, dayDays: 0, auditDays: 0 };
const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } });

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  const start = performance.now();
  while (!(await condition())) {
    if (performance.now() - start > 30_000) throw new Error('waited in vain');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

describe('stats', () => {
  let bus: Bus;
  let storage: Storage;
  let stats: Service;
  const stored = async () => (await storage.requests.listRows({ filters: {}, limit: 100 })).items;
  beforeEach(() => {
    lines.length = 0;
    bus = createMemoryBus({ strict: true });
    storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger });
  });
  afterEach(async () => {
    await stats.stop();
    await storage.close();
  });

  test('a published row is stored when the publishing resolves', async () => {
    stats = createStats({ bus, storage, logger, priceOf: () => null, keep });
    await stats.start();
    expect(stats.health()).toEqual({ ready: true, reasons: [] });
    await Promise.all([1, 2, 3].map((index) => bus.publishDurable('stats.request', `r${index}`, sampleRow({ id: `r${index}`, started_at: index }))));
    expect((await stored()).map(({ id }) => id)).toEqual(['r3', 'r2', 'r1']);
  });

  test('published twice it is one row, and the translator’s row wins', async () => {
    stats = createStats({ bus, storage, logger, priceOf: () => null, keep });
    await stats.start();
    await bus.publishDurable('stats.request', 'a', sampleRow({ authority: 1, status: 500 }));
    await bus.publishDurable('stats.request', 'b', sampleRow({ authority: 2, status: 200 }));
    await bus.publishDurable('stats.request', 'c', sampleRow({ authority: 1, status: 500 }));
    expect((await stored()).map(({ status, authority }) => [status, authority])).toEqual([[200, 2]]);
  });

  test('the subject of MCP aggregators takes calls of tools, and neither adds nor replaces another row', async () => {
    stats = createStats({ bus, storage, logger, priceOf: () => ({ name: 'm', currency: 'USD', tiers: [] }) as never, keep });
    await stats.start();
    const call = (over: Partial<RequestRow> = {}): RequestRow =>
      newRequestRow({
        id: 'mcp_a',
        kind: 'mcp_call',
        started_at: 1,
        authority: 2,
        access_key: 'ada',
        upstream: 'server',
        status: 200,
        usage_source: 'estimated',
        ...over,
      });
    await bus.publishDurable('stats.request', 'req_a', sampleRow({ id: 'req_a', started_at: 2, authority: 1, status: 500 }));
    await bus.publishDurable('stats.tool', 'mcp_a', call());
    const others = [
      sampleRow({ id: 'req_a', authority: 2, status: 200 }),
      sampleRow({ id: 'mcp_b', cost_micros: 5, currency: 'USD' }),
      call({ id: 'req_a' }),
      call({ id: 'mcp_c', model: 'm' }),
      call({ id: 'mcp_d', cost_micros: 5, currency: 'USD' }),
      call({ id: 'mcp_e', of: 'req_a' }),
    ];
    for (const [at, row] of others.entries()) await bus.publishDurable('stats.tool', `other-${at}`, row);
    expect((await stored()).map(({ id, status }) => [id, status])).toEqual([
      ['req_a', 500],
      ['mcp_a', 200],
    ]);
    const { items } = await storage.deadLetters.list({ limit: 100 });
    expect(items.map(({ subject }) => subject)).toEqual(others.map(() => 'stats.tool'));
    for (const { reason } of items) expect(reason).toContain('is not a call of a tool');
  });

  test('rows wait while the database is away, and health says so', async () => {
    let away = true;
    const flaky: Storage = {
      ...storage,
      requests: {
        ...storage.requests,
        insertRows: async (rows) => {
          if (away) throw new GatewayError('service_unavailable');
          return storage.requests.insertRows(rows);
        },
      },
    };
    stats = createStats({ bus, storage: flaky, logger, priceOf: () => null, keep });
    await stats.start();
    const described = bus.publishDurable('stats.request', 'a', sampleRow());
    await until(() => stats.health().reasons.includes('storage'));
    expect(await stored()).toEqual([]);
    away = false;
    await described;
    expect(await stored()).toHaveLength(1);
    expect(stats.health().ready).toBe(true);
  });

  test('audit records are kept for as long as was said', async () => {
    const at = Date.parse('2026-03-01T00:00:00Z');
    const dayMs = 86_400_000;
    await storage.migrate();
    await storage.audit.insertRows(
      Array.from({ length: 500 }, (_, day) => ({
        id: `a${day}`,
        occurred_at: at - day * dayMs,
        actor: 'ada',
        action: 'create' as const,
        entity_type: 'model' as const,
        entity_id: 'm',
        diff: null,
        ip_address: null,
        request_id: null,
      })),
    );
    const left = async () => (await storage.audit.listRows({ filters: { from: 0, to: at + 1 }, limit: 500 })).items;
    stats = createStats({ bus, storage, logger, priceOf: () => null, keep: { ...keep, auditDays: 90 }, now: () => at });
    await stats.start();
    await until(async () => (await left()).length < 500 && lines.some((line) => line.includes('old records of the audit log')));
    expect((await left()).map(({ occurred_at }) => occurred_at)).toEqual(Array.from({ length: 91 }, (_, day) => at - day * dayMs));
  });

  test('a row that the database refuses does not hold up the others', async () => {
    stats = createStats({ bus, storage, logger, priceOf: () => null, keep });
    await stats.start();
    const bad = sampleRow({ id: 'bad', status: null as unknown as number });
    const rows = [...Array.from({ length: 9 }, (_, index) => sampleRow({ id: `good-${index}` })), bad];
    await Promise.all(rows.map((row) => bus.publishDurable('stats.request', row.id, row)));
    expect(await stored()).toHaveLength(9);
    expect((await storage.deadLetters.list({ limit: 9 })).items).toMatchObject([{ item_id: 'bad', subject: 'stats.request', times: 1 }]);
  });

  test('a subject of the audit log holds no records but its own', async () => {
    stats = createStats({ bus, storage, logger, priceOf: () => null, keep });
    await stats.start();
    const record = (id: string, over: object = {}): AuditRow => ({
      id,
      occurred_at: Date.now(),
      actor: 'api_key:gk-a****wxyz',
      action: 'acl.violation',
      entity_type: 'model',
      entity_id: 'm',
      diff: null,
      ip_address: '10.0.0.1',
      request_id: null,
      ...over,
    });
    const described: [DurableSubject, AuditRow][] = [
      ['audit.violation', record('v1')],
      ['audit.violation', record('v2', { entity_type: 'key_group' })],
      ['audit.violation', record('forged', { actor: 'admin', action: 'login.success', entity_type: 'console_user' })],
      ['audit.violation', record('framed', { actor: 'admin' })],
      ['audit.violation', record('elsewhere', { entity_type: 'config' })],
      ['audit.record', record('r1', { actor: 'admin', action: 'create' })],
    ];
    await Promise.all(described.map(([subject, row]) => bus.publishDurable(subject, row.id, row)));
    const { items } = await storage.audit.listRows({ filters: { from: 0, to: Number.MAX_SAFE_INTEGER }, limit: 99 });
    expect(items.map(({ id }) => id).sort()).toEqual(['r1', 'v1', 'v2']);
    const letters = await storage.deadLetters.list({ limit: 9 });
    expect(letters.items.map(({ subject, item_id }) => `${subject} ${item_id}`).sort()).toEqual([
      'audit.violation elsewhere',
      'audit.violation forged',
      'audit.violation framed',
    ]);
  });

  test('starts before the database is there, and stores what came meanwhile', async () => {
    let away = true;
    const late: Storage = {
      ...storage,
      migrate: async () => {
        if (away) throw new GatewayError('service_unavailable');
        await storage.migrate();
      },
    };
    stats = createStats({ bus, storage: late, logger, priceOf: () => null, keep });
    await stats.start();
    expect(stats.health()).toEqual({ ready: false, reasons: ['storage'] });
    const described = bus.publishDurable('stats.request', 'a', sampleRow());
    away = false;
    await described;
    expect(await stored()).toHaveLength(1);
    await until(() => stats.health().ready);
  });
});
