/** The course of one request: admission, then the translator, whose reply is written to the caller; or a refusal. Each leaves one row. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isInUpstreamTerms, type Job, promptTokensByBytes } from '@model-gateway/contracts';
import { GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { type Admitted, admit, type Entering } from './admission/admit.ts';
import { maskOfCaller } from './admission/credentials.ts';
import { ownerOf } from './admission/owner.ts';
import type { RequestFacts } from './admission/request-facts.ts';
import { innerHeaders } from './admission/request-headers.ts';
import { isViolation } from './admission/violations.ts';
import { ClientExchange } from './client-exchange.ts';
import type { EdgeContext } from './context.ts';
import type { ClientRouteMatch } from './http/client-routes.ts';
import { answerModels } from './models/models.ts';
import { Reply } from './reply/reply.ts';
import { RequestLogEntry } from './request-log-entry.ts';
import { keepFor, keepingOf } from './resume/keep.ts';
import { readPosition, takeUp } from './resume/take-up.ts';
import { callTurns } from './turns/call-turns.ts';

/** An HTTP request whose route was found, or a turn of a WebSocket in its shape. */
export interface IncomingCall {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly found: ClientRouteMatch;
  readonly query: URLSearchParams;
  /** Of a turn of a WebSocket. */
  readonly socket?: NonNullable<Job['socket']>;
}

/** Never rejects: whatever happens, the caller gets an answer in its protocol's shape. */
export async function call({ request, response, found, query, socket }: IncomingCall, context: EdgeContext): Promise<void> {
  const exchange = new ClientExchange(request, response, found, context);
  if (found.path !== undefined) query.delete('api-version');
  const entering: Entering = { exchange, entry: new RequestLogEntry(exchange, context), found, query, ...(socket && { socket }) };
  const admission = await admit(entering, context);
  try {
    if (admission.kind === 'refused') throw admission.error;
    if (admission.kind === 'models') answerModels(exchange, { match: admission.match, query }, admission.principal.group, admission.snapshot);
    else if (admission.kind === 'resume') takeUp(entering, { ...admission, position: readPosition(entering), gone: 'stream_gone' }, context);
    else if (admission.kind === 'turns') callTurns(entering, admission, context);
    else openTranslator(entering, admission, context);
  } catch (error) {
    if (admission.kind === 'turns' || admission.kind === 'resume') refuseWithoutRow(exchange, error, context);
    else refuse(entering, error, admission.facts, context);
  }
}

/** What reaches no model leaves no row, whatever becomes of it. */
function refuseWithoutRow(exchange: ClientExchange, error: unknown, context: EdgeContext): void {
  const refusal = toGatewayError(error);
  if (refusal.code === 'internal') context.reporting.logger.error({ request: exchange.id, error }, 'defect in the edge');
  exchange.writeError(refusal);
}

function refuse(entering: Entering, error: unknown, facts: RequestFacts, context: EdgeContext): void {
  const refusal = toGatewayError(error);
  if (isViolation(refusal.code)) noteViolation(entering, refusal, facts, context);
  entering.entry.refuse(refusal, facts);
}

function noteViolation({ exchange, query }: Entering, { code }: GatewayError, { principal, requestedModel }: RequestFacts, context: EdgeContext): void {
  if (!principal) return;
  const { key, group } = principal;
  const { request, clientIp, clientRequestId } = exchange;
  const model = code === 'model_not_granted' ? requestedModel : null;
  const mask = maskOfCaller(request, query, principal);
  context.admission.violations.note({ key: key.hash, mask, keyName: key.name, group: group.name, code, model, clientIp, requestId: clientRequestId });
}

function openTranslator({ exchange, entry, found, query, socket }: Entering, { facts, principal, wanted, plan, body }: Admitted, context: EdgeContext): void {
  if (exchange.left) throw new GatewayError('client_gone');
  const keeping = keepingOf(exchange, principal, wanted, context);
  if (keeping && wanted.stream === 'sse' && exchange.request.headers['x-gateway-resume'] === '1') keepFor(exchange, keeping, context.streams);
  const reply = new Reply(
    { exchange, entry, facts, form: wanted.stream, promptTokens: promptTokensByBytes(facts.requestBytes, wanted.places), keeping },
    context,
  );
  query.delete('key');
  const deadlineMs = context.config.maxRequestMs;
  const { traceparent } = entry;
  const reserved = facts.operation === 'native' ? entry.reserved : undefined;
  const accessKeyId = ownerOf(principal);
  reply.start(
    context.bus.open(
      'translator.run',
      {
        id: exchange.id,
        clientRequestId: exchange.clientRequestId,
        startedAt: exchange.startedAt,
        accessKey: principal.key.name,
        ...(accessKeyId !== undefined && { accessKeyId }),
        ...(socket && { socket }),
        ...(keeping && { streamId: keeping.id }),
        keyGroup: principal.group.name,
        clientProtocol: exchange.protocol.id,
        operation: facts.operation,
        path: exchange.path,
        ...(exchange.request.method !== 'POST' && { method: exchange.request.method ?? 'GET' }),
        query: isInUpstreamTerms(facts.operation)
          ? exactQuery(exchange.request, found.path === undefined ? ['key'] : ['key', 'api-version'])
          : query.toString(),
        requestedModel: wanted.model,
        stream: facts.stream,
        streamForm: wanted.stream,
        ...(wanted.body && { body: wanted.body }),
        headers: innerHeaders(exchange.request),
        clientIp: exchange.clientIp,
        ...(facts.sessionId !== null && { sessionId: facts.sessionId }),
        plan,
        deadlineMs,
        queueMs: exchange.elapsedMs(),
        ...(reserved && { reserved }),
        places: wanted.places,
        ...(traceparent !== undefined && { traceparent }),
      },
      reply,
      { body: body.bytes, deadlineMs, bodySent: () => exchange.freeBody() },
    ),
  );
}

/** The query as its caller wrote it, without the parameters that are for the gateway. */
function exactQuery({ url = '' }: IncomingMessage, ours: readonly string[]): string {
  const cut = url.indexOf('?');
  if (cut < 0) return '';
  return url
    .slice(cut + 1)
    .split('&')
    .filter((pair) => {
      const asked = new URLSearchParams(pair);
      return !ours.some((name) => asked.has(name));
    })
    .join('&');
}
