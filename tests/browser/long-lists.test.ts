/** Lists that grow long by themselves: many upstreams, and more requests than the live log keeps. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Long lists in a browser') ? describe : describe.skip;

let stage: Stage;

suite('long lists', () => {
  beforeAll(async () => {
    stage = await openStage();
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [
        ...Array.from({ length: 60 }, (_, at) => ({
          name: `up-${String(at).padStart(2, '0')}`,
          protocol: 'alpha',
          base_url: stage.upstream.url,
          api_keys: [],
        })),
        { name: 'zz-ill', protocol: 'beta', base_url: stage.upstream.url, api_keys: [] },
      ],
      models: [
        { name: 'good', upstream: 'up-00', upstream_model_id: 'ok' },
        { name: 'ill', upstream: 'zz-ill', upstream_model_id: 'err:500:server_error' },
      ],
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the health of many upstreams is shown in pages, what fails on the first, and is searched', async () => {
    const { admin, page } = stage;
    for (let count = 0; count < 3; count++) await stage.ask('ill');
    await admin.open('/health');
    const link = (name: string) => page.getByRole('table').getByRole('link', { name, exact: true });
    await until(async () => (await page.getByRole('row').allInnerTexts())[1]?.startsWith('zz-ill') === true, 'what fails to be first', waitMs);
    expect(await page.getByRole('row').count()).toBe(26);
    await page.getByText('61 entries').waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await link('up-30').waitFor();
    expect(new URL(page.url()).search).toBe('?page=2');
    await page.getByRole('searchbox', { name: 'Search' }).fill('up-59');
    await link('up-59').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    // What is tested is what the button says: what the search finds, on all pages.
    const tested: string[] = [];
    const note = (request: { method(): string; url(): string }) => {
      if (request.method() === 'POST') tested.push(new URL(request.url()).pathname.replace('/console/api/upstreams/', ''));
    };
    page.on('request', note);
    await page.getByRole('button', { name: 'Test those found (1)' }).click();
    await page.getByText('It has no model that can be tested this way.').waitFor();
    await page.getByRole('button', { name: 'Test those found (1)' }).waitFor();
    page.off('request', note);
    expect(tested).toEqual(['up-59/test']);
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await page.getByRole('button', { name: 'Test all (61)' }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).fill('messages');
    await page.getByText('Nothing matches', { exact: false }).waitFor();
  });

  test.each([
    ['en', '… 500 rows not shown: more finished than are kept here. Read them again'],
    ['zh', '… 有 500 行未显示：完成的请求超过此处保留的数量。点击重新读取'],
  ])('where the live log had to let rows go, it says how many (%s)', async (language, notice) => {
    const { browser, gateway } = stage;
    const id = await stage.ask('good');
    const row = (await gateway.console('GET', `/logs/${id}`)).body;
    const { page, open, context, faults } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language });
    const events = Array.from({ length: 2_500 }, (_, at) => `event: row\ndata: ${JSON.stringify({ ...row, id: `live-${at}` })}\n\n`).join('');
    let told = false;
    await page.route('**/console/api/logs/stream*', (route) => {
      const body = told ? ': open\n\n' : events;
      told = true;
      return route.fulfill({ status: 200, contentType: 'text/event-stream', body });
    });
    await open('/logs');
    const gap = page.getByRole('row', { name: notice });
    await until(
      async () => {
        await page.getByRole('table').evaluate((table) => {
          table.scrollTop = 2_000 * 40 - 100;
        });
        return gap.isVisible();
      },
      'the gap to be shown',
      waitMs,
    );
    const read = page.waitForResponse((response) => /\/console\/api\/logs\?/.test(response.url()));
    await gap.click();
    await read;
    expect(faults).toEqual([]);
    await context.close();
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
