/** An answer that goes on does not outlive the session that asked for it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openStorage, type Storage } from '@model-gateway/storage';
import express from 'express';
import { silent } from '../../../packages/storage/test/engines.ts';
import { authenticate } from '../src/http/authenticate.ts';
import { createSessionKeeper, type SessionKeeper } from '../src/sign-in/session-keeper.ts';
import { type Harness, startConsole } from './harness.ts';

let storage: Storage;
let harness: Harness;
let keeper: SessionKeeper;
let server: ReturnType<typeof createServer>;
let url: string;
beforeEach(async () => {
  storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  harness = await startConsole(storage, { config: { password: 'correct horse battery' } });
  const logger = { warn: () => undefined } as never;
  keeper = createSessionKeeper({ store: storage.console, bus: harness.bus, logger, now: Date.now, sessionMaxMs: 60_000 });
  keeper.start();
  const app = express();
  app.use(authenticate({ secretKey: null, sessions: keeper, guard: { countUnknownToken: async () => undefined } as never }));
  app.get('/live', (_request, response) => void response.write('begun\n'));
  server = createServer({ keepAliveTimeout: 75_000 }, app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/live`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await keeper.stop();
  await harness.close();
  await storage.close();
});

const open = async () => {
  const user = (await storage.console.users.find('admin'))!;
  const { token } = (await keeper.open(user, { ipAddress: '', userAgent: '' }))!;
  const reply = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const reader = reply.body!.getReader();
  await reader.read();
  const ended = reader.read().then(
    () => 'ended',
    () => 'ended',
  );
  const stateWithin = (ms: number) => Promise.race([ended, new Promise((resolve) => setTimeout(resolve, ms, 'goes on'))]);
  return { user, stateWithin };
};

test('a session ended in another process ends here by the event', async () => {
  const { stateWithin } = await open();
  await harness.call('DELETE', '/console/api/sessions?username=admin');
  // Sooner than the periodic check.
  expect(await stateWithin(4_500)).toBe('ended');
});

test('an event that does not concern the session leaves it alone', async () => {
  const { user, stateWithin } = await open();
  harness.bus.publish('console.user-changed', { userId: user.id });
  expect(await stateWithin(300)).toBe('goes on');
});
