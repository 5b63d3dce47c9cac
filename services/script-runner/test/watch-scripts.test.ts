/** The service over a bus: what it asks of the configuration, and when its processes are started. */
import { afterEach, expect, test } from '@jest/globals';
import { createMemoryBus } from '@model-gateway/bus';
import { loadConfig } from '@model-gateway/config';
import { createScriptRunner } from '../src/index.ts';
import { watchScripts } from '../src/watch-scripts.ts';
import { context, script, silent } from './support.ts';

const buses: ReturnType<typeof createMemoryBus>[] = [];
const ends: (() => unknown)[] = [];
const newBus = () => {
  const bus = createMemoryBus({ strict: true });
  buses.push(bus);
  return bus;
};
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
  await Promise.all(buses.splice(0).map((bus) => bus.drain()));
});

test('asks until there is a script, and then no more', async () => {
  const bus = newBus();
  let asked = 0;
  let first = 0;
  bus.serve({ ask: { 'catalog.scripts': () => ({ scripts: ++asked < 4 ? 0 : 2 }) } });
  await new Promise<void>((resolve) => {
    const onFirst = () => {
      first++;
      resolve();
    };
    ends.push(watchScripts(bus, { pollMs: 1, onFirst }));
  });
  expect([asked, first]).toEqual([4, 1]);
});

test('outlives a console that is away, or that does not know the subject', async () => {
  const bus = newBus();
  const started = new Promise<void>((resolve) => ends.push(watchScripts(bus, { pollMs: 1, onFirst: resolve })));
  await expect(bus.ask('catalog.scripts', {})).rejects.toMatchObject({ code: 'service_unavailable' });
  bus.serve({ ask: { 'catalog.scripts': () => ({ scripts: 1 }) } });
  await started;
});

test('a script runner runs scripts with a console of the previous version, which answers no question about them', async () => {
  const bus = newBus();
  const config = loadConfig({ env: { CONFIG_FILE: '/dev/null' } }).scriptRunner;
  const runner = createScriptRunner({ bus, config, logger: silent });
  ends.push(() => runner.stop());
  await runner.start();
  expect(runner.health()).toEqual({ ready: true, reasons: [] });
  const outcome = await new Promise((resolve, reject) => {
    bus.open(
      'script.run',
      { script: script('return body;'), slot: 'request_transform_before', context, owner: 'model:m' },
      { head: resolve, data: () => undefined, tail: () => undefined, broken: reject },
      { body: Buffer.from('{"model":"m"}'), deadlineMs: 60_000 },
    );
  });
  expect(outcome).toMatchObject({ fault: null });
});
