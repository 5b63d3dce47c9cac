import { expect, test } from '@jest/globals';
import type { Target } from '../contract/index.ts';
import { callBelow, credential, request } from './endpoint.ts';
import { passedMethods, passedPaths } from './index.ts';

const target = (more: Partial<Target> = {}): Target => ({
  baseUrl: 'https://h/v1',
  directPath: false,
  upstreamModelId: 'real/model',
  neutralHeaders: false,
  extraConfig: null,
  ...more,
});
const below = (rest: string, at = target(), query = '') =>
  callBelow({ target: at, operation: 'passthrough', stream: true, clientPath: `/v3/m/${rest}`, clientQuery: query, clientMethod: 'PUT' });
const at = (path: string, place = target(), clientQuery = '') =>
  request({ target: place, operation: 'generate', stream: false, clientPath: path, clientQuery });

test('what follows the model stands behind the address, to the byte', () => {
  expect(below('a%2Fb/{x}|"y"', target(), 'x=1&y&z=%20')).toMatchObject({
    method: 'PUT',
    url: 'https://h/v1/a%2Fb/{x}|"y"?x=1&y&z=%20',
    path: '/v1/a%2Fb/{x}|"y"?x=1&y&z=%20',
  });
  expect(below('', target({ baseUrl: 'https://h' }), 'q').path).toBe('/?q');
  expect(below('a', target({ baseUrl: 'https://h/p/?version=2' }), 'q=1').path).toBe('/p/a?version=2&q=1');
});

test('a whole endpoint takes no path but its own end', () => {
  const whole = target({ baseUrl: 'https://h/api/video/make', directPath: true });
  expect(below('', whole).url).toBe('https://h/api/video/make');
  expect(below('video/make', whole).url).toBe('https://h/api/video/make');
  expect(() => below('other', whole)).toThrow('whole endpoint');
});

test('a call on a path of the gateway goes to the same path, with the version once and the model exchanged', () => {
  expect(at('/v1/chat/completions').path).toBe('/v1/chat/completions');
  expect(at('/v1/messages', target({ baseUrl: 'https://h' }), 'beta=true').path).toBe('/v1/messages?beta=true');
  expect(at('/rerank').path).toBe('/v1/rerank');
  expect(at('/v1beta/models/my:model:generateContent', target({ baseUrl: 'https://h' })).path).toBe('/v1beta/models/real%2Fmodel:generateContent');
  expect(at('/v1/messages', target({ baseUrl: 'https://h/x/y?z=1', directPath: true })).url).toBe('https://h/x/y?z=1');
});

test('headers of callers pass but those that are about the gateway', () => {
  const clientHeaders = {
    'content-type': 'a/b',
    'x-dashscope-ossresourceresolve': 'enable',
    'z-request-id': '1',
    'x-gateway-resume': '1',
    'user-agent': 'sdk',
    origin: 'o',
  };
  const { headers } = callBelow({ target: target(), operation: 'passthrough', stream: true, clientPath: '/v3/m/', clientHeaders });
  expect(headers).toEqual({ 'content-type': 'a/b', 'x-dashscope-ossresourceresolve': 'enable', 'user-agent': 'sdk' });
});

test('the key is a bearer token unless the configuration names a header', () => {
  expect(credential('k', target())).toEqual({ authorization: 'Bearer k' });
  expect(credential('k', target({ extraConfig: { auth: 'X-Api-Key' } }))).toEqual({ 'x-api-key': 'k' });
  expect(credential('k', target({ extraConfig: { auth: 'none' } }))).toEqual({});
  expect(credential('k', target({ extraConfig: { auth: 7 } }))).toEqual({ authorization: 'Bearer k' });
});

test('methods and paths by configuration', () => {
  expect(passedMethods({ extraConfig: null }, false)).toEqual(['POST']);
  expect(passedMethods({ extraConfig: null }, true)).toContain('DELETE');
  expect(passedMethods({ extraConfig: { passthrough_methods: ['get', 3] } }, true)).toEqual(['POST', 'GET']);
  expect(passedPaths({ extraConfig: null })).toBeNull();
  expect(passedPaths({ extraConfig: { passthrough_paths: ['/v1/*', 4] } })).toEqual(['v1/*']);
});

test.each(['files/*', { 'files/*': true }, 1, false])('what is stored as %j instead of a list opens nothing', (setting) => {
  expect(passedMethods({ extraConfig: { passthrough_methods: setting } }, true)).toEqual(['POST']);
  expect(passedPaths({ extraConfig: { passthrough_paths: setting } })).toEqual([]);
});
