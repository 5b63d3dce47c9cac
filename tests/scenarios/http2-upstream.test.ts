/** An upstream behind TLS and HTTP/2, called through a whole gateway: what callers and rows see when streams and connections end. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { UpstreamInput } from '@model-gateway/contracts';
import { nothingFor, until } from '../../packages/upstream-client/test/calls.ts';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { arrangements, borrowGateway, type TestGateway } from '../support/gateway.ts';
import { type Http2Front, startHttp2Front } from '../support/http2-front.ts';
import { type Answer, send } from '../support/send.ts';

const models = { quick: 'text:3', slow: 'text:40+slow:50', broken: 'text:40+slow:5+cut@1500' };

describe.each(arrangements('HTTP/2 upstreams'))('%s', (arrangement) => {
  let gateway: TestGateway;
  let upstream: FakeUpstream;
  let front: Http2Front;
  let other: Http2Front;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    front = await startHttp2Front(upstream.url);
    other = await startHttp2Front(upstream.url, { allowHttp1: true });
    gateway = await borrowGateway({ arrangement });
    const named = (name: string, { url, tls }: Http2Front, extra_config: { http2: string } | null): UpstreamInput => ({
      name,
      protocol: 'alpha',
      base_url: url,
      tls,
      extra_config,
      api_keys: [{ key: 'sk-fake' }],
    });
    const of = (upstreamName: string, prefix = '') =>
      Object.entries(models).map(([name, id]) => ({ name: prefix + name, upstream: upstreamName, upstream_model_id: id }));
    await gateway.configure({
      upstreams: [named('two', front, null), named('one', other, { http2: 'off' })],
      models: [...of('two'), ...of('one', 'one-')],
    });
  });
  afterAll(async () => {
    await gateway?.stop();
    await Promise.all([front?.close(), other?.close()]);
    await upstream?.close();
  });
  beforeEach(() => {
    front.mute = false;
    front.resets.length = 0;
  });

  const body = (model: string, stream: boolean) => JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hi' }] });
  const headers = () => ({ authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' });
  const ask = (model: string, stream = true): Promise<Answer> => send(gateway.url, '/v1/chat/completions', { headers: headers(), body: body(model, stream) });
  const texts = ({ text }: Answer): string => [...text.matchAll(/"content":"([^"]*)"/g)].map(([, part]) => part).join('');

  test('streams and whole replies are those of HTTP/1.1, many at once on one connection', async () => {
    const first = await ask('quick', false);
    expect(first.status).toBe(200);
    const sessions = front.sessions;
    const [plain, ...all] = await Promise.all([ask('one-quick'), ...Array.from({ length: 20 }, () => ask('quick'))]);
    for (const one of all) expect([one.status, texts(one), one.text.trimEnd().endsWith('data: [DONE]')]).toEqual([200, texts(plain as Answer), true]);
    expect(texts(plain as Answer)).not.toBe('');
    expect([front.sessions, new Set(front.versions), new Set(other.versions)]).toEqual([sessions, new Set(['2.0']), new Set(['1.1'])]);
  });

  test('a caller that leaves: its stream is cancelled, the others go on', async () => {
    const stays = ask('slow');
    const leave = new AbortController();
    const left = await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: headers(), body: body('slow', true), signal: leave.signal });
    await left.body?.getReader().read();
    leave.abort();
    await until(() => front.resets.length > 0, 'the stream is reset');
    const answer = await stays;
    expect([front.resets, answer.status, answer.text.trimEnd().endsWith('data: [DONE]')]).toEqual([[8], 200, true]);
  });

  test('a stream that is reset within the reply is ended as broken, with a valid end', async () => {
    const answer = await ask('broken');
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('_gateway_warning');
    expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    const row = await gateway.row(String(answer.headers['x-request-id'] ?? answer.headers['z-request-id']));
    expect(row).toMatchObject({ attempts: [{ error_code: 'reset_body', status: 200 }] });
  });

  test('GOAWAY under streams: none of them breaks, the next call has a connection of its own', async () => {
    const streams = Array.from({ length: 6 }, () => ask('slow'));
    await until(() => front.open === 6, 'all streams are under way');
    const sessions = front.sessions;
    front.goAway();
    await nothingFor(20);
    expect((await ask('quick')).status).toBe(200);
    for (const answer of await Promise.all(streams)) {
      expect([answer.status, answer.text.includes('_gateway_warning')]).toEqual([200, false]);
      expect(answer.text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    }
    expect(front.sessions).toBe(sessions + 1);
  });

  test('a connection that is lost under many calls counts once: the next call is sent', async () => {
    expect((await ask('quick', false)).status).toBe(200);
    front.mute = true;
    const lost = Array.from({ length: 10 }, () => ask('quick', false));
    await until(() => front.open === 10, 'all calls are there');
    front.cut();
    expect((await Promise.all(lost)).map(({ status }) => status)).toEqual(lost.map(() => 502));
    front.mute = false;
    expect((await ask('quick', false)).status).toBe(200);
  });
});
