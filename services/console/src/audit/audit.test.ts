import { describe, expect, test } from '@jest/globals';
import type { Bus } from '@model-gateway/bus';
import type { AuditRow } from '@model-gateway/contracts';
import { createMinter } from '@model-gateway/service-runtime';
import type { AuditLogs } from '@model-gateway/storage';
import { createLogger, createMetrics } from '@model-gateway/telemetry';
import { type AuditRecord, createAudit } from './audit.ts';
import { boundDiff } from './bound-diff.ts';

const record: AuditRecord = { actor: 'ada', action: 'create', entity_type: 'model', entity_id: 'fast', ip_address: '192.0.2.1' };

const refused = () => Promise.reject(new Error('away'));

function rig(
  publishDurable: (row: AuditRow) => Promise<void>,
  { insertRows = refused, maxWaitMs = 50 }: { insertRows?: AuditLogs['insertRows']; maxWaitMs?: number } = {},
) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } });
  const metrics = createMetrics({ service: 'test' });
  const bus = { publishDurable: (_subject: string, _id: string, row: AuditRow) => publishDurable(row) } as unknown as Bus;
  return {
    lines,
    metrics,
    audit: createAudit({ bus, logs: { insertRows }, logger, metrics, mintId: createMinter(), now: () => 1_700_000_000_000, maxWaitMs }),
  };
}

describe('createAudit', () => {
  test('records that the database stores are not published', async () => {
    const kept: AuditRow[] = [];
    const { audit, metrics } = rig(() => Promise.reject(new Error('told')), { insertRows: async (rows) => void kept.push(...rows) });
    await audit(record, record);
    expect(kept.map(({ occurred_at, actor }) => [occurred_at, actor])).toEqual([
      [1_700_000_000_000, 'ada'],
      [1_700_000_000_000, 'ada'],
    ]);
    expect(await metrics.text()).not.toMatch(/gateway_audit_lost_total(\{[^}]*\})? 1/);
  });

  test('records that the database is slow to store are published under the same id', async () => {
    const ids: string[] = [];
    const insertRows = (rows: readonly AuditRow[]) => {
      ids.push(rows[0]!.id);
      return new Promise<void>(() => undefined);
    };
    const { audit } = rig(async (row) => void ids.push(row.id), { insertRows, maxWaitMs: 5 });
    await audit(record);
    expect(ids).toHaveLength(2);
    expect(ids[0]).toBe(ids[1]);
  });

  test('resolves when every record is in safe hands; records of one moment keep their order', async () => {
    const described: AuditRow[] = [];
    const { audit } = rig(async (row) => void described.push(row));
    await audit(...Array.from({ length: 40 }, (_, index) => ({ ...record, entity_id: String(index) })));
    expect([...described].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ entity_id }) => entity_id)).toEqual(
      Array.from({ length: 40 }, (_, index) => String(index)),
    );
    expect(described[0]).toMatchObject({ occurred_at: 1_700_000_000_000, diff: null, request_id: null });
  });

  test('records that cannot be published are counted and logged whole, and nothing fails', async () => {
    const { audit, lines, metrics } = rig(() => Promise.reject(new Error('full')));
    await audit(record);
    expect(lines.join('')).toContain('"entity_id":"fast"');
    expect(await metrics.text()).toMatch(/gateway_audit_lost_total(\{[^}]*\})? 1/);
  });

  test('does not wait for ever', async () => {
    const { audit, metrics } = rig(() => new Promise(() => undefined), { insertRows: () => new Promise(() => undefined), maxWaitMs: 5 });
    await audit(record, record);
    expect(await metrics.text()).toMatch(/gateway_audit_late_total(\{[^}]*\})? 2/);
  });
});

test('long diffs are cut and say so', () => {
  const diff = boundDiff({
    text: 'x'.repeat(5_000),
    list: Array.from({ length: 500 }, (_, index) => index),
    deep: JSON.parse('['.repeat(50) + ']'.repeat(50)),
  });
  expect(String(diff['text'])).toHaveLength(2_000 + '… (5000 characters)'.length);
  expect(diff['list']).toHaveLength(101);
  const many = boundDiff(Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field-${index}`, 'y'.repeat(1_000)])));
  expect(many['truncated']).toBe(true);
  expect(JSON.stringify(many).length).toBeLessThan(40_000);
});
