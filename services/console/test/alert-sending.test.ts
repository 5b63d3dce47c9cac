/** Alerts on their way: receivers that never answer hold up nobody else's, and where a channel sends is what was said. */
import { expect, test } from '@jest/globals';
import { openStorage } from '@model-gateway/storage';
import { createOutbound, type Outbound } from '@model-gateway/upstream-client';
import { silent } from '../../../packages/storage/test/engines.ts';
import { until } from '../../../tests/support/gateway.ts';
import { api, startConsole, startFreshConsole } from './harness.ts';

test('a receiver that does not answer holds up no alert for another', async () => {
  const unanswered: (() => void)[] = [];
  const taken: string[] = [];
  const send: Outbound['send'] = ({ url }, { head, end }) => {
    const answer = () => {
      head(200, {});
      end();
    };
    if (String(url).includes('silent')) unanswered.push(answer);
    else {
      taken.push(String(url));
      queueMicrotask(answer);
    }
    return { abort: () => undefined, pause: () => undefined, resume: () => undefined };
  };
  const storage = openStorage({ mode: 'sqlite', file: ':memory:' }, { logger: silent });
  const timeouts = { connect_ms: 1_000, first_byte_ms: 1_000, idle_ms: 1_000, total_ms: 1_000 };
  const outbound = Object.assign(createOutbound({ allowPrivate: true, timeouts, userAgent: 'test', logger: { ...silent, error: () => undefined } }), { send });
  const harness = await startConsole(storage, { deps: { outbound } });
  const add = (channel: string) => {
    const id = `alr_${channel}`;
    return storage.alerts.add([
      { id, channel, event: 'test', subject: channel, quietKey: id, quietMs: 0, content: { title: 'A title', text: 'A text', data: {} } },
    ]);
  };
  try {
    for (const name of ['silent', 'talking']) {
      const made = await harness.call('POST', `${api}/alert-channels`, { name, kind: 'webhook', url: `https://${name}.example.com/hook`, events: ['ban'] });
      expect(made.status).toBe(201);
    }
    await add('silent');
    await until(async () => unanswered.length === 1, 'the first alert to be sent', 60_000);
    await add('talking');
    await until(async () => taken.length === 1, 'the second alert to be sent while the first is not answered', 60_000);
    // Not sent once more while it is under way.
    expect(unanswered).toHaveLength(1);
  } finally {
    for (const answer of unanswered) answer();
    await harness.close();
    await outbound.close(0);
    await storage.close();
  }
  expect(taken).toEqual(['https://talking.example.com/hook']);
});

test('the mask of an address stands for the one it was read from, and for no other', async () => {
  const harness = await startFreshConsole();
  try {
    const { url } = (await harness.call('POST', `${api}/alert-channels`, { name: 'hook', kind: 'webhook', url: 'https://one.example.com/path' })).body;
    expect(url).toBe('https://one.example.com/********');
    const change = async (to: string) => {
      const { status, body } = await harness.call('PATCH', `${api}/alert-channels/hook`, { url: to });
      return [status, body.url ?? body.error.details[0].field];
    };
    expect(await change(url)).toEqual([200, url]);
    expect(await change('https://two.example.com/********')).toEqual([422, 'url']);
    expect(await change('https://two.example.com/path')).toEqual([200, 'https://two.example.com/********']);
  } finally {
    await harness.close();
  }
});
