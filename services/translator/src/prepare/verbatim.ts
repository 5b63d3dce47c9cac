/** Requests that have no translation are for upstreams that take them as they are: other nodes of a load balancer are passed over. */
import { isUnary, type Job, type Operation, type UnaryOperation } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { RequestContext } from '../request/context.ts';
import { refusePassed } from '../request/passed.ts';

/** The caller's error when no other node is left; null when this one may serve the request. */
export function unservedBy({ cache, client, job }: Pick<RequestContext, 'cache' | 'client' | 'job'>, route: Route): GatewayError | null {
  if (job.operation === 'passthrough') return refusePassed(job, route) ?? refuseOtherTerms(cache, route);
  if (!serves(job, route)) return new GatewayError('unsupported_operation', { message: describeServed(route), param: 'model' });
  const refusal = client.onlyVerbatim?.[job.operation];
  if (refusal === undefined || passesVerbatim(job, route)) return null;
  return new GatewayError('unsupported_operation', { message: refusal, param: 'model' });
}

/** Another upstream is tried only where it speaks what the first one does. */
function refuseOtherTerms(cache: RequestContext['cache'], { protocol }: Route): GatewayError | null {
  cache.passedTo ??= protocol;
  return cache.passedTo === protocol ? null : new GatewayError('no_upstream');
}

/** What upstreams of a protocol are asked for that does not say what it serves. */
const conversations: readonly Operation[] = ['generate', 'count-tokens', 'complete', 'compact'];

const servedBy = ({ protocol, target }: Route): readonly Operation[] => findProtocol(protocol)?.upstream?.serves?.(target) ?? conversations;

/** Conversations have rules of their own for what only passes; what is not a conversation is served or it is not. */
function serves({ operation }: Job, route: Route): boolean {
  const served = servedBy(route);
  return isUnary(operation) || operation === 'realtime' ? served.includes(operation) : served.some((one) => !isUnary(one) && one !== 'realtime');
}

const paths: Record<UnaryOperation | 'generate' | 'realtime', string> = {
  generate: 'chat, messages and generate-content paths',
  embed: '/v1/embeddings',
  rerank: '/v1/rerank',
  moderate: '/v1/moderations',
  decide: '/v1/decisions',
  image: '/v1/images/generations',
  'image-edit': '/v1/images/edits',
  'image-variation': '/v1/images/variations',
  speech: '/v1/audio/speech',
  transcribe: '/v1/audio/transcriptions',
  'translate-speech': '/v1/audio/translations',
  native: '/v1/services',
  passthrough: '/v3',
  realtime: 'the WebSocket at /v1/realtime',
};

/** Where this model is served instead. */
function describeServed(route: Route): string {
  const served = new Set(servedBy(route).map((operation) => paths[isUnary(operation) || operation === 'realtime' ? operation : 'generate']));
  return `The model is not served on this path, but on ${[...served].join(', ')}.`;
}

/** Whether an upstream speaks what the caller speaks, or carries it. */
export const passesVerbatim = ({ clientProtocol, operation }: Job, { protocol, target }: Route): boolean =>
  findProtocol(protocol)?.upstream?.passesVerbatim?.(clientProtocol, target, operation) ?? clientProtocol === protocol;
