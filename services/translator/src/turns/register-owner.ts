/** Notes whose response it is that an upstream keeps. */
import type { TurnAtUpstream, TurnFacts } from '@model-gateway/contracts';
import type { CurrentRequest } from '../request/current.ts';
import type { TurnDeps } from './deps.ts';
import { UpstreamRegistration } from './upstream-registration.ts';

/** Notes the owner of whatever the upstream answers under an id of its own. {}: nobody can own it. `parent`: null too where earlier items went up in its body. */
export function registerOwner(
  { request, record }: CurrentRequest,
  { parent, background }: Pick<TurnFacts, 'parent' | 'background'>,
  deps: TurnDeps,
): { registration?: UpstreamRegistration } {
  const { job } = request;
  if (job.accessKeyId === undefined) return {};
  const facts = {
    ...{ owner: job.accessKeyId, parent, conversation: null, background },
    ...{ model: job.requestedModel, createdAt: job.startedAt, holder: deps.holder, requestId: job.id },
  };
  const at = (): TurnAtUpstream | undefined => (record.upstreamProtocol === job.clientProtocol ? record.servedBy : undefined);
  return { registration: new UpstreamRegistration(facts, at, deps) };
}
