/** Calls through real proxies of every kind. */

import { createServer, type Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { OutboundFault } from '../src/index.ts';
import { send } from './calls.ts';
import { type Certificate, makeCertificate } from './certificates.ts';
import { cleanUp, listen, type Sending, startConnectProxy, startDns, startSocksProxy } from './servers.ts';
import { egress, startTarget, use } from './support.ts';

afterEach(cleanUp);
let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeCertificate('upstream.test');
});

/** Every name is at home. */
const home: Sending = (_host, port) => ({ host: '127.0.0.1', port });

describe('through a proxy', () => {
  test.each([
    ['http', startConnectProxy],
    ['socks4a', startSocksProxy],
    ['socks5h', startSocksProxy],
  ] as const)('%s, which resolves: http and https targets, connections kept', async (scheme, start) => {
    const proxy = await start({ sending: home });
    const way = egress({ proxy: `${scheme}://127.0.0.1:${proxy.port}`, tls: { ca: certificate.cert } });
    const outbound = use();
    const plain = await startTarget();
    const secure = await startTarget(certificate);
    for (const url of [`http://upstream.test:${plain.port}/a`, `https://upstream.test:${secure.port}/a`]) {
      for (let i = 0; i < 2; i++) {
        const seen = send(outbound, { url, egress: way });
        expect(await seen.done).toBe('end');
        expect(seen.text()).toBe(`hello ${new URL(url).host}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }
    expect(proxy.asked).toEqual([`upstream.test:${plain.port}`, `upstream.test:${secure.port}`]);
    expect(outbound.stats()).toEqual({ pools: 2, active: 0 });
  });

  test.each(['socks4', 'socks5'])('%s is told an address, resolved and judged here', async (scheme) => {
    const proxy = await startSocksProxy();
    const target = await startTarget();
    const dns = await startDns((name, type) => ({
      answers: type === 'A' ? [{ type, name, data: name === 'inside.test' ? '169.254.169.254' : '127.0.0.1', ttl: 9 }] : [],
    }));
    const way = egress({ proxy: `${scheme}://127.0.0.1:${proxy.port}`, dns: { servers: [`127.0.0.1:${dns.port}`], ttl_secs: null } });
    expect(await send(use(), { url: `http://upstream.test:${target.port}/`, egress: way }).done).toBe('end');
    expect(proxy.asked).toEqual([`127.0.0.1:${target.port}`]);
    expect(await send(use(), { url: `http://inside.test:${target.port}/`, egress: way }).done).toMatchObject({ class: 'refused-address', phase: 'dns' });
    expect(proxy.asked).toHaveLength(1);
  });

  test.each(['socks4', 'socks5'])('%s is asked for the next address where it cannot reach the first, and not again where it takes nobody', async (scheme) => {
    const target = await startTarget();
    const proxy = await startSocksProxy({ sending: (host, port) => ({ host: '127.0.0.1', port: host === '127.0.0.9' ? 1 : port }) });
    const dns = await startDns((name, type) => ({
      answers: type === 'A' ? ['127.0.0.9', '127.0.0.1'].map((data) => ({ type, name, data, ttl: 9 })) : [],
    }));
    const through = (port: number) => egress({ proxy: `${scheme}://127.0.0.1:${port}`, dns: { servers: [`127.0.0.1:${dns.port}`], ttl_secs: null } });
    expect(await send(use(), { url: `http://upstream.test:${target.port}/`, egress: through(proxy.port) }).done).toBe('end');
    expect(proxy.asked).toEqual([`127.0.0.9:${target.port}`, `127.0.0.1:${target.port}`]);
    let connections = 0;
    const { port } = await listen(
      createServer((socket) => {
        connections++;
        socket.once('data', () => socket.end(Buffer.from([5, 255])));
      }),
    );
    expect(await send(use(), { url: `http://upstream.test:${target.port}/`, egress: through(port) }).done).toMatchObject({ class: 'connect', phase: 'proxy' });
    expect(connections).toBe(1);
  });

  test("https, trusted by the upstream's own authority", async () => {
    const proxy = await startConnectProxy({ sending: home, tls: certificate, want: 'me:p@ss word' });
    const target = await startTarget();
    const call = (settings: object) =>
      send(use(), { url: `http://u.test:${target.port}/`, egress: egress({ proxy: `https://me:p%40ss%20word@127.0.0.1:${proxy.port}`, ...settings }) }).done;
    expect(await call({ tls: { ca: certificate.cert } })).toBe('end');
    expect(proxy.asked).toEqual([`me:p@ss word@u.test:${target.port}`]);
    expect(await call({})).toMatchObject({ class: 'connect', phase: 'proxy' });
  });

  test.each([
    ['http', startConnectProxy],
    ['socks5', startSocksProxy],
    ['socks5h', startSocksProxy],
  ] as const)('%s with credentials: right ones pass, wrong ones are a fault that holds none', async (scheme, start) => {
    const proxy = await start({ want: 'me:right-one', sending: home });
    const target = await startTarget();
    const call = (userInfo: string) =>
      send(use(), { url: `http://127.0.0.1:${target.port}/`, egress: egress({ proxy: `${scheme}://${userInfo}127.0.0.1:${proxy.port}` }) }).done;
    expect(await call('me:right-one@')).toBe('end');
    for (const userInfo of ['me:wrong-one@', '']) {
      const fault = (await call(userInfo)) as OutboundFault;
      expect(fault).toMatchObject({ class: 'connect', phase: 'proxy', message: 'The proxy of the upstream did not connect.' });
      const { cause } = fault;
      expect(`${JSON.stringify(cause)} ${(cause as Error).message} ${(cause as Error).stack} ${Object.values(cause as object)}`).not.toMatch(/wrong-one|bWU6/);
    }
  });

  test('socks4 with a user name', async () => {
    const proxy = await startSocksProxy();
    const target = await startTarget();
    expect(await send(use(), { url: `http://127.0.0.1:${target.port}/`, egress: egress({ proxy: `socks4://me@127.0.0.1:${proxy.port}` }) }).done).toBe('end');
    expect(proxy.asked).toEqual([`me@127.0.0.1:${target.port}`]);
  });
});

describe('a proxy that does not connect', () => {
  const fault = (proxy: string, more: object = {}, url = 'http://u.test:1/', timeouts: { connect_ms?: number } = {}) =>
    send(use({ allowPrivate: true, ...more }), { url, egress: egress({ proxy }), timeouts }).done;

  test.each(['http', 'https', 'socks4', 'socks5h'])('%s refused', async (scheme) => {
    expect(await fault(`${scheme}://127.0.0.1:1`, {}, 'http://127.0.0.1:9/')).toMatchObject({
      class: 'connect',
      phase: 'proxy',
      detail: 'the proxy cannot be reached: connection failed: ECONNREFUSED',
    });
  });

  test.each(['http', 'https', 'socks4', 'socks5h'])('%s that says nothing is given up in time, and its connection closed', async (scheme) => {
    let closed: (value: unknown) => void = () => {};
    const gone = new Promise((resolve) => {
      closed = resolve;
    });
    const { port } = await listen(createServer((socket) => void socket.resume().on('close', closed)));
    expect(await fault(`${scheme}://127.0.0.1:${port}`, {}, 'http://127.0.0.1:9/', { connect_ms: 300 })).toMatchObject({ class: 'timeout', phase: 'connect' });
    await gone;
  });

  test.each(['http', 'socks4', 'socks5'])('%s that talks nonsense, or hangs up', async (scheme) => {
    for (const answer of ['nonsense\r\n\r\n'.repeat(20), '']) {
      const { port } = await listen(createServer((socket) => void socket.once('data', () => socket.end(answer))));
      expect(await fault(`${scheme}://127.0.0.1:${port}`, {}, 'http://127.0.0.1:1/')).toMatchObject({ class: 'connect', phase: 'proxy' });
    }
  });

  test.each(['socks5h', 'socks4', 'http'] as const)('%s that cannot reach the target', async (scheme) => {
    const start = scheme === 'http' ? startConnectProxy : startSocksProxy;
    const proxy = await start({ sending: () => ({ host: '127.0.0.1', port: 1 }) });
    expect(await fault(`${scheme}://127.0.0.1:${proxy.port}`, {}, 'http://127.0.0.1:9/')).toMatchObject({ class: 'connect', phase: 'proxy' });
  });

  test('one that wants credentials is a fault that says so', async () => {
    const proxy = await startConnectProxy({ want: 'me:right-one' });
    expect(await fault(`http://127.0.0.1:${proxy.port}`)).toMatchObject({ detail: 'the proxy answered 407 to CONNECT' });
  });

  test("bytes behind the answer to CONNECT would be read as the upstream's: refused", async () => {
    const proxy = await startConnectProxy({ answer: 'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nowned' });
    expect(await fault(`http://127.0.0.1:${proxy.port}`)).toMatchObject({ class: 'connect', phase: 'proxy' });
  });

  test('an endless head is refused', async () => {
    const { port } = await listen(createServer((socket) => void socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(64 * 1024)}`))));
    expect(await fault(`http://127.0.0.1:${port}`)).toMatchObject({ class: 'connect', phase: 'proxy' });
  });

  test('an aborted call leaves no connection', async () => {
    let connected = (_socket: Socket): void => {};
    const connection = new Promise<Socket>((resolve) => {
      connected = resolve;
    });
    const { port } = await listen(createServer((socket) => connected(socket)));
    const seen = send(use(), { url: 'https://u.test/', egress: egress({ proxy: `http://127.0.0.1:${port}` }) });
    const socket = await connection;
    const closed = new Promise((resolve) => socket.on('close', resolve));
    // The proxy was asked.
    await new Promise((resolve) => socket.once('data', resolve));
    seen.call.abort('over');
    await closed;
  });

  test('the guard judges the proxy, and what is asked of it', async () => {
    const proxy = await startConnectProxy();
    const way = `http://127.0.0.1:${proxy.port}`;
    expect(await fault(way, { allowPrivate: false }, 'http://u.example/')).toMatchObject({ class: 'refused-address' });
    for (const url of [
      'http://169.254.169.254/',
      'http://[fd00:ec2::254]/',
      'http://metadata.google.internal/',
      'http://metadata.google.internal./',
      'http://2852039166/',
    ])
      expect([url, await fault(way, {}, url)]).toMatchObject([url, { class: 'refused-address' }]);
    expect(proxy.asked).toEqual([]);
  });
});
