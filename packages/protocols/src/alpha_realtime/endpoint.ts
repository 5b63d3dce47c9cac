import type { RealtimeAdapter, Target } from '../contract/index.ts';
import { joinUrl } from '../kit/join-url.ts';

/** Of the caller's headers, those that mean something to this protocol. */
const passedHeaders = ['openai-beta', 'openai-safety-identifier'] as const;

/** The session's address; the model is in the query, whether the upstream's address has one of its own or not. */
export const connect: RealtimeAdapter['connect'] = ({ target, clientHeaders }) => {
  const url = new URL(addressOf(target));
  url.protocol = url.protocol === 'http:' || url.protocol === 'ws:' ? 'ws:' : 'wss:';
  url.searchParams.set('model', target.upstreamModelId);
  const headers: Record<string, string> = {};
  for (const name of passedHeaders) {
    const value = clientHeaders[name];
    if (value !== undefined) headers[name] = value;
  }
  return { url: url.href, headers };
};

const addressOf = ({ baseUrl, directPath }: Target): string => (directPath ? baseUrl : joinUrl(baseUrl, 'v1', '/realtime'));
