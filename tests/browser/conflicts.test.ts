/** Two administrators at once: whoever is second sees what the first one did before anything of it is undone. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Conflicts in a browser') ? describe : describe.skip;

let stage: Stage;
const press = (name: string) => stage.page.getByRole('button', { name, exact: true }).click();
const box = (name: string) => stage.page.getByRole('textbox', { name, exact: true });
const group = async (name: string) => (await stage.gateway.console('GET', `/key-groups/${name}`)).body;

suite('conflicts', () => {
  beforeAll(async () => {
    stage = await openStage();
    await stage.gateway.console('POST', '/key-groups', { name: 'shared', models: ['*'] });
  }, prepareMs);

  afterAll(() => stage?.close());

  test.each([
    ['en', 'Show what would change', 'Apply', 'Somebody changed the configuration after this was shown.'],
    ['zh', '查看将要发生的变化', '应用', '显示预览之后有人更改了配置。'],
  ])('an import is not applied to what its preview did not show (%s)', async (language, preview, apply, notice) => {
    const { browser, gateway } = stage;
    await gateway.console('PATCH', '/key-groups/shared', { description: 'first' });
    const { page, open, context, faults } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language });
    await open('/settings/transfer');
    await page.locator('textarea').first().fill('key_groups: [{name: shared, models: ["*"], description: of the file}]');
    await page.getByRole('button', { name: preview, exact: true }).click();
    await page.getByText('first', { exact: true }).waitFor();
    await gateway.console('PATCH', '/key-groups/shared', { description: 'second' });
    await page.getByRole('button', { name: apply, exact: true }).click();
    await page.getByText(notice, { exact: false }).waitFor();
    await page.getByText('second', { exact: true }).waitFor();
    expect((await group('shared')).description).toBe('second');
    await page.getByRole('button', { name: apply, exact: true }).click();
    await until(async () => (await group('shared')).description === 'of the file', 'the file to be applied', waitMs);
    await page.getByText(notice, { exact: false }).waitFor({ state: 'detached' });
    expect(faults).toEqual([]);
    await context.close();
  });

  test('nor is the configuration put back over a change that its preview did not show', async () => {
    const { gateway, admin, page } = stage;
    const { revision } = (await gateway.console('GET', '/history')).body;
    await gateway.console('PATCH', '/key-groups/shared', { description: 'seen' });
    await admin.open(`/settings/history?revision=${revision}`);
    await press(`Go back to revision ${revision}`);
    const dialog = page.getByRole('dialog', { name: `Go back to revision ${revision}?` });
    await dialog.getByText('seen', { exact: true }).waitFor();
    await gateway.console('PATCH', '/key-groups/shared', { description: 'unseen' });
    await dialog.getByRole('button', { name: 'Go back', exact: true }).click();
    await dialog.getByText('Somebody changed the configuration after this was shown.', { exact: false }).waitFor();
    await dialog.getByText('unseen', { exact: true }).waitFor();
    expect((await group('shared')).description).toBe('unseen');
    await dialog.getByRole('button', { name: 'Go back', exact: true }).click();
    await until(async () => (await group('shared')).description === 'of the file', 'the configuration to be put back', waitMs);
  });

  test('the bounds of searching are saved over another’s change once it was seen, and keep what was typed', async () => {
    const { gateway, admin, page } = stage;
    await admin.open('/web-search');
    const uses = box('Searches and fetches of a request');
    await uses.fill('4');
    await gateway.console('PATCH', '/search-config', { max_rounds: 3 });
    await press('Save the bounds');
    const changed = page.getByRole('table', { name: 'Somebody else changed this meanwhile' });
    await changed.waitFor();
    expect((await changed.getByRole('row').allInnerTexts())[1]).toMatch(/^max_rounds\t3\t/);
    await press('Keep my changes, take the rest');
    await changed.waitFor({ state: 'detached' });
    expect(await uses.inputValue()).toBe('4');
    await press('Save the bounds');
    await until(async () => (await gateway.console('GET', '/search-config')).body.max_uses === 4, 'the bounds to be kept', waitMs);
    expect((await gateway.console('GET', '/search-config')).body.max_rounds).toBe(3);
    await uses.fill('5');
    await gateway.console('PATCH', '/search-config', { max_uses: 6 });
    await press('Save the bounds');
    await changed.waitFor();
    await press('Take what is there now');
    await until(async () => (await uses.inputValue()) === '6', 'what is there to be shown', waitMs);
    expect(await page.getByRole('button', { name: 'Save the bounds', exact: true }).isDisabled()).toBe(true);
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
