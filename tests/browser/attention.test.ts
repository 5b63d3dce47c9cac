/** With twelve upstreams of which one fails, a budget near its end, a model without a price and a key used from a new address, Overview names all four within a minute, and the button of each sentence mends what it names. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { askFrom } from '../support/ask-from.ts';
import { until } from '../support/gateway.ts';
import { browserAvailable, dialogHasFocus, dialogsGone, prepareMs, seriousFaults, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('What needs attention') ? describe : describe.skip;

let stage: Stage;
/** When the last of the four happened. */
let happened: number;
const lines = () => stage.page.getByRole('region', { name: 'Needs attention' });
const spentBy = async (group: string): Promise<number> => {
  const { body } = await stage.gateway.console('GET', '/budgets');
  return (body.items as { name: string; spent_micros: number }[]).find(({ name }) => name === group)?.spent_micros ?? 0;
};

suite('what needs attention', () => {
  beforeAll(async () => {
    stage = await openStage();
    const upstreams = Array.from({ length: 12 }, (_, at) => `upstream-${at}`);
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: upstreams.map((name) => ({ name, protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: `sk-of-${name}-000` }] })),
      models: [
        ...upstreams.map((name, at) => ({ name: `model-${at}`, upstream: name, upstream_model_id: 'text:3' })),
        { name: 'broken', upstream: 'upstream-7', upstream_model_id: 'status:500' },
        { name: 'bargain', upstream: 'upstream-3', upstream_model_id: 'text:5' },
      ],
      pricing: [
        { name: 'most', model: 'model-*', input: '1000', output: '2000' },
        { name: 'none-of-it', model: 'broken', input: '1', output: '1' },
      ],
      key_groups: [{ name: 'interns', models: ['*'], budget: { limit: '1000', period: 'month' } }],
      access_keys: [
        { name: 'intern', group: 'interns' },
        { name: 'traveller', group: 'everyone' },
      ],
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    const { body } = await stage.gateway.console('GET', '/access-keys/intern/api-key');
    const key = body.api_key as string;
    for (let at = 0; at < 12; at++) await stage.ask(`model-${at === 7 ? 8 : at}`, { key });
    for (let at = 0; at < 6; at++) await stage.ask('broken', { key });
    await stage.ask('bargain', { key });
    const traveller = (await stage.gateway.console('GET', '/access-keys/traveller/api-key')).body.api_key as string;
    const from = (address: string) =>
      askFrom(address, `${stage.gateway.url}/v1/chat/completions`, { key: traveller, body: { model: 'model-1', messages: [{ role: 'user', content: 'hi' }] } });
    expect((await from('127.0.0.1')).status).toBe(200);
    const seen = async () => (await stage.gateway.console('GET', '/access-keys/traveller/use')).body.known_addresses.length as number;
    await until(async () => (await seen()) === 1, 'the first address to be known', waitMs);
    expect((await from('127.0.0.8')).status).toBe(200);
    await until(async () => (await spentBy('interns')) > 0, 'the money to be counted', waitMs);
    const spent = await spentBy('interns');
    await stage.gateway.console('PATCH', '/key-groups/interns', { budget: { limit: (spent / 900_000).toFixed(6), period: 'month' } });
    happened = Date.now();
  }, prepareMs);

  afterAll(() => stage?.close());

  test('is named within a minute', async () => {
    await stage.admin.open('/');
    const sentences = [
      /^upstream-7 has failed 6 of 6 calls since .*\. Last error: /,
      /^The group interns has spent 9\d(?:\.\d)?% of its budget: /,
      /had no price and counts? in no budget: bargain\./,
      /^The key traveller is used from an address that it was not used from before: 127\.0\.0\.8, since /,
    ];
    for (const said of sentences) await lines().getByText(said).waitFor({ timeout: 60_000 });
    expect(Date.now() - happened).toBeLessThan(60_000);
    // Nothing else is said of: all others are well.
    expect(await lines().getByRole('link', { name: 'Look' }).count()).toBe(sentences.length);
    expect(await seriousFaults(stage.page)).toEqual([]);
    if (process.env['SCREENSHOTS']) await stage.page.screenshot({ path: `${process.env['SCREENSHOTS']}/attention.png`, fullPage: true });
  });

  test('reads well on a phone, in the dark, in Chinese', async () => {
    const { browser, gateway } = stage;
    const phone = await visit(browser, { url: gateway.url, token: gateway.consoleKey, dark: true, width: 390, language: 'zh' });
    await phone.open('/');
    await phone.page
      .getByText(/upstream-7/)
      .first()
      .waitFor();
    await phone.settled();
    expect(await seriousFaults(phone.page)).toEqual([]);
    expect(await phone.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(1);
    if (process.env['SCREENSHOTS']) await phone.page.screenshot({ path: `${process.env['SCREENSHOTS']}/attention-phone.png`, fullPage: true });
    await phone.context.close();
  });

  test('a budget near its end is topped up, exactly, by the keyboard', async () => {
    const { page, gateway } = stage;
    const before = (await gateway.console('GET', '/budgets')).body.items.find(({ name }: { name: string }) => name === 'interns');
    await page.getByRole('button', { name: 'Top up the budget of interns' }).focus();
    await page.keyboard.press('Enter');
    await dialogHasFocus(page);
    await page.getByRole('textbox', { name: 'Amount in USD' }).fill('12.50');
    await page.keyboard.press('Enter');
    await dialogsGone(page);
    await lines()
      .getByText(/interns/)
      .waitFor({ state: 'detached' });
    const after = (await gateway.console('GET', '/budgets')).body.items.find(({ name }: { name: string }) => name === 'interns');
    expect(after.limit_micros - before.limit_micros).toBe(12_500_000);
    expect(after.topped_up).toBe('12.5');
  });

  test('a model without a price gets one', async () => {
    const { page, admin } = stage;
    await page.getByRole('link', { name: /Add a? ?price.*bargain/i }).click();
    await dialogHasFocus(page);
    const form = page.getByRole('dialog');
    await form.getByRole('textbox', { name: 'Name', exact: true }).fill('bargain');
    await form.getByLabel('Input', { exact: false }).first().fill('1');
    await form.getByLabel('Output', { exact: false }).first().fill('2');
    await form.getByRole('button', { name: 'Save' }).click();
    await dialogsGone(page);
    await admin.open('/');
    await lines()
      .getByText(/upstream-7/)
      .first()
      .waitFor();
    expect(
      await lines()
        .getByText(/bargain/)
        .count(),
    ).toBe(0);
  });

  test("a new address is said to be its owner's, by the keyboard", async () => {
    const { page, gateway } = stage;
    await page.getByRole('button', { name: "It is the owner's: the addresses of traveller" }).focus();
    await page.keyboard.press('Enter');
    await lines()
      .getByText(/traveller/)
      .waitFor({ state: 'detached' });
    const { body } = await gateway.console('GET', '/access-keys/traveller/use');
    expect(body.known_addresses.filter(({ is_new }: { is_new: boolean }) => is_new)).toEqual([]);
  });

  test('an upstream that fails is disabled, and all is well', async () => {
    const { page, gateway } = stage;
    await page.getByRole('button', { name: /Disable.*upstream-7/i }).click();
    await page.getByText('All is well', { exact: false }).first().waitFor({ timeout: 60_000 });
    expect((await gateway.console('GET', '/upstreams/upstream-7')).body.enabled).toBe(false);
    expect(stage.admin.faults).toEqual([]);
  });
});
