/** Sends a request on to another model, as a rule or a script asks: the router plans it anew, and the caller's grants are not asked again. */
import type { Snapshot } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { Route } from '@model-gateway/routing';
import type { Call } from '../call.ts';
import type { TranslatorContext } from '../context.ts';

/** The name of the reroute target is not for the caller to know: it is only logged. */
const withoutName = (error: unknown): unknown =>
  isGatewayError(error) && error.code === 'model_not_found' ? new GatewayError(error.code, { cause: error }) : error;

/** Puts the new plan in the call; resolves with the snapshot that it was made with. Throws `route_loop` for a circle. */
export async function reroute(call: Call, from: Route, model: string, context: TranslatorContext): Promise<Snapshot> {
  const { job } = call;
  const hops = call.routes.length;
  if (hops > context.maxHops || call.routes.includes(model)) throw new GatewayError('route_loop');
  const plan = await context.bus
    .ask('router.plan', {
      requestId: job.id,
      revision: call.plan.revision,
      model,
      accessKey: job.accessKey,
      keyGroup: job.keyGroup,
      clientProtocol: job.clientProtocol,
      operation: job.operation,
      stream: job.stream,
      internal: true,
      exclude: [...call.routes, from.model.name],
      hops,
      ...(call.span && { traceparent: call.span.traceparent }),
    })
    .catch((error: unknown) => {
      throw withoutName(error);
    });
  // The name may have been an alias of where the request has been.
  if (call.routes.includes(plan.model)) throw new GatewayError('route_loop');
  call.reroute(plan);
  return context.catalog.at(plan.revision);
}
