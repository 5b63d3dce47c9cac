/** Many large uploads at once, through processes that share nothing but the bus: all are served, and no process holds what another has. */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { watchTogether } from '../support/gauges.ts';

const uploads = 32;
const fileBytes = 25_000_000;
const head = Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\nContent-Type: audio/mpeg\r\n\r\n');
const foot = Buffer.from('\r\n--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nears\r\n--b--\r\n');
const sentBytes = head.length + fileBytes + foot.length + 'gpt-4o-transcribe'.length - 'ears'.length;
const chunk = Buffer.alloc(250_000, 'sound');

(splitAvailable('large uploads') ? describe : describe.skip)('large uploads', () => {
  let gateway: TestGateway;
  let upstream: Server;
  /** Lengths of what the upstream was sent. */
  const received: number[] = [];
  /** Each answers one request of the upstream. */
  const waiting: (() => void)[] = [];

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      let size = 0;
      request.on('data', (part: Buffer) => {
        size += part.length;
      });
      request.on('end', () => {
        received.push(size);
        waiting.push(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"text":"x"}'));
      });
    });
    await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
    gateway = await startGateway({ arrangement: 'split', toml: { server: { body_budget_bytes: 2 ** 30 } } });
    await gateway.configure({
      upstreams: [
        {
          name: 'sound',
          protocol: 'alpha_audio',
          base_url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
          api_keys: [{ key: 'sk-of-sound' }],
        },
      ],
      models: [{ name: 'ears', upstream: 'sound', upstream_model_id: 'gpt-4o-transcribe' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    upstream?.closeAllConnections();
    upstream?.close();
  });

  const upload = (bytes: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const request = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${gateway.key}`,
          'content-type': 'multipart/form-data; boundary=b',
          'content-length': head.length + bytes + foot.length,
        },
      });
      request.on('error', reject);
      request.on('response', (reply) => {
        reply.resume();
        reply.on('end', () => resolve(reply.statusCode ?? 0));
      });
      request.write(head);
      let left = bytes;
      const write = (): void => {
        while (left > 0) {
          const part = chunk.subarray(0, Math.min(left, chunk.length));
          left -= part.length;
          if (!request.write(part)) return void request.once('drain', write);
        }
        request.end(foot);
      };
      write();
    });

  const heldByEdge = async () => Number(/^gateway_request_body_bytes(?:\{[^}]*\})? (\d+)/m.exec(await gateway.processes['edge']!.metrics())?.[1]);

  test('all are served, in one and a half times their memory, since the edge lets go of bodies that a translator has', async () => {
    const grown = watchTogether(gateway, ['edge', 'translator']);
    const replies = Array.from({ length: uploads }, () => upload(fileBytes));
    await until(async () => waiting.length === uploads, 'the upstream to have all uploads', 120_000);
    await until(async () => (await heldByEdge()) === 0, 'the edge to let go');
    for (const answer of waiting) answer();
    expect(await Promise.all(replies)).toEqual(Array.from({ length: uploads }, () => 200));
    expect(received).toEqual(Array.from({ length: uploads }, () => sentBytes));
    const together = grown();
    const sum = Math.round((uploads * sentBytes) / 2 ** 20);
    expect({ together: together <= sum * 1.5 ? 'bounded' : together }).toEqual({ together: 'bounded' });
  });

  test('beyond the cap: 413 at once, before the body comes', async () => {
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(`${gateway.url}/v1/audio/transcriptions`, {
        method: 'POST',
        agent: false,
        headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'multipart/form-data; boundary=b', 'content-length': 10_000_000_000 },
      });
      request.on('error', reject);
      request.on('response', (reply) => {
        resolve(reply.statusCode);
        request.destroy();
      });
      request.flushHeaders();
    });
    expect(status).toBe(413);
  });
});
