/**
 * The vendor's models on Vertex AI (https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude): the address names the model,
 * the body the version of the API, and the credential is an access token of Google's.
 */
import type { Operation } from '@model-gateway/contracts';
import type { Target } from '../../contract/index.ts';

/** `…/projects/P/locations/L/publishers/anthropic`, or the whole address of one model's calls; a relay in front may have a host of its own. */
const address = /^([^?#]{1,2000}\/publishers\/anthropic)(?:\/models(?:\/([^/?#]{1,500}):(?:stream)?rawPredict)?)?\/*(\?[^#]*)?$/i;

/** The only version of the API there. */
export const vertexVersion = 'vertex-2023-10-16';

export const isVertex = ({ baseUrl }: Pick<Target, 'baseUrl'>): boolean => address.test(baseUrl);

/** The address of a call; null where the upstream is not Vertex AI. Counting names its model in the body. */
export function vertexUrl({ baseUrl, upstreamModelId }: Target, operation: Operation, stream: boolean): string | null {
  const [, publisher, named, query = ''] = address.exec(baseUrl) ?? [];
  if (publisher === undefined) return null;
  const model = named ?? encodeURIComponent(upstreamModelId.toWellFormed()).replaceAll('%40', '@');
  const verb = operation === 'count-tokens' ? 'count-tokens:rawPredict' : `${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`;
  return `${publisher}/models/${verb}${query}`;
}

/** What `model` of a body has to be, undefined where it may hold none: the counter knows models by their names without a version (`…@20250929`). */
export function modelInBody(target: Target, operation: Operation): string | undefined {
  if (!isVertex(target)) return target.upstreamModelId;
  return operation === 'count-tokens' ? target.upstreamModelId.split('@', 1)[0] : undefined;
}
