/** One upstream for each protocol at the fake upstream, and one model for each script that a suite uses. */
import { createHash } from 'node:crypto';
import type { ModelInput } from '@model-gateway/contracts';
import type { Configuration } from './gateway.ts';
import { type UpstreamProtocol, upstreamProtocols } from './sdk-callers.ts';

/** A key of the kind that the protocol's clouds have: one of them is signed with. */
const keyOf = (protocol: UpstreamProtocol): string =>
  protocol === 'cloudhost_converse' ? 'AKIAFAKEFAKEFAKEFAKE:fake/secret+access/key' : `sk-fake-${protocol}`;

/** The model that makes an upstream of this protocol follow this script. */
export function modelOf(protocol: UpstreamProtocol, script: string): string {
  const words = script.replace(/[^A-Za-z0-9.@+-]+/g, '_');
  // Names end at 200 characters; scripts do not.
  return `${protocol}.${words.length <= 80 ? words : `${words.slice(0, 60)}.${createHash('sha256').update(script).digest('hex').slice(0, 12)}`}`;
}

/** `scripts` of each protocol: model ids of the fake upstream. */
export function scriptedModels(url: string, scripts: (protocol: UpstreamProtocol) => readonly string[]): Configuration {
  return {
    upstreams: upstreamProtocols.map((protocol) => ({ name: `fake-${protocol}`, protocol, base_url: url, api_keys: [{ key: keyOf(protocol) }] })),
    models: upstreamProtocols.flatMap((protocol) =>
      [...new Set(scripts(protocol))].map(
        (script): ModelInput => ({ name: modelOf(protocol, script), upstream: `fake-${protocol}`, upstream_model_id: script }),
      ),
    ),
  };
}
