/** `serve data-plane` while NATS is away or frozen: it answers, stays ready for balancers, and no row is lost. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, clientNames, onEach, scriptedModels } from '../support/callers.ts';
import { arrangements, startGateway, type TestGateway, until } from '../support/gateway.ts';

const split = arrangements('serve data-plane without its bus').includes('split');

(split ? describe : describe.skip)('serve data-plane', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;
  let callers: Callers;
  const models = onEach('ok');

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'data-plane' });
    await gateway.configure(scriptedModels(upstream.url, ['ok']));
    callers = new Callers(gateway);
    await callers.untilServed(models[0]!, 30_000);
  });
  afterAll(async () => {
    callers.close();
    await gateway.stop();
    await upstream.close();
  });

  const readiness = async (): Promise<{ status: number; body: { ready: boolean; reasons: string[]; notes?: string[] } }> => {
    const reply = await fetch(`${gateway.url}/readyz`);
    return { status: reply.status, body: (await reply.json()) as { ready: boolean; reasons: string[]; notes?: string[] } };
  };
  /** Each client, whole and streamed, on each upstream protocol. */
  const askAll = async (): Promise<(number | null)[]> => {
    const asked = clientNames.flatMap((client) => models.flatMap((model) => [true, false].map((stream) => callers.ask(client, model, { stream }))));
    return Promise.all(asked.map(async ({ done }) => (await done).status));
  };
  const allAnswered = Array.from({ length: clientNames.length * models.length * 2 }, () => 200);

  test('answers every client while NATS is away, is ready with a note, and tells all rows afterwards', async () => {
    await gateway.nats!.kill();
    await until(async () => ((await readiness()).body.notes ?? []).includes('edge:bus'), 'the note');
    expect(await readiness()).toMatchObject({ status: 200, body: { ready: true, reasons: [] } });
    expect(await askAll()).toEqual(allAnswered);
    await gateway.nats!.start();
    await until(async () => ((await readiness()).body.notes ?? []).length === 0, 'the bus');
    await callers.checkRows();
  }, 240_000);

  test('answers every client while NATS is frozen', async () => {
    await gateway.nats!.signal('SIGSTOP');
    try {
      expect(await askAll()).toEqual(allAnswered);
      expect(await readiness()).toMatchObject({ status: 200, body: { ready: true } });
    } finally {
      await gateway.nats!.signal('SIGCONT');
    }
    await callers.checkRows();
  }, 240_000);

  test('that starts while NATS is away is not ready, and says why', async () => {
    await gateway.nats!.kill();
    const plane = gateway.processes['data-plane']!;
    await plane.kill('SIGKILL');
    const starting = plane.restart();
    await until(async () => (await readiness().catch(() => null))?.body.reasons.includes('edge:catalog') ?? false, 'the reason');
    expect((await readiness()).status).toBe(503);
    await gateway.nats!.start();
    await starting;
    await callers.untilServed(models[0]!, 60_000);
  }, 240_000);
});
