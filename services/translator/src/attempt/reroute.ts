/** Reroutes a request to another model, as a rule or a script asks: the router plans it anew, and the caller's grants are not asked again. */
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { Route } from '@model-gateway/routing';
import { askRouter } from '../request/ask-router.ts';
import type { CurrentRequest } from '../request/current.ts';
import type { RequestPlan } from '../request/plan.ts';
import type { RerouteDeps } from './deps.ts';
import type { Reroute } from './result.ts';

/** The name of the reroute target is not for the caller to know: it is only logged. */
const withoutName = (error: unknown): unknown =>
  isGatewayError(error) && error.code === 'model_not_found' ? new GatewayError(error.code, { cause: error }) : error;

/** Where a request is when it is rerouted. */
export interface RerouteOrigin extends Pick<CurrentRequest, 'request' | 'record'> {
  readonly plan: RequestPlan;
  readonly route: Route;
}

/** The plan for the model that was selected. Throws `route_loop` for a circle. */
export async function planReroute({ request, record, plan, route }: RerouteOrigin, reroute: Omit<Reroute, 'kind'>, deps: RerouteDeps): Promise<RequestPlan> {
  const { routes } = plan;
  const hops = routes.length;
  if (hops > deps.maxHops || routes.includes(reroute.model)) throw new GatewayError('route_loop');
  const { revision } = plan.plan;
  const planned = { revision, model: reroute.model, exclude: [...routes, route.model.name], hops, body: reroute.body };
  const made = await askRouter(request, planned, deps.bus).catch((error: unknown) => {
    throw withoutName(error);
  });
  // The name may have been an alias of where the request has been.
  if (routes.includes(made.model)) throw new GatewayError('route_loop');
  return {
    plan: made,
    snapshot: await deps.catalog.at(made.revision),
    body: reroute.body,
    routes: [...routes, made.model],
    leftUpstreams: [...plan.leftUpstreams, route.upstream.name],
    steps: [...record.pipeline],
    carried: reroute.carried,
  };
}
