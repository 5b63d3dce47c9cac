/** Processes at the other end of the bus that are killed, or frozen, in the middle of streams and questions. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { endPeer, startPeer } from './child.ts';
import { busyMs, fastest, frozenFor, inPlace, nothingFor, openRecorded, pastWindow, pattern, sleep, until } from './support.ts';
import { ownServerAvailable, twoBuses } from './two-buses.ts';

(ownServerAvailable('dead peers over NATS') ? describe : describe.skip)('NATS bus', () => {
  const stage = twoBuses();
  const { serveLoad } = stage;
  let { server, near, far } = stage;
  beforeEach(() => {
    ({ server, near, far } = stage);
  });

  describe('a dead peer', () => {
    /** Breaks off two streams of a callee; resolves with whether frames of it came after that, or none could. */
    const breakCallee = async (signal: 'SIGKILL' | 'SIGSTOP'): Promise<boolean> => {
      const child = await startPeer('serve', server.url);
      const quietOne = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(0) });
      const busyOne = openRecorded(near, 'catalog.load', {}, { body: Uint8Array.of(1) });
      await until(() => quietOne.head !== null && busyOne.bytes > 500, 'both streams run');
      child.kill(signal);
      const start = performance.now();
      await Promise.all([quietOne.ended, busyOne.ended]);
      expect(performance.now() - start).toBeLessThan(3500 + busyMs);
      expect(quietOne.error).toMatchObject({ code: 'service_lost' });
      expect(busyOne.error).toMatchObject({ code: 'service_lost' });
      const bytes = busyOne.bytes;
      child.kill('SIGCONT');
      const end = performance.now() + 2000;
      while (signal === 'SIGSTOP' && near.stats().fencedFrames === 0 && performance.now() < end) await sleep(10);
      await nothingFor(500);
      expect(busyOne.bytes).toBe(bytes);
      expect(near.stats().openCalls).toBe(0);
      await endPeer(child);
      return signal === 'SIGKILL' || near.stats().fencedFrames > 0;
    };

    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      test(`the callee gets ${signal}: the stream is broken, and what it sends later reaches nobody`, async () => {
        // A frozen callee that finds the cancel before its timer fires sends nothing later: then there is nothing to see, and it is frozen again.
        for (let tries = 1; !(await breakCallee(signal)) && tries < 5; tries++);
        if (signal === 'SIGSTOP') expect(near.stats().fencedFrames).toBeGreaterThan(0);
      });

      test(`the opener gets ${signal}: onCancel, and its unacknowledged tail is lost`, async () => {
        const reasons: string[] = [];
        const settled: string[] = [];
        await serveLoad((body, stream) => {
          stream.onCancel((reason) => reasons.push(reason));
          stream.onSettled((how) => settled.push(how));
          if (body[0] === 1) stream.whole({ revision: 1 }, pattern(3), { bytes: 3 });
          else stream.head({ revision: 1 });
        });
        const child = await startPeer('open', server.url);
        await until(() => far.stats().openServed === 1, 'the open stream');
        await nothingFor(1500);
        expect(reasons).toEqual([]);
        expect(settled).toEqual([]);
        child.kill(signal);
        const start = performance.now();
        await until(() => reasons.length === 1 && settled.length === 1, 'the callee knows');
        expect(performance.now() - start).toBeLessThan(3500 + busyMs);
        expect(settled).toEqual(['lost']);
        await until(() => far.stats().openServed === 0, 'no stream is left');
        await endPeer(child);
      });
    }
  });

  describe('a question to a process that', () => {
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      test(`gets ${signal} meanwhile fails with 503, long before its deadline, where nobody else serves`, async () => {
        const child = await startPeer('mute', server.url);
        // The asker learns of the process.
        void near.ask('catalog.revision', {}, { deadlineMs: 300 }).catch(() => undefined);
        await pastWindow(500);
        const asked = near.ask('catalog.revision', {}, { deadlineMs: 20_000 });
        const failed = asked.catch((error) => error);
        await pastWindow(50);
        const start = performance.now();
        child.kill(signal);
        await expect(failed).resolves.toMatchObject({ status: 503 });
        expect(performance.now() - start).toBeLessThan(3500 + busyMs);
        await endPeer(child);
      });
    }

    test('does not answer is asked of another, and the first is left out from then on', async () => {
      const child = await startPeer('mute', server.url);
      far.serve({ ask: { 'catalog.revision': () => ({ revision: 3 }) } });
      await inPlace(far);
      for (let i = 0; i < 4; i++) await expect(near.ask('catalog.revision', {})).resolves.toEqual({ revision: 3 });
      child.kill('SIGSTOP');
      await frozenFor(3000);
      const ms = await fastest(200, async () => {
        for (let i = 0; i < 4; i++) await expect(near.ask('catalog.revision', {})).resolves.toEqual({ revision: 3 });
      });
      expect(ms).toBeLessThan(200);
      await endPeer(child);
    });
  });
});
