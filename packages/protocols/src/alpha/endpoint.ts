import { joinUrl } from '../kit/join-url.ts';
import { asArray, asString, own } from '../kit/read.ts';
import type { Target, UpstreamDoor, UpstreamRequest } from '../protocol.ts';

const chatPath = '/chat/completions';
/** Legacy completions. */
const completionsPath = '/completions';

/** Headers of a caller that mean something to an upstream of the same protocol; all others stay here. */
const passedHeaders = ['openai-beta'] as const;

/** Hosts that take the key in a header of their own rather than as a bearer token. */
const apiKeyHosts = ['.openai.azure.com', '.services.ai.azure.com', '.cognitiveservices.azure.com'];

/** Address and headers of a call. */
export const request: UpstreamDoor['request'] = ({ target, operation, stream, clientHeaders }) => {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: stream ? 'text/event-stream' : 'application/json' };
  for (const name of passedHeaders) {
    const value = clientHeaders?.[name];
    if (value !== undefined) headers[name] = value;
  }
  return { method: 'POST', url: operation === 'complete' ? completionsUrl(target) : chatUrl(target), headers };
};

const chatUrl = (target: Target): string => (target.directPath ? target.baseUrl : joinUrl(target.baseUrl, 'v1', chatPath));

/** Beside the chat path, also where the upstream's address is that path; any other whole endpoint is taken for the one that is wanted. */
function completionsUrl(target: Target): string {
  if (!target.directPath) return joinUrl(target.baseUrl, 'v1', completionsPath);
  const base = withoutChatPath(target.baseUrl);
  return base === null ? target.baseUrl : `${base}${completionsPath}`;
}

/** The credential's header: bearer, or `api-key` where the host wants that. */
export function credential(key: string, target: Target): Record<string, string> {
  const host = /^https?:\/\/([^/:?#]+)/i.exec(target.baseUrl)?.[1]?.toLowerCase() ?? '';
  return apiKeyHosts.some((suffix) => host.endsWith(suffix)) ? { 'api-key': key } : { authorization: `Bearer ${key}` };
}

/** Address of the model list; beside the chat path when the upstream's address is a whole endpoint. */
export function listModels(target: Target): UpstreamRequest {
  const base = target.directPath ? withoutChatPath(target.baseUrl) : null;
  return { method: 'GET', url: base === null ? joinUrl(target.baseUrl, 'v1', '/models') : `${base}/models`, headers: { accept: 'application/json' } };
}

function withoutChatPath(url: string): string | null {
  const path = url.split('?', 1)[0] ?? '';
  return path.endsWith(chatPath) ? path.slice(0, -chatPath.length) : null;
}

/** Model ids of a list reply: `{data: […]}`, a bare array, or `{models: […]}`; entries are objects or plain names. */
export function readModelList(body: unknown): string[] {
  const entries = asArray(body) ?? asArray(own(body, 'data')) ?? asArray(own(body, 'models')) ?? [];
  return entries.flatMap((entry) => asString(entry) ?? asString(own(entry, 'id')) ?? asString(own(entry, 'name')) ?? []);
}
