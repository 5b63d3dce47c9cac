/** The course of one request: authentication, admission, body, plan, translator, reply, log row. */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Job, Plan, ResolvedName, Snapshot } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { decodeJsonString, scanBody } from '@model-gateway/json-bytes';
import { type ClientAdapter, questionsOf, type RouteMatch } from '@model-gateway/protocols';
import { isGranted, resolveName } from '@model-gateway/routing';
import { headersAllowed } from '@model-gateway/routing/header-rules';
import { mintRequestId } from '@model-gateway/service-runtime';
import { lastOwner } from '@model-gateway/signature-envelope';
import { isBudgeted } from './admission/budgets.ts';
import type { Slot } from './admission/capacity.ts';
import { authenticate, maskOfCaller, type Principal } from './admission/credentials.ts';
import { innerHeaders } from './admission/request-headers.ts';
import { sessionOfCacheKey } from './admission/session.ts';
import { isViolation } from './admission/violations.ts';
import { ClientExchange } from './client-exchange.ts';
import type { EdgeContext } from './context.ts';
import type { ClientRouteMatch, Headers } from './http/client-routes.ts';
import { type HeldBody, readBody } from './http/read-body.ts';
import { answerModels, modelsTag } from './models/models.ts';
import { Reply } from './reply/reply.ts';
import { beginSpan } from './request-span.ts';

/** Never rejects: whatever happens, the caller gets an answer in its protocol's shape. */
export async function call(
  request: IncomingMessage,
  response: ServerResponse,
  found: ClientRouteMatch,
  query: URLSearchParams,
  context: EdgeContext,
): Promise<void> {
  const { protocol, match } = found;
  const exchange = new ClientExchange(request, response, protocol, mintRequestId(), context);
  try {
    const entering = context.capacity.enter();
    const slot = entering instanceof Promise ? await entering : entering;
    exchange.slot = slot;
    stopIfLeft(exchange, slot);
    const limitingAddress = context.rateLimits.admitAddress(exchange.clientIp);
    if (limitingAddress) await limitingAddress;
    const snapshot = currentSnapshot(context);
    const principal = authenticate(request, query, snapshot, exchange.startedAt);
    exchange.principal = principal;
    if (context.tracer) exchange.span = beginSpan(exchange, found, principal, context.tracer);
    const limitingKey = context.rateLimits.admitKey(principal);
    if (limitingKey) await limitingKey;
    if (!headersAllowed(principal.group.header_acl, request.headers as Headers)) throw new GatewayError('header_denied');
    if (match.operation === 'list-models' || match.operation === 'get-model') return answerModels(exchange, match, query, principal, snapshot);
    const tagHeader = protocol.client.modelsTagHeader?.(request.headers as Headers);
    if (tagHeader) exchange.modelsTag = { header: tagHeader, value: modelsTag(snapshot, principal.group) };
    exchange.operation = match.operation;
    const body = await readBody(request, context.config.maxBodyBytes, context.bodyBudget);
    holdBody(exchange, body);
    if (principal.group.store_bodies) exchange.captureBodies(query);
    const keyHash = principal.key.hash;
    const wanted = readWanted(body.bytes, match, protocol.client, (session) => context.sessionModels.get(keyHash, exchange.sessionId ?? session ?? ''));
    exchange.requestedModel = wanted.model;
    exchange.sessionId ??= wanted.sessionId;
    exchange.requestBytes = body.bytes.length;
    exchange.stream = wanted.stream !== 'whole';
    const named = grant(snapshot, principal, wanted.model);
    exchange.model = named.canonical;
    if (protocol.client.remembersModel && exchange.sessionId !== null) context.sessionModels.set(keyHash, exchange.sessionId, wanted.model);
    if (isBudgeted(principal) && match.operation !== 'count-tokens') await reserveMoney(exchange, principal, snapshot, named, wanted, body.bytes, context);
    // After the wait for money: places for streams are few.
    const streaming = exchange.stream ? slot.asStream() : undefined;
    if (streaming) await streaming;
    const owner = mayChoose(snapshot, named) ? lastOwner(body.bytes) : null;
    const planning = planFor(exchange, snapshot, principal, wanted, owner, context);
    const plan = planning instanceof Promise ? await planning : planning;
    openTranslator(exchange, principal, wanted, plan, query, body, context);
  } catch (error) {
    const refusal = toGatewayError(error);
    if (isViolation(refusal.code)) noteViolation(exchange, refusal, query, context);
    exchange.refuse(refusal);
  }
}

