/** Looks into routing: the key monitor, how nodes stand, and why a request goes where it goes. */
import { modelName, resourceName } from '@model-gateway/contracts';
import { clientProtocols as clients, type Protocol } from '@model-gateway/protocols';
import { z } from 'zod';
import type { ConsoleContext } from '../context.ts';
import { explainWays, readNodes } from '../probes/ask-routers.ts';
import { lookAtKey } from '../probes/explain-key.ts';
import { explainLimits, refuseSpent } from '../probes/explain-limits.ts';
import { monitorKeys } from '../probes/key-monitor.ts';
import { readLimitStatus } from '../probes/limit-status.ts';
import { invalidField } from '../problem.ts';
import { findBalancer } from '../resources/pins.ts';
import { readInput } from '../validation/read-input.ts';
import { balancerNodes, explanation, keyMonitor } from './answers/routing.ts';
import { listQuery, maybeText, toListQuery } from './list-query.ts';
import { base, parameter, type Route } from './route.ts';

const monitorQuery = listQuery.extend({ upstream: maybeText(200) });

const idsOf = (list: readonly Protocol[]): string => list.map(({ id }) => id).join(', ');

const anyBody = z.record(z.string(), z.json()).nullable().default(null);
const explainSchema = z.strictObject({
  access_key: resourceName,
  model: modelName,
  body: anyBody,
  client_protocol: z.string().max(64).optional(),
});

/** The client protocol of this id, the first when none is named. Throws 422. */
function pickClient(id: string | undefined): Protocol {
  const found = id === undefined ? clients[0] : clients.find((protocol) => protocol.id === id);
  if (!found) throw invalidField('client_protocol', `is not one of ${idsOf(clients)}`);
  return found;
}

export const routingRoutes = (context: ConsoleContext, now: () => number): Route[] => [
  {
    method: 'get',
    path: `${base}/model-monitor`,
    operationId: 'monitor_keys',
    summary: 'Which upstream key each access key is bound to, or would be',
    tag: 'routing',
    query: monitorQuery,
    status: 200,
    answer: keyMonitor,
    async handle(request, response) {
      const { upstream, ...query } = readInput(monitorQuery, request.query);
      const monitor = await monitorKeys(toListQuery(query, ['name', 'group', 'created_at', 'updated_at']), upstream, context);
      response.json({ ...monitor, page: query.page, page_size: query.page_size });
    },
  },
  {
    method: 'get',
    path: `${base}/load-balancers/{name}/nodes`,
    operationId: 'read_load_balancer_nodes',
    summary: 'How each entry stands: health, latency, place in the order',
    tag: 'load-balancers',
    status: 200,
    answer: balancerNodes,
    failures: [404],
    async handle(request, response) {
      const { document } = await findBalancer(context.storage.catalog, parameter(request, 'name'));
      response.json(await readNodes(document.name, context));
    },
  },
  {
    method: 'post',
    path: `${base}/route/explain`,
    operationId: 'explain_route',
    summary: 'Where a request would go, and why; nothing is sent',
    tag: 'routing',
    body: explainSchema,
    status: 200,
    answer: explanation,
    async handle(request, response) {
      const { access_key, model, body, client_protocol } = readInput(explainSchema, request.body);
      const protocol = pickClient(client_protocol);
      const key = await lookAtKey(access_key, now(), context);
      if (!key) throw invalidField('access_key', 'there is no access key of this name');
      const { explanation, routers, processes } = await explainWays(
        {
          requestId: 'explain',
          model,
          accessKey: key.name,
          keyGroup: key.group,
          clientProtocol: protocol.id,
          operation: 'generate',
          stream: body?.['stream'] === true,
          ...(body && { body: JSON.stringify(body) }),
        },
        context,
      );
      const status = await readLimitStatus(context, Number.POSITIVE_INFINITY);
      const limits = explainLimits(status, key, explanation.nodes);
      const refusal = key.refusal ?? explanation.refusal ?? refuseSpent(status, key);
      response.json({ access_key, key_group: key.group, client_protocol: protocol.id, ...explanation, limits, refusal, routers, processes });
    },
  },
];
