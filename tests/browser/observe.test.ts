/** Looking on in a browser: overview, statistics, the log with its live tail, limits and budgets, the monitor, audit and history. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Looking on in a browser') ? describe : describe.skip;
const session = '5f1c6f0e-1111-4222-8333-444455556666';

let stage: Stage;

const dialog = () => stage.page.getByRole('dialog');
const cell = (text: string) => stage.page.getByRole('cell', { name: text, exact: true });

suite('looking on', () => {
  beforeAll(async () => {
    stage = await openStage();
    await stage.gateway.configure({
      upstreams: [
        { name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: 'sk-1', weight: 1 }], rate_limit: { max_concurrency: 9 } },
        { name: 'away', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] },
        { name: 'far-away', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] },
      ],
      models: [
        { name: 'good', upstream: 'main', upstream_model_id: 'text:10' },
        { name: 'bad', upstream: 'main', upstream_model_id: 'err:400:bad_thing' },
        { name: 'gone', upstream: 'away', upstream_model_id: 'x' },
        { name: 'gone-too', upstream: 'far-away', upstream_model_id: 'x' },
        { name: 'late', upstream: 'main', upstream_model_id: 'text:10' },
      ],
      load_balancers: [
        { name: 'pool', strategy: 'priority', entries: [{ model: 'gone' }, { model: 'good' }] },
        { name: 'late-pool', strategy: 'priority', entries: [{ model: 'gone-too' }, { model: 'late' }] },
      ],
      key_groups: [{ name: 'team', models: ['*'], budget: { limit: 2, period: 'month', currency: 'USD' } }],
      access_keys: [{ name: 'spender', group: 'team' }],
    });
    await stage.gateway.console('POST', '/pricing', {
      name: 'good',
      model: 'good',
      currency: 'USD',
      mode: 'per_token',
      input: '1',
      output: '2000',
    });
    await stage.gateway.settle();
    const { body } = await stage.gateway.console('GET', '/access-keys/spender/api-key');
    const key = body.api_key as string;
    const headers = { 'x-claude-code-session-id': session, 'user-agent': 'claude-cli/2.0.1' };
    for (const model of ['good', 'good', 'bad', 'pool']) await stage.ask(model, { key, headers });
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the overview shows what passed, and what passes now', async () => {
    const { admin, page } = stage;
    await admin.open('/');
    const figure = (label: string) => page.locator('.mantine-Card-root', { has: page.getByRole('paragraph').getByText(label, { exact: true }) });
    // Whoever asked before the configuration was known was refused, and counts as well.
    const refused = (await stage.gateway.console('GET', '/logs?limit=100&status=401')).body.items.length as number;
    const share = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).format((1 + refused) / (4 + refused));
    await figure('Requests')
      .getByText(String(4 + refused), { exact: true })
      .waitFor();
    await figure('Error rate').getByText(share, { exact: true }).waitFor();
    await page.getByRole('img', { name: 'Traffic' }).locator('canvas').waitFor();
    const latest = page.getByRole('table', { name: 'Latest requests' });
    await latest.getByRole('cell', { name: 'bad', exact: true }).waitFor();
    const before = await latest.getByRole('row').count();
    await stage.ask('good');
    await until(async () => (await latest.getByRole('row').count()) > before, 'the new request to show by itself', waitMs);
    await latest.getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await dialog().getByRole('region', { name: 'Timeline' }).waitFor();
  });

  test('statistics are looked into, step by step, and come as a file', async () => {
    const { admin, page } = stage;
    await admin.open('/statistics');
    await page.getByRole('button', { name: 'good', exact: true }).click();
    await page.getByText('Model: good').waitFor();
    await page.getByRole('button', { name: 'spender', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter on Model' }).click();
    await page.getByText('Model: good').waitFor({ state: 'detached' });
    await choose(page, 'Group by', 'Error');
    await page.getByRole('button', { name: 'upstream_rejected', exact: true }).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toContain('upstream_rejected');
    await choose(page, 'Group by', 'Session');
    await page.getByRole('button', { name: session }).click();
    await page.getByRole('heading', { name: 'Session', exact: true }).waitFor();
    const turns = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem');
    await until(async () => (await turns.count()) === 4, "the session's requests", waitMs);
    await page.getByRole('link', { name: 'As a list of requests' }).click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    await page.getByText('4 shown', { exact: true }).waitFor();
    // The log looks as far back as rows are kept: a session may have begun long ago.
    expect(new URL(page.url()).searchParams.get('range')).toBe('90d');
  });

  test('what has no value is looked into as well', async () => {
    const { admin, page } = stage;
    await admin.open('/statistics?by=error');
    const answered = page.waitForResponse((response) => /\/stats\/top\?.*[?&]error=(?:&|$)/.test(response.url()));
    await page.getByRole('button', { name: 'Success', exact: true }).click();
    await page.getByText('Error: Success').waitFor();
    const { items } = (await (await answered).json()) as { items: { errors: number }[] };
    expect(items.length).toBeGreaterThan(0);
    expect(items.every(({ errors }) => errors === 0)).toBe(true);
  });

  test('the log reaches back as far as one wants', async () => {
    const { admin, page } = stage;
    await admin.open('/logs');
    const asked = page.waitForRequest((request) => {
      const { pathname, searchParams } = new URL(request.url());
      const days = (Date.now() - Number(searchParams.get('from'))) / 86_400_000;
      return pathname.endsWith('/console/api/logs') && days > 29 && days < 31;
    });
    await choose(page, 'Time range', '30 days');
    await asked;
    await page.reload();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Time range' }).inputValue()).toBe('30 days');
  });

  test('requests show as they finish, and each has its page', async () => {
    const { admin, page } = stage;
    await admin.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await admin.open('/logs');
    await page.getByText('live', { exact: true }).waitFor();
    const id = await stage.ask('late-pool', { headers: { 'z-request-id': 'mine-7' }, body: { seed: 7 } });
    const row = page.getByRole('row').filter({ hasText: 'late' });
    await row.getByRole('img', { name: 'Succeeded at attempt 2: an earlier one failed' }).waitFor();
    await row.click();
    await dialog().getByText(id, { exact: true }).waitFor();
    await dialog().getByText('mine-7', { exact: true }).waitFor();
    const timeline = dialog().getByRole('region', { name: 'Timeline' });
    await timeline.getByText(/^Attempt 1: far-away/).waitFor();
    await timeline.getByText(/^Attempt 2: main/).waitFor();
    await dialog().getByRole('region', { name: 'Tokens and cost' }).getByText('Counted by the upstream.', { exact: false }).waitFor();
    await dialog().getByRole('region', { name: 'Translation' }).waitFor();
    await dialog().getByText('curl -N', { exact: false }).waitFor();
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    // The keyboard goes on where it was.
    await until(async () => (await page.evaluate('document.activeElement.getAttribute("aria-rowindex")')) !== null, 'the focus to come back', waitMs);
    const found = page.getByRole('row').filter({ hasText: 'late' });
    await page.getByRole('searchbox', { name: 'Contains' }).fill('LATE-po');
    await until(async () => new URL(page.url()).searchParams.get('q') === 'LATE-po', 'the search to be asked for', waitMs);
    await stage.admin.settled();
    expect(await found.count()).toBeGreaterThan(0);
    await page.getByRole('searchbox', { name: 'Contains' }).fill('no such thing');
    await found.first().waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Contains' }).fill('');
    await found.first().waitFor();
    await page.getByRole('switch', { name: 'Errors only' }).check();
    await page.getByRole('cell', { name: '200' }).first().waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: '400 upstream_rejected' }).first().waitFor();
    // Whose fault it was, in the upstream's words too, with a way to what would happen today.
    await page.getByRole('cell', { name: '400 upstream_rejected' }).first().click();
    const why = dialog().getByRole('region', { name: 'Why it failed' });
    await why.getByText('main found a fault in the request.').waitFor();
    await why.getByText('main said:').waitFor();
    await why.getByText('the only one of the last hour', { exact: false }).waitFor();
    await why.getByRole('link', { name: "Explain with today's configuration" }).click();
    await page.getByRole('heading', { name: 'Route explain' }).waitFor();
    expect(await page.getByRole('combobox', { name: 'Access key' }).inputValue()).toBe('spender');
  });

  test('limits and budgets are shown with what is used of them', async () => {
    const { admin, page } = stage;
    await admin.open('/rate-limits');
    const budgets = page.getByRole('region', { name: 'Budgets' });
    await budgets.getByText('Group team').waitFor();
    const used = budgets.getByText('/ $2.00 a month', { exact: false });
    await until(async () => /^\$0\.\d*[1-9]/.test((await used.textContent()) ?? ''), 'what was spent to be shown', waitMs);
    await page.getByRole('region', { name: 'Upstreams' }).getByText('0 / 9').waitFor();
    await stage.gateway.configure({
      upstreams: [
        { name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: 'sk-2', weight: 1 }], rate_limit: { max_concurrency: 8 } },
      ],
    });
    await stage.ask('good');
    await page.getByRole('region', { name: 'Upstreams' }).getByText('0 / 8').waitFor();
  });

  test('health shows what fails and what it said, tests all, and leads to the monitor of keys', async () => {
    const { admin, page } = stage;
    await stage.gateway.configure({
      upstreams: [{ name: 'ill', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'ill', upstream: 'ill', upstream_model_id: 'err:500:server_error' }],
    });
    for (let count = 0; count < 3; count++) await stage.ask('ill');
    await admin.open('/health');
    const rowOf = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await rowOf('ill').getByText('Failing', { exact: true }).waitFor();
    await rowOf('ill').getByText('Last error: The fake upstream answers 500.', { exact: false }).waitFor();
    await rowOf('ill').getByText('Failing models: ill').waitFor();
    // By keyboard: the button, then its answers as they come.
    await page.getByRole('button', { name: /^Test all/ }).focus();
    await page.keyboard.press('Enter');
    await rowOf('main')
      .getByRole('status')
      .getByText(/answered in/)
      .waitFor();
    await rowOf('ill')
      .getByRole('status')
      .getByText(/^ill: 50\d/)
      .waitFor();
    await until(() => page.evaluate('/^Test all/.test(document.activeElement.textContent)'), 'the keyboard to be at the button again', waitMs);
    await rowOf('main').getByText('Healthy', { exact: true }).waitFor();
    await admin.open('/upstreams');
    await page.getByRole('row').filter({ hasText: 'ill' }).getByText('Failing', { exact: true }).waitFor();
    await admin.open('/health');
    await page.getByRole('tab', { name: 'Key monitor' }).click();
    await page.getByRole('table', { name: 'Key monitor' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/model-monitor');
  });

  test('the overview says what wants attention, and each sentence leads to what mends it', async () => {
    const { admin, page, gateway } = stage;
    await gateway.configure({ key_groups: [{ name: 'team', models: ['*'], budget: { limit: 0.000001, period: 'month', currency: 'USD' } }] });
    await admin.open('/');
    const attention = page.getByRole('region', { name: 'Needs attention' });
    await attention.getByText(/^ill has failed \d+ of \d+ calls since/).waitFor();
    await attention.getByText(/^The group team has spent .* of its budget: .* Its requests are refused\.$/).waitFor();
    await attention.getByText(/had no price and counts? in no budget: .*late/).waitFor();
    await attention.getByRole('button', { name: 'Disable ill' }).focus();
    await page.keyboard.press('Enter');
    await attention.getByText(/^ill has failed/).waitFor({ state: 'detached' });
    await attention.getByRole('link', { name: 'Raise the budget of team' }).click();
    await page.getByRole('dialog', { name: 'team' }).getByRole('button', { name: 'Save' }).waitFor();
    await page.goBack();
    await attention.getByRole('link', { name: /^Add a price for / }).click();
    expect(await dialog().getByRole('textbox', { name: 'Model', exact: true }).inputValue()).not.toBe('');
    await gateway.configure({ key_groups: [{ name: 'team', models: ['*'], budget: { limit: 2, period: 'month', currency: 'USD' } }] });
  });

  test('costs are stacked by day, with a forecast, the budgets and when they begin anew', async () => {
    const { admin, page } = stage;
    await admin.open('/costs');
    await page.getByRole('table', { name: 'Costs by group' }).getByRole('link', { name: 'team', exact: true }).waitFor();
    await choose(page, 'Group by', 'Model');
    const table = page.getByRole('table', { name: 'Costs by group' });
    await table.getByRole('link', { name: 'good', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.get('by')).toBe('model');
    const days = page.getByRole('table', { name: 'Costs by day' });
    expect(await days.getByRole('row').count()).toBe(new Date().getUTCDate());
    const budgets = page.getByRole('region', { name: 'Budgets' });
    await budgets.getByText('Group team').waitFor();
    await budgets.getByText(/^Resets on /).waitFor();
    await page.getByText(/had no price: (?:it is|they are) in no sum and in no budget/).waitFor();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export as CSV' }).click();
    const file = readFileSync(await (await saved).path(), 'utf8');
    expect(file.split('\r\n')[0]).toMatch(/^\ufeff"start","model",.*"cost_USD"$/);
    await page.getByText('30 days', { exact: true }).click();
    await until(async () => (await days.getByRole('row').count()) === 30, 'thirty days to be shown', waitMs);
    await budgets.getByRole('link', { name: 'Change team' }).click();
    await page.getByRole('dialog', { name: 'team' }).getByRole('button', { name: 'Save' }).waitFor();
  });

  test('who reads further down the log stays there while requests finish', async () => {
    const { admin, page } = stage;
    await Promise.all(Array.from({ length: 30 }, () => stage.ask('good')));
    await admin.open('/logs');
    await page.getByText('live', { exact: true }).waitFor();
    const table = page.getByRole('table', { name: 'Requests' });
    const rows = async () => Number(await table.getAttribute('aria-rowcount'));
    await until(async () => (await rows()) >= 30, 'the rows to be shown', waitMs);
    await admin.settled();
    const place = (change = 0) => page.evaluate<number>(`document.querySelector('[role=table]').scrollTop += ${change}`);
    const [before, scrolled] = [await rows(), await place(200)];
    for (let at = 0; at < 3; at++) await stage.ask('good');
    await until(async () => (await rows()) === before + 3, 'the new requests to show by themselves', waitMs);
    expect(await place()).toBe(scrolled + 3 * 40);
    expect(await table.getByRole('cell', { name: 'good' }).first().getAttribute('title')).toBe('good');
  });

  test('the monitor follows by itself what keys are bound to', async () => {
    const { admin, page } = stage;
    await admin.open('/model-monitor');
    const keysOf = (name: string) => page.getByRole('row').filter({ has: cell(name) });
    await keysOf('spender').getByText('main', { exact: true }).waitFor();
    await stage.gateway.configure({ access_keys: [{ name: 'newcomer', group: 'team' }] });
    await keysOf('newcomer').getByText('Predicted').waitFor();
    await choose(page, 'Upstream', 'away');
    await page.getByText('key 1, weight 1').first().waitFor({ state: 'detached' });
  });

  test('of a key that reaches many upstreams the monitor shows those in use, and the others when asked', async () => {
    const { admin, page, gateway } = stage;
    const names = Array.from({ length: 7 }, (_, at) => `extra-${at}`);
    await gateway.configure({
      upstreams: names.map((name) => ({ name, protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: 'sk-extra' }] })),
      models: names.map((name) => ({ name: `model-of-${name}`, upstream: name, upstream_model_id: 'text:1' })),
    });
    const { body } = await gateway.console('GET', '/access-keys/spender/api-key');
    await stage.ask('late', { key: body.api_key });
    await admin.open('/model-monitor');
    const row = page.getByRole('row').filter({ has: cell('spender') });
    await row.getByText('Bound', { exact: true }).waitFor();
    const shown = () => row.getByRole('cell').last().getByRole('link').allTextContents();
    expect([(await shown())[0], (await shown()).length]).toEqual(['main', 5]);
    await row.getByRole('button', { name: 'and 3 more' }).click();
    expect([...(await shown())].sort()).toEqual([...names, 'main']);
    await row.getByRole('button', { name: 'Show fewer' }).click();
    expect(await shown()).toHaveLength(5);
  });

  test('prices are made, corrected, changed and deleted', async () => {
    const { admin, page, gateway } = stage;
    const box = (name: string) => page.getByRole('textbox', { name, exact: true });
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
    await admin.open('/pricing');
    await page.getByRole('button', { name: 'New price' }).click();
    await dialogHasFocus(page);
    await box('Model').fill('family-*');
    await box('Currency').fill('12');
    await box('Input').fill('3');
    await save();
    const currency = page.locator('.mantine-InputWrapper-root', { has: page.locator('label', { hasText: /^Currency/ }) });
    await currency.locator('.mantine-InputWrapper-error').waitFor();
    await box('Currency').fill('eur');
    await save();
    await page.getByText('is needed for per_token').waitFor();
    await box('Output').fill('12');
    await save();
    await dialogsGone(page);
    await page.getByRole('table').getByRole('button', { name: 'family-*', exact: true }).click();
    await box('Output').fill('15');
    await page.getByRole('button', { name: 'Add a tier' }).click();
    await page.getByRole('group', { name: 'Tier 1', exact: true }).getByRole('textbox', { name: 'Input', exact: true }).fill('6');
    await page.getByRole('button', { name: 'Add a service tier' }).click();
    const served = page.getByRole('group', { name: 'Service tier 1', exact: true });
    await served.getByRole('textbox', { name: 'Tier that served it' }).fill('default');
    await page.getByRole('button', { name: 'Add a tier' }).click();
    await served.getByRole('textbox', { name: 'Output', exact: true }).fill('7.5');
    await save();
    await served.getByText('is the standard tier, whose prices are those of the record itself').waitFor();
    await served.getByRole('textbox', { name: 'Tier that served it' }).fill('Flex');
    await save();
    await page.getByRole('group', { name: 'Long contexts' }).getByText('two of them begin at the same number of tokens').waitFor();
    await page.getByRole('button', { name: 'Remove tier 2' }).click();
    await save();
    await dialogsGone(page);
    expect((await gateway.console('GET', '/pricing/family-*')).body).toMatchObject({
      ...{ currency: 'EUR', input: '3', output: '15', tiers: [{ above_tokens: 200_000, input: '6', output: null }] },
      service_tiers: [{ service_tier: 'flex', above_tokens: 0, input: null, output: '7.5' }],
    });
    await page.getByRole('table').getByRole('button', { name: 'family-*', exact: true }).click();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog', { name: 'Delete family-*?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('family-* was deleted').waitFor();
  });

  test('a change is found in the history, and taken back', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('PATCH', '/key-groups/team', { description: 'before the mistake' });
    await gateway.console('PATCH', '/key-groups/team', { description: 'the mistake' });
    await admin.open('/settings/history');
    const row = (index: number) => page.getByRole('row').nth(index);
    await row(1).getByText('now', { exact: true }).waitFor();
    await row(1).getByRole('button').click();
    await dialog().getByText('the mistake', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    await row(2).getByRole('button').click();
    await dialog().getByRole('button', { name: 'Go back to revision', exact: false }).click();
    await page.getByRole('button', { name: 'Go back', exact: true }).click();
    await page.getByText('The configuration is as it was at revision', { exact: false }).waitFor();
    expect((await gateway.console('GET', '/key-groups/team')).body.description).toBe('before the mistake');
    await admin.open('/settings/history?revision=99999');
    await page.getByText('There is no such revision.').waitFor();
    expect(await page.getByRole('button', { name: 'Go back to revision', exact: false }).count()).toBe(0);
    await admin.open('/settings/audit');
    await choose(page, 'Action', 'Rolled back');
    await page.getByRole('cell', { name: 'Rolled back' }).waitFor();
  });

  test('a configuration file is looked at first, then applied', async () => {
    const { admin, page, gateway } = stage;
    await admin.open('/settings/transfer');
    const file = page.getByRole('textbox', { name: 'File' });
    await file.fill('key_groups:\n  - name: team\n    models: 7\n');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('key_groups.0.models', { exact: true }).waitFor();
    await file.fill('key_groups:\n  - name: from-a-file\n    models: ["good"]\n');
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('1 row would change').waitFor();
    expect((await gateway.console('GET', '/key-groups/from-a-file')).status).toBe(404);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.getByText('1 row was changed').waitFor();
    expect((await gateway.console('GET', '/key-groups/from-a-file')).body.models).toEqual(['good']);
  });

  test('what a translation lost is explained in the language of the reader', async () => {
    const { gateway, browser } = stage;
    const answer = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': gateway.key, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'good', max_tokens: 16, top_k: 5, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    const id = answer.headers.get('x-request-id') ?? '';
    await gateway.row(id);
    for (const [language, reason] of [
      ['en', 'This upstream does not take top_k.'],
      ['zh', '该上游不接受 top_k。'],
    ] as const) {
      const { page, context } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language });
      await page.goto(`${gateway.url}/console/logs?request=${id}`);
      await page.getByRole('dialog').getByRole('cell', { name: reason, exact: true }).waitFor();
      await context.close();
    }
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
