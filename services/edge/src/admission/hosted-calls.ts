/** What hosted tools that the gateway runs may add to the cost of a request: calls of the model, what these read, and searches. */
import { type KeyGroup, maxResultChars, type SearchConfig, type SearchProviderRecord, type Snapshot, searchConfigSchema } from '@model-gateway/contracts';
import type { RepeatedCalls } from '@model-gateway/model-catalog';
import type { ClientAdapter, HostedKind } from '@model-gateway/protocols';

/** What of a request decides. */
export interface HostedAsked {
  snapshot: Snapshot;
  client: Pick<ClientAdapter, 'hostedTools'>;
  group?: Pick<KeyGroup, 'server_tools'> | undefined;
}

export interface HostedCalls extends RepeatedCalls {
  /** In millionths of `currency`. null: nothing is searched. */
  searches: { micros: number; currency: string } | null;
}

/** Characters of a page to a token. */
const charsPerToken = 3;
const none: HostedCalls = { calls: 1, found: 0, searches: null };

/** The most that there may be. `value` gives a top-level value of the body. That a vendor runs the tool itself, at a price of its own, is not known yet. */
export function hostedCallsOf({ snapshot, client, group }: HostedAsked, value: (key: string) => unknown): HostedCalls {
  if (!client.hostedTools || group?.server_tools !== 'on') return none;
  const config = snapshot.searchConfig ?? searchConfigSchema.parse({});
  const provider = providerOf(snapshot, config);
  const runs: Readonly<Record<HostedKind, boolean>> = { web_search: provider !== null, web_fetch: config.fetch_enabled };
  const kinds = client.hostedTools.offered(value).filter((kind) => runs[kind]);
  if (kinds.length === 0) return none;
  const chars: Readonly<Record<HostedKind, number>> = { web_search: config.max_results * maxResultChars, web_fetch: config.fetch_max_chars };
  return {
    calls: config.max_rounds,
    found: Math.ceil((config.max_uses * Math.max(...kinds.map((kind) => chars[kind]))) / charsPerToken),
    searches: provider && kinds.includes('web_search') ? { micros: config.max_uses * provider.price_per_search, currency: provider.currency } : null,
  };
}

function providerOf({ searchProviders }: Snapshot, { default_provider: name }: SearchConfig): SearchProviderRecord | null {
  const named = name === null ? undefined : searchProviders.get(name);
  return named?.enabled ? named : null;
}
