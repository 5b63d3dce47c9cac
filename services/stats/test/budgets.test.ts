import { expect, test } from '@jest/globals';
import type { Snapshot } from '@model-gateway/contracts';
import { createLogger } from '@model-gateway/telemetry';
import { createBudgetWatch } from '../src/budgets/watch-budgets.ts';

test('each level of a budget is said once in its period', async () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } });
  const budget = { limit: 10, period: 'day', currency: 'USD' } as const;
  const snapshot = {
    accessKeys: new Map([['h', { name: 'ada', budget }]]),
    keyGroups: new Map([['team', { name: 'team', budget: null }]]),
  } as unknown as Snapshot;
  let spent = 7_900_000;
  let now = Date.UTC(2026, 0, 1, 12);
  const watch = createBudgetWatch({ requests: { spent: async (owners) => owners.map(() => spent) }, snapshot: () => snapshot, logger, now: () => now });
  const look = async () => {
    lines.length = 0;
    await watch.look();
    return lines.map((line) => [JSON.parse(line).name === 'test' ? 'ada' : JSON.parse(line).name, JSON.parse(line).percent]);
  };
  expect(await look()).toEqual([]);
  spent = 8_000_000;
  expect((await look()).map(([, percent]) => percent)).toEqual([80]);
  expect(await look()).toEqual([]);
  spent = 12_000_000;
  expect((await look()).map(([, percent]) => percent)).toEqual([100]);
  now += 86_400_000;
  expect((await look()).map(([, percent]) => percent)).toEqual([100]);
});
