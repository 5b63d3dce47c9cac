/** TLS settings of an upstream against real servers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { checkTls } from '../src/index.ts';
import { send } from './calls.ts';
import { type Certificate, makeCertificate } from './certificates.ts';
import { cleanUp } from './servers.ts';
import { egress, startTarget, use } from './support.ts';

afterEach(cleanUp);
let server: Certificate;
let client: Certificate;
let named: Certificate;
beforeAll(async () => {
  [server, client, named] = await Promise.all([makeCertificate('upstream.test'), makeCertificate('client'), makeCertificate('api.test', [])]);
});
const call = (port: number, tls: object) => send(use(), { url: `https://127.0.0.1:${port}/`, egress: egress({ tls }) }).done;
const refused = { class: 'connect', phase: 'tls' };

test('ca: what it signed is trusted, in place of all others', async () => {
  const target = await startTarget(server);
  expect(await call(target.port, { ca: server.cert })).toBe('end');
  expect(await call(target.port, {})).toMatchObject(refused);
  expect(await call(target.port, { ca: client.cert })).toMatchObject(refused);
  expect(await call(target.port, { ca: `${client.cert}\n${server.cert}` })).toBe('end');
});

test('client certificate: sent when asked for', async () => {
  const target = await startTarget({ ...server, requestCert: true, rejectUnauthorized: true, ca: client.cert, maxVersion: 'TLSv1.2' });
  expect(await call(target.port, { ca: server.cert, client_cert: client.cert, client_key: client.key })).toBe('end');
  expect(await call(target.port, { ca: server.cert })).toMatchObject(refused);
  expect(target.connections).toBe(1);
});

test('min_version', async () => {
  const target = await startTarget({ ...server, maxVersion: 'TLSv1.2' });
  expect(await call(target.port, { ca: server.cert, min_version: '1.2' })).toBe('end');
  expect(await call(target.port, { ca: server.cert, min_version: '1.3' })).toMatchObject(refused);
});

test('server_name is what is sent and verified', async () => {
  const target = await startTarget(named);
  expect(await call(target.port, { ca: named.cert })).toMatchObject(refused);
  expect(await call(target.port, { ca: named.cert, server_name: 'api.test' })).toBe('end');
  expect(await call(target.port, { ca: named.cert, server_name: 'other.test' })).toMatchObject(refused);
});

test('a refused connection says what an admin may do about it', async () => {
  const plain = createServer((_request, response) => response.end());
  await once(plain.listen(0), 'listening');
  const port = (one: { port: number }) => one.port;
  const old = { ...server, minVersion: 'TLSv1' as const, maxVersion: 'TLSv1' as const, ciphers: 'ALL:@SECLEVEL=0' };
  const detailOf = async (at: number, tls: object): Promise<unknown> => ((await call(at, tls)) as { detail?: unknown }).detail;
  expect(await detailOf(port(await startTarget(server)), {})).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT, .*tls\.ca/);
  expect(await detailOf(port(await startTarget(named)), { ca: named.cert })).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID, .*tls\.server_name/);
  expect(await detailOf(port(await startTarget(old)), { ca: server.cert })).toMatch(/PROTOCOL_VERSION, .*tls\.min_version/);
  expect(await detailOf((plain.address() as AddressInfo).port, {})).toMatch(/ERR_SSL_WRONG_VERSION_NUMBER, no TLS/);
  plain.close();
});

test.each(['-tls1_2', '-tls1_3'])('a refused client certificate is told as such, %s', async (version) => {
  const folder = mkdtempSync(join(tmpdir(), 'upstream-tls-'));
  writeFileSync(join(folder, 'server.pem'), `${server.cert}\n${server.key}`);
  writeFileSync(join(folder, 'ca.pem'), client.cert);
  // Node's own server closes the connection without a word.
  const options = ['-accept', '127.0.0.1:0', '-cert', 'server.pem', '-key', 'server.pem', '-CAfile', 'ca.pem', '-Verify', '1', '-verify_return_error'];
  const openssl = spawn('openssl', ['s_server', ...options, version], { cwd: folder, stdio: ['pipe', 'pipe', 'ignore'] });
  try {
    let said = '';
    for await (const text of openssl.stdout.setEncoding('utf8')) {
      said += text;
      if (/^ACCEPT .*:\d+\n/m.test(said)) break;
    }
    const port = Number(/^ACCEPT .*:(\d+)\n/m.exec(said)?.[1]);
    expect(await call(port, { ca: server.cert })).toMatchObject({ detail: expect.stringContaining('tls.client_cert') });
    const stranger = { client_cert: named.cert, client_key: named.key };
    expect(await call(port, { ca: server.cert, ...stranger })).toMatchObject({ detail: expect.stringContaining('it refuses the client certificate') });
  } finally {
    openssl.kill();
    rmSync(folder, { recursive: true });
  }
});

test('settings that cannot be used are told by field, and end a call as a fault', async () => {
  const texts = { ca: null, client_cert: null, client_key: null, server_name: null };
  const fields = (more: object) => checkTls({ ...texts, ...more }).map(({ field }) => field);
  expect(fields({})).toEqual([]);
  expect(fields({ ca: server.cert, client_cert: client.cert, client_key: client.key, server_name: 'a.b-c.test' })).toEqual([]);
  expect(fields({ ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' })).toEqual(['ca']);
  expect(fields({ ca: server.key })).toEqual(['ca']);
  expect(fields({ client_cert: client.cert })).toEqual(['client_key']);
  expect(fields({ client_key: client.key })).toEqual(['client_cert']);
  expect(fields({ client_cert: client.cert, client_key: server.key })).toEqual(['client_key']);
  for (const server_name of ['a b', '-a', 'a..b', 'é', `${'a'.repeat(64)}.b`])
    expect([server_name, fields({ server_name })]).toEqual([server_name, ['server_name']]);
  const target = await startTarget(server);
  expect(await call(target.port, { ca: server.cert, client_cert: client.cert, client_key: server.key })).toMatchObject(refused);
});

test('settings that differ share no connection; equal ones do', async () => {
  const target = await startTarget(server);
  const outbound = use();
  const get = (tls: object) => send(outbound, { url: `https://127.0.0.1:${target.port}/`, egress: egress({ tls }) }).done;
  const idle = () => new Promise((resolve) => setTimeout(resolve, 20));
  for (const tls of [{ ca: server.cert }, { ca: server.cert }, { ca: server.cert, min_version: '1.3' }, { ca: server.cert }]) {
    expect(await get(tls)).toBe('end');
    await idle();
  }
  expect([target.connections, outbound.stats().pools]).toEqual([2, 2]);
  expect(await send(outbound, { url: `https://127.0.0.1:${target.port}/` }).done).toMatchObject(refused);
});
