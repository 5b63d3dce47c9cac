/** Realtime sessions in a browser: one held by hand, with a microphone that hums, and the responses of one in the request log. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type FakeRealtime, startFakeRealtime } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/in-process.ts';
import { browserAvailable, buildConsole, choose, launchBrowser, prepareMs, seriousFaults, type Visitor, visit } from './browser.ts';

const suite = browserAvailable('Realtime sessions in a browser') ? describe : describe.skip;

let browser: Browser;
let fake: FakeRealtime;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;

const button = (name: string) => page.getByRole('button', { name, exact: true });

/** The panel of sessions takes another's place once it is known what the model serves. */
async function chooseKey(): Promise<void> {
  await button('Open the session').waitFor();
  await choose(page, 'Call with', 'tester');
}
const frames = () => page.getByRole('table', { name: 'Frames' });
const received = () => fake.sessions.at(-1)?.received.map(({ data }) => JSON.parse(data.toString()) as { type: string; audio?: string }) ?? [];

const isLoud = (samples: Buffer): boolean =>
  Array.from({ length: samples.length >> 1 }, (_, at) => samples.readInt16LE(at * 2)).some((one) => Math.abs(one) > 100);

suite('realtime sessions', () => {
  beforeAll(async () => {
    buildConsole();
    fake = await startFakeRealtime();
    [browser, gateway] = await Promise.all([launchBrowser({ microphone: true }), startGateway({ arrangement: 'embedded' })]);
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha_realtime', base_url: fake.url, api_keys: [{ key: 'sk-fake-upstream' }] }],
      models: [
        { name: 'voice', upstream: 'up', upstream_model_id: 'speak' },
        { name: 'brief', upstream: 'up', upstream_model_id: 'speak' },
        { name: 'gone', upstream: 'up', upstream_model_id: 'status:400' },
      ],
      key_groups: [{ name: 'talkers', models: ['*'] }],
    });
    const price = { name: 'sound', model: 'voice', input: '1000', output: '1000', audio_input: '100000', audio_output: '100000' };
    expect((await gateway.console('POST', '/pricing', price)).status).toBe(201);
    expect((await gateway.console('POST', '/access-keys', { name: 'tester', group: 'talkers' })).status).toBe(201);
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);
  afterAll(async () => {
    expect(admin?.faults).toEqual([]);
    await browser?.close();
    await gateway?.stop();
    await fake?.close();
  });

  test('a session by hand: written to, spoken to, heard, its frames listed, all of it by keyboard', async () => {
    await admin.open('/playground?model=voice');
    await page.getByText('Choose an access key: sessions are opened as a client.').waitFor();
    expect(await button('Open the session').isDisabled()).toBe(true);
    await chooseKey();
    await button('Open the session').focus();
    await page.keyboard.press('Enter');
    await page.getByText('session.created').first().waitFor();
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'Answer' }).getByText('words').waitFor();
    await page.getByText('0.1 s of sound').waitFor();
    expect(received().map(({ type }) => type)).toEqual(['conversation.item.create', 'response.create']);
    // The short-lived key opened it: the upstream has its own, and the page's socket never had the access key.
    expect(fake.sessions.at(-1)).toMatchObject({ key: 'sk-fake-upstream', refused: [] });

    await button('Record').click();
    // The microphone of a test beeps once a second: silence alone would prove nothing.
    await until(() => received().some(({ audio }) => audio !== undefined && isLoud(Buffer.from(audio, 'base64'))), 'some sound');
    await button('Stop and ask').click();
    await page.getByText('0.2 s of sound').waitFor();
    expect(
      received()
        .slice(-2)
        .map(({ type }) => type),
    ).toEqual(['input_audio_buffer.commit', 'response.create']);
    await frames()
      .getByRole('button', { name: /response\.output_audio\.delta/ })
      .first()
      .press('Enter');
    await page.getByRole('region', { name: 'response.output_audio.delta' }).getByText('"response_id": "resp_2"').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await button('Close the session').click();
    await page.getByText('Closed with 1000').waitFor();
  });

  test('a refused handshake is told, with the way to its reason', async () => {
    await admin.open('/playground?model=gone');
    await chooseKey();
    await button('Open the session').click();
    await page.getByText('The handshake was refused.').waitFor();
    expect(await page.getByRole('link', { name: 'See the request log' }).getAttribute('href')).toBe('/console/logs');
  });

  test('a session that is still being opened when its page is left is not opened', async () => {
    await admin.open('/playground?model=brief');
    await chooseKey();
    const before = fake.sessions.length;
    const left = Promise.withResolvers<void>();
    const keys = '**/client_secrets';
    await page.route(keys, async (route) => {
      await left.promise;
      // The page may not want the answer any more.
      await route.continue().catch(() => {});
    });
    await button('Open the session').click();
    await admin.follow('/logs');
    left.resolve();
    await page.unroute(keys);
    await admin.follow('/playground?model=brief');
    await chooseKey();
    await button('Open the session').click();
    await page.getByText('session.created').first().waitFor();
    expect(fake.sessions.length - before).toBe(1);
  });

  test('a microphone that is granted after its session has ended is let go', async () => {
    await admin.open('/playground?model=brief');
    await chooseKey();
    await button('Open the session').click();
    await page.getByText('session.created').first().waitFor();
    await page.evaluate(`{
      const devices = navigator.mediaDevices;
      const ask = devices.getUserMedia.bind(devices);
      const granted = Promise.withResolvers();
      globalThis.grant = granted.resolve;
      devices.getUserMedia = async (wanted) => {
        await granted.promise;
        return (globalThis.microphone = await ask(wanted));
      };
    }`);
    await button('Record').click();
    await button('Close the session').click();
    await page.getByText('Closed with 1000').waitFor();
    await page.evaluate('grant()');
    const isOff = () => page.evaluate<boolean>("globalThis.microphone?.getTracks().every(({ readyState }) => readyState === 'ended') ?? false");
    await until(isOff, 'the microphone to be let go');
  });

  test('the page of a session shows its responses with what each used and cost', async () => {
    const session = await until(async () => {
      const rows = await gateway.rows();
      const found = rows.find(({ kind, model }) => kind === 'realtime_session' && model === 'voice');
      return rows.filter(({ kind }) => kind === 'realtime_turn').length === 2 ? (found ?? false) : false;
    }, 'the rows');
    await admin.open(`/logs?request=${session.id}`);
    const responses = page.getByRole('table', { name: 'Responses of this session' });
    await responses.getByRole('link', { name: 'Response 2' }).waitFor();
    const texts = await responses.getByRole('row').allInnerTexts();
    expect(texts).toHaveLength(4);
    expect(
      texts[3]!
        .split(/\t/)
        .map((text) => text.trim())
        .slice(0, 5),
    ).toEqual(['Together', '24', '16', '6', '14']);
    expect(texts[1]).toMatch(/\$/);
    await admin.settled();
    expect(await seriousFaults(page)).toEqual([]);
    await responses.getByRole('link', { name: 'Response 1' }).click();
    await page.getByText('Realtime turn').first().waitFor();
  });

  test.each([
    ['en', true, 390],
    ['zh', false, 390],
    ['zh', true, 1280],
  ])('in %s, dark %s, %i wide: nothing is cut off, and axe finds nothing', async (language, dark, width) => {
    const visitor = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language, dark, width });
    await visitor.open('/playground?model=voice');
    await visitor.settled();
    expect(await visitor.page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await seriousFaults(visitor.page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });
});
