/** LiteLLM's `config.yaml` as a configuration of this gateway. */

import { asSecret } from './addresses.ts';
import { type Converted, createNames, isNode, type Place, readSource } from './findings.ts';
import { readDeployment } from './litellm-deployment.ts';
import { type Deployment, groupDeployments, type Routing } from './litellm-routing.ts';
import { readSearchTool } from './litellm-search.ts';

const callbacks = 'Use OTEL_EXPORTER_OTLP_ENDPOINT for traces and metrics, and the console for costs.';

const forAll = 'There are no fallbacks for all models at once: make a load balancer for each model that needs them.';

/** Settings that mean nothing here, or that a person has to make by other means; by section. */
const known: Readonly<Record<string, Readonly<Record<string, [status: 'exact' | 'approximate' | 'manual', message: string]>>>> = {
  router_settings: {
    num_retries: ['approximate', 'Other keys and other entries are tried without a setting.'],
    max_fallbacks: ['approximate', 'Every entry of a load balancer may be tried.'],
    allowed_fails: ['approximate', 'Failing upstreams are passed over by rules of the gateway’s own.'],
    cooldown_time: ['approximate', 'Failing upstreams are passed over by rules of the gateway’s own.'],
    timeout: ['manual', 'Set timeouts on the upstreams, or [upstream.timeouts] in gateway.toml.'],
    stream_timeout: ['manual', 'Set timeouts on the upstreams, or [upstream.timeouts] in gateway.toml.'],
    redis_host: ['manual', 'Set REDIS_URL.'],
    redis_port: ['manual', 'Set REDIS_URL.'],
    redis_password: ['manual', 'Set REDIS_URL.'],
    redis_url: ['manual', 'Set REDIS_URL.'],
    enable_pre_call_checks: ['approximate', 'A request that does not fit a model goes to the next entry without a setting.'],
    context_window_fallbacks: ['manual', 'Put the larger model into the load balancer: what does not fit the first entry goes to the next.'],
    content_policy_fallbacks: ['manual', 'There is no list of its own for refusals by content.'],
    default_fallbacks: ['manual', forAll],
  },
  litellm_settings: {
    drop_params: ['approximate', 'What an upstream cannot take is left out and listed with the request; strict_translation of a group refuses instead.'],
    num_retries: ['approximate', 'Other keys and other entries are tried without a setting.'],
    request_timeout: ['manual', 'Set timeouts on the upstreams, or [upstream.timeouts] in gateway.toml.'],
    set_verbose: ['manual', 'Set LOG_LEVEL=debug.'],
    json_logs: ['exact', 'Logs are JSON lines.'],
    callbacks: ['manual', callbacks],
    success_callback: ['manual', callbacks],
    failure_callback: ['manual', callbacks],
    telemetry: ['exact', 'Nothing is reported to anybody.'],
    max_budget: ['manual', 'Give the key groups budgets.'],
    budget_duration: ['manual', 'Give the key groups budgets.'],
    context_window_fallbacks: ['manual', 'Put the larger model into the load balancer: what does not fit the first entry goes to the next.'],
    content_policy_fallbacks: ['manual', 'There is no list of its own for refusals by content.'],
    default_fallbacks: ['manual', forAll],
    websearch_interception_params: ['manual', 'Name the search provider in the search configuration, and switch on server_tools in key groups.'],
    modify_params: ['approximate', 'Requests are made to fit the model they go to without a setting.'],
  },
  general_settings: {
    database_url: [
      'manual',
      'Virtual keys, teams and their budgets are in this database, keys as hashes alone: make new keys here. Set DATABASE_URL for PostgreSQL.',
    ],
    store_model_in_db: ['manual', 'Models that were added in LiteLLM’s own pages are in its database, not in this file.'],
    ui_username: ['manual', 'The console’s first user is admin, with CONSOLE_PASSWORD.'],
    ui_password: ['manual', 'The console’s first user is admin, with CONSOLE_PASSWORD.'],
    max_parallel_requests: ['manual', 'Set max_concurrency in rate_limit of upstreams or models.'],
    global_max_parallel_requests: ['manual', 'Set server.max_global_concurrency in gateway.toml.'],
  },
};

const strategies: Readonly<Record<string, [Routing['strategy'], 'exact' | 'approximate', string]>> = {
  'simple-shuffle': ['weighted', 'exact', 'Load balancers are weighted.'],
  'latency-based-routing': ['least_latency', 'exact', 'Load balancers prefer what answers fastest.'],
  'least-busy': ['least_latency', 'approximate', 'The fastest entry is preferred, which is seldom the busiest.'],
  'usage-based-routing': ['weighted', 'approximate', 'Load balancers are weighted; limits of tokens and requests hold for each entry.'],
  'usage-based-routing-v2': ['weighted', 'approximate', 'Load balancers are weighted; limits of tokens and requests hold for each entry.'],
  'cost-based-routing': [
    'weighted',
    'approximate',
    'There is no routing by cost: load balancers are weighted. Put the cheapest first in one of strategy priority.',
  ],
};

