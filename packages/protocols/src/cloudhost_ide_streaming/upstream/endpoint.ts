import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { asArray, asString, own } from '../../kit/read.ts';

const generatePath = '/generateAssistantResponse';

const baseOf = (target: Target): string => target.baseUrl.replace(/\/+$/, '');

/** The account's profile, which some accounts must name: `profileArn` (or `profile_arn`) of `extra_config`. */
export const profileOf = (target: Target): string | undefined =>
  asString(own(target.extraConfig, 'profileArn')) ?? asString(own(target.extraConfig, 'profile_arn'));

/** What kind of client asks; the service knows a fixed list. `origin` of `extra_config`. */
export const originOf = (target: Target): string => asString(own(target.extraConfig, 'origin')) ?? 'AI_EDITOR';

/** Address and headers of a call. The service answers in binary event streams alone. */
export const request: UpstreamAdapter['request'] = ({ target }) => ({
  method: 'POST',
  url: target.directPath || baseOf(target).endsWith(generatePath) ? target.baseUrl : `${baseOf(target)}${generatePath}`,
  headers: {
    'content-type': 'application/json',
    accept: '*/*',
    'x-amzn-codewhisperer-optout': 'true',
    'x-amzn-kiro-agent-mode': 'vibe',
  },
});

/** A bearer token, never a signature; keys of one kind say so in a header of their own. */
export const credential = (key: string): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  ...(key.startsWith('ksk_') && { tokentype: 'API_KEY' }),
});

export function listModels(target: Target): UpstreamRequest {
  const base = baseOf(target);
  const query = new URLSearchParams({ origin: originOf(target) });
  const profile = profileOf(target);
  if (profile !== undefined) query.set('profileArn', profile);
  const root = base.endsWith(generatePath) ? base.slice(0, -generatePath.length) : base;
  return { method: 'GET', url: `${root}/ListAvailableModels?${query}`, headers: { accept: 'application/json' } };
}

export const readModelList = (body: unknown): string[] => (asArray(own(body, 'models')) ?? []).flatMap((entry) => asString(own(entry, 'modelId')) ?? []);
