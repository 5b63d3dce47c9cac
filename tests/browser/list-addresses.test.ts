/** Search, filters, order and page of every list stand in its address: reloaded, shared and gone back to, it shows the same. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, dialogsGone, prepareMs, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Addresses of lists') ? describe : describe.skip;
const count = 60;

let stage: Stage;
const query = () => Object.fromEntries(new URL(stage.page.url()).searchParams);
const addressComesTo = (wanted: object) =>
  until(async () => JSON.stringify(query()) === JSON.stringify(wanted), `${JSON.stringify(wanted)} in the address`, waitMs);
const row = (name: string) => stage.page.getByRole('table').getByText(name, { exact: true }).first();
const searchBox = () => stage.page.getByRole('searchbox').first();

suite('addresses of lists', () => {
  beforeAll(async () => {
    stage = await openStage();
    const names = Array.from({ length: count }, (_, index) => `item-${String(index).padStart(2, '0')}`);
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: names.map((name) => ({ name, protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] })),
      models: names.map((name) => ({ name, upstream: 'item-00', upstream_model_id: name })),
      load_balancers: names.map((name) => ({ name: `pool ${name}`, entries: [{ model: name }] })),
      pricing: names.map((name) => ({ name, model: name, input: '1', output: '2' })),
      key_groups: [...names.map((name) => ({ name })), { name: 'interns' }],
      access_keys: names.map((name) => ({ name, group: 'interns', ...(name.endsWith('7') && { tags: ['rare', 'a,b'] }) })),
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    for (const username of ['ann', 'bob']) await stage.gateway.console('POST', '/users', { username, password: 'long-enough', role: 'monitor' });
  }, prepareMs);

  afterAll(() => stage?.close());

  test.each(['/upstreams', '/models', '/load-balancers', '/pricing', '/key-groups', '/access-keys', '/model-monitor'])('%s', async (path) => {
    const { admin, page } = stage;
    const prefix = path === '/load-balancers' ? 'pool ' : '';
    const first = `${prefix}item-${path === '/model-monitor' ? '34' : '09'}`;
    const shared = `${path}?q=item-&sort=-name&page=2`;
    for (const open of [() => admin.open(shared), () => page.reload()]) {
      await open();
      await row(first).waitFor();
      expect(await row(`${prefix}item-59`).count()).toBe(0);
      expect(await searchBox().inputValue()).toBe('item-');
    }
    await page.getByRole('button', { name: 'Previous page' }).click();
    await row(`${prefix}item-59`).waitFor();
    await addressComesTo({ q: 'item-', sort: '-name' });
    await page.goBack();
    await row(first).waitFor();
    await addressComesTo({ q: 'item-', sort: '-name', page: '2' });

    // What is typed comes into the address, and Back shows what was there before.
    await admin.open(path);
    await row(`${prefix}item-00`).waitFor();
    await searchBox().fill('item-3');
    await addressComesTo({ q: 'item-3' });
    await row(`${prefix}item-30`).waitFor();
    await page.goBack();
    await addressComesTo({});
    await row(`${prefix}item-00`).waitFor();
    expect(await searchBox().inputValue()).toBe('');
    // No page of its own is kept where the address names none that there is.
    await admin.open(`${path}?page=banana`);
    await row(`${prefix}item-00`).waitFor();
  });

  test('filters, and what is opened over a list that was searched', async () => {
    const { admin, page } = stage;
    await admin.open('/access-keys?group=interns&q=item-');
    await page.getByText(`${count} entries`).waitFor();
    expect(await page.getByRole('combobox', { name: 'Only of this group' }).or(page.getByLabel('Only of this group')).first().inputValue()).toBe('interns');
    await page.getByRole('button', { name: 'Next page' }).click();
    await addressComesTo({ group: 'interns', q: 'item-', page: '2' });
    // Another filter begins at the first page.
    const tags = page.getByLabel('Only with these tags').first();
    await tags.fill('rare');
    await tags.press('Enter');
    await page.getByText('6 entries').waitFor();
    expect(query()).toMatchObject({ group: 'interns', q: 'item-', tags: '["rare"]' });
    expect(query()).not.toHaveProperty('page');
    await page.reload();
    await page.getByText('6 entries').waitFor();
    await row('item-07').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    expect(query()).toMatchObject({ group: 'interns', q: 'item-', tags: '["rare"]' });
    await page.goBack();
    await addressComesTo({ group: 'interns', q: 'item-', page: '2' });
    await row('item-59').waitFor();
  });

  test('users and the audit log', async () => {
    const { admin, page } = stage;
    await admin.open('/settings/users?sort=-username&q=b');
    await row('bob').waitFor();
    expect(await row('ann').count()).toBe(0);
    await page.reload();
    await row('bob').waitFor();
    await admin.open('/settings/audit?action=create&entity_type=console_user&window=week');
    const record = page
      .getByRole('table')
      .getByText(/\bann\b/)
      .first();
    await record.waitFor();
    expect(await page.getByRole('textbox', { name: 'Action' }).or(page.getByLabel('Action')).first().inputValue()).toBe('Created');
    await searchBox().fill('nobody');
    await addressComesTo({ action: 'create', entity_type: 'console_user', window: 'week', actor: 'nobody' });
    await page.goBack();
    await record.waitFor();
    expect(await searchBox().inputValue()).toBe('');
  });

  test('a key is found by its value, and its requests from there', async () => {
    const { admin, page, gateway } = stage;
    const { body } = await gateway.console('GET', '/access-keys/item-07/api-key');
    await admin.open('/access-keys');
    await page.getByRole('button', { name: 'Find a key by its value' }).click();
    const dialog = page.getByRole('dialog', { name: 'Find a key by its value' });
    await dialog.getByLabel('The whole value').first().fill('gk-nobody');
    await dialog.getByRole('button', { name: 'Find', exact: true }).click();
    await dialog.getByText('No access key and no upstream has this value.').waitFor();
    await dialog.getByLabel('The whole value').first().fill(body.api_key);
    await dialog.getByRole('button', { name: 'Find', exact: true }).click();
    await dialog.getByRole('link', { name: 'item-07' }).waitFor();
    // The value goes into no address.
    expect(page.url()).not.toContain('gk-');
    await dialog.getByRole('link', { name: 'Its requests' }).click();
    await until(async () => page.url().includes('/logs?access_key=item-07'), 'the log of this key', waitMs);
  });

  test('filters of the log that are filled one right after the other all count, and their fields follow Back', async () => {
    const { admin, page } = stage;
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await admin.open('/logs');
    // Within the pause that is left for typing.
    await page.evaluate(`for (const [label, text] of [['Error code', 'budget'], ['Session', 'abc'], ['At least (ms)', '7000']]) {
      const id = [...document.querySelectorAll('label')].find((one) => one.textContent === label).htmlFor;
      const input = document.getElementById(id);
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(input, text);
      input.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await until(async () => Object.keys(query()).length === 3, 'all three in the address', waitMs);
    expect(query()).toEqual({ error_code: 'budget', session_id: 'abc', min_duration_ms: '7000' });

    await admin.open('/logs');
    await field('Error code').fill('first');
    await addressComesTo({ error_code: 'first' });
    // Half a word is no step of its own.
    await field('Error code').fill('first and more');
    await addressComesTo({ error_code: 'first and more' });
    await page.goBack();
    await addressComesTo({});
    expect(await field('Error code').inputValue()).toBe('');
    await page.goForward();
    await addressComesTo({ error_code: 'first and more' });
    expect(await field('Error code').inputValue()).toBe('first and more');
  });

  test('a page behind the last one gives way to it, and Back does not lead there again', async () => {
    const { admin, page } = stage;
    await admin.open('/pricing');
    await row('item-00').waitFor();
    await admin.open('/models?page=99');
    await addressComesTo({ page: '2' });
    await row('item-59').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Pricing', level: 2 }).waitFor();

    // Of a search, too.
    await admin.open('/key-groups?q=interns&page=2');
    await addressComesTo({ q: 'interns' });
    await row('interns').waitFor();
  });

  test.each([
    ['/logs?from=1&to=9007199254740991', 'Requests'],
    ['/statistics?from=8640000000000000&to=8640000000000001', 'Statistics'],
    ['/logs?model={"a":1}', 'Requests'],
  ])('%s does not take the page away', async (path, title) => {
    const { page, gateway } = stage;
    await page.goto(`${gateway.url}/console${path}`);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await stage.admin.settled();
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe(title);
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
