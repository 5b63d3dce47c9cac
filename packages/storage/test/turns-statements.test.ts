/** What a stored turn costs in SQL does not depend on how long its conversation is. */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { TurnFacts } from '@model-gateway/contracts';
import { openStorage, type Storage, type TurnChange } from '../src/index.ts';
import { silent } from './engines.ts';

const facts = (at: number): TurnFacts => ({
  ...{ id: `t${at}`, owner: 'ada', parent: at === 0 ? null : `t${at - 1}`, conversation: null, model: 'm', status: 'in_progress', createdAt: 1 },
  ...{ background: false, holder: 't1', requestId: `r${at}` },
});
const changes = (at: number): TurnChange[] => [
  { kind: 'begin', turn: facts(at), input: { sealed: 'in', bytes: 2, items: [`in ${at}`] }, response: null, expiresAt: 1e12, maxBytes: 1e9 },
  {
    ...{ kind: 'finish', owner: 'ada', id: `t${at}`, status: 'completed', authority: 2, append: [] },
    response: { sealed: 'out', bytes: 3, items: [`out ${at}`] },
  },
];
const load = async (storage: Storage, at: number): Promise<number> => {
  const links = await storage.turns.chain('ada', `t${at}`, 1000);
  const turns = await storage.turns.load(
    'ada',
    links.map(({ id }) => id),
  );
  return turns.length;
};

let storage: Storage;
beforeEach(async () => {
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  await storage.migrate();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await storage.close();
});

test('turn 1,000 of a chain is written and read with as many statements as the second', async () => {
  const run = jest.spyOn(StatementSync.prototype, 'run');
  const all = jest.spyOn(StatementSync.prototype, 'all');
  const counted = async (work: () => Promise<unknown>): Promise<number> => {
    const before = run.mock.calls.length + all.mock.calls.length;
    await work();
    return run.mock.calls.length + all.mock.calls.length - before;
  };
  await storage.turns.write(changes(0));
  const second = { write: await counted(() => storage.turns.write(changes(1))), read: await counted(() => load(storage, 1)) };
  for (let at = 2; at < 999; at++) await storage.turns.write(changes(at));
  const last = { write: await counted(() => storage.turns.write(changes(999))), read: await counted(() => load(storage, 999)) };
  expect(await load(storage, 999)).toBe(1000);
  expect(last).toEqual(second);
  expect(second.read).toBe(2);
  // Of a whole turn, its transaction included.
  expect(second.write).toBeLessThanOrEqual(10);
});

test('no statement about one turn, or about turns in progress, reads through the whole table', async () => {
  const prepare = jest.spyOn(DatabaseSync.prototype, 'prepare');
  for (let at = 0; at < 3; at++) await storage.turns.write(changes(at));
  await load(storage, 2);
  await storage.turns.open();
  await storage.turns.isBusy('ada', 'c');
  await storage.turns.turnsOfItems('ada', ['in 1']);
  await storage.turns.prune();
  const texts = prepare.mock.calls.map(([text]) => text).filter((text) => /\b(?:from|update|into) "?turn/.test(text));
  const database = prepare.mock.contexts[0] as DatabaseSync;
  prepare.mockRestore();
  expect(texts.length).toBeGreaterThan(8);
  const plans = texts.map((text) => {
    const steps = database.prepare(`explain query plan ${text}`).all(...Array(text.split('?').length - 1).fill(null));
    return { text, steps: steps.map(({ detail }) => String(detail)) };
  });
  // The index of turns in progress holds nothing else.
  const scans = plans.filter(({ steps }) => steps.some((step) => /^SCAN turn/.test(step) && !step.endsWith('INDEX turns_open')));
  expect(scans).toEqual([]);
});
