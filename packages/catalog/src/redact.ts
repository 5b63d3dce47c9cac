/**
 * The configuration for services without the master key: no sealed values, and nothing into which an admin may have typed a credential in the clear.
 * Fields are listed one by one, so that a field added later is left out until a service needs it here.
 */
import { createHash } from 'node:crypto';
import type { CatalogDelta, CatalogRows, McpServerRecord, Model, SearchProviderRecord, SectionDelta, UpstreamRecord } from '@model-gateway/contracts';

/** The whole configuration. */
export const redactRows = (rows: CatalogRows): CatalogRows => ({
  revision: rows.revision,
  committed_at: rows.committed_at,
  upstreams: rows.upstreams.map(redactUpstream),
  models: rows.models.map(redactModel),
  ...(rows.load_balancers && { load_balancers: rows.load_balancers }),
  ...(rows.load_balancer_pins && { load_balancer_pins: rows.load_balancer_pins }),
  ...(rows.pricing && { pricing: rows.pricing }),
  ...(rows.mcp_servers && { mcp_servers: rows.mcp_servers.map(redactMcpServer) }),
  ...(rows.search_providers && { search_providers: rows.search_providers.map(redactSearchProvider) }),
  ...(rows.search_config && { search_config: rows.search_config }),
  key_groups: rows.key_groups,
  access_keys: rows.access_keys,
});

/** What one commit changed. */
export const redactDelta = ({
  upstreams,
  models,
  load_balancers,
  load_balancer_pins,
  pricing,
  mcp_servers,
  search_providers,
  search_config,
  key_groups,
  access_keys,
}: CatalogDelta): CatalogDelta => ({
  ...(upstreams && { upstreams: redactPut(upstreams, redactUpstream) }),
  ...(models && { models: redactPut(models, redactModel) }),
  ...(load_balancers && { load_balancers }),
  ...(load_balancer_pins && { load_balancer_pins }),
  ...(pricing && { pricing }),
  ...(mcp_servers && { mcp_servers: redactPut(mcp_servers, redactMcpServer) }),
  ...(search_providers && { search_providers: redactPut(search_providers, redactSearchProvider) }),
  ...(search_config && { search_config }),
  ...(key_groups && { key_groups }),
  ...(access_keys && { access_keys }),
});

const redactPut = <T>({ put, gone }: SectionDelta<T>, redact: (row: T) => T): SectionDelta<T> => ({ put: put.map(redact), gone });

/** Replaces a script's text, which none of these services needs. Script runners of the previous version look whether there is one. */
const someScript = '// not in this copy of the configuration';

/** The same shape, for the same readers; keys come without `sealed`, which none of these services reads. */
function redactUpstream(upstream: UpstreamRecord): UpstreamRecord {
  const digest = digestOf(upstream);
  return {
    id: upstream.id,
    name: upstream.name,
    protocol: upstream.protocol,
    base_url: upstream.base_url,
    api_keys: upstream.api_keys.map(({ id, weight, account }) => ({ id, weight, ...(account !== undefined && { account }) })) as UpstreamRecord['api_keys'],
    enabled: upstream.enabled,
    ...(upstream.unavailable !== undefined && { unavailable: upstream.unavailable }),
    custom_headers: {},
    user_agent: upstream.user_agent,
    token_counting: upstream.token_counting,
    timeouts: upstream.timeouts,
    ...(upstream.rate_limit !== undefined && { rate_limit: upstream.rate_limit }),
    on_client_abort: upstream.on_client_abort,
    ...(upstream.on_break !== undefined && { on_break: upstream.on_break }),
    neutral_headers: upstream.neutral_headers,
    extra_config: redactConfig(upstream.extra_config),
    ...(upstream.request_body_rules !== undefined && { request_body_rules: upstream.request_body_rules }),
    ...redactScripts(upstream),
    ...(upstream.script_error_mode !== undefined && { script_error_mode: upstream.script_error_mode }),
    ...(digest !== null && { withheld: digest }),
  };
}

/** An endpoint may carry a key in its query: the aggregator gets that with the sealed fields. */
function redactMcpServer({ sealed_auth, sealed_headers, endpoint, ...server }: McpServerRecord): McpServerRecord {
  const digest = createHash('sha256')
    .update(JSON.stringify([sealed_auth, sealed_headers, endpoint]))
    .digest('base64url')
    .slice(0, 22);
  return { ...server, endpoint: endpoint.replace(/\?.*$/s, ''), withheld: digest };
}

/** What a search costs is part of what edges reserve of budgets; who is asked, and how, is not for them. */
const redactSearchProvider = ({ id, name, kind, price_per_search, currency, enabled }: SearchProviderRecord): SearchProviderRecord => ({
  ...{ id, name, kind, price_per_search, currency, enabled },
  base_url: null,
  description: '',
  sealed_key: null,
});

/** A model's own endpoint may carry a key in its query. */
const redactModel = (model: Model): Model => ({
  ...model,
  base_url: model.base_url === null ? null : model.base_url.replace(/\?.*$/s, ''),
  extra_config: redactConfig(model.extra_config),
  ...redactScripts(model),
});

/** Figures and switches: what is known of a model's size is among them, credentials are not. */
function redactConfig(config: Model['extra_config']): Model['extra_config'] {
  if (config === null) return null;
  return Object.fromEntries(Object.entries(config).filter(([, value]) => typeof value === 'number' || typeof value === 'boolean'));
}

type Scripts = Pick<Model, 'request_transform_before' | 'request_transform_after' | 'response_transform'>;
const redactScripts = ({ request_transform_before, request_transform_after, response_transform }: Scripts): Scripts => ({
  ...(request_transform_before && { request_transform_before: someScript }),
  ...(request_transform_after && { request_transform_after: someScript }),
  ...(response_transform && { response_transform: someScript }),
});

/**
 * A digest of what was left out, so that routers see a rotated key as a changed upstream and drop the breaker state of the old one. Each sealed value
 * has a random part, so the digest does not help to guess values; without a sealed value there is no digest.
 */
function digestOf({ api_keys, custom_headers, sealed_headers, proxy, dns, tls, extra_config, ...rest }: UpstreamRecord): string | null {
  const keys = api_keys.map(({ sealed }) => sealed);
  if (keys.length === 0 && !sealed_headers && !proxy?.sealed && !tls?.sealed_key) return null;
  const scripts = [rest.request_transform_before, rest.request_transform_after, rest.response_transform];
  const text = JSON.stringify([keys, custom_headers, sealed_headers, proxy, dns, tls, extra_config, scripts]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
