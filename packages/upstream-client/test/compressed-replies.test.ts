/** Replies that come compressed although plain bytes were asked for. */
import { randomBytes } from 'node:crypto';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type Listening, listenHttp, send } from './calls.ts';
import { cleanUp, onCleanUp } from './servers.ts';
import { use } from './support.ts';

afterEach(cleanUp);

const serve = async (server: Promise<Listening>): Promise<Listening> => {
  const one = await server;
  onCleanUp(one.close);
  return one;
};

describe('compressed replies', () => {
  const packed = async (body: Buffer, encoding: string) => {
    const server = await serve(
      listenHttp((_request, response) => response.writeHead(200, { 'content-encoding': encoding, 'content-length': body.length }).end(body)),
    );
    const seen = send(use(), { url: server.url });
    return { seen, end: await seen.done };
  };

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('%s is unpacked', async (encoding, pack) => {
    const text = 'hello '.repeat(1000);
    const { seen, end } = await packed(pack(Buffer.from(text)), encoding);
    expect(end).toBe('end');
    expect(seen.text()).toBe(text);
    expect(seen.headers).not.toHaveProperty('content-encoding');
    expect(seen.headers).not.toHaveProperty('content-length');
  });

  test('a bomb is cut', async () => {
    const { seen, end } = await packed(gzipSync(Buffer.alloc(64 * 1024 * 1024)), 'gzip');
    expect(end).toMatchObject({ class: 'protocol', phase: 'body' });
    expect(seen.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBeLessThan(8 * 1024 * 1024);
  });

  test('layers, unknown encodings and broken data are protocol faults', async () => {
    expect((await packed(gzipSync(gzipSync('x')), 'gzip, gzip')).end).toMatchObject({ class: 'protocol' });
    expect((await packed(Buffer.from('x'), 'compress')).end).toMatchObject({ class: 'protocol' });
    expect((await packed(Buffer.from('not gzip'), 'gzip')).end).toMatchObject({ class: 'protocol', phase: 'body' });
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)('bytes behind the end of %s are a fault, few or many, and hold no connection', async (encoding, pack) => {
    const bytes = pack(randomBytes(100_000));
    expect((await packed(bytes, encoding)).end).toBe('end');
    for (const rest of ['rest', '-'.repeat(200_000)]) {
      const { seen, end } = await packed(Buffer.concat([bytes, Buffer.from(rest)]), encoding);
      expect(end).toMatchObject({ class: 'protocol', phase: 'body' });
      expect(seen.endings).toBe(1);
    }
  });

  test('each piece of a compressed stream arrives when it was sent', async () => {
    const { createGzip, constants } = await import('node:zlib');
    let sendRest = (): unknown => undefined;
    const server = await serve(
      listenHttp((_request, response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' });
        const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH });
        gzip.pipe(response);
        gzip.write('first');
        sendRest = () => gzip.end('second');
      }),
    );
    // The second piece is sent when the first has arrived.
    const seen = send(use(), { url: server.url }, { data: (one) => one.text() === 'first' && sendRest() });
    expect(await seen.done).toBe('end');
    expect(seen.text()).toBe('firstsecond');
  });
});
