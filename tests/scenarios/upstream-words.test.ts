/** What an upstream said when it failed is kept, sealed, and shown to readers of that one request, and to who tests the upstream, and nowhere else. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway, until } from '../support/gateway.ts';

const words = 'The fake upstream answers 500.';

describe.each(arrangements('upstream-words'))('a %s gateway', (arrangement) => {
  let fake: FakeUpstream;
  let gateway: TestGateway;
  beforeAll(async () => {
    fake = await startFakeUpstream();
    gateway = await borrowGateway({ arrangement });
    await gateway.configure({
      upstreams: [{ name: 'failing', protocol: 'alpha', base_url: fake.url, api_keys: [{ key: 'sk-fake-one' }, { key: 'sk-fake-two' }] }],
      models: [{ name: 'm', upstream: 'failing', upstream_model_id: 'err:500:api_error' }],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await fake?.close();
  });

  test('each failed attempt tells the words in the request alone', async () => {
    const reply = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(reply.status).toBe(502);
    expect(await reply.text()).not.toContain(words);
    const id = reply.headers.get('x-request-id')!;
    await until(async () => (await gateway.console('GET', `/logs/${id}`)).status === 200, 'the row');
    const { body } = await gateway.console('GET', `/logs/${id}`);
    expect(body.attempts.map(({ message }: { message: string }) => message)).toEqual([words, words]);
    const list = await gateway.console('GET', '/logs');
    expect(list.body.items.find((row: { id: string }) => row.id === id).attempts).toHaveLength(2);
    for (const answer of [list, await gateway.console('GET', '/logs.csv')])
      expect(JSON.stringify(answer.body)).not.toMatch(/The fake upstream answers|"message"/);
  });

  test('who tests the upstream reads them', async () => {
    const { body } = await gateway.console('POST', '/upstreams/failing/test');
    expect(body).toMatchObject({ upstream: 'failing', ok: false, status: 502, message: words });
  });
});
