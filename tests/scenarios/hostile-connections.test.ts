/** B18: callers who connect and say nothing, send heads or bodies a drop at a time, or come in crowds. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

const maxPerAddress = 40;
let upstream: FakeUpstream;
let gateway: TestGateway;
/** Waits for request heads longer than any test takes: there silent connections stay, and count. */
let patient: TestGateway;
const sockets: Socket[] = [];

beforeAll(async () => {
  upstream = await startFakeUpstream();
  const start = async (server: Record<string, number>): Promise<TestGateway> => {
    const started = await startGateway({ arrangement: 'embedded', toml: { server } });
    await started.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [{ name: 'ok', upstream: 'up', upstream_model_id: 'ok' }],
    });
    return started;
  };
  gateway = await start({ headers_timeout_seconds: 4 });
  patient = await start({ max_connections: 60, max_connections_per_address: maxPerAddress, headers_timeout_seconds: 300 });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await gateway?.stop();
  await patient?.stop();
  await upstream?.close();
});

interface Caller {
  socket: Socket;
  received: string;
  closed: Promise<unknown>;
}

async function caller(text = '', from = '127.0.0.1', to = gateway): Promise<Caller> {
  const socket = connect({ port: Number(new URL(to.url).port), host: '127.0.0.1', localAddress: from });
  sockets.push(socket);
  const one: Caller = { socket, received: '', closed: once(socket, 'close') };
  socket.on('data', (bytes) => {
    one.received += bytes.toString('latin1');
  });
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(text);
  return one;
}

const head = (path: string, length: number, to = gateway): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nAuthorization: Bearer ${to.key}\r\nContent-Length: ${length}\r\n\r\n`;
const whole = JSON.stringify({ model: 'ok', messages: [{ role: 'user', content: 'hi' }] });
const metric = async (name: string, label: string): Promise<number> => {
  const lines = (await patient.processes['gateway']!.metrics()).split('\n');
  return Number(
    lines
      .find((line) => line.startsWith(`${name}{`) && line.includes(label))
      ?.split(' ')
      .at(-1) ?? 0,
  );
};

test('a body that comes a drop at a time is answered 408 in the caller’s shape and leaves a row; others are served meanwhile', async () => {
  const slow = await caller(head('/v1/messages', 5000));
  const atConsole = await caller(head('/console/api/login', 5000));
  const drip = setInterval(() => {
    for (const { socket } of [slow, atConsole]) if (socket.writable) socket.write(' ');
  }, 1000);
  try {
    const quick = await caller(head('/v1/chat/completions', whole.length) + whole);
    await until(async () => quick.received.startsWith('HTTP/1.1 200'), 'another caller to be served');
    quick.socket.destroy();
    await Promise.all([slow.closed, atConsole.closed]);
  } finally {
    clearInterval(drip);
  }
  expect(slow.received).toMatch(/^HTTP\/1\.1 408 /);
  expect(slow.received).toMatch(/connection: close/i);
  expect(JSON.parse(slow.received.split('\r\n\r\n')[1]!)).toMatchObject({ type: 'error', error: { message: 'The request body arrived too slowly.' } });
  expect(atConsole.received).toMatch(/^HTTP\/1\.1 408 /);
  const id = /x-request-id: (\S+)/i.exec(slow.received)![1]!;
  expect(await gateway.row(id)).toMatchObject({ status: 408, error_code: 'request_timeout', upstream: null });
});

test('connections that say nothing, or a head that never ends, are closed', async () => {
  const callers = [await caller(), await caller('POST /v1/messages HTTP/1.1\r\nHost: gateway\r\nX-Slow: ')];
  await Promise.all(callers.map(({ closed }) => closed));
  for (const { received } of callers) expect(received).toMatch(/^(HTTP\/1\.1 408 |$)/);
});

test('one address has its share of the connections, another address is served beside it, all together are capped', async () => {
  const call = head('/v1/chat/completions', whole.length, patient) + whole;
  const from = (address: string, text = '') => caller(text, address, patient);
  await until(async () => (await metric('gateway_connections', '')) <= 2, 'earlier connections to be closed');
  const crowd = await Promise.all(Array.from({ length: maxPerAddress + 20 }, () => from('127.0.0.1')));
  await until(async () => (await metric('gateway_connections_refused_total', '"address"')) >= 18, 'the crowd to be refused');
  const other = await from('127.0.0.2', call);
  await until(async () => other.received.startsWith('HTTP/1.1 200'), 'another address to be served');
  await Promise.all(Array.from({ length: 40 }, () => from('127.0.0.3')));
  await until(async () => (await metric('gateway_connections_refused_total', '"total"')) >= 10, 'connections above all to be refused');
  expect(await metric('gateway_connections', '')).toBeLessThanOrEqual(60);
  // The probes have a port of their own.
  expect((await patient.processes['gateway']!.metrics()).length).toBeGreaterThan(0);
  for (const { socket } of crowd) socket.destroy();
  await until(async () => (await metric('gateway_connections', '')) <= 45, 'the crowd to be gone');
  const later = await from('127.0.0.1', call);
  await until(async () => later.received.startsWith('HTTP/1.1 200'), 'the first address to be served again');
});

test('a body that the console does not read holds up no later request of its connection', async () => {
  const body = 'x'.repeat(8 * 1024 * 1024);
  const one = await caller(`${head('/console/api/nothing', body.length)}${body}GET /console/api/me HTTP/1.1\r\nHost: gateway\r\n\r\n`);
  const answers = () => [...one.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
  await until(async () => answers().length === 2, 'both answers');
  expect(answers()[1]).toBe('401');
});
