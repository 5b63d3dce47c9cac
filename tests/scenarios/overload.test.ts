/** A process near the end of its memory refuses new work in each client protocol's shape, goes on with what it has, and takes work again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { type PressureLevel, takenAnyway } from '@model-gateway/service-runtime';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';

let upstream: FakeUpstream;
beforeAll(async () => {
  upstream = await startFakeUpstream();
});
afterAll(async () => {
  await upstream.close();
});

interface Answer {
  status: number;
  connection: string | null;
  text: string;
}
const ask = async (base: { url: string; key: string }, model: string, stream = false, signal?: AbortSignal): Promise<Answer> => {
  const reply = await fetch(`${base.url}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': base.key },
    body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
    ...(signal && { signal }),
  });
  return { status: reply.status, connection: reply.headers.get('connection'), text: await reply.text() };
};
/** As many calls as are taken at any level, which stay at the upstream until they are let go. */
async function hold(base: { url: string; key: string }, model: string): Promise<() => Promise<void>> {
  const before = upstream.requests.length;
  const leave = new AbortController();
  // The place of a call whose reply was just read may not be free yet.
  const stay = async (): Promise<void> => {
    while ((await ask(base, model, false, leave.signal).catch(() => undefined))?.status === 503);
  };
  const held = Array.from({ length: takenAnyway }, stay);
  await until(async () => upstream.requests.length >= before + takenAnyway, 'the upstream to hold the calls');
  const closed = upstream.requests.slice(before, before + takenAnyway).map(({ whenClosed }) => whenClosed);
  return async () => {
    leave.abort();
    await Promise.all([...held, ...closed]);
  };
}
const configuration = () => ({
  upstreams: [{ name: 'up', protocol: 'alpha' as const, base_url: upstream.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
  models: ['ok', 'hang'].map((script) => ({ name: script, upstream: 'up', upstream_model_id: script })),
});

describe('a gateway whose memory is used up', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    // Less than any process takes.
    gateway = await startGateway({ arrangement: 'embedded', toml: { server: { memory_limit_bytes: 1_000_000 } } });
    await gateway.configure(configuration());
  });
  afterAll(async () => {
    await gateway?.stop();
  });

  test('new requests are 503 while a few are under way, and are taken again; the console and the probes answer; it is said and shown', async () => {
    const process = gateway.processes['gateway']!;
    const atLevel3 = /^gateway_pressure(\{[^}]*\})? 3/m;
    // The process looks at its memory a moment after it began to serve.
    await until(async () => atLevel3.test(await process.metrics()), 'the process to notice');
    const alone = await ask(gateway, 'ok', true);
    expect([alone.status, alone.connection, alone.text.includes('message_stop')]).toEqual([200, 'close', true]);
    const letGo = await hold(gateway, 'hang');
    for (const stream of [false, true]) {
      const refused = await ask(gateway, 'ok', stream);
      expect([refused.status, refused.connection]).toEqual([503, 'close']);
      expect(JSON.parse(refused.text)).toMatchObject({ type: 'error', error: { type: 'overloaded_error', message: 'The gateway is short of memory.' } });
    }
    expect((await gateway.console('GET', '/models')).status).toBe(200);
    const ready = await fetch(`${gateway.url}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      200,
      expect.objectContaining({ notes: expect.arrayContaining([expect.stringMatching(/(?:^|:)overloaded$/)]) }),
    ]);
    expect(await process.metrics()).toMatch(atLevel3);
    expect(process.logs().filter((line) => line.includes('the process is under pressure'))).toHaveLength(1);
    await letGo();
    await until(async () => (await ask(gateway, 'ok')).status === 200, 'work to be taken again');
  });
});

describe('a translator beside an edge that is well', () => {
  let gateway: InProcessGateway | undefined;
  afterEach(async () => {
    await gateway?.stop();
  });

  test.each([
    [1, 200, 200],
    [2, 200, 503],
    [3, 503, 503],
  ] as const)('at level %d: whole %d, streamed %d, and a row of each', async (level, whole, streamed) => {
    const pressure = { level: 0 as PressureLevel, stop: () => undefined };
    gateway = await startInProcess({ ...configuration(), pressure: { translator: pressure } });
    const letGo = await hold(gateway, 'hang');
    pressure.level = level;
    expect((await ask(gateway, 'ok')).status).toBe(whole);
    const stream = await ask(gateway, 'ok', true);
    expect([stream.status, stream.text.includes('message_stop')]).toEqual([streamed, streamed === 200]);
    await letGo();
    expect((await ask(gateway, 'ok', true)).status).toBe(200);
    await until(async () => gateway!.rows.length >= takenAnyway + 3, 'a row of each');
    expect(
      gateway.rows
        .filter(({ status }) => status === 503)
        .map(({ error_code }) => error_code)
        .sort(),
    ).toEqual([whole === 503 ? 'overloaded' : null, streamed === 503 ? 'too_many_streams' : null].filter((code) => code !== null));
  });
});
