/** The store of tasks as translators meet it: over the bus, sealed at rest. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Bus, createMemoryBus, type Disposable } from '@model-gateway/bus';
import { sealedAs, type TaskFacts } from '@model-gateway/contracts';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { openStorage, type Storage } from '@model-gateway/storage';
import { createLogger } from '@model-gateway/telemetry';
import { keepTasks } from '../src/tasks/keep-tasks.ts';

const logger = createLogger({ level: 'fatal', name: 'test' });
const keyring = createKeyring(generateMasterKey());
let bus: Bus;
let storage: Storage;
let store: Disposable;
let now = Date.now();

beforeEach(async () => {
  bus = createMemoryBus({ logger, strict: true });
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: { info: () => undefined, warn: () => undefined }, now: () => now });
  await storage.migrate();
  store = keepTasks({ bus, storage, keyring, logger, now: () => now });
});
afterEach(async () => {
  await store.dispose();
  await storage.close();
});

const task = (id: string): TaskFacts => ({
  id,
  owner: 'ada',
  upstreamTask: `theirs-${id}`,
  at: { model: 'video', upstream: 'vendor', account: 'k1' },
  createdAt: now,
  request: {
    ...{ id: `r-${id}`, clientRequestId: null, accessKey: 'caller', keyGroup: 'everyone', requestedModel: 'video', upstreamModelId: 'wan' },
    ...{ clientProtocol: 'passthrough', upstreamProtocol: 'delta', clientIp: null, userAgent: null, sessionId: null },
  },
});
const lease = async (): Promise<string[]> =>
  (await bus.ask('stats.tasks', { kind: 'lease', limit: 10, leaseMs: 1000 }, { deadlineMs: 1000 })).tasks.map(({ facts }) => facts.id);

test('a task that cannot be opened any more keeps no other from being looked at', async () => {
  const times = { createdAt: now, dueAt: now, expiresAt: now + 86_400_000 };
  await storage.tasks.add({ owner: 'ada', id: 'unopened', content: 'sealed with a key that is gone', ...times });
  await storage.tasks.add({ owner: 'ada', id: 'unread', content: keyring.seal('no JSON', sealedAs.task('ada', 'unread')), ...times });
  await bus.ask('stats.tasks', { kind: 'add', task: task('good') }, { deadlineMs: 1000 });
  now += 60_000;
  expect(await lease()).toEqual(['good']);
});
