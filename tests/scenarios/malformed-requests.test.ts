/** Bytes on a connection that are no request, or none that every server reads alike: each is answered in JSON, with an id, and reaches no upstream. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';

describe.each(arrangements('malformed requests'))('malformed requests, %s', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [{ name: 'pump', upstream: 'up', upstream_model_id: 'pump+slow:20' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  const say = async (bytes: string): Promise<[head: string, body: string]> => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.write(bytes);
    await once(socket, 'close');
    const [head = '', ...rest] = Buffer.concat(parts).toString('utf8').split('\r\n\r\n');
    return [head, rest.join('\r\n\r\n')];
  };

  test('a head that is too large is answered 431 in JSON, with an id', async () => {
    const [head, body] = await say(`POST /v1/messages HTTP/1.1\r\nHost: gateway\r\n${`X-Large: ${'x'.repeat(2000)}\r\n`.repeat(40)}\r\n`);
    expect(head).toMatch(/^HTTP\/1\.1 431 /);
    expect(head).toMatch(/^x-request-id: [0-9a-f-]{36}$/m);
    // Whose path it was may have gone by.
    expect(JSON.parse(body)).toMatchObject({ error: { type: 'invalid_request_error', message: 'The request headers are too large.' } });
  });

  test.each([
    ['a head that is none', 400, (path: string) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nno colon\r\n\r\n`],
    ['two lengths', 400, (path: string) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['two hosts', 400, (path: string) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nHost: other\r\nContent-Length: 2\r\n\r\n{}`],
    ['no host', 400, (path: string) => `POST ${path} HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}`],
    ['what nobody can meet', 417, (path: string) => `POST ${path} HTTP/1.1\r\nHost: g\r\nExpect: foo\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`],
    ['more than chunks', 400, (path: string) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    [
      'an encoding that nobody knows',
      400,
      (path: string) => `POST ${path} HTTP/1.1\r\nHost: gateway\r\nTransfer-Encoding: xchunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['chunks of an earlier HTTP', 400, (path: string) => `POST ${path} HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    [
      'a target that names its host, without a key,',
      401,
      (path: string) => `POST http://other${path} HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])('%s is answered %i in JSON, with an id', async (_what, status, bytes) => {
    const [head, body] = await say(bytes('/v1/messages'));
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} \\w`));
    const id = /^x-request-id: ([0-9a-f-]{36})$/m.exec(head)?.[1];
    expect(JSON.parse(body)).toEqual({
      type: 'error',
      error: { type: expect.stringMatching(/^(invalid_request|authentication)_error$/), message: expect.stringMatching(/./) },
      request_id: id,
    });
  });

  test.each(['/mcp', '/healthz'])('nor does %s take it; who has no Host by the rules of an earlier HTTP is let in', async (path) => {
    const statusOf = async (bytes: string) => /^HTTP\/1\.1 (\d+)/.exec((await say(`GET ${path} HTTP/1.${bytes}Connection: close\r\n\r\n`))[0])?.[1];
    expect(await statusOf('1\r\n')).toBe('400');
    expect(await statusOf('1\r\nHost: a\r\nHost: b\r\n')).toBe('400');
    expect(await statusOf('1\r\nHost: a\r\nExpect: foo\r\n')).toBe('417');
    expect(await statusOf('0\r\n')).toBe(path === '/mcp' ? '401' : '200');
  });

  test('what is no HTTP at all, too; and nothing is said into a reply that has begun', async () => {
    expect(JSON.parse((await say('nonsense\r\n\r\n'))[1])).toMatchObject({ error: { code: 'invalid_request' } });
    const body = JSON.stringify({ model: 'pump', stream: true, messages: [{ role: 'user', content: 'hi' }] });
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (part) => {
      received += part.toString('utf8');
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nX-Api-Key: ${gateway.key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(async () => received.includes('data: '), 'the stream to begin');
    socket.write('nonsense\r\n\r\n');
    await once(socket, 'close');
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    await until(async () => fake.requests.every(({ closed }) => closed !== null), 'the upstream’s stream to be stopped');
  });
});
