/** Whether the gateway runs the hosted tools that a request offers, decided when it is translated for an upstream. */
import { searchConfigSchema } from '@model-gateway/contracts';
import { type Conversation, offerHostedTools } from '@model-gateway/protocols';
import type { PrepareContext } from '../prepare/step.ts';
import type { UpstreamTarget } from '../prepare/upstream-request.ts';
import { HostedSession } from './session.ts';

/** The session of the present attempt, opened on first need. undefined: the request offers no such tool, or its key group does not want them run. */
export function hostedSessionOf(current: PrepareContext, { adapter, context }: UpstreamTarget, conversation: Conversation): HostedSession | undefined {
  const { request, plan, prepare } = current;
  const { cache, client, job } = request;
  if (cache.hosted) return cache.hosted;
  const codec = client.hostedTools;
  const { snapshot } = plan;
  if (!codec || job.operation !== 'generate' || snapshot.keyGroups.get(job.keyGroup)?.server_tools !== 'on') return undefined;
  if (!conversation.tools.some(({ type }) => type === 'server')) return undefined;
  const config = snapshot.searchConfig ?? searchConfigSchema.parse({});
  const named = config.default_provider === null ? undefined : snapshot.searchProviders.get(config.default_provider);
  const provider = named?.enabled ? named : null;
  const offered = offerHostedTools(conversation, codec, {
    vendorTools: adapter.toolRules?.(context.target)?.vendorTools,
    runs: (kind) => (kind === 'web_search' ? provider !== null : config.fetch_enabled && prepare.hosted.pages !== null),
  });
  if (!offered) return undefined;
  cache.hosted = new HostedSession(codec, offered, { config, provider, deps: prepare.hosted });
  return cache.hosted;
}
