/** Requests that have no translation are for upstreams that take them as they are: other nodes of a load balancer are passed over. */
import type { Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import type { RequestContext } from '../request/context.ts';

/** The caller's error when no other node is left; null when this one may serve the request. */
export function unservedBy({ client, job }: Pick<RequestContext, 'client' | 'job'>, route: Route): GatewayError | null {
  const { onlyVerbatim } = client;
  if (onlyVerbatim?.operation !== job.operation || passesVerbatim(job, route)) return null;
  return new GatewayError('invalid_request', { message: onlyVerbatim.refusal, param: 'model' });
}

/** Whether an upstream speaks what the caller speaks, or carries it. */
export const passesVerbatim = ({ clientProtocol, operation }: Job, { protocol, target }: Route): boolean =>
  findProtocol(protocol)?.upstream?.passesVerbatim?.(clientProtocol, target, operation) ?? clientProtocol === protocol;
