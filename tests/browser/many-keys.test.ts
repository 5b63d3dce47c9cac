/** Twenty thousand access keys in the browser: pages, filters, searches and choices stay quick, and nothing draws them all. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Twenty thousand keys in a browser') ? describe : describe.skip;
const count = 20_000;
/** Far above what it takes (under a second each, the loading of the page included), for machines that do other things too. */
const maxMs = 25_000;

let stage: Stage;

async function timed(what: string, work: () => Promise<unknown>): Promise<void> {
  const start = performance.now();
  await work();
  const ms = Math.round(performance.now() - start);
  if (process.env['TEST_LOG']) process.stderr.write(`${what}: ${ms} ms\n`);
  expect(ms).toBeLessThan(maxMs);
}

suite('twenty thousand keys', () => {
  beforeAll(async () => {
    stage = await openStage();
    const groups = ['team-a', 'team-b'].map((name) => ({ name, models: ['*'] }));
    const keys = Array.from({ length: count }, (_, index) => ({
      name: `key-${String(index).padStart(5, '0')}`,
      group: index % 100 === 0 ? 'team-b' : 'team-a',
      ...(index % 1_000 === 7 && { tags: ['rare'] }),
    }));
    expect((await stage.gateway.console('POST', '/import', { key_groups: groups, access_keys: keys })).status).toBe(200);
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the list opens, turns pages, sorts, searches and filters', async () => {
    const { admin, page } = stage;
    const name = (text: string) => page.getByRole('table').getByRole('button', { name: text, exact: true });
    await timed('first row', async () => {
      await admin.open('/access-keys');
      await name('key-00000').waitFor();
    });
    await page.getByText(/^20,00\d entries$/).waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(110);
    await timed('next page', async () => {
      await page.getByRole('button', { name: 'Next page' }).click();
      await name('key-00049').waitFor();
    });
    await timed('sorted by group, backwards', async () => {
      await page.getByRole('button', { name: 'Group', exact: true }).click();
      await page.getByRole('button', { name: 'Group', exact: true }).click();
      await page.getByRole('cell', { name: 'team-b' }).first().waitFor();
    });
    await timed('search', async () => {
      await page.getByRole('searchbox', { name: 'Search' }).fill('key-19999');
      await page.getByText('1 entry').waitFor();
    });
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await page.getByText(/^20,00\d entries$/).waitFor();
    await timed('by group', async () => {
      await page.getByRole('combobox', { name: 'Only of this group' }).fill('team-b');
      await page.getByRole('option', { name: 'team-b' }).click();
      await page.getByText('200 entries').waitFor();
    });
    await admin.open('/access-keys');
    await page.getByRole('combobox', { name: 'Only with these tags' }).fill('rare');
    await page.keyboard.press('Enter');
    await page.getByText('20 entries').waitFor();
  });

  test('a key is chosen among them by typing', async () => {
    const { admin, page } = stage;
    await admin.open('/explain');
    await timed('choice', async () => {
      await page.getByRole('combobox', { name: 'Access key' }).fill('key-1234');
      await page.getByRole('option', { name: 'key-12345' }).click();
    });
    const chosen = page.getByRole('combobox', { name: 'Access key' });
    await until(async () => (await chosen.inputValue()) === 'key-12345', 'the key to be chosen', waitMs);
  });

  test('the monitor pages through them', async () => {
    const { admin, page } = stage;
    await timed('monitor', async () => {
      await admin.open('/model-monitor');
      await page.getByRole('cell', { name: 'key-00003', exact: true }).waitFor();
    });
    await timed('search in the monitor', async () => {
      await page.getByRole('searchbox', { name: 'Search' }).fill('key-00777');
      await page.getByText('1 entry').waitFor();
    });
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
