/** One entry of LiteLLM's `model_list`. */

import { litellmProviders } from '@model-gateway/protocols/foreign';
import { asSecret, cleanBase, isAddress } from './addresses.ts';
import { isNode, type Place, perMillion } from './findings.ts';
import type { Deployment, Routing } from './litellm-routing.ts';

interface Making {
  /** By what distinguishes them: provider, address, key, headers, time-out. */
  upstreams: Map<string, Record<string, unknown>>;
  nameOf(wanted: string): string;
  routing: Routing;
}

/** Parameters that LiteLLM adds to requests which do not have them: names as the wire has them. */
const defaults = [
  'temperature',
  'max_tokens',
  'max_completion_tokens',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'seed',
  'stop',
  'user',
  'reasoning_effort',
  'n',
];
const prices = {
  input: 'input_cost_per_token',
  output: 'output_cost_per_token',
  cache_read: 'cache_read_input_token_cost',
  cache_write_5m: 'cache_creation_input_token_cost',
} as const;

const notMade = (place: Place, status: 'manual' | 'unsupported', message: string): [] => {
  place.report(status, message);
  return [];
};

/** By their names LiteLLM knows whose these are; the key of one provider must not go to another. */
const namedAfter: readonly [names: RegExp, provider: string][] = [
  [/^claude/, 'anthropic'],
  [/^(?:gemini|gemma|chat-bison|text-bison|imagen)/, 'vertex_ai'],
  [/^(?:command|embed-|rerank)/, 'cohere'],
];
const providerOfName = (model: string): string => namedAfter.find(([names]) => names.test(model))?.[1] ?? 'openai';

export function readDeployment(place: Place, making: Making): Deployment[] {
  const params = place.at('litellm_params');
  const name = place.at('model_name').value;
  const sent = params.at('model').value;
  if (typeof name !== 'string' || typeof sent !== 'string') return notMade(place, 'unsupported', 'An entry without model_name or litellm_params.model.');
  if (name.includes('*') || sent.includes('*'))
    return notMade(place, 'manual', 'Wildcards stand for every model of a provider: add the provider as an upstream and choose its models in First steps.');
  if (sent.startsWith('os.environ/')) return notMade(place, 'manual', 'A variable says which model this is: make the model by hand.');
  const slash = sent.indexOf('/');
  const prefix = slash === -1 ? providerOfName(sent) : sent.slice(0, slash);
  const stated = params.at('custom_llm_provider');
  const named = typeof stated.value === 'string' ? stated.value : prefix;
  const provider = Object.hasOwn(litellmProviders, named) ? litellmProviders[named] : undefined;
  if (!provider) return notMade(place, 'manual', `The provider ${named} needs credentials or an address of its own kind: make its upstream by hand.`);
  const address = params.at('api_base');
  const base = typeof address.value === 'string' ? cleanBase(asSecret(address.value)) : provider.base;
  if (base === null || !(isAddress(base) || base.startsWith('${')))
    return notMade(place, 'manual', `The provider ${prefix} is given no address that this gateway can use: make its upstream by hand.`);

  stated.report('exact', 'Decides the upstream’s protocol.');
  place.at('model_name').report('exact', 'The model’s name.');
  params.at('model').report('exact', 'The upstream, and what it calls the model.');
  address.report('exact', 'The upstream’s address.');
  const upstream = readUpstream(params, { ...making, prefix, protocol: provider.protocol, base, variable: provider.variable });
  const id = slash === -1 || typeof stated.value === 'string' ? sent.replace(new RegExp(`^${stated.value}/`), '') : sent.slice(slash + 1);
  const { limit, weight, order } = readShares(params, making.routing);
  const rules = readDefaults(params);
  reportInfo(place.at('model_info'));
  return [
    {
      name,
      model: {
        upstream,
        upstream_model_id: id,
        ...(Object.keys(limit).length > 0 && { rate_limit: limit }),
        ...(rules.length > 0 && { request_body_rules: rules }),
      },
      weight,
      order,
      price: readPrices(place, params),
    },
  ];
}

