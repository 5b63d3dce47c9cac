/** Hostile scripts in a gateway of one process: each ends in its fault, requests with scripts of their own go on beside them, and nothing of the gateway dies. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { hostile, subtle } from '../../services/script-runner/test/hostile-scripts.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';

const script = (text: string): string => (/\bfunction transform\b|\bconst transforms\b/.test(text) ? text : `function transform(body, context) {\n${text}\n}`);
let upstream: FakeUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startFakeUpstream();
  // Slots that died are started anew, which takes its time on a busy machine.
  gateway = await startGateway({ arrangement: 'embedded', scripts: true, toml: { server: { script_wait_ms: 60_000 } } });
  await gateway.configure({
    upstreams: [{ name: 'up', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-up' }] }],
    models: [
      { name: 'calm', upstream: 'up', upstream_model_id: 'ok', request_transform_after: script('body.user = "seen"; return body') },
      { name: 'flood', upstream: 'up', upstream_model_id: 'ok', request_transform_after: script('const a = []; for (;;) a[a.length] = new Map([[1, a]])') },
    ],
  });
});
afterAll(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const ask = async (model: string): Promise<{ status: number; user: unknown }> => {
  const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', 'z-request-id': crypto.randomUUID() },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  });
  await reply.text();
  const received = upstream.requests.splice(0).map(({ body }) => JSON.parse(String(body)) as { user?: unknown });
  return { status: reply.status, user: received.find(({ user }) => user !== undefined)?.user };
};

// Of those that only time ends, a few: each takes a slot a second or two.
const slow = subtle.filter(({ ends }) => ends.includes('TooMuchTime')).slice(0, 6);
const quick = [...hostile, ...subtle].filter(({ ends }) => !ends.includes('TooMuchTime'));
const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] };

test('a hundred and more, one after the other, while others are served', async () => {
  expect(quick.length + slow.length).toBeGreaterThanOrEqual(100);
  // The first slots may still be starting.
  await until(async () => (await ask('calm')).user === 'seen', 'a script to run');
  const wrong: unknown[] = [];
  const left = [...quick, ...slow];
  const lane = async (): Promise<void> => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { name, text, ends } = next;
      const answer = await gateway.console('POST', '/scripts/test', { script: script(text), body, context: {} });
      const end = answer.status === 200 ? 'fine' : answer.body.error.code;
      // A text that is too long to be a script is refused before it is one.
      if (end === 'validation_failed' ? !ends.includes('SyntaxError') : ![...ends, 'TooMuchTime'].includes(end)) wrong.push({ name, ends, end });
    }
  };
  let over = false;
  const served: unknown[] = [];
  const calm = async (): Promise<void> => {
    while (!over) served.push(await ask('calm'));
  };
  const beside = calm();
  await Promise.all([lane(), lane()]);
  over = true;
  await beside;
  expect(wrong).toEqual([]);
  expect(served.length).toBeGreaterThan(10);
  expect(served.filter((one) => (one as { status: number }).status !== 200)).toEqual([]);
  // A request whose own script floods goes on as it was, and the next is served.
  expect((await ask('flood')).status).toBe(200);
  await until(async () => (await ask('calm')).user === 'seen', 'scripts to run again');
}, 600_000);
