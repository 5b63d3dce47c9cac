/** Calls of a REST service's operations: where arguments go, and what cannot be asked for. */
import { describe, expect, test } from '@jest/globals';
import { restOperationSchema } from '@model-gateway/contracts';
import { createOutbound } from '@model-gateway/upstream-client';
import { ServerFault } from '../src/servers/http.ts';
import { buildRequest, RestPeer } from '../src/servers/rest-peer.ts';
import { openSession } from '../src/servers/session-peer.ts';
import { openSseSession } from '../src/servers/sse-peer.ts';

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

  test.each(['..', '.', '', '../admin', 'a/../../admin', 'a/..', '..\\admin', './admin', '..;/admin', 'a/..;x=1/b'])(
    'no argument %j leads to another path',
    (id) => {
      expect(typeof buildRequest(operation({}), { id }, target)).toBe('string');
    },
  );

  test('nor do several in one segment', () => {
    expect(typeof buildRequest(operation({ path: '/orders/{a}{b}' }), { a: './', b: 'x' }, target)).toBe('string');
    expect(typeof buildRequest(operation({ path: '/orders/.{a}' }), { a: './admin' }, target)).toBe('string');
  });

  test.each([
    ['src/a.ts', 'src%2Fa.ts'],
    ['v1..v2/.../.x', 'v1..v2%2F...%2F.x'],
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

describe('a name that leads to the metadata of a cloud', () => {
  const timeouts = { connect_ms: 5_000, first_byte_ms: 5_000, idle_ms: 5_000, total_ms: 5_000 };
  const signal = AbortSignal.timeout(10_000);

  test.each(['169.254.169.254', '::ffff:169.254.169.254', 'fd00:ec2::254', '100.100.100.200', '0.0.0.0'])(
    '%s is not dialled, though private addresses are',
    async (address) => {
      const resolved: string[] = [];
      const outbound = createOutbound({
        ...{ allowPrivate: true, timeouts, userAgent: 'test', logger: { warn: () => {}, error: () => {} } },
        resolve(host, _options, callback) {
          resolved.push(host);
          callback(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
        },
      });
      const seen = { outbound, target: () => ({ url: 'http://inside.example:1/mcp', headers: { authorization: 'Bearer secret' } }) };
      const own = { ...seen, capabilities: '{}', clientInfo: { name: 'suite', version: '1' }, onNotification: () => undefined, listens: false };
      const rest = new RestPeer({ ...seen, config: { operations: [{ operation_id: 'get', method: 'GET', path: '/latest' }] } });
      try {
        const refused = 'The address of the server is not allowed.';
        const opened = [openSession(own, signal), openSseSession(own, signal)].map((asked: Promise<unknown>) => asked.catch((error: unknown) => error));
        expect(await rest.request({ method: 'tools/call', params: '{"name":"get"}', signal, silenceMs: 5_000 })).toEqual({
          kind: 'result',
          result: JSON.stringify({ content: [{ type: 'text', text: refused }], isError: true }),
          fault: refused,
        });
        expect(await Promise.all(opened)).toEqual([new ServerFault(refused), new ServerFault(refused)]);
        expect(resolved.length).toBeGreaterThan(0);
      } finally {
        await outbound.close();
      }
    },
  );
});
