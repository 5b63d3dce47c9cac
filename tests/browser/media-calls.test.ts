/** The playground's calls that are no conversation: pictures, sound, its words, vectors, ranks, judgements; by the API as well. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { browserAvailable, buildConsole, choose, launchBrowser, prepareMs, seriousFaults, type Visitor, visit, waitMs } from './browser.ts';

const suite = browserAvailable('Calls of the playground in a browser') ? describe : describe.skip;

/** A picture of one pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
/** A hundredth of a second of silence. */
const wav = Buffer.concat([
  Buffer.from('RIFF\x44\x01\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\x20\x01\0\0', 'latin1'),
  Buffer.alloc(288),
]);

const answers: Record<string, (body: Record<string, unknown>) => { type?: string; body: unknown; status?: number }> = {
  '/v1/images/generations': ({ prompt }) =>
    prompt === 'something forbidden'
      ? { status: 400, body: { error: { message: 'This prompt is against the rules.', type: 'image_generation_user_error', code: 'moderation_blocked' } } }
      : { body: { created: 1, data: [{ b64_json: png }] } },
  '/v1/images/edits': () => ({ body: { created: 1, data: [{ b64_json: png }] } }),
  '/v1/audio/speech': () => ({ type: 'audio/wav', body: wav }),
  '/v1/audio/transcriptions': () => ({ body: { text: 'The quick brown fox.', usage: { type: 'duration', seconds: 1 } } }),
  '/v1/embeddings': ({ input }) => ({
    body: {
      object: 'list',
      model: 'm',
      data: (input as string[]).map((text, index) => ({ object: 'embedding', index, embedding: text === 'cat' ? [1, 0, 0] : [0.6, 0.8, 0] })),
      usage: { prompt_tokens: 4, total_tokens: 4 },
    },
  }),
  '/v1/rerank': () => ({
    body: {
      model: 'm',
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.25 },
      ],
      usage: { total_tokens: 9 },
    },
  }),
  '/v1/moderations': () => ({
    body: {
      id: 'modr-1',
      model: 'm',
      results: [{ flagged: true, categories: { violence: true, hate: false }, category_scores: { violence: 0.97, hate: 0.01 } }],
    },
  }),
};

interface Received {
  path: string;
  type: string;
  text: string;
}

let upstream: Server;
let received: Received[] = [];
let browser: Browser;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;

async function startUpstream(): Promise<string> {
  upstream = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = { path: request.url ?? '', type: request.headers['content-type'] ?? '', text: Buffer.concat(chunks).toString('latin1') };
      received.push(asked);
      const answer = answers[asked.path]?.(asked.type.includes('json') ? (JSON.parse(asked.text) as Record<string, unknown>) : {});
      const { type = 'application/json', body, status = 200 } = answer ?? { status: 404, body: { error: { message: 'unknown' } } };
      response.writeHead(status, { 'content-type': type }).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
}

const box = (name: string) => page.getByRole('textbox', { name, exact: true });
const send = () => page.getByRole('button', { name: 'Send', exact: true }).click();
const answer = () => page.getByRole('region', { name: 'Answer', exact: true });
const openAs = async (model: string, keyName: string | null) => {
  received = [];
  await admin.open(`/playground?model=${model}`);
  if (keyName) await choose(page, 'Call with', keyName);
};
const recording = { name: 'übung 1.wav', mimeType: 'audio/wav', buffer: wav };

