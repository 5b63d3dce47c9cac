import { expect, test } from '@jest/globals';
import type { Bus } from '@model-gateway/bus';
import type { AuditRow } from '@model-gateway/contracts';
import { createMinter } from '@model-gateway/service-runtime';
import { createLogger } from '@model-gateway/telemetry';
import { type Violation, Violations } from './violations.ts';

const violation: Violation = {
  key: 'hash-of-ada',
  mask: 'gk-a****zzzz',
  keyName: 'ada',
  group: 'team',
  code: 'model_not_granted',
  model: 'secret-model',
  clientIp: '192.0.2.1',
  requestId: 'theirs',
};

function rig() {
  const described: AuditRow[] = [];
  const lines: string[] = [];
  const bus = { publishDurable: async (_subject: string, _id: string, row: AuditRow) => void described.push(row) } as unknown as Bus;
  const logger = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void lines.push(line) } });
  return { described, lines, violations: new Violations({ bus, logger, mintId: createMinter(), now: () => 5 }) };
}

const countOf = (rows: readonly AuditRow[]): number => rows.reduce((sum, { diff }) => sum + Number(diff?.['count']), 0);
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('each refusal is a record of its own', () => {
  const { described, violations } = rig();
  for (let index = 0; index < 3; index++) violations.note({ ...violation, requestId: `theirs-${index}` });
  violations.note({ ...violation, code: 'header_denied', model: null });
  expect(described.map(({ entity_type, entity_id, request_id, diff }) => [entity_type, entity_id, request_id, diff?.['count']])).toEqual([
    ['model', 'secret-model', 'theirs-0', 1],
    ['model', 'secret-model', 'theirs-1', 1],
    ['model', 'secret-model', 'theirs-2', 1],
    ['key_group', 'team', 'theirs', 1],
  ]);
  expect(described[0]).toMatchObject({ actor: 'api_key:gk-a****zzzz', action: 'acl.violation', diff: { access_key: 'ada' } });
});

test('while the bus is slower than a flood, repeats are counted, and none is lost', async () => {
  const { described, lines, violations } = rig();
  for (let index = 0; index < 50_000; index++) violations.note(violation);
  expect(described.length).toBeLessThanOrEqual(1_001);
  await settled();
  expect(countOf(described)).toBe(50_000);
  expect(lines).toEqual([]);
  violations.note(violation);
  expect(countOf(described)).toBe(50_001);
});

test('ever new ones fill no memory: what is beyond is told', () => {
  const { described, lines, violations } = rig();
  for (let index = 0; index < 20_000; index++) violations.note({ ...violation, model: `m${index}` });
  violations.close();
  expect(described).toHaveLength(11_000);
  expect(lines.join('')).toContain('9000');
});
