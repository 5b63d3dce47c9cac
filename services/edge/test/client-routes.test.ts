/** Which protocol a path belongs to: the found, the wrong method, and the unknown. */
import { describe, expect, test } from '@jest/globals';
import { findClientRoute } from '../src/http/client-routes.ts';

const find = (method: string, target: string, headers: Record<string, string> = {}) => {
  const [path = '', query = ''] = target.split('?');
  return findClientRoute(method, path, new URLSearchParams(query), headers);
};
const anthropic = { 'anthropic-version': '2023-06-01' };

describe('found', () => {
  test.each([
    ['POST', '/v1/chat/completions', {}, 'alpha', { operation: 'generate', stream: null }],
    ['POST', '/v1/responses', {}, 'alpha_response', { operation: 'generate', stream: null }],
    ['POST', '/v1/messages', {}, 'beta', { operation: 'generate', stream: null }],
    ['POST', '/v1/messages?beta=true', {}, 'beta', { operation: 'generate', stream: null }],
    ['POST', '/v1/messages/count_tokens', {}, 'beta', { operation: 'count-tokens', stream: 'whole' }],
    ['POST', '/v1beta/models/a:generateContent', {}, 'gamma', { operation: 'generate', model: 'a', stream: 'whole' }],
    ['POST', '/v1beta/models/a:streamGenerateContent?alt=sse', {}, 'gamma', { operation: 'generate', model: 'a', stream: 'sse' }],
    ['POST', '/v1beta/models/a:streamGenerateContent', {}, 'gamma', { operation: 'generate', model: 'a', stream: 'json-array' }],
    ['POST', '/v1beta/models/team/a:b:countTokens', {}, 'gamma', { operation: 'count-tokens', model: 'team/a:b', stream: 'whole' }],
    ['GET', '/v1/models', {}, 'alpha', { operation: 'list-models', stream: 'whole' }],
    ['GET', '/v1/models', anthropic, 'beta', { operation: 'list-models', stream: 'whole' }],
    ['GET', '/v1/models', { 'beta-version': '1' }, 'beta', { operation: 'list-models', stream: 'whole' }],
    ['GET', '/v1beta/models', {}, 'gamma', { operation: 'list-models', stream: 'whole' }],
    ['GET', '/v1/models/team%2Fa', {}, 'alpha', { operation: 'get-model', model: 'team/a', stream: 'whole' }],
    ['GET', '/v1/models/a%252Fb', {}, 'alpha', { operation: 'get-model', model: 'a%2Fb', stream: 'whole' }],
  ] as const)('%s %s %j is %s', (method, target, headers, id, match) => {
    const answer = find(method, target, headers);
    expect('found' in answer && { id: answer.found.protocol.id, match: answer.found.match }).toEqual({ id, match });
  });
});

describe('stored turns', () => {
  const turns = (action: string, ids: { target?: string; item?: string } = {}) => ({ operation: 'turns', stream: 'whole', turns: { action, ...ids } });

  test.each([
    ['GET', '/v1/responses/resp_1', turns('get', { target: 'resp_1' })],
    ['HEAD', '/v1/responses/resp_1', turns('get', { target: 'resp_1' })],
    ['GET', '/v1/responses/a%2Fb%20c?stream=true', turns('get', { target: 'a/b c' })],
    ['DELETE', '/v1/responses/resp_1', turns('delete', { target: 'resp_1' })],
    ['POST', '/v1/responses/resp_1/cancel', turns('cancel', { target: 'resp_1' })],
    ['GET', '/v1/responses/resp_1/input_items?limit=2', turns('input-items', { target: 'resp_1' })],
    ['POST', '/v1/conversations', turns('create-conversation')],
    ['GET', '/v1/conversations/conv_1', turns('get-conversation', { target: 'conv_1' })],
    ['POST', '/v1/conversations/conv_1', turns('update-conversation', { target: 'conv_1' })],
    ['DELETE', '/v1/conversations/conv_1', turns('delete-conversation', { target: 'conv_1' })],
    ['GET', '/v1/conversations/conv_1/items', turns('list-conversation-items', { target: 'conv_1' })],
    ['POST', '/v1/conversations/conv_1/items', turns('add-conversation-items', { target: 'conv_1' })],
    ['GET', '/v1/conversations/conv_1/items/msg_1', turns('get-conversation-item', { target: 'conv_1', item: 'msg_1' })],
    ['DELETE', '/v1/conversations/conv_1/items/msg_1', turns('delete-conversation-item', { target: 'conv_1', item: 'msg_1' })],
  ])('%s %s', (method, target, match) => {
    const answer = find(method, target);
    expect('found' in answer && { id: answer.found.protocol.id, match: answer.found.match }).toEqual({ id: 'alpha_response', match });
  });

  test.each([
    ['PUT', '/v1/responses/resp_1', ['GET', 'HEAD', 'DELETE']],
    ['GET', '/v1/responses/compact', ['POST']],
    ['GET', '/v1/responses/resp_1/cancel', ['POST']],
    ['DELETE', '/v1/responses/resp_1/input_items', ['GET', 'HEAD']],
    ['GET', '/v1/conversations', ['POST']],
    ['OPTIONS', '/v1/conversations/c/items/i', ['GET', 'HEAD', 'DELETE']],
  ])('%s %s is refused with the methods that there are', (method, target, methods) => {
    const answer = find(method, target);
    expect('methods' in answer && { id: answer.protocol.id, methods: answer.methods }).toEqual({ id: 'alpha_response', methods });
  });

  test.each([
    '/v1/responses/',
    '/v1/responses/a/b',
    '/v1/responses/%ff',
    `/v1/responses/${'a'.repeat(1025)}`,
    '/v1/conversations/c/items/i/x',
    '/v1/conversations//items',
  ])('there is nothing at %s', (target) => {
    const answer = find('GET', target);
    expect(Object.keys(answer)).toEqual(['protocol']);
    expect(answer).toMatchObject({ protocol: { id: 'alpha_response' } });
  });
});

