import type { Operation } from '@model-gateway/contracts';
import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { openAiCredential, openAiUrl } from '../../kit/azure.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { besideEndpoint, isWholeEndpoint } from '../../kit/whole-endpoint.ts';
import { isCohere } from '../shared/embeddings.ts';

const chatPath = '/chat/completions';
/** Legacy completions. */
const completionsPath = '/completions';

const pathOf: Partial<Record<Operation, string>> = {
  complete: completionsPath,
  embed: '/embeddings',
  rerank: '/rerank',
  moderate: '/moderations',
  decide: '/decisions',
  image: '/images/generations',
  'image-edit': '/images/edits',
  'image-variation': '/images/variations',
  speech: '/audio/speech',
  transcribe: '/audio/transcriptions',
  'translate-speech': '/audio/translations',
};

/** Headers of a caller that mean something to an upstream of the same protocol; all others stay here. */
const passedHeaders = ['openai-beta'] as const;

/** Address and headers of a call. */
export const request: UpstreamAdapter['request'] = ({ target, operation, stream, clientHeaders }) => {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: stream ? 'text/event-stream' : 'application/json' };
  for (const name of passedHeaders) {
    const value = clientHeaders?.[name];
    if (value !== undefined) headers[name] = value;
  }
  return {
    method: 'POST',
    url:
      operation === 'generate'
        ? chatUrl(target)
        : besideChat(target, operation === 'embed' && isCohere(target) ? '/embed' : (pathOf[operation] ?? completionsPath)),
    headers,
  };
};

const chatUrl = (target: Target): string => (isWholeEndpoint(target, chatPath) ? target.baseUrl : openAiUrl(target.baseUrl, chatPath));

/** Beside the chat path, also where the upstream's address is that path; any other whole endpoint is taken for the one that is wanted. */
function besideChat(target: Target, path: string): string {
  if (!isWholeEndpoint(target, chatPath)) return openAiUrl(target.baseUrl, path);
  return besideEndpoint(target.baseUrl, chatPath, path) ?? target.baseUrl;
}

/** The credential's header: bearer, or `api-key` where the host wants that. */
export const credential = (key: string, target: Target): Record<string, string> => openAiCredential(key, target.baseUrl);

/** Address of the model list; beside the chat path when the upstream's address is a whole endpoint. */
export function listModels(target: Target): UpstreamRequest {
  const beside = isWholeEndpoint(target, chatPath) ? besideEndpoint(target.baseUrl, chatPath, '/models') : null;
  // A deployment lists nothing: its resource does.
  return {
    method: 'GET',
    url: beside?.replace(/\/deployments\/[^/?]+(?=\/models)/, '') ?? openAiUrl(target.baseUrl, '/models'),
    headers: { accept: 'application/json' },
  };
}

/** Model ids of a list reply: `{data: […]}`, a bare array, or `{models: […]}`; entries are objects or plain names. */
export function readModelList(body: unknown): string[] {
  const entries = asArray(body) ?? asArray(own(body, 'data')) ?? asArray(own(body, 'models')) ?? [];
  return entries.flatMap((entry) => asString(entry) ?? asString(own(entry, 'id')) ?? asString(own(entry, 'name')) ?? []);
}
