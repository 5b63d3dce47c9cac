/**
 * Micro-benchmark of both buses: one request is an ask, an open with 1 KB and a whole reply of 1 KB, acknowledged.
 *   node packages/bus/bench/bus.ts [--seconds 2] [--concurrency 16]
 * NATS runs against a server of its own when there is one; near and far are two connections of this one process, so its
 * figure is the cost of both ends together, without the server's.
 */
import { parseArgs } from 'node:util';
import { sampleAsks, sampleJob, sampleRow } from '../../../tests/support/bus-samples.ts';
import { natsAvailable, startNatsServer } from '../../../tests/support/nats-server.ts';
import { type Bus, connectNatsBus, createMemoryBus } from '../src/index.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '2' }, concurrency: { type: 'string', default: '16' } } });
const seconds = Number(values.seconds);
const concurrency = Number(values.concurrency);

const body = new Uint8Array(1024).fill(97);
const head = { status: 200, headers: { 'content-type': 'application/json' } };
const { request: planRequest, reply: plan } = sampleAsks['router.plan'];
const row = sampleRow('r');

function serve(bus: Bus): void {
  bus.serve({
    ask: { 'router.plan': () => plan },
    open: {
      'translator.run': (_job, received, stream) => {
        stream.onSettled(() => {});
        stream.whole(head, received, { row });
      },
    },
  });
}

function request(bus: Bus): Promise<void> {
  return bus.ask('router.plan', planRequest).then(
    (planned) =>
      new Promise((resolve, reject) => {
        const call = bus.open(
          'translator.run',
          { ...sampleJob('r', { accept: '*/*' }), plan: planned },
          {
            head: () => {},
            data: (bytes) => call.consumed(bytes.length),
            tail: () => {
              call.acknowledge();
              resolve();
            },
            broken: reject,
          },
          { body },
        );
      }),
  );
}

async function measure(name: string, near: Bus, clients: number): Promise<void> {
  let requests = 0;
  let end = performance.now() + 300;
  const client = async () => {
    while (performance.now() < end) {
      await request(near);
      requests++;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  requests = 0;
  const before = process.cpuUsage();
  const start = performance.now();
  end = start + seconds * 1000;
  await Promise.all(Array.from({ length: clients }, client));
  const { user, system } = process.cpuUsage(before);
  const micros = ((performance.now() - start) * 1000) / requests;
  console.log(JSON.stringify({ bus: name, clients, requests, us_wall: Number(micros.toFixed(2)), us_cpu: Number(((user + system) / requests).toFixed(2)) }));
}

const memory = createMemoryBus();
serve(memory);
for (const clients of [1, concurrency]) await measure('memory', memory, clients);

if (natsAvailable('the NATS part of the bus benchmark')) {
  const server = await startNatsServer();
  const near = await connectNatsBus({ url: server.url, name: 'near' });
  const far = await connectNatsBus({ url: server.url, name: 'far' });
  serve(far);
  while (!near.connected || !far.connected) await new Promise((resolve) => setTimeout(resolve, 20));
  await new Promise((resolve) => setTimeout(resolve, 100));
  for (const clients of [1, concurrency]) await measure('nats', near, clients);
  await Promise.all([near.drain(), far.drain()]);
  await server.dispose();
}
process.exit(0);
