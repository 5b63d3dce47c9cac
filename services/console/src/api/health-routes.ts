/** How upstreams stand, what wants attention, and a test of one upstream. */
import { readAttention } from '../attention/read-attention.ts';
import type { ConsoleContext } from '../context.ts';
import { readHealth } from '../health/read-health.ts';
import { testUpstream } from '../probes/test-upstream.ts';
import { healthAnswer, upstreamTest } from './answers/health.ts';
import { attentionAnswer } from './answers/statistics.ts';
import { base, parameter, type Route } from './route.ts';

export const healthRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'get',
    path: `${base}/attention`,
    operationId: 'read_attention',
    summary: 'What to look at now: upstreams that fail, budgets near their end, models without a price, keys used from a new address, messages set aside',
    tag: 'statistics',
    status: 200,
    answer: attentionAnswer,
    async handle(_request, response) {
      response.json(await readAttention(context));
    },
  },
  {
    method: 'get',
    path: `${base}/health`,
    operationId: 'read_health',
    summary: 'How each upstream and each of its keys stands by its attempts of the last 15 minutes, what fails first',
    tag: 'statistics',
    status: 200,
    answer: healthAnswer,
    async handle(_request, response) {
      response.json({ items: await readHealth(context) });
    },
  },
  {
    method: 'post',
    path: `${base}/upstreams/{name}/test`,
    operationId: 'test_upstream',
    summary: 'One real, small call of a model of this upstream',
    tag: 'upstreams',
    status: 200,
    answer: upstreamTest,
    failures: [404],
    async handle(request, response) {
      const left = new AbortController();
      response.once('close', () => left.abort());
      const result = await testUpstream(parameter(request, 'name'), left.signal, context);
      if (!left.signal.aborted) response.json(result);
    },
  },
];
