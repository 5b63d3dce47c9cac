/** Admission of one request: capacity, rates, access key, header rules, body, grant, budget, and the router's plan. */
import type { Job, Plan, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import type { RouteMatch, TurnsRoute } from '@model-gateway/protocols';
import { isGranted, resolveName } from '@model-gateway/routing';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import type { ClientExchange } from '../client-exchange.ts';
import type { EdgeContext } from '../context.ts';
import type { ClientRouteMatch, Headers } from '../http/client-routes.ts';
import { type HeldBody, readBody } from '../http/read-body.ts';
import { modelsTag } from '../models/models.ts';
import type { RequestLogEntry } from '../request-log-entry.ts';
import { beginSpan } from '../request-span.ts';
import { awaitBudget } from './await-budget.ts';
import { isBudgeted } from './budgets.ts';
import { planFor } from './choose-plan.ts';
import { authenticate, type Principal } from './credentials.ts';
import { readWanted, requireUtf8, type Wanted } from './read-wanted.ts';
import { nothingKnown, type RequestFacts } from './request-facts.ts';
import { sessionOf } from './session.ts';

/** A request on its way in. */
export interface Entering {
  readonly exchange: ClientExchange;
  readonly entry: RequestLogEntry;
  readonly found: ClientRouteMatch;
  readonly query: URLSearchParams;
  readonly socket?: NonNullable<Job['socket']>;
}

/** What a translator is handed. */
export interface Admitted {
  readonly kind: 'admitted';
  readonly facts: RequestFacts;
  readonly principal: Principal;
  readonly wanted: Wanted;
  readonly plan: Plan;
  readonly body: HeldBody;
}

/** How admission ended; `facts` is what is known of the request by then. */
export type Admission =
  | Admitted
  /** A question about models, which the edge answers by itself. */
  | { readonly kind: 'models'; readonly facts: RequestFacts; readonly principal: Principal; readonly snapshot: Snapshot; readonly match: RouteMatch }
  /** The rest of a stream that an edge keeps. */
  | { readonly kind: 'resume'; readonly facts: RequestFacts; readonly principal: Principal; readonly stream: string }
  /** A call on stored turns, which names no model. `body`: of those that have one. */
  | { readonly kind: 'turns'; readonly facts: RequestFacts; readonly principal: Principal; readonly asked: TurnsRoute; readonly body: HeldBody | undefined }
  | { readonly kind: 'refused'; readonly facts: RequestFacts; readonly error: unknown };

/** Never rejects. What was taken for the request is released when its connection closes. */
export async function admit({ exchange, entry, found, query }: Entering, context: EdgeContext): Promise<Admission> {
  const { protocol, match } = found;
  const { capacity, rateLimits, sessionModels, bodyBudget } = context.admission;
  const { request } = exchange;
  let facts: RequestFacts = { ...nothingKnown, sessionId: sessionOf(request.headers as Headers) };
  try {
    const entering = capacity.enter();
    const slot = entering instanceof Promise ? await entering : entering;
    exchange.holdSlot(slot);
    const limitingAddress = rateLimits.admitAddress(exchange.clientIp);
    if (limitingAddress) await limitingAddress;
    const snapshot = currentSnapshot(context);
    const principal = authenticate(request, query, snapshot, exchange.startedAt);
    facts = { ...facts, principal };
    const { tracer } = context.reporting;
    if (tracer) entry.trace(beginSpan(exchange, found, principal, tracer));
    const limitingKey = rateLimits.admitKey(principal);
    if (limitingKey) await limitingKey;
    if (!headersAllowed(principal.group.header_acl, request.headers as Headers)) throw new GatewayError('header_denied');
    if (match.operation === 'list-models' || match.operation === 'get-model') return { kind: 'models', facts, principal, snapshot, match };
    if (match.operation === 'resume') return { kind: 'resume', facts, principal, stream: match.id };
    if (match.operation === 'turns') return { kind: 'turns', facts, principal, ...(await readTurnsCall(exchange, match, context)) };
    const { operation } = match;
    facts = { ...facts, operation };
    if (operation === 'passthrough' && principal.group.passthrough === 'off')
      throw new GatewayError('forbidden', { message: 'This access key may not call upstreams in their own terms.' });
    const tagHeader = protocol.client.modelsTagHeader?.(request.headers as Headers);
    if (tagHeader) exchange.addReplyHeader(tagHeader, modelsTag(snapshot, principal.group));
    const body = await readBody(request, { maxBytes: context.config.maxBodyBytes, accepts: match.body }, bodyBudget);
    exchange.holdBody(body);
    if (principal.group.store_bodies) exchange.captureBodies(body.bytes, principal.group.store_bodies, query);
    const keyHash = principal.key.hash;
    const sent = { bytes: body.bytes, contentType: request.headers['content-type'] };
    const wanted = readWanted(sent, match, protocol.client, (session) => sessionModels.get(keyHash, facts.sessionId ?? session ?? ''));
    const sessionId = facts.sessionId ?? wanted.sessionId;
    const stream = wanted.stream !== 'whole';
    facts = { principal, operation, sessionId, requestedModel: wanted.model, model: null, stream, requestBytes: body.bytes.length };
    const named = grant(snapshot, principal, wanted.model);
    facts = { ...facts, model: named.canonical };
    if (protocol.client.remembersModel && sessionId !== null) sessionModels.set(keyHash, sessionId, wanted.model);
    const { places, fields } = wanted;
    const asked = { snapshot, named, body: body.bytes, values: places.values, fields, files: places.files, client: protocol.client };
    if (operation !== 'count-tokens') context.admission.budgets.refuseUnpriced(principal, asked);
    if (isBudgeted(principal) && operation !== 'count-tokens') await awaitBudget({ exchange, entry }, principal, asked, context);
    // After the wait for money: places for streams are few.
    const streaming = stream ? slot.asStream() : undefined;
    if (streaming) await streaming;
    const planning = planFor(exchange, { principal, operation, wanted, asked, traceparent: entry.traceparent }, context);
    const plan = planning instanceof Promise ? await planning : planning;
    return { kind: 'admitted', facts, principal, wanted, plan, body };
  } catch (error) {
    return { kind: 'refused', facts, error };
  }
}

/** What a call on stored turns asks for, and its body where its method has one. */
async function readTurnsCall(
  exchange: ClientExchange,
  { turns }: RouteMatch,
  { admission, config }: Pick<EdgeContext, 'admission' | 'config'>,
): Promise<{ asked: TurnsRoute; body: HeldBody | undefined }> {
  if (!turns) throw new Error('a route of stored turns says what is to be done');
  if (exchange.request.method !== 'POST') return { asked: turns, body: undefined };
  const body = await readBody(exchange.request, { maxBytes: config.maxBodyBytes }, admission.bodyBudget);
  exchange.holdBody(body);
  requireUtf8(body.bytes);
  return { asked: turns, body };
}

function currentSnapshot({ catalog }: Pick<EdgeContext, 'catalog'>): Snapshot {
  const snapshot = catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  return snapshot;
}

/** What the name stands for; checked once: an unknown or hidden name is 404 before it can be 403. */
function grant(snapshot: Snapshot, principal: Principal, model: string): ResolvedName {
  const named = resolveName(snapshot, model);
  if (isGranted(principal.group, named.canonical)) return named;
  throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${model}.` });
}
