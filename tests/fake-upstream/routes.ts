/** From method, path and body to what is asked of which protocol. */
import { alpha } from './protocols/alpha.ts';
import { alphaResponse } from './protocols/alpha-response.ts';
import { beta } from './protocols/beta.ts';
import { converse, invoke } from './protocols/cloudhost.ts';
import { currentOf, ideStreaming } from './protocols/cloudhost-ide-streaming.ts';
import { completions } from './protocols/completions.ts';
import { delta } from './protocols/delta.ts';
import type { FakeProtocol } from './protocols/fake-protocol.ts';
import { gamma } from './protocols/gamma.ts';

export interface Asking {
  protocol: FakeProtocol;
  operation: 'generate' | 'count' | 'compact' | 'list';
  model: string;
  stream: boolean;
  /** How events are framed. */
  framing: 'sse' | 'bare-sse' | 'json-array' | 'event-stream';
}

const exact: Record<string, { protocol: FakeProtocol; operation: 'generate' | 'count' | 'compact' }> = {
  '/v1/completions': { protocol: completions, operation: 'generate' },
  '/v1/services/aigc/text-generation/generation': { protocol: delta, operation: 'generate' },
  '/v1/services/aigc/multimodal-generation/generation': { protocol: delta, operation: 'generate' },
  '/v1/tokenizer': { protocol: delta, operation: 'count' },
  '/v1/chat/completions': { protocol: alpha, operation: 'generate' },
  '/v1/responses': { protocol: alphaResponse, operation: 'generate' },
  '/v1/responses/input_tokens': { protocol: alphaResponse, operation: 'count' },
  '/v1/responses/compact': { protocol: alphaResponse, operation: 'compact' },
  '/v1/messages': { protocol: beta, operation: 'generate' },
  '/v1/messages/count_tokens': { protocol: beta, operation: 'count' },
};
const verbs: Record<string, { operation: 'generate' | 'count'; stream: boolean }> = {
  generateContent: { operation: 'generate', stream: false },
  streamGenerateContent: { operation: 'generate', stream: true },
  countTokens: { operation: 'count', stream: false },
};

const cloudVerbs: Record<string, { protocol: FakeProtocol; operation: 'generate' | 'count'; stream: boolean }> = {
  converse: { protocol: converse, operation: 'generate', stream: false },
  'converse-stream': { protocol: converse, operation: 'generate', stream: true },
  invoke: { protocol: invoke, operation: 'generate', stream: false },
  'invoke-with-response-stream': { protocol: invoke, operation: 'generate', stream: true },
  'count-tokens': { protocol: converse, operation: 'count', stream: false },
};

function readCloudRoute(path: string, body: Record<string, unknown>): Asking | null {
  const [, model = '', name = ''] = /\/model\/([^/]+)\/([a-z-]+)$/.exec(path) ?? [];
  const verb = Object.hasOwn(cloudVerbs, name) ? cloudVerbs[name] : undefined;
  if (verb === undefined) return null;
  const counted = verb.operation === 'count' && Object.hasOwn((body['input'] as object | undefined) ?? {}, 'invokeModel');
  return { ...verb, ...(counted && { protocol: invoke }), model: decodeURIComponent(model), framing: 'event-stream' };
}

/** Upstreams may live under a prefix: what counts begins at the version segment. */
export function readRoute(method: string, url: URL, headers: Record<string, unknown>, body: Record<string, unknown>): Asking | null {
  const path = url.pathname.slice(Math.max(0, url.pathname.search(/\/v1(?:beta)?\//)));
  if (method === 'GET') {
    if (path === '/foundation-models') return { protocol: converse, operation: 'list', model: '', stream: false, framing: 'sse' };
    if (path.endsWith('/ListAvailableModels')) return { protocol: ideStreaming, operation: 'list', model: '', stream: false, framing: 'sse' };
    if (path === '/v1/models')
      return { protocol: headers['anthropic-version'] === undefined ? alpha : beta, operation: 'list', model: '', stream: false, framing: 'sse' };
    return path === '/v1beta/models' ? { protocol: gamma, operation: 'list', model: '', stream: false, framing: 'sse' } : null;
  }
  if (path.includes('/model/')) return readCloudRoute(path, body);
  const route = Object.hasOwn(exact, path) ? exact[path] : undefined;
  if (route !== undefined)
    return { ...route, model: String(body['model'] ?? ''), stream: body['stream'] === true || headers['x-dashscope-sse'] === 'enable', framing: 'sse' };
  if (path.endsWith('/generateAssistantResponse'))
    return { protocol: ideStreaming, operation: 'generate', model: String(currentOf(body).modelId ?? ''), stream: true, framing: 'event-stream' };
  const found = /^\/v1(?:beta)?\/models\/(.+):([A-Za-z]+)$/.exec(path);
  const verb = found === null || !Object.hasOwn(verbs, found[2] as string) ? undefined : verbs[found[2] as string];
  if (found === null || verb === undefined) return null;
  return {
    protocol: gamma,
    ...verb,
    model: decodeURIComponent(found[1] as string),
    framing: url.searchParams.get('alt') === 'sse' ? 'bare-sse' : 'json-array',
  };
}
