/** Streams that are cut and resumed, in real processes: on the other edge over NATS with each service's own permissions, and after the edge that had it was killed. */
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { splitAvailable, startGateway, type TestGateway, until } from '../support/gateway.ts';
import { modelOf, scriptedModels } from '../support/scripted-models.ts';

const script = 'text:40+slow:50';
const long = 'text:600+slow:50';
const suite = splitAvailable('resumed streams') ? describe : describe.skip;

const wholeEvents = (text: string): string[] => text.split(/(?<=\r?\n\r?\n)/).filter((block) => /^data:/m.test(block) && /\r?\n\r?\n$/.test(block));
const withoutKeepAlives = (text: string): string => text.replaceAll(':keep-alive\n\n', '');

suite('split over NATS, with two edges', () => {
  let upstream: FakeUpstream;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startFakeUpstream();
    gateway = await startGateway({ arrangement: 'split', twice: ['edge'], toml: { streaming: { resume_seconds: 20 } } });
    await gateway.configure(scriptedModels(upstream.url, () => [script, long]));
  });
  afterAll(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  const headers = () => ({ authorization: `Bearer ${gateway.key}`, 'x-goog-api-key': gateway.key, 'content-type': 'application/json' });

  /** Reads until so many events are there, and leaves. */
  const cut = (url: string, body: object, count: number) =>
    new Promise<{ stream: string; text: string; requestId: string }>((resolve, reject) => {
      const asked = request(url, { method: 'POST', agent: false, headers: { ...headers(), 'x-gateway-resume': '1' } }, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('error', () => undefined);
        response.on('end', () => reject(new Error(`the stream ended early: ${text}`)));
        response.on('data', (piece: string) => {
          text += piece;
          if (wholeEvents(text).length < count) return;
          response.removeAllListeners('end');
          asked.destroy();
          resolve({ stream: String(response.headers['x-gateway-stream']), text: withoutKeepAlives(text), requestId: String(response.headers['x-request-id']) });
        });
      });
      asked.on('error', () => undefined);
      asked.end(JSON.stringify(body));
    });

  const shapes = [
    ['chat completions', '/v1/chat/completions', 'alpha', { stream: true, messages: [{ role: 'user', content: 'x' }] }],
    ['Responses', '/v1/responses', 'alpha', { stream: true, store: false, input: 'x' }],
    ['messages', '/v1/messages', 'beta', { stream: true, max_tokens: 100, messages: [{ role: 'user', content: 'x' }] }],
    ['generate-content', null, 'gamma', { contents: [{ role: 'user', parts: [{ text: 'x' }] }] }],
  ] as const;
  const target = (path: string | null, model: string) => path ?? `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`;

  test.each(shapes)('%s: any edge goes on with the very bytes, and there is one row', async (_name, path, protocol, body) => {
    const model = modelOf(protocol, script);
    const first = await cut(`${gateway.edgeUrls[0]}${target(path, model)}`, { model, ...body }, 5);
    const whole = wholeEvents(first.text);
    const rest = await fetch(`${gateway.edgeUrls[1]}/v1/streams/${first.stream}?after=${whole.length}`, { headers: headers() });
    expect([rest.status, rest.headers.get('x-gateway-stream')]).toEqual([200, first.stream]);
    const all = whole.join('') + withoutKeepAlives(await rest.text());
    for (const url of gateway.edgeUrls) {
      const again = await fetch(`${url}/v1/streams/${first.stream}`, { headers: headers() });
      expect(withoutKeepAlives(await again.text())).toBe(all);
    }
    expect(all).not.toContain('_gateway_warning');
    expect(await gateway.row(first.requestId)).toMatchObject({ status: 200, error_code: null, kind: 'call' });
    expect((await gateway.rows()).filter(({ id }) => id === first.requestId)).toHaveLength(1);
  });

  test('the edge that had it is killed: the owner is told so by the other edge, others learn nothing', async () => {
    const model = modelOf('alpha', long);
    const { stream } = await cut(`${gateway.edgeUrls[1]}/v1/chat/completions`, { model, stream: true, messages: [{ role: 'user', content: 'x' }] }, 5);
    const from = `${gateway.edgeUrls[0]}/v1/streams/${stream}?after=5`;
    const key = mintAccessKey();
    await gateway.configure({ access_keys: [{ name: 'foreign', group: 'everyone', key }] });
    const foreign = { authorization: `Bearer ${key}` };
    expect((await fetch(from, { headers: foreign })).status).toBe(404);
    await gateway.processes['edge-2']!.kill('SIGKILL');
    await until(async () => (await fetch(from, { headers: headers() })).status === 410, 'the owner to be told');
    expect((await fetch(from, { headers: foreign })).status).toBe(404);
  });
});
