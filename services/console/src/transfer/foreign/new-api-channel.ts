/** A channel: one upstream, and the models that it serves. */

import { channelTypes } from '@model-gateway/protocols/foreign';
import { cleanBase, isAddress } from './addresses.ts';
import { isNode, type Place } from './findings.ts';

/** What a channel serves, to whom, and when. */
export interface Channel {
  upstream: string;
  models: { name: string; id: string }[];
  groups: string[];
  priority: number;
  weight: number;
}

const ofNoUse = 'What the other gateway counted or noted; nothing is set by it here.';
const counted = ['id', 'created_time', 'test_time', 'response_time', 'balance', 'balance_updated_time', 'used_quota', 'other_info', 'remark', 'test_model'];
const listOf = (value: unknown): string[] =>
  String(value ?? '')
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');

/** Text columns may hold JSON. */
function jsonOf(value: unknown): Record<string, unknown> | null {
  if (isNode(value)) return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  try {
    const read: unknown = JSON.parse(value);
    return isNode(read) ? read : null;
  } catch {
    return null;
  }
}

/** Several keys: one on each line, or a JSON list. */
function keysOf(value: unknown): string[] {
  const text = String(value ?? '').trim();
  if (text.startsWith('[')) {
    try {
      const read: unknown = JSON.parse(text);
      if (Array.isArray(read)) return read.map(String);
    } catch {
      return [text];
    }
  }
  return text
    .split(/\r?\n/)
    .map((key) => key.trim())
    .filter((key) => key !== '');
}

export function readChannel(place: Place, nameOf: (wanted: string) => string): { upstream: Record<string, unknown>; channel: Channel }[] {
  const type = Number(place.at('type').value);
  const provider = channelTypes[type];
  const given = String(place.at('base_url').value ?? '').trim();
  const base = given === '' ? (provider?.base ?? null) : cleanBase(given);
  if (!provider || base === null || !isAddress(base)) {
    place.report(
      'manual',
      provider
        ? 'This channel has no address that can be used here: make its upstream by hand.'
        : `Channels of type ${type} speak in a way of their own: make an upstream by hand.`,
    );
    return [];
  }
  place.at('type').report('exact', 'The upstream’s protocol and, where the channel has none, its address.');
  place.at('base_url').report('exact', 'The upstream’s address.');
  place.at('name').report('exact', 'The upstream’s name.');
  place.at('key').report('exact', 'The upstream’s keys.');
  const status = place.at('status').number('exact', 'Whether the upstream is enabled.');
  place.at('models').report('exact', 'Models, and entries of load balancers.');
  place.at('group').report('exact', 'Key groups that may use the channel’s models.');
  const priority = place.at('priority').number('approximate', 'Tiers of load balancers: lower ones have weight 0, or come later.') ?? 0;
  const weight = place.at('weight').number('approximate', 'Weights of entries, without the smoothing of the other gateway.') ?? 0;
  place.at('auto_ban').report('approximate', 'Failing upstreams are passed over by rules of the gateway’s own.');
  for (const name of counted) place.at(name).report('exact', ofNoUse);
  place.at('tag').report('manual', 'Upstreams have no tags.');
  const name = nameOf(String(place.at('name').value ?? `channel-${String(place.at('id').value ?? '')}`));
  const mapping = readMapping(place.at('model_mapping'));
  const headers = readHeaders(place);
  const rules = readOverrides(place.at('param_override'));
  return [
    {
      upstream: {
        name,
        protocol: provider.protocol,
        base_url: base,
        api_keys: keysOf(place.at('key').value).map((key) => ({ key })),
        ...(status !== undefined && status !== 1 && { enabled: false }),
        ...(Object.keys(headers).length > 0 && { custom_headers: headers }),
        ...(rules.length > 0 && { request_body_rules: rules }),
      },
      channel: {
        upstream: name,
        models: [...new Set(listOf(place.at('models').value))].map((model) => ({ name: model, id: mapping.get(model) ?? model })),
        groups: listOf(place.at('group').value ?? 'default'),
        priority,
        weight: Math.round(weight),
      },
    },
  ];
}

function readMapping(place: Place): Map<string, string> {
  const mapping = jsonOf(place.value);
  if (mapping) place.report('exact', 'What the upstream calls the models.');
  else if (place.value === '' || place.value === null) place.report('exact', 'Empty.');
  return new Map(Object.entries(mapping ?? {}).map(([name, id]) => [name, String(id)]));
}

function readHeaders(place: Place): Record<string, string> {
  const headers: Record<string, string> = {};
  const own = place.at('header_override');
  const given = jsonOf(own.value);
  const isTemplate = Object.values(given ?? {}).some((value) => /\{/.test(String(value)));
  if (given)
    own.report(
      isTemplate ? 'manual' : 'exact',
      isTemplate ? 'Placeholders are written otherwise here (docs/rewriting.md): set the headers by hand.' : 'Custom headers of the upstream.',
    );
  else if (own.value === '' || own.value === null) own.report('exact', 'Empty.');
  if (!isTemplate) for (const [name, value] of Object.entries(given ?? {})) headers[name] = String(value);
  const organization = place.at('openai_organization');
  if (typeof organization.value === 'string' && organization.value !== '') headers['openai-organization'] = organization.value;
  organization.report('exact', 'A custom header of the upstream.');
  return headers;
}

/** Plain values are set in each request; operations of newer versions are for a person. */
function readOverrides(place: Place): Record<string, unknown>[] {
  const given = jsonOf(place.value);
  if (place.value === '' || place.value === null) place.report('exact', 'Empty.');
  if (!given) return [];
  if ('operations' in given) {
    place.report('manual', 'Operations on bodies are written as body rules here (docs/rewriting.md).');
    return [];
  }
  place.report('exact', 'Body rules of the upstream.');
  return Object.entries(given).map(([path, value]) => ({ mode: 'overwrite', path, value }));
}