describe('a wrong method names those that are right', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'alpha', ['POST']],
    ['DELETE', '/v1/messages', 'beta', ['POST']],
    ['POST', '/v1/models', 'alpha', ['GET', 'HEAD']],
    ['GET', '/v1beta/models/a:generateContent', 'gamma', ['POST']],
    ['POST', '/v1beta/models/a', 'gamma', ['GET', 'HEAD']],
    ['POST', '/v1/tasks/task_1', 'passthrough', ['GET', 'HEAD']],
    ['DELETE', '/api/v1/tasks/task_1', 'passthrough', ['GET', 'HEAD']],
    ['GET', '/v1/tasks/task_1/cancel', 'passthrough', ['POST']],
    ['POST', '/v1/services/video/tasks/task_1', 'passthrough', ['GET', 'HEAD']],
    ['GET', '/api/v1/services/video/tasks/task_1/cancel', 'passthrough', ['POST']],
    ['GET', '/v1/services/aigc/video-generation/video-synthesis', 'passthrough', ['POST']],
  ])('%s %s', (method, target, id, methods) => {
    const answer = find(method, target);
    expect('methods' in answer && { id: answer.protocol.id, methods: answer.methods }).toEqual({ id, methods });
  });
});

describe('an unknown path is refused in the shape of its prefix', () => {
  test.each<[string, string, Record<string, string>?]>([
    ['/v1/nothing', 'alpha'],
    ['/v1/chat/completions/more', 'alpha'],
    ['/v1/responses/resp_1/nothing', 'alpha_response'],
    ['/v1/messages/batches', 'beta'],
    ['/v1beta/nothing', 'gamma'],
    // Looked at, it is a model whose name ends so; what is posted to is a verb, and none of ours.
    ['/v1beta/models/a:nothing', 'gamma'],
    ['/v9/model/anything', 'alpha'],
    ['/v1/models/a/b', 'alpha'],
    ['/v1/models/%E0%A4%A', 'alpha'],
    ['/v1/models/a:nothing', 'gamma', { 'x-goog-api-client': 'google-genai-sdk/1.0' }],
    ['/v1/models/a/b', 'beta', anthropic],
    // Several protocols share this prefix: the caller's own shape.
    ['/v1/files', 'beta', anthropic],
    ['/v1/interactions', 'gamma', { 'x-goog-api-client': 'google-genai-sdk/3.6' }],
    ['/upload/v1/files', 'gamma', { 'x-goog-api-client': 'google-genai-sdk/3.6' }],
    ['/v1/responses/resp_1/nothing', 'alpha_response', anthropic],
  ])('%s: %s', (target, id, headers = {}) => {
    const answer = find('POST', target, headers);
    expect('found' in answer || 'methods' in answer).toBe(false);
    expect('protocol' in answer && answer.protocol.id).toBe(id);
  });
});
