import type { RealtimeAdapter, Target } from '../contract/index.ts';
import { openAiUrl } from '../kit/azure.ts';

/** Of the caller's headers, those that mean something to this protocol. */
const passedHeaders = ['openai-beta', 'openai-safety-identifier'] as const;

/**
 * Sessions at a path below the version. `query`: what the address has in place of the model, whose name is in a frame then. An address that is used as it is
 * (`directPath`) leads to any of them.
 */
export const connectAt =
  (path: `/${string}`, query?: Readonly<Record<string, string>>): RealtimeAdapter['connect'] =>
  ({ target, clientHeaders }) => {
    const url = new URL(addressOf(target, path));
    url.protocol = url.protocol === 'http:' || url.protocol === 'ws:' ? 'ws:' : 'wss:';
    for (const [name, value] of Object.entries(query ?? { model: target.upstreamModelId })) url.searchParams.set(name, value);
    const headers: Record<string, string> = {};
    for (const name of passedHeaders) {
      const value = clientHeaders[name];
      if (value !== undefined) headers[name] = value;
    }
    return { url: url.href, headers };
  };

const addressOf = ({ baseUrl, directPath }: Target, path: `/${string}`): string => (directPath ? baseUrl : openAiUrl(baseUrl, path));