/** `fallbacks` are in two places, each a list of {name: [names]}; the router's come second and win. */
const fallbackPlaces = (root: Place): Place[] =>
  ['litellm_settings', 'router_settings'].flatMap((section) =>
    root
      .at(section)
      .at('fallbacks')
      .list()
      .flatMap((entry) => entry.keys().map((name) => entry.at(name)))
      .filter(({ value }) => Array.isArray(value)),
  );

/** A name, or `{model, hidden}`. */
function aliasPlaces(root: Place): { alias: string; place: Place; target: Place }[] {
  const all = root.at('router_settings').at('model_group_alias');
  return all.keys().map((alias) => {
    const place = all.at(alias);
    return { alias, place, target: isNode(place.value) ? place.at('model') : place };
  });
}

function readRouting(root: Place): Routing {
  const given = root.at('router_settings').at('routing_strategy');
  const { value: named = 'simple-shuffle' } = given;
  const [strategy, status, message] = (typeof named === 'string' && Object.hasOwn(strategies, named) && strategies[named]) || [
    'weighted',
    'approximate',
    'This strategy is not known here: load balancers are weighted.',
  ];
  given.report(status, message);
  return { strategy, isShuffle: (given.value ?? 'simple-shuffle') === 'simple-shuffle' };
}

/** `made`: names of which something was made. An alias of another name, or one that is a model's own, would be refused. */
function readAliases(root: Place, made: ReadonlySet<string>): Map<string, string[]> {
  const aliases = new Map<string, string[]>();
  for (const { alias, place, target } of aliasPlaces(root)) {
    const to = target.value;
    if (typeof to !== 'string') continue;
    if (made.has(alias)) place.report('manual', 'A model has this name already: only one of them can.');
    else if (!made.has(to)) place.report('manual', 'Nothing was made of the model that this is an alias of: make that, and give it the alias.');
    else {
      aliases.set(to, [...(aliases.get(to) ?? []), alias]);
      target.report('exact', 'An alias of this model.');
      if (isNode(place.value)) place.at('hidden').report('approximate', 'Aliases are not listed to callers; they work.');
    }
  }
  return aliases;
}

/** Both sides may be aliases. */
function readFallbacks(root: Place, made: ReadonlySet<string>, aliases: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const modelOf = new Map([...aliases].flatMap(([name, others]) => others.map((alias) => [alias, name])));
  const real = (name: unknown): string | undefined => [String(name), modelOf.get(String(name))].find((one) => one !== undefined && made.has(one));
  const found = new Map<string, string[]>();
  for (const place of fallbackPlaces(root)) {
    const name = real(place.key);
    const targets = (place.value as unknown[]).map(real);
    const known = targets.filter((target) => target !== undefined);
    if (name === undefined) place.report('manual', 'Nothing was made under this name: make a load balancer with these entries.');
    else if (known.length < targets.length) place.report('manual', 'Nothing was made of some of these names: add them to the load balancer of this name.');
    else place.report(known.length > 1 ? 'approximate' : 'exact', 'Entries of the load balancer of this name, asked when all before them failed.');
    const others = known.filter((target) => target !== name);
    if (name !== undefined && others.length > 0) found.set(name, others);
  }
  return found;
}

function readMasterKey(place: Place): Record<string, unknown>[] {
  const value = place.text(
    'approximate',
    'The access key litellm-master has this value. It calls models, and does not administrate: that is what the console’s users do.',
  );
  if (value === undefined) return [];
  return [{ name: 'litellm-master', group: 'everyone', key: asSecret(value) }];
}

/** `parsed`: what the YAML file holds. */
export function convertLitellm(parsed: unknown): Converted {
  const source = readSource(parsed);
  const { root } = source;
  const routing = readRouting(root);
  const [nameOf, createSearchName] = [createNames(), createNames()];
  const upstreams = new Map<string, Record<string, unknown>>();
  const deployments = root
    .at('model_list')
    .list()
    .flatMap((place): Deployment[] => readDeployment(place, { upstreams, nameOf, routing }));
  const made = new Set(deployments.map(({ name }) => name));
  const aliases = readAliases(root, made);
  const routed = groupDeployments(deployments, { ...routing, aliases, fallbacks: readFallbacks(root, made, aliases) });
  const searchProviders = root
    .at('search_tools')
    .list()
    .flatMap((place) => readSearchTool(place, createSearchName));
  const accessKeys = readMasterKey(root.at('general_settings').at('master_key'));
  for (const [section, settings] of Object.entries(known))
    for (const [name, [status, message]] of Object.entries(settings)) root.at(section).at(name).report(status, message);
  root.at('mcp_servers').report('manual', 'Add the server at MCP servers.');
  root.at('environment_variables').report('manual', 'Set this variable in the environment of whoever runs `apply`.');
  const groups = deployments.length > 0 || accessKeys.length > 0 ? [{ name: 'everyone', models: ['*'] }] : [];
  return {
    file: {
      version: 2,
      upstreams: [...upstreams.values()],
      ...routed,
      key_groups: groups,
      access_keys: accessKeys,
      ...(searchProviders.length > 0 && { search_providers: searchProviders }),
    },
    findings: source.findings(),
  };
}
