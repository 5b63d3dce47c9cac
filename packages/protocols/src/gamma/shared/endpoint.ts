/** Addresses and headers of gamma upstreams. */
import type { Operation } from '@model-gateway/contracts';
import type { Target, UpstreamCalls, UpstreamRequest } from '../../contract/index.ts';
import { joinUrl } from '../../kit/join-url.ts';
import { publisherModelsUrl } from '../../kit/vertex.ts';

const version = 'v1beta';

/** Of a caller that speaks gamma too, these alone reach the upstream: the SDK's own mark and the time-out it asked for. Its query holds only `alt` and a key, both ours. */
const forwarded = ['x-goog-api-client', 'x-server-timeout'];

const verbs = /:(?:generateContent|streamGenerateContent|countTokens|batchEmbedContents|embedContent|predict)$/;

/** Models that make images and nothing else are asked by `predict`. */
export const isPredicted = ({ upstreamModelId, modelId }: Target): boolean => /(?:^|\/)imagen/i.test(modelId ?? upstreamModelId);

export const isImageOperation = (operation: Operation): boolean => operation === 'image' || operation === 'image-edit' || operation === 'image-variation';

/** Vertex AI asks for vectors by other verbs, with bodies of their own: by which goes by the model, as `embedContent` of google-genai decides. null: not Vertex AI. */
export function vertexEmbedVerb({ baseUrl, upstreamModelId, modelId = upstreamModelId }: Target): ':predict' | ':embedContent' | null {
  if (publisherModelsUrl(baseUrl) === null) return null;
  const isNewer = (modelId.includes('gemini') && !modelId.endsWith('gemini-embedding-001')) || modelId.includes('maas');
  return isNewer ? ':embedContent' : ':predict';
}

/** Operations whose answers come as streams, where their callers ask for one. */
const streamed: ReadonlySet<Operation> = new Set(['generate', 'speech', 'transcribe']);

const verbOfCaller = (clientPath: string | undefined): string => (clientPath?.endsWith(':embedContent') ? ':embedContent' : ':batchEmbedContents');

/** The verb and query of an operation. Streams are always asked for as SSE, whatever form the caller reads. */
function action({ operation, stream, target, clientPath }: Pick<Call, 'operation' | 'stream' | 'target' | 'clientPath'>): string {
  if (operation === 'count-tokens') return ':countTokens';
  // What passes keeps its shape: one content, or a list of requests.
  if (operation === 'embed') return vertexEmbedVerb(target) ?? verbOfCaller(clientPath);
  if (isImageOperation(operation)) return isPredicted(target) ? ':predict' : ':generateContent';
  return stream && streamed.has(operation) ? ':streamGenerateContent?alt=sse' : ':generateContent';
}

/** `models/x` for a bare id; ids that name their collection (`tunedModels/x`) stay. */
export const modelName = (modelId: string): string => (/^(?:models|tunedModels)\//.test(modelId) ? modelId : `models/${modelId}`);

/** The model's name in a path: `/`, `:` and `@` are legal there and stay readable. */
function modelPath(modelId: string): string {
  return modelName(modelId)
    .split('/')
    .map((segment) => encodeURIComponent(segment).replaceAll('%3A', ':').replaceAll('%40', '@'))
    .join('/');
}

/** A direct path is used as it is, but for its verb: one admin-entered address serves the whole, the streamed and the counting call. */
function directUrl(baseUrl: string, wanted: string): string {
  const [path = '', query = ''] = baseUrl.split('?', 2);
  if (!verbs.test(path)) return baseUrl;
  const kept = new URLSearchParams(query);
  kept.delete('alt');
  const [verb = '', alt] = wanted.split('?', 2);
  const rest = [kept.toString(), alt].filter(Boolean).join('&');
  return path.replace(verbs, verb) + (rest === '' ? '' : `?${rest}`);
}

type Call = Parameters<UpstreamCalls['request']>[0];

export function buildRequest(context: Call): UpstreamRequest {
  const { target, operation, stream, clientHeaders } = context;
  const wanted = action(context);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: stream && streamed.has(operation) ? 'text/event-stream' : 'application/json',
  };
  for (const name of forwarded) {
    const value = clientHeaders?.[name];
    if (value !== undefined) headers[name] = value;
  }
  const url = target.directPath ? directUrl(target.baseUrl, wanted) : joinUrl(target.baseUrl, version, `/${modelPath(target.upstreamModelId)}${wanted}`);
  return { method: 'POST', url, headers };
}

export const buildListRequest = (target: Target): UpstreamRequest => ({
  method: 'GET',
  url: publisherModelsUrl(target.baseUrl) ?? joinUrl(target.baseUrl, version, '/models?pageSize=1000'),
  headers: { accept: 'application/json' },
});

/** The provider's own header, or the neutral one for upstreams configured so. */
export const buildCredential = (key: string, target: Target): Record<string, string> => ({
  [target.neutralHeaders ? 'x-gamma-api-key' : 'x-goog-api-key']: key,
});
