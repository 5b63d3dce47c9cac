/** A thousand streams cut in the middle, half of them never returned to, under load: what the edge holds afterwards is what it held before. */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../../support/gateway.ts';
import { inspected, liveHeapMib } from '../../support/live-heap.ts';
import { send } from '../../support/send.ts';
import { openStage, type Stage } from './stage.ts';

const paced = 'text:40+slow:10';
const cuts = 1000;
const atOnce = 25;
let stage: Stage;
beforeAll(async () => {
  stage = await openStage({ arrangement: 'embedded', env: inspected, toml: { streaming: { resume_seconds: 1 } } }, [paced]);
});
afterAll(() => stage?.stop());

/** The id of a stream that is left after its first bytes. */
const cut = (): Promise<string> =>
  new Promise((resolve, reject) => {
    const request = httpRequest(`${stage.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { authorization: `Bearer ${stage.gateway.key}`, 'content-type': 'application/json', 'x-gateway-resume': '1' },
    });
    request.on('error', reject);
    request.on('response', (reply: IncomingMessage) => {
      reply.on('error', () => {});
      reply.once('data', () => {
        request.off('error', reject).on('error', () => {});
        request.destroy();
        resolve(String(reply.headers['x-gateway-stream']));
      });
    });
    request.end(JSON.stringify({ model: `beta ${paced}`, stream: true, messages: [{ role: 'user', content: 'go' }] }));
  });

async function cutMany(count: number): Promise<void> {
  let begun = 0;
  const caller = async (): Promise<void> => {
    while (begun < count) {
      const returns = begun++ % 2 === 0;
      const id = await cut();
      if (!returns) continue;
      const rest = await send(stage.gateway.url, `/v1/streams/${id}?after=1`, { method: 'GET', headers: { authorization: `Bearer ${stage.gateway.key}` } });
      expect(rest.status).toBe(200);
      expect(rest.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
  await until(async () => stage.fake.requests.every(({ closed }) => closed !== null), 'every upstream to be left or finished');
}

test('1,000 cuts leave memory flat, and each cost one row', async () => {
  const process = stage.gateway.processes['gateway']!;
  const rows = async () => (await stage.gateway.rows()).length;
  await cutMany(200);
  const before = await liveHeapMib(process);
  await cutMany(cuts);
  await until(async () => (await liveHeapMib(process)) < before + 8, 'memory to be what it was', 60_000);
  await until(async () => (await rows()) >= cuts + 200, 'every row');
  expect(await rows()).toBe(cuts + 200);
});
