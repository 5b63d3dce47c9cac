/** The plan of a request: what the router said a moment ago where that can only be repeated, else what it says now. */
import type { Operation, Plan, PlanRequest, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { lastOwner } from '@model-gateway/signature-envelope';
import type { EdgeContext } from '../context.ts';
import type { ClientProtocol } from '../http/client-routes.ts';
import type { Principal } from './credentials.ts';
import type { Wanted } from './read-wanted.ts';
import type { Asked } from './reservation.ts';

/** The request, as the router sees it. */
interface PlannedRequest {
  readonly id: string;
  readonly startedAt: number;
  readonly protocol: ClientProtocol;
}

/** What decides the plan. */
export interface PlanQuestion {
  readonly principal: Principal;
  readonly operation: Operation;
  readonly wanted: Wanted;
  readonly asked: Asked;
  /** Of the request's span. */
  readonly traceparent: string | undefined;
}

/** A promise where the router is asked. */
export function planFor(request: PlannedRequest, question: PlanQuestion, context: Pick<EdgeContext, 'bus' | 'plans'>): Plan | Promise<Plan> {
  const { principal, operation, wanted, asked } = question;
  const isChoice = mayChoose(asked.snapshot, asked.named);
  const owner = isChoice ? lastOwner(asked.body) : null;
  const repeats = owner === null && operation !== 'count-tokens';
  const known = repeats ? context.plans.find(principal.key.name, wanted.model, asked.snapshot.revision, request.startedAt) : undefined;
  const tentative = isChoice && namesHistory(request.protocol, asked);
  return known ?? askRouter(request, question, { ...(owner !== null && { owner }), ...(tentative && { tentative }) }, context);
}

/** What the body says of where the request is best sent. */
type Wish = Pick<PlanRequest, 'owner' | 'tentative'>;

async function askRouter(request: PlannedRequest, question: PlanQuestion, wish: Wish, context: Pick<EdgeContext, 'bus' | 'plans'>): Promise<Plan> {
  const { principal, operation, wanted, asked, traceparent } = question;
  const plan = await context.bus.ask('router.plan', {
    requestId: request.id,
    revision: asked.snapshot.revision,
    model: wanted.model,
    accessKey: principal.key.name,
    keyGroup: principal.group.name,
    clientProtocol: request.protocol.id,
    operation,
    stream: wanted.stream !== 'whole',
    ...wish,
    ...(traceparent !== undefined && { traceparent }),
  });
  context.plans.keep(principal.key.name, wanted.model, plan, request.startedAt);
  return plan;
}

/** Whether the store may hold more of the request than its body does. */
function namesHistory({ client }: ClientProtocol, { body, values }: Asked): boolean {
  const value = (key: string): Uint8Array | undefined => {
    const place = Object.hasOwn(values, key) ? values[key] : undefined;
    return place && body.subarray(place.start, place.end);
  };
  return client.turns?.mayRefer({ contains: (text) => body.includes(text), value }) === true;
}

/** Whether there is more than one account to choose from: only then do the thinking signatures in a body matter for the choice. */
function mayChoose(snapshot: Snapshot, { model }: ResolvedName): boolean {
  return !model || (snapshot.upstreams.get(model.upstream)?.api_keys.length ?? 0) > 1;
}