function readUpstream(
  params: Place,
  { upstreams, nameOf, prefix, protocol, base, variable }: Making & { prefix: string; protocol: string; base: string; variable: string | undefined },
): string {
  const given = params.at('api_key').text('exact', 'The upstream’s key.');
  const key = given !== undefined ? asSecret(given) : variable === undefined ? null : `\${${variable}}`;
  const total = params.at('timeout').number('approximate', 'Of the whole call, for every model of the upstream.');
  const first = params.at('stream_timeout').number('approximate', 'Until the first byte, for every model of the upstream.');
  const headers: Record<string, string> = {};
  for (const name of params.at('extra_headers').keys()) {
    const value = params.at('extra_headers').at(name).text('exact', 'A custom header of the upstream.');
    if (value !== undefined) headers[name] = asSecret(value);
  }
  const organization = params.at('organization').text('exact', 'A custom header of the upstream.');
  if (organization !== undefined) headers['openai-organization'] = asSecret(organization);
  const timeouts = {
    ...(total !== undefined && { total_ms: Math.round(total * 1000) }),
    ...(first !== undefined && { first_byte_ms: Math.round(first * 1000) }),
  };
  const identity = JSON.stringify([prefix, base, key, headers, timeouts]);
  const known = upstreams.get(identity);
  if (known) return String(known['name']);
  const name = nameOf(prefix);
  upstreams.set(identity, {
    name,
    protocol,
    base_url: base,
    api_keys: key === null ? [] : [{ key }],
    ...(Object.keys(headers).length > 0 && { custom_headers: headers }),
    ...(Object.keys(timeouts).length > 0 && { timeouts }),
  });
  return name;
}

/** LiteLLM's default strategy takes `rpm` and `tpm` for weights; the others for limits. */
function readShares(params: Place, { isShuffle }: Routing) {
  const said = isShuffle ? 'A weight among entries of the same name, as LiteLLM’s simple-shuffle reads it; no limit was made of it.' : 'A limit of the model.';
  const rpm = params.at('rpm').number('approximate', said);
  const tpm = params.at('tpm').number('approximate', said);
  const own = params.at('weight').number('exact', 'The entry’s weight.');
  const order = params.at('order').number('approximate', 'Entries of a higher order are asked when all others failed.');
  const parallel = params.at('max_parallel_requests').number('exact', 'max_concurrency of the model.');
  const whole = (figure: number) => Math.max(1, Math.round(figure));
  return {
    limit: {
      ...(!isShuffle && rpm !== undefined && { rpm: whole(rpm) }),
      ...(!isShuffle && tpm !== undefined && { tpm: whole(tpm) }),
      ...(parallel !== undefined && { max_concurrency: whole(parallel) }),
    },
    weight: Math.min(1_000_000, Math.max(0, Math.round(own ?? (isShuffle ? (rpm ?? tpm ?? 1) : 1)))),
    order: order ?? 1,
  };
}

function readDefaults(params: Place): Record<string, unknown>[] {
  return defaults.flatMap((name) => {
    const { value } = params.at(name);
    if (value === undefined || value === null) return [];
    params.at(name).report('exact', 'Added to requests that do not have it, by a body rule of the model.');
    return [{ mode: 'add-if-absent', path: name, value }];
  });
}

/** Prices are beside the parameters, or in `model_info`. */
function readPrices(place: Place, params: Place): Record<string, string> | null {
  const found = Object.entries(prices).flatMap(([field, name]) => {
    const at = [params.at(name), place.at('model_info').at(name)].filter(({ value }) => value !== undefined && value !== null);
    const price = at.map((one) => perMillion(one.figure())).find((one) => one !== null);
    return price === undefined ? [] : [{ field, price, at }];
  });
  const price = Object.fromEntries(found.map(({ field, price: text }) => [field, text]));
  // What only reads puts nothing out.
  if (price['output'] === undefined && isReader(place)) price['output'] = '0';
  const isWhole = price['input'] !== undefined && price['output'] !== undefined;
  for (const one of found.flatMap(({ at }) => at))
    if (isWhole) one.report('exact', 'The model’s price.');
    else one.report('manual', 'No price was made, since prices of input and output are needed: known list prices are used, or add a price.');
  return isWhole ? price : null;
}

const isReader = (place: Place): boolean =>
  ['embedding', 'rerank'].includes(String(place.at('model_info').at('mode').value)) || /embed/.test(String(place.at('litellm_params').at('model').value));

function reportInfo(info: Place): void {
  if (!isNode(info.value)) return;
  info.at('id').report('exact', 'Not needed: models are known by their names.');
  info.at('mode').report('approximate', 'What a model can be asked for is decided by its upstream’s protocol.');
  info.at('base_model').report('approximate', 'Known list prices are found by the upstream’s id of the model; add a price where they are not.');
  for (const name of info.keys())
    if (/^supports_|^max_(?:input_|output_)?tokens$/.test(name))
      info.at(name).report('approximate', 'The catalog of known models says so where it knows the model.');
}
