/** Which version of the messages API a request goes out under, and what that version no longer takes. */

import type { Target } from '../../contract/index.ts';
import { asString, own } from '../../kit/read.ts';
import { generationOf } from './model-family.ts';
import { isVertex } from './vertex.ts';

/** Requests that the gateway builds go out under this one, since it still takes sampling parameters. A request without a version is a 400. */
const usualVersion = '2023-06-01';
/** From here on `temperature`, `top_p` and `top_k` are a 400 at any value, on every model. */
const firstWithoutSampling = '2026-10-21';
/** Amazon's endpoint for this protocol takes the newer version for this generation and later ones only. */
const firstGenerationAtAmazon = 407;

const amazonHost = /^https?:\/\/(?:bedrock[a-z0-9-]*)\.[a-z0-9-]+\.(?:api\.aws|amazonaws\.com(?:\.cn)?)(?::\d+)?(?:\/|$)/i;
const isDate = /^\d{4}-\d{2}-\d{2}$/;

const isNewer = (version: string): boolean => isDate.test(version) && version >= firstWithoutSampling;

type Headers = Readonly<Record<string, string>>;

/** The vendor's name of the header, and the neutral one. */
export const versionHeaders = ['anthropic-version', 'beta-version'] as const;

/** An empty header says nothing. */
const versionIn = (headers: Headers | undefined): string | undefined => versionHeaders.map((name) => headers?.[name]).find(Boolean);

/**
 * The version that is sent; Vertex AI has one alone, which takes what the usual one does. A custom header of the upstream overrides all else. `clientHeaders`: of a caller whose request passes as it is, whose own
 * version is kept. Else `extra_config.api_version` of the upstream decides.
 */
export function apiVersion(target: Target, clientHeaders?: Headers): string {
  if (isVertex(target)) return usualVersion;
  const custom = versionIn(target.customHeaders);
  if (custom !== undefined) return custom;
  const asked = versionIn(clientHeaders) ?? asString(own(target.extraConfig, 'api_version')) ?? usualVersion;
  const tooNew = isNewer(asked) && amazonHost.test(target.baseUrl) && generationOf(target.modelId ?? target.upstreamModelId) < firstGenerationAtAmazon;
  return tooNew ? usualVersion : asked;
}

/** Why no sampling parameter may be sent; undefined: the version takes them. */
export function samplingRefusal(target: Target, clientHeaders?: Headers): string | undefined {
  const version = apiVersion(target, clientHeaders);
  return isNewer(version) ? `API version ${version.slice(0, 10)} takes no sampling parameters` : undefined;
}
