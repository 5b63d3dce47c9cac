/** Where and how an upstream is called. */
import type { Operation } from '@model-gateway/contracts';
import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { openAiCredential, openAiUrl } from '../../kit/azure.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { besideEndpoint, isWholeEndpoint } from '../../kit/whole-endpoint.ts';

const paths: Partial<Record<Operation, string>> = { generate: '', complete: '', compact: '/compact', 'count-tokens': '/input_tokens' };

/** Caller's headers that mean something to a server of this protocol; everything else stays here. */
const passedHeaders = ['openai-beta', 'originator', 'session_id', 'conversation_id', 'x-codex-beta-features', 'x-codex-turn-state', 'x-codex-turn-metadata'];

export const request: UpstreamAdapter['request'] = ({ target, operation, stream, clientHeaders }) => {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: stream ? 'text/event-stream' : 'application/json' };
  for (const name of passedHeaders) {
    const value = clientHeaders?.[name];
    if (value !== undefined) headers[name] = value;
  }
  return { method: 'POST', url: address(target, paths[operation] ?? ''), headers };
};

const responsesPath = '/responses';

const address = (target: Target, beneath: string): string => {
  const { baseUrl } = target;
  return isWholeEndpoint(target, responsesPath) ? (besideEndpoint(baseUrl, '', beneath) ?? baseUrl) : openAiUrl(baseUrl, `${responsesPath}${beneath}`);
};

/** One cloud's own resources take the key in a header of theirs. */
export const credential = (key: string, target: Target): Record<string, string> => openAiCredential(key, target.baseUrl);

export function listModels(target: Target): UpstreamRequest {
  const beside = isWholeEndpoint(target, responsesPath) ? besideEndpoint(target.baseUrl.replace(/\/+$/, ''), responsesPath, '/models') : null;
  return { method: 'GET', url: beside ?? openAiUrl(target.baseUrl, '/models'), headers: { accept: 'application/json' } };
}

export function readModelList(body: unknown): string[] {
  const list = asArray(own(body, 'data')) ?? asArray(own(body, 'models')) ?? [];
  return list.map((model) => asString(own(model, 'id')) ?? asString(own(model, 'slug'))).filter((id): id is string => id !== undefined && id !== '');
}
