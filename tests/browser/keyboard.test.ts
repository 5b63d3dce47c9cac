/** The console without a mouse: what is reached, that one sees where one is, and where one is after something closes. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, dialogHasFocus, dialogsGone, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('The console by keyboard') ? describe : describe.skip;

let stage: Stage;

/** What has the focus, by the name that a screen reader says. */
const focused = () => stage.page.evaluate<string>("document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent.trim()");
const press = (key: string, page = stage.page) => page.keyboard.press(key);

/** Waits until the focus is there: closing takes a moment. */
async function focusComesTo(name: string): Promise<void> {
  let found = '';
  for (const end = Date.now() + waitMs; found !== name && Date.now() < end; await stage.page.waitForTimeout(25)) found = await focused();
  expect(found).toBe(name);
}

/** Presses Tab until `name` has the focus. */
async function tabTo(name: string, max = 60): Promise<void> {
  for (let count = 0; count < max; count++) {
    if ((await focused()) === name) return;
    await press('Tab');
  }
  throw new Error(`${name} was not reached; the focus is on ${await focused()}`);
}

suite('by keyboard', () => {
  beforeAll(async () => {
    stage = await openStage();
    await stage.gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'text', upstream: 'up', upstream_model_id: 'text:10' }],
    });
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the first stop leads past the menu, and one sees it', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    await page.getByRole('button', { name: 'New model' }).waitFor();
    await press('Tab');
    expect(await focused()).toBe('Skip to content');
    const link = page.getByText('Skip to content');
    await until(async () => ((await link.boundingBox())?.x ?? -1) >= 0, 'the link to be seen', waitMs);
    await press('Enter');
    await press('Tab');
    expect(await focused()).toBe('New model');
    // A ring is drawn around what the keyboard is on.
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });

  test('a row opens, and closing it leads back to it', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    await page.getByRole('table').getByRole('button', { name: 'text', exact: true }).focus();
    await press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor();
    await dialogHasFocus(page);
    // Its heading says what it is; the first field is two steps further.
    expect(await focused()).toBe('text');
    await press('Tab');
    expect(await focused()).toBe('Close');
    await press('Escape');
    await dialogsGone(page);
    await focusComesTo('text');
  });

  test('a question leads back to what asked it', async () => {
    const { page } = stage;
    await press('Enter');
    await dialogHasFocus(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus();
    await press('Enter');
    await page.getByRole('dialog', { name: 'Delete text?' }).waitFor();
    await focusComesTo('Cancel');
    await press('Escape');
    await page.getByRole('dialog', { name: 'Delete text?' }).waitFor({ state: 'detached' });
    await focusComesTo('Delete');
    // It alone was closed.
    await page.getByRole('dialog', { name: 'text' }).waitFor();
    await press('Escape');
    await dialogsGone(page);
  });

  test('a question asked by Escape stays, also when its place came after the drawer', async () => {
    const { page, context } = await visit(stage.browser, { url: stage.gateway.url, token: stage.gateway.consoleKey });
    const { promise: drawerOpen, resolve: deliver } = Promise.withResolvers<void>();
    let heldBack = 0;
    await page.route('**/console/assets/*.js', async (route) => {
      const response = await route.fetch();
      // What is loaded by its name keeps it in the build.
      if ((await response.text()).includes('as ModalsProvider')) {
        heldBack++;
        await drawerOpen;
      }
      await route.fulfill({ response });
    });
    await page.goto(`${stage.gateway.url}/console/models?edit=text`);
    const words = page.getByRole('textbox', { name: "Upstream's name" });
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await words.fill('text:3');
    expect(heldBack).toBeGreaterThan(0);
    deliver();
    // A question asked by a button first: it shows that the place for questions is there.
    await page.getByRole('button', { name: 'Cancel' }).click();
    await question.getByRole('button', { name: 'Go on editing' }).click();
    await question.waitFor({ state: 'detached' });
    await press('Escape', page);
    await question.waitFor();
    // One that closes again is gone after 200 ms; the page's timers end in their order, however busy the machine.
    await page.evaluate('new Promise((over) => setTimeout(over, 400))');
    expect(await question.isVisible()).toBe(true);
    // The next Escape closes it, alone.
    await press('Escape', page);
    await question.waitFor({ state: 'detached' });
    expect(await words.inputValue()).toBe('text:3');
    await context.close();
  });

  test('the search of pages opens from anywhere, and leads back', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    const search = page.getByRole('searchbox', { name: 'Search' });
    await search.focus();
    await press('Control+k');
    await page.getByPlaceholder('Find anything, or do something…').waitFor();
    await press('Escape');
    await page.getByPlaceholder('Find anything, or do something…').waitFor({ state: 'detached' });
    await focusComesTo('Search');
  });

  test.each([
    ['a request', 'Request', '/logs', null],
    ['the search for a key', 'Find a key by its value', '/access-keys', 'Find a key by its value'],
  ])('Escape closes the search of pages alone, not %s below it', async (_what, name, path, opener) => {
    const { admin, page } = stage;
    await admin.open(opener ? path : `${path}?request=${await stage.ask('text')}`);
    if (opener) await page.getByRole('button', { name: opener }).click();
    const below = page.getByRole('dialog', { name });
    await below.waitFor();
    await dialogHasFocus(page);
    await press('Control+k');
    const search = page.getByPlaceholder('Find anything, or do something…');
    await search.waitFor();
    await press('Escape');
    await search.waitFor({ state: 'detached' });
    // One that closes as well is gone after 200 ms; the page's timers end in their order, however busy the machine.
    await page.evaluate('new Promise((over) => setTimeout(over, 400))');
    expect(await below.isVisible()).toBe(true);
    await dialogHasFocus(page);
    await press('Escape');
    await below.waitFor({ state: 'detached' });
  });

  test('a model is made with keys alone', async () => {
    const { admin, page, gateway } = stage;
    await admin.open('/models');
    await page.getByRole('button', { name: 'New model' }).focus();
    await press('Enter');
    await dialogHasFocus(page);
    await page.getByRole('textbox', { name: 'Name', exact: true }).focus();
    await page.keyboard.type('typed');
    await page.getByRole('combobox', { name: 'Upstream' }).focus();
    await page.getByRole('option', { name: 'up', exact: true }).waitFor();
    // A moment after the list opened it forgets what was chosen in it: no hand is as fast as this suite.
    await page.evaluate('new Promise((over) => setTimeout(over, 0))');
    // What is typed is searched a moment later; the list that is chosen from is the one found then.
    const searched = page.waitForResponse(/\/upstreams\?(?:.*&)?q=up(?:&|$)/);
    await page.keyboard.type('up');
    await searched;
    await admin.settled();
    await press('ArrowDown');
    await page.locator('[role=option][data-combobox-selected]').waitFor();
    await press('Enter');
    await tabTo('Save');
    await press('Enter');
    await page.getByText('typed was created').waitFor();
    expect((await gateway.console('GET', '/models/typed')).body.upstream).toBe('up');
    await focusComesTo('New model');
  });

  test('the name that is taken is one that holds what was typed, however fast', async () => {
    const { admin, page, gateway } = stage;
    await gateway.configure({ upstreams: ['aa', 'bb', 'cc'].map((name) => ({ name, protocol: 'alpha', base_url: 'https://h', api_keys: [] })) });
    await admin.open('/models?edit=typed');
    const upstream = page.getByRole('combobox', { name: 'Upstream' });
    await until(async () => (await upstream.inputValue()) === 'up', 'the form to be filled', waitMs);
    await admin.settled();
    // Enter comes before the search has been answered, and the list still holds all names, the chosen one first.
    const slow = '**/console/api/upstreams?*';
    await page.route(slow, () => undefined);
    await upstream.focus();
    await page.getByRole('option', { name: 'up', exact: true }).waitFor();
    await page.evaluate('new Promise((over) => setTimeout(over, 0))');
    await press('Control+a');
    await page.keyboard.type('nobody');
    await press('Enter');
    // Half a name sends no form.
    await page.getByRole('dialog').waitFor();
    await press('Control+a');
    await page.keyboard.type('cc');
    await press('Enter');
    expect(await upstream.inputValue()).toBe('cc');
    await tabTo('Save');
    await press('Enter');
    await dialogsGone(page);
    expect((await gateway.console('GET', '/models/typed')).body.upstream).toBe('cc');
    await page.unroute(slow);
    // What is chosen again stays chosen.
    await admin.open('/models?edit=typed');
    await until(async () => (await upstream.inputValue()) === 'cc', 'the form to be filled', waitMs);
    await upstream.click();
    await page.getByRole('option', { name: 'cc', exact: true }).click();
    expect(await upstream.inputValue()).toBe('cc');
  });

  test('signing in needs nothing but the words', async () => {
    const { page, context } = await visit(stage.browser, { url: stage.gateway.url, token: null });
    await stage.gateway.console('POST', '/users', { username: 'admin2', password: 'long-enough', role: 'admin', enabled: true });
    await page.goto(`${stage.gateway.url}/console`);
    await page.getByRole('textbox', { name: 'Password' }).waitFor();
    await until(async () => (await page.evaluate('document.activeElement.type')) === 'password', 'the focus to be where the password goes', waitMs);
    await page.getByRole('textbox', { name: 'User name' }).fill('admin2');
    await page.getByRole('textbox', { name: 'Password' }).fill('long-enough');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Account' }).waitFor();
    await context.close();
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));

  test.each([
    ['/access-keys', 'Find a key by its value'],
    ['/costs', 'Top up the budget of team'],
  ])('a dialog of %s leads back to its button "%s"', async (path, name) => {
    const { admin, page, gateway } = stage;
    await gateway.configure({ key_groups: [{ name: 'team', models: ['*'], budget: { limit: 5, period: 'month', currency: 'USD' } }] });
    await admin.open(path);
    await page.getByRole('button', { name, exact: true }).focus();
    await press('Enter');
    await dialogHasFocus(page);
    await press('Escape');
    await dialogsGone(page);
    await focusComesTo(name);
  });

  test('what is deleted leaves the keyboard at its neighbour, and is not asked for again', async () => {
    const { admin, page, gateway } = stage;
    const alert = { kind: 'webhook', url: 'http://127.0.0.1:9/alerts' };
    for (const name of ['first', 'last']) expect((await gateway.console('POST', '/alert-channels', { ...alert, name })).status).toBe(201);
    const missing: string[] = [];
    page.on('response', (response) => response.status() === 404 && missing.push(response.url()));
    await admin.open('/settings/alerts');
    for (const [name, next] of [
      ['last', 'first'],
      ['first', 'New alert channel'],
    ] as const) {
      await page.getByRole('table').getByRole('button', { name, exact: true }).focus();
      await press('Enter');
      await page.getByRole('dialog', { name }).getByRole('button', { name: 'Delete' }).focus();
      await press('Enter');
      const question = page.getByRole('dialog', { name: `Delete ${name}?` });
      await question.getByRole('button', { name: 'Delete' }).focus();
      await press('Enter');
      await dialogsGone(page);
      await focusComesTo(next);
    }
    expect(missing).toEqual([]);
    // The message about it can be closed by somebody who hears its button.
    await page.getByRole('alert').filter({ hasText: 'last was deleted' }).getByRole('button', { name: 'Close' }).waitFor();
  });

  test('the end of a list leaves the keyboard at the way back', async () => {
    const { admin, page, gateway } = stage;
    await gateway.configure({ models: Array.from({ length: 60 }, (_, index) => ({ name: `m${index}`, upstream: 'up', upstream_model_id: 'text:1' })) });
    await admin.open('/models');
    const next = page.getByRole('button', { name: 'Next page' });
    await next.waitFor();
    while (await next.isEnabled()) {
      await next.focus();
      await press('Enter');
      await admin.settled();
    }
    await focusComesTo('Previous page');
  });

  test('a button that works has the keyboard again when it is done', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('POST', '/alert-channels', { name: 'tried', kind: 'webhook', url: 'http://127.0.0.1:9/alerts' });
    await admin.open('/settings/alerts?edit=tried');
    const button = page.getByRole('dialog').getByRole('button', { name: 'Send a test' });
    await button.waitFor();
    await dialogHasFocus(page);
    await button.focus();
    await press('Enter');
    await page.getByRole('alert').filter({ hasText: 'was not accepted' }).waitFor();
    await focusComesTo('Send a test');
    // Who presses somewhere else meanwhile is not called back.
    const { promise: pressed, resolve } = Promise.withResolvers<void>();
    const slow = '**/alert-channels/tried/test';
    await page.route(slow, (route) => pressed.then(() => route.continue()));
    await press('Enter');
    await page.getByRole('dialog').getByRole('heading').click();
    resolve();
    await until(() => button.isEnabled(), 'the button to be ready again', waitMs);
    expect(await focused()).not.toBe('Send a test');
    await page.unroute(slow);
  });

  test('a line that is taken out of a form leaves the keyboard in the form', async () => {
    const { admin, page } = stage;
    await admin.open('/load-balancers?create=new');
    await dialogHasFocus(page);
    const add = page.getByRole('button', { name: 'Add an entry' });
    await add.focus();
    await press('Enter');
    const entries = page.getByRole('button', { name: /^Remove entry/ });
    for (const count = await entries.count(); (await entries.count()) === count; ) {
      await entries.last().focus();
      await press('Enter');
    }
    await focusComesTo('Add an entry');
  });

  test('tables of what was changed have a name for who jumps from table to table', async () => {
    const { admin, page } = stage;
    for (const [path, name] of [
      ['/settings/audit', 'Audit'],
      ['/settings/history', 'History'],
    ] as const) {
      await admin.open(path);
      await page.getByRole('table', { name, exact: true }).waitFor();
    }
  });

  test('the menu of a phone says whether it is open', async () => {
    const { browser, gateway } = stage;
    const { page, open, context } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, width: 375 });
    await open('/models');
    const menu = page.getByRole('button', { name: 'Menu', exact: true });
    expect(await menu.getAttribute('aria-expanded')).toBe('false');
    await menu.click();
    expect(await menu.getAttribute('aria-expanded')).toBe('true');
    await context.close();
  });
});
