/** TLS settings of an upstream against real servers. */
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
