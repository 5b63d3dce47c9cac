/** Files that callers name by address: fetched for upstreams that take only bytes where the operator allows it, told as a loss or refused otherwise. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createOutbound, type Outbound, type OutboundHandlers } from '@model-gateway/upstream-client';
import { type InProcessGateway, startInProcess } from '../support/in-process.ts';
import { createScriptedOutbound } from '../support/scripted-outbound.ts';
import { send } from '../support/send.ts';

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const pdf = Buffer.from('%PDF-1.4\n%\n');
const files: Record<string, { status?: number; type: string; bytes: Buffer; hang?: boolean }> = {
  'https://files.test/a.png': { type: 'application/octet-stream', bytes: png },
  'https://files.test/b.pdf': { type: 'application/pdf', bytes: pdf },
  'https://files.test/lies.png': { type: 'image/png', bytes: Buffer.from('<html>no</html>') },
  'https://files.test/gone.png': { status: 404, type: 'text/plain', bytes: Buffer.from('gone') },
  'https://files.test/moved.png': { status: 302, type: 'image/png', bytes: png },
  'https://files.test/huge.png': { type: 'image/png', bytes: Buffer.concat([png, Buffer.alloc(21 * 1024 * 1024)]) },
};

/** Every address asked for, and how many at once at most. */
let asked: string[] = [];
let open = 0;
let maxOpen = 0;
const network = {
  send({ url }: { url: string }, handlers: OutboundHandlers) {
    asked.push(url);
    maxOpen = Math.max(maxOpen, ++open);
    const file = files[url] ?? (url.startsWith('https://files.test/many') ? { type: 'image/png', bytes: png } : undefined);
    let over = false;
    const end = (publish: () => void): void => {
      if (over) return;
      over = true;
      open--;
      publish();
    };
    setTimeout(() => {
      if (over) return;
      if (!file) return end(() => handlers.error({ class: 'refused-address' } as never));
      handlers.head(file.status ?? 200, { 'content-type': file.type });
      if (!over) handlers.data(file.bytes);
      end(() => handlers.end());
    }, 5);
    return { pause: () => {}, resume: () => {}, abort: () => end(() => handlers.error({ class: 'aborted' } as never)) };
  },
  close: async () => {},
} as unknown as Outbound;

const upstream = createScriptedOutbound();
const api_keys = [{ key: 'sk-one' }];
const base_url = 'https://up.test';
const configuration = {
  outbound: upstream,
  upstreams: [
    { name: 'generate', protocol: 'gamma' as const, base_url, api_keys },
    { name: 'chat', protocol: 'alpha' as const, base_url, api_keys },
    { name: 'messages', protocol: 'beta' as const, base_url, api_keys },
  ],
  models: [
    { name: 'bytes-only', upstream: 'generate', upstream_model_id: 'gemini-2.0-flash' },
    { name: 'chat', upstream: 'chat', upstream_model_id: 'gpt-4o' },
    { name: 'opens', upstream: 'messages', upstream_model_id: 'claude-opus-4-5' },
  ],
};
let fetching: InProcessGateway;
let guarded: InProcessGateway;
let off: InProcessGateway;
const logger = { warn: () => {}, error: () => {} };
const real = createOutbound({
  allowPrivate: false,
  timeouts: { connect_ms: 1000, first_byte_ms: 1000, idle_ms: 1000, total_ms: 2000 },
  userAgent: 'test',
  logger,
});
beforeAll(async () => {
  fetching = await startInProcess({ ...configuration, clientUrls: network });
  guarded = await startInProcess({ ...configuration, clientUrls: real });
  off = await startInProcess(configuration);
});
afterAll(async () => {
  for (const gateway of [fetching, guarded, off]) await gateway.stop();
  await real.close(0);
});
beforeEach(() => {
  upstream.script = { status: 400, contentType: 'application/json', chunks: [Buffer.from('{}')], ending: 'end' };
  upstream.sent.length = 0;
  asked = [];
  maxOpen = 0;
});

