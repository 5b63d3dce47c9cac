/** Addresses of upstreams as admins enter them, those of Azure's resources among them: the endpoint that its portals show is enough, and keys and access tokens go in the headers that it takes. */
import { describe, expect, test } from '@jest/globals';
import type { Target } from '../src/contract/index.ts';
import { protocols } from '../src/registry.ts';

const target = (baseUrl: string): Target => ({ baseUrl, directPath: false, upstreamModelId: 'd', neutralHeaders: false, extraConfig: null });
const upstreamOf = (id: string) => protocols.find((protocol) => protocol.id === id)!.upstream!;
const url = (id: string, baseUrl: string) => upstreamOf(id).request({ target: target(baseUrl), operation: 'generate', stream: false }).url;

const resource = 'https://r.openai.azure.com';
const project = 'https://r.services.ai.azure.com/api/projects/p';

describe('addresses', () => {
  test.each([
    ['alpha', resource, `${resource}/openai/v1/chat/completions`],
    ['alpha', `${resource}/`, `${resource}/openai/v1/chat/completions`],
    ['alpha', `${resource}/openai`, `${resource}/openai/v1/chat/completions`],
    ['alpha', `${resource}/openai/v1`, `${resource}/openai/v1/chat/completions`],
    ['alpha', project, `${project}/openai/v1/chat/completions`],
    ['alpha', 'https://r.cognitiveservices.azure.com', 'https://r.cognitiveservices.azure.com/openai/v1/chat/completions'],
    ['alpha_response', resource, `${resource}/openai/v1/responses`],
    ['beta', 'https://r.services.ai.azure.com', 'https://r.services.ai.azure.com/anthropic/v1/messages'],
    ['beta', 'https://r.services.ai.azure.com/anthropic', 'https://r.services.ai.azure.com/anthropic/v1/messages'],
    // A relay is called as it says.
    ['alpha', 'https://r.openai.azure.com.relay.test', 'https://r.openai.azure.com.relay.test/v1/chat/completions'],
    ['beta', 'https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
  ])('%s at %s', (id, baseUrl, expected) => expect(url(id, baseUrl)).toBe(expected));

  test.each([
    ['alpha', `${resource}/openai/v1/models`],
    ['alpha_response', `${resource}/openai/v1/models`],
  ])('models of %s', (id, expected) => expect(upstreamOf(id).listModels(target(resource)).url).toBe(expected));

  test('sessions', () => {
    const { realtime } = upstreamOf('alpha_realtime');
    expect(realtime?.realtime?.connect({ target: target(resource), clientHeaders: {} }).url).toBe('wss://r.openai.azure.com/openai/v1/realtime?model=d');
  });
});

test.each([
  ['alpha', 'https://h/v1/chat/completions', 'https://h/v1/models'],
  ['alpha_response', 'https://h/v1/responses', 'https://h/v1/models'],
  ['beta', 'https://h/v1/messages', 'https://h/v1/models?limit=1000'],
])('%s at the address of the call itself', (id, baseUrl, models) => {
  expect(url(id, baseUrl)).toBe(baseUrl);
  expect(upstreamOf(id).listModels(target(baseUrl)).url).toBe(models);
});

describe('credentials', () => {
  const token = 'eyJ0eXAiOiJKV1Qi.eyJhdWQiOiJo.c2lnbmF0dXJl';
  const credential = (id: string, key: string, baseUrl: string) => upstreamOf(id).credential(key, target(baseUrl));

  test.each([
    ['alpha', { 'api-key': 'k' }],
    ['alpha_response', { 'api-key': 'k' }],
    ['alpha_realtime', { 'api-key': 'k' }],
    ['beta', { 'x-api-key': 'k' }],
  ])('%s: a key in its own header, an access token of Entra as a bearer', (id, expected) => {
    expect(credential(id, 'k', resource)).toEqual(expected);
    expect(credential(id, token, resource)).toEqual({ authorization: `Bearer ${token}` });
  });

  test('elsewhere such a token is a key like others', () => expect(credential('beta', token, 'https://api.anthropic.com')).toEqual({ 'x-api-key': token }));
});