function noteViolation(
  { principal, request, requestedModel, clientIp, clientRequestId }: ClientExchange,
  { code }: GatewayError,
  query: URLSearchParams,
  context: EdgeContext,
): void {
  if (!principal) return;
  const { key, group } = principal;
  const model = code === 'model_not_granted' ? requestedModel : null;
  const mask = maskOfCaller(request, query, principal);
  context.violations.note({ key: key.hash, mask, keyName: key.name, group: group.name, code, model, clientIp, requestId: clientRequestId });
}

/** The connection may have closed while others were asked for a place: nobody would give it back. */
function stopIfLeft(exchange: ClientExchange, slot: Slot): void {
  if (!exchange.left) return;
  slot.release();
  throw new GatewayError('client_gone');
}

/** The connection may have closed since the last byte came: nobody would let go of the body. */
function holdBody(exchange: ClientExchange, body: HeldBody): void {
  exchange.body = body;
  if (!exchange.left) return;
  body.release();
  throw new GatewayError('client_gone');
}

function currentSnapshot(context: EdgeContext): Snapshot {
  const snapshot = context.catalog.current();
  if (!snapshot) throw new GatewayError('not_ready');
  return snapshot;
}

interface Wanted {
  model: string;
  stream: 'whole' | 'sse' | 'json-array';
  places: Job['places'];
  /** By the body. */
  sessionId: string | null;
}

/** One pass over the body's bytes: its shape is checked and the names that decide the route are read, once and for all. */
function readWanted(bytes: Buffer, match: RouteMatch, client: ClientAdapter, lastModel: (session: string | null) => string | undefined): Wanted {
  const questions = questionsOf(client);
  // Readers replace bytes that are no UTF-8 in ways of their own: two of them would see two bodies.
  if (!isUtf8(bytes)) throw new GatewayError('invalid_json', { message: 'The request body is not valid UTF-8.' });
  const scan = scanBody<string>(bytes, { ...questions, distinctKeys: true });
  if (!scan.ok)
    throw new GatewayError(scan.code === 'invalid_json' || scan.code === 'duplicate_key' ? scan.code : 'invalid_request', {
      message: scan.message,
      ...(scan.param !== undefined && { param: scan.param }),
    });
  const { model, stream } = scan.values;
  const cacheKey = client.cacheKey === undefined ? undefined : scan.values[client.cacheKey];
  const sessionId = cacheKey ? sessionOfCacheKey(bytes, cacheKey) : null;
  const named = match.model ?? (model?.kind === 'string' ? decodeJsonString(bytes, model.start, model.end) : undefined);
  const meant = named ?? (model || !client.remembersModel ? undefined : lastModel(sessionId));
  if (meant === undefined) throw new GatewayError('invalid_request', { message: model ? 'model must be a string.' : 'model is required.', param: 'model' });
  if (match.stream === null && stream && stream.kind !== 'true' && stream.kind !== 'false' && stream.kind !== 'null')
    throw new GatewayError('invalid_request', { message: 'stream must be a boolean.', param: 'stream' });
  return {
    model: meant,
    stream: match.operation === 'count-tokens' ? 'whole' : (match.stream ?? (stream?.kind === 'true' ? 'sse' : 'whole')),
    places: { questions: questions.id, values: scan.values as Job['places']['values'], end: scan.end, words: scan.words },
    sessionId,
  };
}

