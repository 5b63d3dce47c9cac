/** The rules editor in a real browser: rules are built from fields, ordered, refused at their field, and shown as JSON. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { browserAvailable, buildConsole, dialogsGone, launchBrowser, prepareMs, seriousFaults, type Visitor, visit } from './browser.ts';

const suite = browserAvailable('The rules editor in a browser') ? describe : describe.skip;

let browser: Browser;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;

const rule = (index: number) => page.getByRole('group', { name: `Rule ${index}`, exact: true });
const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();

async function openDrawer(): Promise<void> {
  await admin.open('/models');
  await page.getByRole('table').getByRole('button', { name: 'ruled', exact: true }).click();
  await page.getByRole('button', { name: 'Body rules' }).click();
}

suite('the rules editor', () => {
  beforeAll(async () => {
    buildConsole();
    [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' })]);
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] }],
      models: [
        { name: 'ruled', upstream: 'up', upstream_model_id: 'm' },
        { name: 'other', upstream: 'up', upstream_model_id: 'm' },
      ],
    });
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test('rules are added, refused at their field, ordered and saved', async () => {
    await openDrawer();
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await rule(1).getByRole('textbox', { name: 'Path', exact: true }).fill('messages[].content');
    await rule(1).getByRole('textbox', { name: 'Value', exact: true }).fill('0.5');
    await save();
    await page.getByText('brackets are not part of a path').first().waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await rule(1).getByRole('textbox', { name: 'Path', exact: true }).fill('temperature');
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await rule(2).getByRole('combobox', { name: 'Rule 2', exact: true }).click();
    await page.getByRole('option', { name: 'switch-route' }).click();
    await rule(2).getByRole('button', { name: 'Add a predicate' }).click();
    await rule(2).getByRole('textbox', { name: 'Path', exact: true }).fill('thinking.type');
    await rule(2).getByRole('textbox', { name: 'Equals (empty: is there)', exact: true }).fill('enabled');
    await rule(2).getByRole('combobox', { name: 'Send to', exact: true }).fill('other');
    // What is offered takes the key for itself; without it the key would be for the drawer.
    await page.getByRole('option', { name: 'other', exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Move rule 2 up' }).click();
    await save();
    await dialogsGone(page);
    expect((await gateway.console('GET', '/models/ruled')).body.request_body_rules).toEqual([
      { mode: 'switch-route', when: [{ path: 'thinking.type', equal: 'enabled' }], use_model: 'other' },
      { mode: 'overwrite', path: 'temperature', value: 0.5 },
    ]);
    expect(admin.faults).toEqual([]);
  });

  test('the same rules as JSON, changed there', async () => {
    await openDrawer();
    await page.getByText('JSON', { exact: true }).click();
    const editor = page.getByRole('textbox', { name: 'Rules as JSON' });
    await editor.waitFor();
    expect(await editor.textContent()).toContain('"use_model": "other"');
    await editor.click();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('[{"mode":"remove","path":"a"}');
    await page.getByText('This is not a list of rules yet').waitFor();
    await page.keyboard.press('ControlOrMeta+a');
    await page.keyboard.insertText('[{"mode":"remove","path":"a"}]');
    await page.getByText('This is not a list of rules yet').waitFor({ state: 'detached' });
    await save();
    await dialogsGone(page);
    expect((await gateway.console('GET', '/models/ruled')).body.request_body_rules).toEqual([{ mode: 'remove', path: 'a' }]);
    expect(admin.faults).toEqual([]);
  });
});
