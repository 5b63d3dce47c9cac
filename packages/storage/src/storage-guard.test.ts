import { expect, test } from '@jest/globals';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { Storage } from './open-storage.ts';
import { guardStorage } from './storage-guard.ts';

test('a database that was never available is logged once for each reason, however often it is pinged', async () => {
  const lines: string[] = [];
  const logger = { info: (_: object, text: string) => void lines.push(text), warn: (_: object, text: string) => void lines.push(text), error: () => undefined };
  const causes = ['refused', 'refused', 'refused', 'wrong password', 'wrong password', 'refused'];
  let asked = 0;
  const migrate = async (): Promise<void> => {
    const cause = causes[asked++];
    if (cause !== undefined) throw new GatewayError('service_unavailable', { cause: new Error(cause) });
  };
  const guard = guardStorage({ storage: { mode: 'postgresql', migrate, ping: async () => undefined } as unknown as Storage, logger, intervalMs: 1 });
  await guard.start();
  expect(guard.up).toBe(false);
  await new Promise<void>((resolve) => guard.whenMigrated(resolve));
  for (const deadline = Date.now() + 20_000; !guard.up && Date.now() < deadline; ) await new Promise((resolve) => setTimeout(resolve, 5));
  guard.stop();
  const away = 'the database cannot be used yet: see to it, or to DATABASE_URL and DATABASE_TLS_…; it is tried again every few seconds';
  expect(lines).toEqual([away, away, away, 'the database answers again']);
});

test('a database that goes away is told once for each reason: first the connections end, then the password is refused', async () => {
  const told: unknown[] = [];
  const logger = { info: () => undefined, warn: (fields: object) => void told.push((fields as { reason?: string }).reason), error: () => undefined };
  const causes = ['terminated', 'refused', 'refused', 'wrong password', 'wrong password'];
  let asked = 0;
  const ping = async (): Promise<void> => {
    const cause = causes[asked++];
    if (cause !== undefined) throw new GatewayError('service_unavailable', { cause: new Error(cause) });
  };
  const guard = guardStorage({ storage: { mode: 'postgresql', migrate: async () => undefined, ping } as unknown as Storage, logger, intervalMs: 1 });
  await guard.start();
  for (const deadline = Date.now() + 20_000; asked <= causes.length && Date.now() < deadline; ) await new Promise((resolve) => setTimeout(resolve, 5));
  guard.stop();
  expect(told).toEqual(['terminated', 'refused', 'wrong password']);
});
