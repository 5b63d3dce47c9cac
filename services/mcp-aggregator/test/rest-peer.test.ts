/** Calls of a REST service's operations: where arguments go, and what cannot be asked for. */
import { describe, expect, test } from '@jest/globals';
import { restOperationSchema } from '@model-gateway/contracts';
import { buildRequest } from '../src/servers/rest-peer.ts';

const target = { url: 'https://shop.test/api', headers: { authorization: 'Bearer secret' } };
const operation = (parts: object) => restOperationSchema.parse({ operation_id: 'get', method: 'get', path: '/orders/{id}', ...parts });

describe('a request', () => {
  test('path first, then the query of methods without a body', () => {
    expect(buildRequest(operation({}), { id: 'a b', page: 2, tags: ['x', 'y'] }, target)).toMatchObject({
      method: 'GET',
      url: 'https://shop.test/api/orders/a%20b?page=2&tags=x&tags=y',
      headers: { authorization: 'Bearer secret' },
    });
  });

  test('a JSON body for the others, unless the schema says otherwise', () => {
    const post = operation({
      method: 'POST',
      path: '/orders/{id}/lines',
      parameters_schema: { type: 'object', properties: { dry: { type: 'boolean', in: 'query' }, trace: { type: 'string', in: 'header' } } },
    });
    const request = buildRequest(post, { id: 7, dry: true, trace: 'on', sku: 'x', none: null }, target);
    expect(request).toMatchObject({ url: 'https://shop.test/api/orders/7/lines?dry=true', headers: { trace: 'on', 'content-type': 'application/json' } });
    expect(JSON.parse((request as { body: string }).body)).toEqual({ sku: 'x', none: null });
  });

  test('keeps the query of the endpoint', () => {
    expect(buildRequest(operation({}), { id: 1 }, { ...target, url: 'https://shop.test/api/?v=2' })).toMatchObject({
      url: 'https://shop.test/api/orders/1?v=2',
    });
  });

  test.each(['..', '.', ''])('no argument %j leads to another path', (id) => {
    expect(typeof buildRequest(operation({}), { id }, target)).toBe('string');
  });

  test.each([
    ['../admin', '..%2Fadmin'],
    ['1?x=1', '1%3Fx%3D1'],
    ['1#x', '1%23x'],
    ['1\r\nHost: evil', '1%0D%0AHost%3A%20evil'],
    ['%2e%2e', '%252e%252e'],
    ['{id}', '%7Bid%7D'],
    ['$&', '%24%26'],
  ])('the argument %j stays one segment', (id, segment) => {
    expect(buildRequest(operation({}), { id }, target)).toMatchObject({ url: `https://shop.test/api/orders/${segment}` });
  });

  test('arguments set no header of the connection and no credential', () => {
    for (const name of ['authorization', 'Host', 'Content-Length', 'Cookie', 'X-Forwarded-For', 'bad name']) {
      const own = operation({ path: '/orders', parameters_schema: { type: 'object', properties: { [name]: { type: 'string', in: 'header' } } } });
      expect([name, typeof buildRequest(own, { [name]: 'x' }, target)]).toEqual([name, 'string']);
    }
    const own = operation({ path: '/orders', parameters_schema: { type: 'object', properties: { trace: { type: 'string', in: 'header' } } } });
    expect(typeof buildRequest(own, { trace: 'a\r\nb: c' }, target)).toBe('string');
  });

  test('an argument that the path needs is named when it is missing', () => {
    expect(buildRequest(operation({}), {}, target)).toBe('The argument id is missing.');
  });
});
