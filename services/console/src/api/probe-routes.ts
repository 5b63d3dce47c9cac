/** Questions to an upstream. */

import type { ConsoleContext } from '../context.ts';
import { fetchModels } from '../probes/fetch-models.ts';
import { Problem } from '../problem.ts';
import { fetchedModels } from './answers/routing.ts';
import { base, parameter, type Route } from './route.ts';

export const probeRoutes = (context: ConsoleContext): Route[] => [
  {
    method: 'post',
    path: `${base}/upstreams/{name}/fetch-models`,
    operationId: 'fetch_upstream_models',
    summary: 'Ask the upstream for its list of models',
    tag: 'upstreams',
    status: 200,
    answer: fetchedModels,
    failures: [404, 502],
    async handle(request, response) {
      const upstream = await context.storage.catalog.upstreams.find(parameter(request, 'name'));
      if (!upstream) throw new Problem('not_found', 'There is no upstream of this name.');
      response.json(await fetchModels(upstream, context));
    },
  },
];
