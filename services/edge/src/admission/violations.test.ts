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

test('the first is published at once, and all repeats become one more record', () => {
  const { described, violations } = rig();
  for (let index = 0; index < 10_000; index++) violations.note(violation);
  violations.note({ ...violation, code: 'header_denied', model: null });
  expect(described.map(({ entity_type, entity_id, diff }) => [entity_type, entity_id, diff?.['count']])).toEqual([
    ['model', 'secret-model', 1],
    ['key_group', 'team', 1],
  ]);
  violations.close();
  expect(described.slice(2)).toMatchObject([{ actor: 'api_key:gk-a****zzzz', action: 'acl.violation', entity_id: 'secret-model', diff: { count: 9_999 } }]);
  violations.close();
  expect(described).toHaveLength(3);
});

test('ever new ones fill neither memory nor table', () => {
  const { described, lines, violations } = rig();
  for (let index = 0; index < 5_000; index++) violations.note({ ...violation, model: `m${index}` });
  violations.close();
  expect(described).toHaveLength(1_000);
  expect(lines.join('')).toContain('4000');
});