/** What the name stands for; checked once: an unknown or hidden name is 404 before it can be 403. */
function grant(snapshot: Snapshot, principal: Principal, model: string): ResolvedName {
  const named = resolveName(snapshot, model);
  if (isGranted(principal.group, named.canonical)) return named;
  throw new GatewayError('model_not_granted', { message: `This access key may not use the model ${model}.` });
}

/** A request whose caller leaves while it waits for others to settle blocks nobody. */
async function reserveMoney(
  exchange: ClientExchange,
  principal: Principal,
  snapshot: Snapshot,
  named: ResolvedName,
  { places }: Wanted,
  body: Buffer,
  context: EdgeContext,
): Promise<void> {
  const asked = { body, values: places.values, client: exchange.protocol.client };
  exchange.reservation = await context.budgets.reserve(principal, snapshot, named, asked, (leave) => exchange.onLeave(leave));
  if (exchange.left) throw new GatewayError('client_gone');
}

/** Whether there is more than one account to choose from: only then do the thinking signatures in a body matter for the choice. */
function mayChoose(snapshot: Snapshot, { model }: ResolvedName): boolean {
  return !model || (snapshot.upstreams.get(model.upstream)?.api_keys.length ?? 0) > 1;
}

function planFor(
  exchange: ClientExchange,
  snapshot: Snapshot,
  principal: Principal,
  wanted: Wanted,
  owner: string | null,
  context: EdgeContext,
): Plan | Promise<Plan> {
  const repeats = owner === null && exchange.operation !== 'count-tokens';
  return (
    (repeats ? context.plans.find(principal.key.name, wanted.model, snapshot.revision, exchange.startedAt) : undefined) ??
    askRouter(exchange, snapshot, principal, wanted, owner, context)
  );
}

async function askRouter(
  exchange: ClientExchange,
  snapshot: Snapshot,
  principal: Principal,
  wanted: Wanted,
  owner: string | null,
  context: EdgeContext,
): Promise<Plan> {
  const plan = await context.bus.ask('router.plan', {
    requestId: exchange.id,
    revision: snapshot.revision,
    model: wanted.model,
    accessKey: principal.key.name,
    keyGroup: principal.group.name,
    clientProtocol: exchange.protocol.id,
    operation: exchange.operation,
    stream: wanted.stream !== 'whole',
    ...(owner !== null && { owner }),
    ...(exchange.span && { traceparent: exchange.span.traceparent }),
  });
  context.plans.keep(principal.key.name, wanted.model, plan, exchange.startedAt);
  return plan;
}

function openTranslator(
  exchange: ClientExchange,
  principal: Principal,
  wanted: Wanted,
  plan: Plan,
  query: URLSearchParams,
  body: HeldBody,
  context: EdgeContext,
): void {
  if (exchange.left) throw new GatewayError('client_gone');
  const reply = new Reply(exchange, wanted.stream, context);
  query.delete('key');
  const deadlineMs = context.config.maxRequestMs;
  reply.start(
    context.bus.open(
      'translator.run',
      {
        id: exchange.id,
        clientRequestId: exchange.clientRequestId,
        startedAt: exchange.startedAt,
        accessKey: principal.key.name,
        keyGroup: principal.group.name,
        clientProtocol: exchange.protocol.id,
        operation: exchange.operation,
        path: exchange.path,
        query: query.size === 0 ? '' : query.toString(),
        requestedModel: wanted.model,
        stream: wanted.stream !== 'whole',
        streamForm: wanted.stream,
        headers: innerHeaders(exchange.request),
        clientIp: exchange.clientIp,
        ...(exchange.sessionId !== null && { sessionId: exchange.sessionId }),
        plan,
        deadlineMs,
        queueMs: exchange.elapsedMs(),
        places: wanted.places,
        ...(exchange.span && { traceparent: exchange.span.traceparent }),
      },
      reply,
      { body: body.bytes, deadlineMs },
    ),
  );
}
