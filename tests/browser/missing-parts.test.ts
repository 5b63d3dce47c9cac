/** The gateway is updated while a page is open: parts that were not loaded by then are gone. What is typed stays, and what helps is said. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { browserAvailable, dialogHasFocus, prepareMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Missing parts of the console') ? describe : describe.skip;
const notice = 'This part could not be loaded';

let stage: Stage;
const goneFrom = (name: string) => stage.page.route(new RegExp(`/assets/${name}[^/]*\\.js`), (route) => route.fulfill({ status: 404, body: 'Not found' }));

suite('missing parts', () => {
  beforeAll(async () => {
    stage = await openStage();
  }, prepareMs);

  afterAll(() => stage?.close());

  test('an editor that is gone takes nothing else of the form with it', async () => {
    const { admin, page, gateway } = stage;
    await goneFrom('code-editor-core');
    await admin.open('/upstreams?create=new');
    await dialogHasFocus(page);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('typed');
    await page.getByRole('textbox', { name: 'Base address', exact: true }).fill(stage.upstream.url);
    await page.getByRole('dialog').getByRole('button', { name: 'Scripts', exact: true }).click();
    await page.getByText(notice).first().waitFor();
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('typed');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await gateway.console('GET', '/upstreams/typed')).status).toBe(200);
  });

  test('a search that is gone leaves the page, and offers to load it anew', async () => {
    const { admin, page } = stage;
    await goneFrom('palette-core');
    await admin.open('/upstreams');
    await admin.settled();
    await page.keyboard.press('Control+k');
    await page.getByText(notice).waitFor();
    await page.getByRole('heading', { name: 'Upstreams', level: 2 }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Reload the page' }).click();
    await page.getByText(notice).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Upstreams', level: 2 }).waitFor();
    expect(admin.faults).toEqual([]);
  });
});
