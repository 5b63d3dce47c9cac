/** Where a call to an upstream of this protocol goes, and with which headers. */

import type { Operation } from '@model-gateway/contracts';
import type { Target, UpstreamAdapter, UpstreamRequest } from '../../contract/index.ts';
import { azureApi, isAzureToken } from '../../kit/azure.ts';
import { joinUrl } from '../../kit/join-url.ts';
import { publisherModelsUrl } from '../../kit/vertex.ts';
import { besideEndpoint, isWholeEndpoint } from '../../kit/whole-endpoint.ts';
import { apiVersion, versionHeaders } from './api-version.ts';
import { flagsFor, flagsOfCaller, listFlags } from './feature-flags.ts';
import { isVertex, vertexUrl } from './vertex.ts';

/** What a caller of the same protocol may say through us: which agent runs, in which session. The upstream's own names only. */
const passedHeaders = ['x-app', 'x-claude-code-session-id'] as const;

// No caller of this protocol asks for legacy completions, or for a conversation to be compacted.
const path = (operation: Operation): string => (operation === 'count-tokens' ? '/messages/count_tokens' : messagesPath);
const messagesPath = '/messages';

export const request: UpstreamAdapter['request'] = ({ target, operation, stream, clientHeaders, clientQuery }) => ({
  method: 'POST',
  // Vertex AI knows no `beta=true`.
  url: vertexUrl(target, operation, stream) ?? withQuery(address(target, path(operation)), clientQuery),
  headers: {
    'content-type': 'application/json',
    accept: stream ? 'text/event-stream' : 'application/json',
    ...vendorHeaders(clientHeaders, target),
    ...Object.fromEntries(passedHeaders.flatMap((name) => (clientHeaders?.[name] === undefined ? [] : [[name, clientHeaders[name]]]))),
  },
});

/** A complete address (`direct_path`) reveals the address of the token counter only if it is the one for messages. */
const address = (target: Target, path: string): string => {
  const { baseUrl } = target;
  if (!isWholeEndpoint(target, messagesPath)) return joinUrl(azureApi(baseUrl, 'anthropic'), 'v1', path);
  return besideEndpoint(baseUrl, messagesPath, path) ?? baseUrl;
};

function modelsUrl(baseUrl: string): string {
  const list = besideEndpoint(baseUrl, messagesPath, '/models') ?? joinUrl(azureApi(baseUrl, 'anthropic'), 'v1', '/models');
  return `${list}${list.includes('?') ? '&' : '?'}limit=1000`;
}

export const listModels = (target: Target): UpstreamRequest => ({
  method: 'GET',
  url: publisherModelsUrl(target.baseUrl) ?? modelsUrl(target.baseUrl),
  headers: { accept: 'application/json', ...vendorHeaders(undefined, target) },
});

/** The feature flag without which a token of a login is refused. */
const loginFlag = 'oauth-2025-04-20';

/** A token of a login goes as a bearer and with its feature flag, beside the caller's own; Vertex AI takes access tokens, and Azure beside its keys; every other key goes under `x-api-key`, which is the neutral name too. */
export const credential: UpstreamAdapter['credential'] = (key, target, headers = {}): Record<string, string> => {
  if (isVertex(target) || isAzureToken(key, target.baseUrl)) return { authorization: `Bearer ${key}` };
  if (!key.startsWith('sk-ant-oat')) return { 'x-api-key': key };
  const flags = [...new Set([...listFlags(headers['anthropic-beta']), loginFlag])].join(',');
  return { authorization: `Bearer ${key}`, 'anthropic-beta': flags, 'beta-beta': flags };
};

/** Version and feature flags, read from the vendor's header names and the neutral ones (`beta-version`, `beta-beta`). */
function vendorHeaders(client: Readonly<Record<string, string>> | undefined, target: Target): Record<string, string> {
  const features = flagsFor(flagsOfCaller(client), target).kept.join(',');
  return {
    // There the version is a field of the body.
    ...(isVertex(target) ? {} : Object.fromEntries(versionHeaders.map((name) => [name, apiVersion(target, client)]))),
    ...(features !== '' && { 'anthropic-beta': features, 'beta-beta': features }),
  };
}

/** Of the caller's query only `beta=true` means anything to an upstream; the rest may be meant for us. */
function withQuery(url: string, clientQuery: string | undefined): string {
  if (clientQuery === undefined || new URLSearchParams(clientQuery).get('beta') !== 'true') return url;
  return `${url}${url.includes('?') ? '&' : '?'}beta=true`;
}
