/** Questions to the router about a request that an edge has admitted: its caller's grants are not asked again. */
import type { Bus } from '@model-gateway/bus';
import type { Plan, PlanRequest } from '@model-gateway/contracts';
import { lastOwner } from '@model-gateway/signature-envelope';
import type { RequestBody } from './body.ts';
import type { RequestContext } from './context.ts';

/** What the plan is for. */
export interface Planned extends Pick<PlanRequest, 'revision' | 'model' | 'exclude' | 'hops'> {
  readonly body: RequestBody;
}

/** As the edge would ask: the account that issued the newest thinking signature in the body comes first. */
export function askRouter({ job, span }: Pick<RequestContext, 'job' | 'span'>, { body, ...planned }: Planned, bus: Pick<Bus, 'ask'>): Promise<Plan> {
  const owner = lastOwner(body.bytes);
  return bus.ask('router.plan', {
    requestId: job.id,
    accessKey: job.accessKey,
    keyGroup: job.keyGroup,
    clientProtocol: job.clientProtocol,
    operation: job.operation,
    stream: job.stream,
    internal: true,
    ...planned,
    ...(owner !== null && { owner }),
    ...(span && { traceparent: span.traceparent }),
  });
}

/** The plan for the body as it is now that the store was asked: the edge knew no more of its history than a name. */
export async function settlePlan({ job, span }: Pick<RequestContext, 'job' | 'span'>, body: RequestBody, bus: Pick<Bus, 'ask'>): Promise<Plan> {
  const { tentative, ...plan } = job.plan;
  if (!tentative) return plan;
  // Without an answer the request goes where it would have gone.
  return askRouter({ job, span }, { revision: plan.revision, model: plan.model, body }, bus).catch(() => plan);
}
