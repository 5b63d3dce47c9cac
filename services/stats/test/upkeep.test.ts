/** The hourly upkeep: one part that fails does not keep the others from freeing the disk. */
import { expect, test } from '@jest/globals';
import type { Storage } from '@model-gateway/storage';
import { createUpkeep } from '../src/upkeep.ts';

test('a part that fails is named, and all others are done', async () => {
  const done: string[] = [];
  const does = (name: string) => async (): Promise<number> => done.push(name) * 0;
  const fails = async (): Promise<never> => {
    throw new Error('locked');
  };
  const storage = {
    requests: { prepareDay: fails, prune: fails },
    bodies: { prune: does('bodies') },
    deadLetters: { prune: does('letters') },
    turns: { prune: does('turns') },
    tasks: { prune: does('tasks') },
    keyAddresses: { prune: does('addresses') },
    alerts: { prune: does('alerts') },
    audit: { prune: does('audit') },
  } as unknown as Storage;
  const warned: { failed?: string[]; error?: Error }[] = [];
  const logger = { info: () => undefined, warn: (facts: object) => void warned.push(facts) } as never;
  const keep = { rowDays: 30, hourDays: 90, dayDays: 400, auditDays: 365 } as never;
  const upkeep = createUpkeep({ storage, logger, keep, snapshot: () => null, now: () => 0 });
  upkeep.start();
  for (const end = Date.now() + 20_000; warned.length === 0 && Date.now() < end; ) await new Promise(setImmediate);
  upkeep.stop();
  expect(done).toEqual(['bodies', 'letters', 'turns', 'tasks', 'addresses', 'alerts', 'audit']);
  expect(warned).toEqual([{ error: expect.objectContaining({ message: 'locked' }), failed: ['partitions', 'rows'] }]);
});
