import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditRow } from '@model-gateway/contracts';
import type { Storage } from '../src/index.ts';
import { engines } from './engines.ts';

const at = 1_700_000_000_000;
const record = (over: Partial<AuditRow> = {}): AuditRow => ({
  id: 'a1',
  occurred_at: at,
  actor: 'ada',
  action: 'update',
  entity_type: 'upstream',
  entity_id: 'main',
  diff: { enabled: { before: true, after: false } },
  ip_address: '192.0.2.1',
  request_id: 'theirs-1',
  ...over,
});
const always = { from: 0, to: at * 2 };

describe.each(engines())('audit log on $name', (engine) => {
  let storage: Storage;
  beforeAll(() => engine.start());
  beforeEach(async () => {
    await storage?.close();
    storage = await engine.open();
  });
  afterAll(async () => {
    await storage?.close();
    await engine.stop();
  });
  const ids = async (filters: Partial<Parameters<typeof storage.audit.listRows>[0]['filters']>) =>
    (await storage.audit.listRows({ filters: { ...always, ...filters }, limit: 50 })).items.map(({ id }) => id);

  test('a record is read as it was written, once, however often it is delivered', async () => {
    await storage.audit.insertRows([record(), record({ id: 'a2', diff: null, ip_address: null, request_id: null })]);
    await storage.audit.insertRows([record({ actor: 'somebody else' })]);
    const { items } = await storage.audit.listRows({ filters: always, limit: 10 });
    expect(items).toEqual([record({ id: 'a2', diff: null, ip_address: null, request_id: null }), record()]);
  });

  test('the actor is a literal substring', async () => {
    await storage.audit.insertRows([
      record({ id: 'percent', actor: '100% sure' }),
      record({ id: 'under', actor: 'a_b' }),
      record({ id: 'back', actor: String.raw`a\b` }),
      record({ id: 'plain', actor: 'Axb' }),
    ]);
    expect(await ids({ actor: '%' })).toEqual(['percent']);
    expect(await ids({ actor: '_' })).toEqual(['under']);
    expect(await ids({ actor: '\\' })).toEqual(['back']);
    expect(await ids({ actor: 'AX' })).toEqual(['plain']);
    expect(await ids({ actor: "' or 1=1 --" })).toEqual([]);
  });

  test('every other filter', async () => {
    await storage.audit.insertRows([
      record(),
      record({ id: 'a2', occurred_at: at + 1, action: 'delete', entity_type: 'model', entity_id: 'fast', request_id: 'other', ip_address: '2001:db8::1' }),
    ]);
    expect(await ids({ actions: ['delete'] })).toEqual(['a2']);
    expect(await ids({ actions: ['delete', 'update'] })).toEqual(['a2', 'a1']);
    expect(await ids({ entityTypes: ['upstream'] })).toEqual(['a1']);
    expect(await ids({ entityId: 'fast' })).toEqual(['a2']);
    expect(await ids({ requestId: 'theirs-1' })).toEqual(['a1']);
    expect(await ids({ search: 'DB8' })).toEqual(['a2']);
    expect(await ids({ from: at + 1 })).toEqual(['a2']);
    expect(await ids({ to: at + 1 })).toEqual(['a1']);
  });

  test('what is too old is forgotten, and nothing else', async () => {
    await storage.audit.insertRows(Array.from({ length: 700 }, (_, index) => record({ id: `o${index}`, occurred_at: at - 1 - index })));
    await storage.audit.insertRows([record()]);
    expect(await storage.audit.prune(at, () => true)).toBe(0);
    expect(await storage.audit.prune(at)).toBe(700);
    expect(await ids({})).toEqual(['a1']);
    expect(await storage.audit.prune(at)).toBe(0);
  });

  test('pages newest first without gaps, hostile text included', async () => {
    const hostile = 'x\0\ud800<img onerror=1>';
    await storage.audit.insertRows(Array.from({ length: 9 }, (_, index) => record({ id: `same-${index}`, entity_id: hostile, diff: { hostile } })));
    const first = await storage.audit.listRows({ filters: always, limit: 4 });
    const second = await storage.audit.listRows({ filters: always, limit: 4, cursor: first.nextCursor! });
    const third = await storage.audit.listRows({ filters: always, limit: 4, cursor: second.nextCursor! });
    expect([...first.items, ...second.items, ...third.items].map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, index) => `same-${8 - index}`));
    expect(third.nextCursor).toBeNull();
    expect(first.items[0]?.entity_id).toContain('<img onerror=1>');
    await expect(storage.audit.listRows({ filters: always, limit: 4, cursor: '!' })).rejects.toMatchObject({ code: 'validation_failed', param: 'cursor' });
  });
});
