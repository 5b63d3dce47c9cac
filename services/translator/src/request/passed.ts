/** Calls that pass in their caller's own terms: which they are, and where a model takes them. */
import { isInUpstreamTerms, type Job } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { findProtocol, passedMethods, passedPaths, splitModel, type UpstreamAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { matchesWildcard } from '@model-gateway/routing';

/** A call that passes with its reply, which nobody reads but for what it used. */
export interface PassedCall {
  /** Knows what such replies look like; undefined: nobody does. */
  readonly family: UpstreamAdapter | undefined;
}

/** null: the call is in the gateway's terms, and its reply is read. */
export function passedCallOf(
  { operation, clientProtocol }: Pick<Job, 'operation' | 'clientProtocol'>,
  { protocol }: Pick<Route, 'protocol'>,
): PassedCall | null {
  const adapter = findProtocol(protocol)?.upstream;
  if (isInUpstreamTerms(operation)) return { family: adapter?.passesAsIs ? undefined : adapter };
  return adapter?.passesAsIs ? { family: findProtocol(clientProtocol)?.upstream } : null;
}

/** Why a model does not take this call below `/v3`; null: it does. */
export function refusePassed(
  { path, method = 'POST' }: Pick<Job, 'path' | 'method'>,
  { protocol, target }: Pick<Route, 'protocol' | 'target'>,
): GatewayError | null {
  const methods = passedMethods(target, findProtocol(protocol)?.upstream?.passesAsIs === true);
  if (!methods.includes(method) && !(method === 'HEAD' && methods.includes('GET')))
    return new GatewayError('method_not_allowed', { headers: { allow: methods.join(', ') } });
  const rest = splitModel(path.replace(/^\/v3\//, ''))?.rest;
  if (rest === undefined) return new GatewayError('not_found');
  const paths = passedPaths(target);
  if (paths === null || paths.some((pattern) => matchesWildcard(pattern, rest))) return null;
  return new GatewayError('not_found', { message: 'This model is not served on this path.' });
}
