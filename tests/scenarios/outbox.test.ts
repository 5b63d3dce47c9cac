/** E10: the one process is killed; what it had answered is in the log all the same, and in the sums once. */
import { afterAll, beforeAll, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { Callers, scriptedModels, sleep } from '../support/callers.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';

let upstream: FakeUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startFakeUpstream();
  gateway = await startGateway({ arrangement: 'embedded' });
  await gateway.configure(scriptedModels(upstream.url, ['ok']));
}, 60_000);
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
}, 60_000);

test('kill -9 right after many answers', async () => {
  const callers = new Callers(gateway);
  await callers.untilServed('alpha ok', 5_000);
  for (let round = 0; round < 3; round++) {
    await Promise.all(Array.from({ length: 40 }, () => callers.ask('alpha', 'alpha ok', { stream: false }).done));
    // The journal's own 50 ms, and some for a busy machine.
    await sleep(300);
    await gateway.processes['gateway']!.kill('SIGKILL');
    await gateway.processes['gateway']!.restart();
    await callers.untilServed('alpha ok', 10_000);
  }
  await callers.checkRows();
  await callers.checkSums();
  callers.close();
}, 90_000);
