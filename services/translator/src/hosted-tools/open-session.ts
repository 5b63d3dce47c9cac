/** Whether the gateway runs the hosted tools that a request offers, decided when it is translated for an upstream. */
import { type SearchProviderRecord, searchConfigSchema } from '@model-gateway/contracts';
import { type Conversation, type HostedKind, type HostedTool, offerHostedTools, runsItself, type UpstreamAdapter } from '@model-gateway/protocols';
import type { Route } from '@model-gateway/routing';
import { placeTaken } from '@model-gateway/web-search';
import type { PrepareContext } from '../prepare/step.ts';
import type { UpstreamTarget } from '../prepare/upstream-request.ts';
import type { HostedSettings } from './run-use.ts';
import { HostedSession } from './session.ts';

type Current = Pick<PrepareContext, 'request' | 'plan' | 'prepare'>;

/** What the gateway may run of a request's tools, and within which bounds. undefined: nothing, since its key group or protocol knows no such tools. */
function settingsOf({ request: { client, job }, plan: { snapshot } }: Current): HostedSettings | undefined {
  if (!client.hostedTools || job.operation !== 'generate' || snapshot.keyGroups.get(job.keyGroup)?.server_tools !== 'on') return undefined;
  const config = snapshot.searchConfig ?? searchConfigSchema.parse({});
  const named = config.default_provider === null ? undefined : snapshot.searchProviders.get(config.default_provider);
  return { config, provider: named?.enabled ? named : null };
}

const mayRun = (kind: HostedKind, { config, provider }: HostedSettings, { prepare }: Current): boolean =>
  kind === 'web_search' ? provider !== null : config.fetch_enabled && prepare.hosted.pages !== null;

/** The session of the present attempt, opened on first need. undefined: the request offers no such tool, or its key group does not want them run. */
export function hostedSessionOf(current: PrepareContext, { adapter, context }: UpstreamTarget, conversation: Conversation): HostedSession | undefined {
  const { cache, client } = current.request;
  if (cache.hosted) return cache.hosted;
  const settings = settingsOf(current);
  const codec = client.hostedTools;
  if (!settings || !codec || !conversation.tools.some(({ type }) => type === 'server')) return undefined;
  const rules = adapter.toolRules?.(context.target);
  const offered = offerHostedTools(conversation, codec, {
    isNative: (tool) => runsItself(rules, tool),
    runs: (kind) => mayRun(kind, settings, current),
  });
  if (!offered) return undefined;
  offered.losses.push(...placeLosses(offered.tools.values(), settings.provider));
  cache.hosted = new HostedSession(codec, offered, { ...settings, deps: current.prepare.hosted });
  return cache.hosted;
}

/** Providers get as much of where the user is as they take. */
function placeLosses(tools: Iterable<HostedTool>, provider: SearchProviderRecord | null): HostedSession['losses'] {
  for (const { kind, place } of tools) {
    const taken = kind === 'web_search' && place && provider ? placeTaken(provider.kind, place) : 'all';
    if (taken === 'none') return [{ field: 'tools.user_location', action: 'dropped', detail: 'The search provider does not take where the user is.' }];
    if (taken === 'country') return [{ field: 'tools.user_location', action: 'downgraded', detail: 'The search provider takes the user’s country alone.' }];
  }
  return [];
}

/**
 * Whether a request that could pass to the upstream as it is has to be translated all the same: it offers a hosted tool which this upstream of its own protocol
 * does not run, and the gateway does.
 */
export function runsForVerbatim(current: Current & Pick<PrepareContext, 'body'>, { adapter, route }: { adapter: UpstreamAdapter; route: Route }): boolean {
  const settings = settingsOf(current);
  const rules = settings && adapter.toolRules?.(route.target);
  if (!settings || !rules?.runs || current.body.kind !== 'json') return false;
  const codec = current.request.client.hostedTools;
  return serverTools(current).some((tool) => {
    const hosted = runsItself(rules, tool) ? null : codec?.read(tool);
    return hosted != null && mayRun(hosted.kind, settings, current);
  });
}

/** Of a body that passes as it is: what it cannot be read as is its upstream's to judge. */
function serverTools({ body }: Pick<PrepareContext, 'body'>): Conversation['tools'] {
  try {
    return body.readRequest().conversation.tools.filter(({ type }) => type === 'server');
  } catch {
    return [];
  }
}
