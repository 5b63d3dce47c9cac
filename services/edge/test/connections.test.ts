/** Callers' connections over real sockets: the caps, bodies that arrive too slowly, and callers who vanish. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { createLogger, createMetrics, type Metrics } from '@model-gateway/telemetry';
import { type ConnectionLimits, Connections, lookMs } from '../src/http/connections.ts';
import { BodyBudget, readBody } from '../src/http/read-body.ts';

const limits: ConnectionLimits = { max: 100, maxPerAddress: 100, minBodyBytesPerSecond: 1024, isProxy: () => false };
const open: { server: Server; sockets: Socket[] }[] = [];
afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  }
});

interface Stage {
  connections: Connections;
  metrics: Metrics;
  requests: IncomingMessage[];
  /** What became of the bodies. */
  outcomes: unknown[];
  caller(): Socket;
}

async function stage(changed: Partial<ConnectionLimits> = {}, reads = true): Promise<Stage> {
  const metrics = createMetrics({ service: 'test' });
  const requests: IncomingMessage[] = [];
  const outcomes: unknown[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    if (!reads) return;
    readBody(request, { maxBytes: 1 << 20 }, new BodyBudget(1 << 20)).then(
      ({ bytes }) => {
        outcomes.push(bytes.length);
        response.end('ok');
      },
      (error: { code: string; status: number }) => {
        outcomes.push(error.code);
        response.writeHead(error.status, { connection: 'close' }).end();
      },
    );
  });
  const connections = new Connections({ ...limits, ...changed }, createLogger({ level: 'silent', name: 'test' }), metrics);
  connections.watch(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const sockets: Socket[] = [];
  open.push({ server, sockets });
  return {
    connections,
    metrics,
    requests,
    outcomes,
    caller() {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
      sockets.push(socket);
      socket.resume();
      return socket;
    },
  };
}

const until = async (check: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 5));
};
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()));
const head = (length: number): string => `POST / HTTP/1.1\r\nHost: h\r\nContent-Length: ${length}\r\n\r\n`;
/** Sends and waits until the server has it, so that the next look counts it. */
async function arrive({ requests }: Stage, socket: Socket, text: string): Promise<void> {
  if (socket.connecting) await once(socket, 'connect');
  const read = (): number => requests.findLast((request) => request.socket.remotePort === socket.localPort)?.socket.bytesRead ?? 0;
  const before = read();
  socket.write(text);
  await until(() => read() >= before + text.length);
}
const count = async (metrics: Metrics, name: string, label = ''): Promise<number> =>
  Number(
    (await metrics.text())
      .split('\n')
      .find((line) => line.startsWith(`${name}{`) && line.includes(label))
      ?.split(' ')
      .at(-1) ?? 0,
  );

test('a body that makes no progress for two checks is answered 408, and its connection is closed', async () => {
  const one = await stage();
  const socket = one.caller();
  const gone = closed(socket);
  await arrive(one, socket, head(10_000));
  // The first look takes the measure, the next two find nothing new.
  for (let looks = 0; looks < 2; looks++) one.connections.look(lookMs);
  expect(one.outcomes).toEqual([]);
  one.connections.look(lookMs);
  await until(() => one.outcomes.length > 0);
  expect(one.outcomes).toEqual(['request_timeout']);
  await gone;
});

test('a drip below the pace is too slow; a body at the pace, or one that comes on again, is not', async () => {
  const drip = await stage();
  const slow = drip.caller();
  await arrive(drip, slow, head(100_000));
  for (let looks = 0; looks < 3; looks++) {
    await arrive(drip, slow, 'x'.repeat(500));
    drip.connections.look(lookMs);
  }
  await until(() => drip.outcomes.length > 0);
  expect(drip.outcomes).toEqual(['request_timeout']);

  const steady = await stage();
  const caller = steady.caller();
  await arrive(steady, caller, head(40_960));
  for (let looks = 0; looks < 8; looks++) {
    // Every other look finds nothing: five seconds of silence are no fault.
    if (looks % 2 === 0) await arrive(steady, caller, 'x'.repeat(10_240));
    steady.connections.look(lookMs);
  }
  await until(() => steady.outcomes.length > 0);
  expect(steady.outcomes).toEqual([40_960]);
});

test('a request that is not being read right now is not slow, and neither is a finished one', async () => {
  const unread = await stage({}, false);
  const socket = unread.caller();
  await arrive(unread, socket, head(10));
  for (let looks = 0; looks < 5; looks++) unread.connections.look(lookMs);
  expect(unread.requests[0]!.socket.destroyed).toBe(false);

  const done = await stage();
  const kept = done.caller();
  await arrive(done, kept, `${head(2)}{}`);
  await until(() => done.outcomes.length > 0);
  for (let looks = 0; looks < 5; looks++) done.connections.look(lookMs);
  await arrive(done, kept, `${head(2)}{}`);
  await until(() => done.outcomes.length > 1);
  expect(done.outcomes).toEqual([2, 2]);
});

test('above the cap connections are closed at once and counted; places that were left are free again', async () => {
  const one = await stage({ max: 2 });
  const first = one.caller();
  await arrive(one, first, `${head(2)}{}`);
  one.caller();
  await until(async () => (await count(one.metrics, 'gateway_connections')) === 2);
  await closed(one.caller());
  expect(await count(one.metrics, 'gateway_connections_refused_total', '"total"')).toBe(1);
  first.destroy();
  await until(async () => (await count(one.metrics, 'gateway_connections')) === 1);
  await arrive(one, one.caller(), `${head(2)}{}`);
  await until(() => one.outcomes.length === 2);
});

test('one address has its share; a trusted proxy brings as many as come', async () => {
  const one = await stage({ maxPerAddress: 2 });
  one.caller();
  one.caller();
  await until(async () => (await count(one.metrics, 'gateway_connections')) === 2);
  await closed(one.caller());
  expect(await count(one.metrics, 'gateway_connections_refused_total', '"address"')).toBe(1);

  const behind = await stage({ maxPerAddress: 2, isProxy: (address) => address === '127.0.0.1' });
  for (let at = 0; at < 5; at++) behind.caller();
  await until(async () => (await count(behind.metrics, 'gateway_connections')) === 5);
});

test('only connections without a request are closed as silent', async () => {
  const one = await stage();
  const kept = one.caller();
  await arrive(one, kept, `${head(2)}{}`);
  await until(() => one.outcomes.length === 1);
  const silent = one.caller();
  await until(async () => (await count(one.metrics, 'gateway_connections')) === 2);
  one.connections.closeSilent();
  await closed(silent);
  await arrive(one, kept, `${head(2)}{}`);
  await until(() => one.outcomes.length === 2);
});

const tellsTimers = process.platform === 'linux';
if (!tellsTimers) process.stderr.write('The probing of silent callers WAS NOT TESTED: only Linux tells which timers its connections have\n');
(tellsTimers ? test : test.skip)('a caller who waits for a reply is probed by the system, which finds out when it vanishes', async () => {
  const waiting = await stage();
  const socket = waiting.caller();
  await arrive(waiting, socket, head(10));
  const { localPort, remotePort } = waiting.requests[0]!.socket;
  const ends = [localPort, remotePort].map((port) => `:${port!.toString(16).toUpperCase().padStart(4, '0')}`);
  // The kind of the timer that runs: 02 probes a silent connection, 01 repeats what was not acknowledged yet.
  const timer = (): string | undefined =>
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find(([, local, remote]) => local?.endsWith(ends[0]!) && remote?.endsWith(ends[1]!))?.[5]
      ?.slice(0, 2);
  await until(() => timer() !== '01');
  expect(timer()).toBe('02');
});