suite('calls of the playground', () => {
  beforeAll(async () => {
    buildConsole();
    const address = await startUpstream();
    [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' })]);
    const upstreams = ['alpha', 'alpha_images', 'alpha_audio', 'alpha_embeddings', 'alpha_rerank'] as const;
    await gateway.configure({
      upstreams: upstreams.map((protocol) => ({ name: protocol, protocol, base_url: address, api_keys: [{ key: `sk-of-${protocol}` }] })),
      models: [
        ...upstreams.map((name) => ({ name: `${name}-model`, upstream: name, upstream_model_id: `vendor-${name}` })),
        { name: 'wan', upstream: 'alpha', protocol: 'delta', kind: 'delta-text-embedding', upstream_model_id: 'text-embedding-v4' },
      ],
      load_balancers: [{ name: 'pool', strategy: 'weighted', entries: [{ model: 'alpha_images-model' }, { model: 'alpha_rerank-model' }] }],
    });
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    upstream?.close();
  });

  describe('by the API', () => {
    const ask = (body: Record<string, unknown>) => gateway.console('POST', '/models/test', body);

    test('says what a model can be asked for', async () => {
      const operationsOf = async (model: string) =>
        (await gateway.console('GET', `/route/operations?model=${model}`)).body.items.map(({ operation }: { operation: string }) => operation);
      expect(await operationsOf('alpha_images-model')).toEqual(['image', 'image-edit']);
      expect(await operationsOf('wan')).toEqual(['embed']);
      expect((await operationsOf('pool')).toSorted()).toEqual(['image', 'image-edit', 'rerank']);
      expect(await operationsOf('alpha-model')).toEqual(expect.arrayContaining(['generate', 'moderate', 'transcribe']));
      expect((await gateway.console('GET', '/route/operations?model=nobody')).status).toBe(404);
    });

    test('tests each operation, and refuses what a test lacks', async () => {
      const speech = await ask({ model: 'alpha_audio-model', operation: 'speech', prompt: 'Hello' });
      expect(speech.body).toMatchObject({ status: 200, file: { content_type: 'audio/wav', data: wav.toString('base64') } });
      expect(await gateway.row(speech.body.request_id)).toMatchObject({ access_key: 'console:models-test', upstream: 'alpha_audio', status: 200 });
      const file = { name: recording.name, content_type: 'audio/wav', data: wav.toString('base64') };
      const words = await ask({ model: 'alpha_audio-model', operation: 'transcribe', body: { response_format: 'json' }, file });
      expect(words.body).toMatchObject({ status: 200, response: { text: 'The quick brown fox.' } });
      expect(await ask({ model: 'alpha_images-model', client_protocol: 'alpha_images', prompt: 'A cat' })).toMatchObject({
        body: { status: 200, response: { data: [{ b64_json: png }] } },
      });
      const refused = async (body: Record<string, unknown>) => {
        const { status, body: said } = await ask({ model: 'alpha_audio-model', ...body });
        return [status, said.error?.details?.[0]?.field];
      };
      expect(await refused({ operation: 'transcribe' })).toEqual([422, 'file']);
      expect(await refused({ operation: 'transcribe', file: { name: 'a', data: '!' } })).toEqual([422, 'file.data']);
      expect(await refused({ operation: 'speech', file })).toEqual([422, 'file']);
      expect(await refused({ operation: 'speech', stream: true })).toEqual([422, 'stream']);
      expect(await refused({ operation: 'rerank', client_protocol: 'alpha_audio' })).toEqual([422, 'operation']);
      expect(await refused({ operation: 'native' })).toEqual([422, 'operation']);
      // What the model does not serve is the caller's error, as a caller would get it.
      expect((await ask({ model: 'alpha_images-model', operation: 'speech' })).body).toMatchObject({ status: 400, response: { error: {} } });
    });
  });

  describe.each([
    ['as a test', null],
    ['with a key', 'caller'],
  ])('%s', (_how, keyName) => {
    test('a picture is shown', async () => {
      await openAs('alpha_images-model', keyName);
      await box('Prompt').fill('A cat');
      await send();
      const picture = page.getByRole('img', { name: 'The image of the answer' });
      await picture.waitFor();
      expect(
        await page.evaluate(
          `(async (node) => { await node.decode(); return node.naturalWidth; })(document.querySelector('img[alt="The image of the answer"]'))`,
        ),
      ).toBe(1);
      await page.getByText('200', { exact: true }).waitFor();
      await box('Prompt').fill('something forbidden');
      await send();
      await page.getByRole('alert').getByText('This prompt is against the rules.').waitFor();
      await page.getByText('400', { exact: true }).waitFor();
    });

    test('a picture is changed', async () => {
      await openAs('alpha_images-model', keyName);
      await choose(page, 'What is asked for', 'Edited image');
      await page.locator('input[type=file]').setInputFiles({ name: 'cat.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') });
      await box('What to change').fill('A hat');
      await send();
      await page.getByRole('img', { name: 'The image of the answer' }).waitFor();
      expect(received.at(-1)).toMatchObject({ path: '/v1/images/edits', type: expect.stringMatching(/^multipart\/form-data/) });
      expect(received.at(-1)?.text).toContain('filename="cat.png"');
    });

    test('a sound is played', async () => {
      await openAs('alpha_audio-model', keyName);
      await box('Text to speak').fill('Hello');
      await send();
      const sound = page.locator('audio');
      await sound.waitFor();
      // Its length is NaN until the browser has read the sound's header.
      const length = () => page.evaluate<number>("document.querySelector('audio').duration");
      await until(async () => Number.isFinite(await length()), 'the sound to be read', waitMs);
      expect(await length()).toBeCloseTo(0.018, 3);
      expect(received.at(-1)?.text).toContain('"voice":"alloy"');
    });

    test('a recording becomes words', async () => {
      await openAs('alpha_audio-model', keyName);
      await choose(page, 'What is asked for', 'Transcription');
      await page.locator('input[type=file]').setInputFiles(recording);
      await send();
      await answer().getByText('The quick brown fox.').waitFor();
      expect(Buffer.from(received.at(-1)?.text ?? '', 'latin1').toString('utf8')).toContain(recording.name);
      expect(received.at(-1)?.text).toContain('vendor-alpha_audio');
    });

    test('vectors and ranks stand in tables', async () => {
      await openAs('alpha_embeddings-model', keyName);
      await box('Texts').fill('cat\n\nhouse');
      await send();
      const rows = page.getByRole('table', { name: 'Vectors' }).getByRole('row');
      await rows.nth(2).waitFor();
      expect(await rows.allTextContents()).toEqual([expect.any(String), 'cat31.0001.0000 0.0000 0.0000', 'house30.6000.6000 0.8000 0.0000']);
      await openAs('alpha_rerank-model', keyName);
      await box('Query').fill('Which one?');
      await box('Documents').fill('first\nsecond');
      await send();
      const ranks = page.getByRole('table', { name: 'Ranks' }).getByRole('row');
      await ranks.nth(2).waitFor();
      expect(await ranks.allTextContents()).toEqual([expect.any(String), '10.9000second', '20.2500first']);
    });

    test('a judgement is shown by category', async () => {
      await openAs('alpha-model', keyName);
      await choose(page, 'What is asked for', 'Moderation');
      await box('Text to judge').fill('A fight');
      await send();
      const rows = page.getByRole('table', { name: 'Judgement' }).getByRole('row');
      await rows.nth(2).waitFor();
      expect(await rows.allTextContents()).toEqual([expect.any(String), 'violenceflagged97%', 'hatenot flagged1%']);
      expect(await seriousFaults(page)).toEqual([]);
    });
  });

  test('nothing of it went wrong in the page', () => expect(admin.faults).toEqual([]));
});
