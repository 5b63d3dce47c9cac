/** Guarantees of every bus for questions and answers. */
import { describe, expect, test } from '@jest/globals';
import { GatewayError } from '@model-gateway/contracts/errors';
import { sampleAsks } from '../../../tests/support/bus-samples.ts';
import { fastest, nothingFor, type Rig, until } from './support.ts';

const planRequest = { ...sampleAsks['router.plan'].request, model: 'a b.*>\r\n' };

/** `rigOf`: of the test that runs. */
export function askConformance(rigOf: () => Rig): void {
  describe('ask', () => {
    test('answers sync and async handlers, whatever the caller put in the request', async () => {
      rigOf().far.serve({
        ask: {
          'router.plan': async (request) => ({ revision: request.revision, model: request.model, nodes: [], balanced: false }),
          'catalog.revision': () => ({ revision: 7 }),
        },
      });
      await rigOf().settle();
      await expect(rigOf().near.ask('catalog.revision', {})).resolves.toEqual({ revision: 7 });
      await expect(rigOf().near.ask('router.plan', planRequest)).resolves.toMatchObject({ model: 'a b.*>\r\n' });
    });

    test('nobody listens: service_unavailable at once', async () => {
      const ms = await fastest(1000, () =>
        expect(rigOf().near.ask('router.plan', planRequest)).rejects.toMatchObject({ code: 'service_unavailable', status: 503 }),
      );
      expect(ms).toBeLessThan(1000);
    });

    test('a slow handler: timeout after the deadline, which the handler received', async () => {
      let described = 0;
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      rigOf().far.serve({
        ask: {
          'catalog.revision': async (_request, info) => {
            described = info.deadlineMs;
            await released;
            return { revision: 1 };
          },
        },
      });
      await rigOf().settle();
      const start = performance.now();
      await expect(rigOf().near.ask('catalog.revision', {}, { deadlineMs: 300 })).rejects.toMatchObject({ code: 'timeout' });
      expect(performance.now() - start).toBeGreaterThan(250);
      await until(() => described === 300, 'the deadline in the handler');
      // Its late answer harms nobody.
      release();
      await nothingFor(50);
    });

    test("the callee's GatewayError arrives whole; a defect becomes internal without its text", async () => {
      const failures = [new GatewayError('model_not_found', { message: 'no such', param: 'model' }), new TypeError('secret text')];
      rigOf().far.serve({
        ask: {
          'catalog.revision': () => {
            throw failures.shift();
          },
        },
      });
      await rigOf().settle();
      await expect(rigOf().near.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'model_not_found', message: 'no such', param: 'model' });
      await expect(rigOf().near.ask('catalog.revision', {})).rejects.toMatchObject({ code: 'internal', message: 'Internal error.' });
    });

    test('each question goes to one server, and a disposed one gets none', async () => {
      let first = 0;
      let second = 0;
      const registration = rigOf().far.serve({ ask: { 'catalog.revision': () => ({ revision: ++first }) } });
      rigOf().far.serve({ ask: { 'catalog.revision': () => ({ revision: ++second }) } });
      await rigOf().settle();
      for (let i = 0; i < 40; i++) await rigOf().near.ask('catalog.revision', {});
      expect(first + second).toBe(40);
      await registration.dispose();
      const before = first;
      for (let i = 0; i < 20; i++) await rigOf().near.ask('catalog.revision', {});
      expect(first).toBe(before);
      expect(second).toBe(60 - before);
    });
  });
}