const image = (url: string) => ({ type: 'image', source: { type: 'url', url } });
const ask = (gateway: InProcessGateway, model: string, content: object[]) =>
  send(gateway.url, '/v1/messages', {
    headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 64, messages: [{ role: 'user', content }] }),
  });
const sentBody = (): string => upstream.sent.at(-1)?.body ?? '';

describe('fetch_client_urls on', () => {
  test('bytes go where an address would not be opened, sniffed and never believed', async () => {
    await ask(fetching, 'bytes-only', [image('https://files.test/a.png'), { type: 'document', source: { type: 'url', url: 'https://files.test/b.pdf' } }]);
    const parts = JSON.parse(sentBody()).contents[0].parts as object[];
    expect(parts).toEqual([
      { inlineData: { mimeType: 'image/png', data: png.toString('base64') } },
      { inlineData: { mimeType: 'application/pdf', data: pdf.toString('base64') } },
    ]);
  });
  test('inside tool results too, and each address once', async () => {
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [image('https://files.test/a.png')] };
    const answer = await send(fetching.url, '/v1/messages', {
      headers: { 'x-api-key': fetching.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'bytes-only',
        max_tokens: 64,
        messages: [
          { role: 'user', content: [image('https://files.test/a.png')] },
          { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
          { role: 'user', content: [result] },
        ],
      }),
    });
    expect(answer.status).toBe(400);
    expect(sentBody().split(png.toString('base64'))).toHaveLength(3);
    expect(asked).toEqual(['https://files.test/a.png']);
  });
  test('an upstream that opens addresses is given them', async () => {
    await send(fetching.url, '/v1/chat/completions', {
      headers: { authorization: `Bearer ${fetching.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'opens', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://files.test/a.png' } }] }] }),
    });
    expect(sentBody()).toContain('https://files.test/a.png');
    expect(asked).toEqual([]);
  });
  test.each(['lies', 'gone', 'moved', 'huge', 'nowhere'])('%s is a 400 that says nothing of what stood there, and nothing is sent', async (name) => {
    const answer = await ask(fetching, 'bytes-only', [image(`https://files.test/${name}.png`)]);
    expect(answer.status).toBe(400);
    expect(answer.json.error.message).toBe('A file that the request names by its address could not be fetched.');
    expect(upstream.sent).toEqual([]);
  });
  test('a few at a time, and not without end', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => image(`https://files.test/many${at}.png`));
    await ask(fetching, 'bytes-only', many(16));
    expect(asked).toHaveLength(16);
    expect(maxOpen).toBeLessThanOrEqual(4);
    asked = [];
    expect((await ask(fetching, 'bytes-only', many(17))).json.error.message).toContain('At most 16');
    expect(asked).toEqual([]);
  });
});

test('the guarded dialer reaches no private address, by number or by name', async () => {
  let reached = 0;
  const inside = createServer((_request, response) => {
    reached++;
    response.end(png);
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  const { port } = inside.address() as AddressInfo;
  for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '0x7f.1', '169.254.169.254', 'user:pass@127.0.0.1']) {
    const answer = await ask(guarded, 'bytes-only', [image(`http://${host}:${port}/a.png`)]);
    expect([host, answer.status]).toEqual([host, 400]);
  }
  expect([reached, upstream.sent.length]).toEqual([0, 0]);
  await new Promise((resolve) => inside.close(resolve));
});

describe('field notes 18: fetch_client_urls off', () => {
  test('a document for chat completions leaves a note for the model and a loss for the operator', async () => {
    const answer = await ask(off, 'chat', [{ type: 'document', source: { type: 'url', url: 'https://files.test/b.pdf' } }]);
    expect(sentBody()).toContain('[document: https://files.test/b.pdf]');
    expect(asked).toEqual([]);
    const row = await off.row(answer.headers['x-request-id'] as string);
    expect(row.losses).toContainEqual(expect.objectContaining({ field: 'document.url', action: 'downgraded' }));
  });
});
