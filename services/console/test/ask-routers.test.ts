/** Several routers asked at once: each one's word is kept apart, in a lasting order, and silent ones are named. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createGatherer, createMemoryBus, type Disposable, type Gatherer, serveGather } from '@model-gateway/bus';
import type { ExplainedNode, Explanation } from '@model-gateway/contracts';
import type { ConsoleContext } from '../src/context.ts';
import { explainWays, readNodes } from '../src/probes/ask-routers.ts';

const node = (state: ExplainedNode['state']): ExplainedNode => ({
  model: 'm',
  upstream: 'u',
  upstream_model_id: 'm',
  upstream_protocol: null,
  weight: 1,
  state,
  reason: null,
  position: 1,
  score: null,
  latency_ms: null,
  retry_after_ms: null,
  keys: [],
});
const explanation = (state: ExplainedNode['state'], refusal: Explanation['refusal']): Explanation => ({
  requested_model: 'm',
  resolved: { name: 'm', kind: 'model', via: 'canonical' },
  granted: true,
  strategy: null,
  static_binding: false,
  pinned_to: null,
  switches: [],
  nodes: [node(state)],
  limits: [],
  refusal,
});
const request = { requestId: 'r', model: 'm', accessKey: 'k', keyGroup: 'g', clientProtocol: 'alpha', operation: 'generate', stream: false } as const;
const refusal = { code: 'upstream_unavailable', status: 502, message: 'no' };

describe('routers', () => {
  const bus = createMemoryBus();
  let gatherer: Gatherer;
  let routers: Disposable[];
  let context: ConsoleContext;
  const asked: unknown[] = [];

  beforeEach(() => {
    gatherer = createGatherer(bus);
    routers = [];
    context = { gatherer, storage: { catalog: { revision: async () => 7 } } } as unknown as ConsoleContext;
  });
  afterEach(async () => {
    await Promise.all([...routers, gatherer].map((one) => one.dispose()));
  });
  const start = (process: string, state: ExplainedNode['state'], refused: Explanation['refusal'] = null) =>
    routers.push(
      serveGather(bus, process, {
        'route-explain': (question) => {
          asked.push(question);
          return explanation(state, refused);
        },
        'balancer-nodes': (question) => {
          asked.push(question);
          return { nodes: [node(state)] };
        },
      }),
    );

  test('each reports its state; the first by name is used where one answer is asked for', async () => {
    start('router@b', 'ejected', refusal);
    start('router@a', 'healthy');
    await new Promise((resolve) => setImmediate(resolve));
    const processes = { answered: ['router@a', 'router@b'], missing: [] };
    expect(await readNodes('pool', context)).toEqual({
      nodes: [node('healthy')],
      routers: [
        { process: 'router@a', nodes: [node('healthy')] },
        { process: 'router@b', nodes: [node('ejected')] },
      ],
      processes,
    });
    expect(await explainWays(request, context)).toEqual({
      explanation: explanation('healthy', null),
      routers: [
        { process: 'router@a', nodes: [node('healthy')], refusal: null },
        { process: 'router@b', nodes: [node('ejected')], refusal },
      ],
      processes,
    });
    expect(asked).toEqual(
      expect.arrayContaining([
        { loadBalancer: 'pool', revision: 7 },
        { ...request, revision: 7 },
      ]),
    );
  });

  test('one that cannot answer is named; without any it is a 503', async () => {
    start('router@a', 'healthy');
    routers.push(
      serveGather(bus, 'router@b', {
        'balancer-nodes': () => {
          throw new Error('unknown here');
        },
      }),
    );
    await new Promise((resolve) => setImmediate(resolve));
    expect((await readNodes('pool', context)).processes).toEqual({ answered: ['router@a'], missing: ['router@b'] });
    await routers.shift()?.dispose();
    await expect(readNodes('pool', context)).rejects.toMatchObject({ code: 'service_unavailable' });
  });
});
