/** Money and charts in a browser: costs by whom and by what, budgets, files for accounting; bars that are stacked, drawn over, clicked, and marked where the configuration changed. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, visit, waitMs } from './browser.ts';
import { axeFindings, faultsOfLooks, picture } from './looks.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Money and charts in a browser') ? describe : describe.skip;
const colors = { succeeded: [66, 99, 235], failed: [224, 49, 49], p95: [240, 140, 0] } as const;

let stage: Stage;

const address = () => new URL(stage.page.url());
const chart = (title: string) => stage.page.getByRole('img', { name: new RegExp(`^${title}\\.`) });
/** Points of a chart that have a colour. */
const painted = (title: string, color: readonly number[]): Promise<number> =>
  stage.page.evaluate<number>(`(() => {
    const canvas = document.querySelector('[role=img][aria-label^="${title}."] canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) if (data[at] === ${color[0]} && data[at + 1] === ${color[1]} && data[at + 2] === ${color[2]} && data[at + 3] > 250) found++;
    return found;
  })()`);
const budgetOf = async (name: string) => {
  const { body } = await stage.gateway.console('GET', '/budgets');
  return (body.items as { name: string; spent_micros: number; limit_micros: number }[]).find((one) => one.name === name)!;
};

suite('money and charts', () => {
  beforeAll(async () => {
    stage = await openStage();
    const { gateway, upstream } = stage;
    const made = await gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-of-main-000' }] }],
      models: [
        { name: 'coder', upstream: 'main', upstream_model_id: 'text:20' },
        { name: 'chat', upstream: 'main', upstream_model_id: 'text:5' },
        { name: 'bargain', upstream: 'main', upstream_model_id: 'text:3' },
        { name: 'broken', upstream: 'main', upstream_model_id: 'err:400:bad_thing' },
      ],
      pricing: [
        { name: 'coder', model: 'coder', input: '1', output: '52.5' },
        { name: 'chat', model: 'chat', input: '1', output: '2' },
        { name: 'broken', model: 'broken', input: '1', output: '2' },
      ],
      key_groups: [
        { name: 'research', models: ['*'], budget: { limit: '2', period: 'month' } },
        { name: 'interns', models: ['*'], budget: { limit: '1', period: 'day' } },
      ],
      access_keys: [
        { name: 'ada', group: 'research', tags: ['lab'] },
        { name: 'bob', group: 'interns', tags: ['lab', 'summer'] },
      ],
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    const keyOf = async (name: string) => (await gateway.console('GET', `/access-keys/${name}/api-key`)).body.api_key as string;
    const [ada, bob] = [await keyOf('ada'), await keyOf('bob')];
    await gateway.settle();
    for (const model of ['coder', 'coder', 'chat', 'bargain']) await stage.ask(model, { key: ada });
    for (const model of ['chat', 'broken', 'broken']) await stage.ask(model, { key: bob });
    await until(async () => (await budgetOf('research')).spent_micros > 0 && (await budgetOf('interns')).spent_micros > 0, 'the money to be counted', waitMs);
  }, prepareMs);

  afterAll(() => stage?.close());

  test('a monitor is not asked to add prices', async () => {
    const { browser, gateway } = stage;
    const monitor = { username: 'olga', password: 'the word of olga' };
    await gateway.console('POST', '/users', { ...monitor, role: 'monitor' });
    const { page, open, context } = await visit(browser, { url: gateway.url, token: (await gateway.console('POST', '/login', monitor)).body.token });
    await open('/costs');
    await page.getByRole('link', { name: 'See the prices' }).waitFor();
    expect(await page.getByRole('link', { name: 'Add prices' }).count()).toBe(0);
    await context.close();
  });

  test('costs are stacked by group, key, model and tag, and the unpriced part is said', async () => {
    const { admin, page } = stage;
    await admin.open('/costs');
    const table = page.getByRole('table', { name: 'Costs by group' });
    await table.getByRole('link', { name: 'research', exact: true }).waitFor();
    await page.getByText('One request of this range had no price', { exact: false }).waitFor();
    await page.getByRole('link', { name: 'Add prices' }).waitFor();
    const costs = async () => {
      const rows = (await table.getByRole('row').all()).slice(1);
      return new Map(
        await Promise.all(
          rows.map(
            async (row) => [(await row.getByRole('link').first().textContent()) ?? '', (await row.getByRole('cell').nth(1).textContent()) ?? ''] as const,
          ),
        ),
      );
    };
    const { body } = await stage.gateway.console('GET', '/stats/top?by=group&order=cost&limit=20');
    const wanted = new Map((body.items as { value: string; cost: { cost: string }[] }[]).map(({ value, cost }) => [value, `$${cost[0]?.cost ?? '0.00'}`]));
    expect((await costs()).get('research')).toBe(wanted.get('research'));
    // The bar of today has a part for each group, told when one points at it.
    const today = page.locator('[title*="research: $"]');
    expect(await today.getAttribute('title')).toMatch(/\nresearch: \$\d.*\ninterns: \$0/s);
    const heights = await today.locator(':scope > *').evaluateAll((parts) => parts.map((part) => (part as unknown as { clientHeight: number }).clientHeight));
    expect(heights[0]).toBeGreaterThan(100);
    for (const [by, names] of [
      ['Access key', ['ada', 'bob']],
      ['Model', ['coder', 'chat']],
      ['Tag', ['lab', 'summer']],
    ] as const) {
      await choose(page, 'Group by', by);
      for (const name of names) await table.getByRole('link', { name, exact: true }).waitFor();
    }
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'costs');
  });

  test('a budget is topped up and reset by keyboard', async () => {
    const { admin, page } = stage;
    await admin.open('/costs');
    await page.getByRole('button', { name: 'Top up the budget of research' }).focus();
    await page.keyboard.press('Enter');
    await dialogHasFocus(page);
    await page.keyboard.insertText('nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').locator('.mantine-InputWrapper-error').waitFor();
    await page.getByRole('textbox', { name: 'Amount in USD' }).fill('3.25');
    await page.keyboard.press('Enter');
    await dialogsGone(page);
    expect((await budgetOf('research')).limit_micros).toBe(5_250_000);
    await page.getByRole('button', { name: 'Reset the budget of research' }).focus();
    await page.keyboard.press('Enter');
    const question = page.getByRole('dialog', { name: 'Reset the budget of research?' });
    await question.getByRole('button', { name: 'Reset' }).focus();
    await page.keyboard.press('Enter');
    await dialogsGone(page);
    await until(async () => (await budgetOf('research')).spent_micros === 0, 'the budget to begin anew', waitMs);
    expect((await budgetOf('research')).limit_micros).toBe(2_000_000);
  });

  test('a double click tops up once, resets once, and rotates a key once', async () => {
    const { admin, page } = stage;
    const sent: string[] = [];
    const calls = '**/console/api/**';
    await page.route(calls, async (route) => {
      const { pathname } = new URL(route.request().url());
      if (/\/(?:top-up|reset|rotate)$/.test(pathname)) sent.push(pathname.split('/').at(-1) ?? '');
      await route.continue();
    });
    await admin.open('/costs');
    await page.getByRole('button', { name: 'Top up the budget of interns' }).click();
    await page.getByRole('textbox', { name: 'Amount in USD' }).fill('1');
    await page.getByRole('dialog').getByRole('button', { name: 'Top up' }).dblclick();
    await dialogsGone(page);
    expect((await budgetOf('interns')).limit_micros).toBe(2_000_000);
    await page.getByRole('button', { name: 'Reset the budget of interns' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset' }).dblclick();
    await dialogsGone(page);
    await until(async () => (await budgetOf('interns')).limit_micros === 1_000_000, 'the budget to begin anew', waitMs);
    await admin.open('/access-keys?edit=bob');
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog', { name: 'Replace the value of bob?' }).getByRole('button', { name: 'Rotate' }).dblclick();
    await page.getByRole('dialog', { name: 'The key bob' }).waitFor();
    await admin.settled();
    expect(sent).toEqual(['top-up', 'reset', 'rotate']);
    await page.unroute(calls);
  });

  test('shares are those of the whole range, and what has no row of its own is in one together', async () => {
    const { admin, page, gateway } = stage;
    const { body } = await gateway.console('GET', '/stats/top?by=group&order=cost&limit=20');
    const items = body.items as { value: string; cost: { cost: string }[] }[];
    // As with hundreds of groups: one of them is the hundredth, and the other is not among them.
    const [interns] = items.filter(({ value }) => value === 'interns');
    const answer = {
      ...body,
      items: [interns, ...Array.from({ length: 99 }, (_, at) => ({ ...interns, value: `free-${at}`, cost: [], unpriced_requests: 0 }))],
    };
    const asked = '**/stats/top?*by=key_group*';
    await page.route(asked, (route) => route.fulfill({ json: answer }));
    await admin.open('/costs');
    const rows = page.getByRole('table', { name: 'Costs by group' }).getByRole('row');
    await rows.nth(2).waitFor();
    const cells = async (at: number) => rows.nth(at).getByRole('cell').allTextContents();
    const costOf = (wanted: string) => Number(items.find(({ value }) => value === wanted)?.cost[0]?.cost);
    const share = costOf('interns') / (costOf('interns') + costOf('research'));
    const percent = (one: number) => new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 }).format(one);
    expect((await cells(1))[2]).toBe(percent(share));
    expect((await cells(2)).slice(0, 3)).toEqual(['All others', `$${costOf('research')}`, percent(1 - share)]);
    await page.unroute(asked);
  });

  test('files for accounting hold everything, or say that they do not', async () => {
    const { admin, page } = stage;
    await admin.open('/costs?by=access_key');
    await page.getByRole('table', { name: 'Costs by group' }).waitFor();
    const save = async () => {
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export as CSV' }).click();
      return readFileSync(await (await saved).path(), 'utf8');
    };
    const file = await save();
    // Spreadsheets tell UTF-8 by it.
    expect(file.startsWith('\ufeff')).toBe(true);
    for (const name of ['ada', 'bob']) expect(file).toContain(`,"${name}",`);
    expect(await page.getByText('The file holds the first', { exact: false }).count()).toBe(0);
    await page.route('**/stats/top?*format=csv*', (route) =>
      route.fulfill({ contentType: 'text/csv', headers: { 'x-first-only': '1000' }, body: '"model"\r\n' }),
    );
    await admin.open('/statistics');
    await save();
    await page.getByText('The file holds the first 1,000 in this order', { exact: false }).waitFor();
  });

  test('charts are stacked, and one step of traffic is seen in each of them', async () => {
    const { admin, page } = stage;
    await admin.open('/statistics?range=24h');
    await chart('Traffic').locator('canvas').waitFor();
    await admin.settled();
    expect(await painted('Traffic', colors.succeeded)).toBeGreaterThan(20);
    expect(await painted('Traffic', colors.failed)).toBeGreaterThan(10);
    // A single value draws no line.
    expect(await painted('Latency', colors.p95)).toBeGreaterThan(4);
    await chart('Requests by Model').locator('canvas').waitFor();
    await chart('Cost by Model').locator('canvas').waitFor();
    for (const name of ['Succeeded', 'Errors']) await page.locator('.chart-legend').first().getByText(name, { exact: true }).waitFor();
    await picture(page, 'statistics');
  });

  test('a stretch that is drawn over is zoomed to, and left again', async () => {
    const { admin, page } = stage;
    await admin.open('/statistics?range=24h');
    await chart('Traffic').locator('canvas').waitFor();
    await admin.settled();
    const over = chart('Traffic').locator('.u-over');
    const { x, y, width, height } = (await over.boundingBox())!;
    await page.mouse.move(x + width * 0.5, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.75, y + height / 2, { steps: 4 });
    await page.mouse.move(x + width - 2, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await page.getByRole('button', { name: 'Leave this stretch of time' }).waitFor();
    const [from, to] = ['from', 'to'].map((name) => Number(address().searchParams.get(name))) as [number, number];
    expect((to - from) / 3_600_000).toBeGreaterThan(10);
    expect((to - from) / 3_600_000).toBeLessThan(14);
    await page.getByRole('button', { name: 'coder', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Leave this stretch of time' }).click();
    await until(async () => address().searchParams.get('from') === null, 'the whole range to be back', waitMs);
  });

  test('a point leads to its requests, with the mouse and by keyboard', async () => {
    const { admin, page } = stage;
    await admin.open('/statistics?range=1h&key_group=research');
    await chart('Traffic').locator('canvas').waitFor();
    await admin.settled();
    await chart('Traffic').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
    expect(Number(address().searchParams.get('to')) - Number(address().searchParams.get('from'))).toBeGreaterThan(0);
    await page.goBack();

    await admin.open('/statistics?range=7d');
    await chart('Traffic').locator('canvas').waitFor();
    await admin.settled();
    const { x, y, width, height } = (await chart('Traffic').locator('.u-over').boundingBox())!;
    await page.mouse.move(x + width - 12, y + height - 4);
    await page.mouse.click(x + width - 12, y + height - 4);
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
    await until(async () => (await page.getByRole('row').count()) > 7, 'the requests of today', waitMs);
    await page.getByRole('button', { name: 'Leave this stretch of time' }).waitFor();
  });

  test('changes of the configuration stand on the axis, and lead to what was changed', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('PATCH', '/key-groups/interns', { description: 'changed just now' });
    const { revision } = (await gateway.console('GET', '/history?limit=1')).body as { revision: number };
    await admin.open('/statistics?range=24h');
    await page.getByRole('link', { name: new RegExp(`^r${revision} \\(`) }).click();
    await page.getByRole('dialog').getByText('changed just now', { exact: true }).waitFor();
  });

  test('every cost is whole in the log in Chinese, every range is seen on a phone, and tables have heads', async () => {
    const { browser, gateway } = stage;
    const desk = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language: 'zh' });
    await desk.open('/logs');
    await desk.page
      .getByText(/^US\$0\.00\d+$/)
      .first()
      .waitFor();
    const cut = await desk.page
      .getByRole('cell')
      .evaluateAll((cells) =>
        (cells as unknown as { textContent: string; scrollWidth: number; clientWidth: number }[])
          .filter((cell) => cell.textContent.startsWith('US$') && cell.scrollWidth > cell.clientWidth)
          .map((cell) => cell.textContent),
      );
    expect(cut).toEqual([]);
    await desk.context.close();
    for (const language of ['en', 'zh']) {
      const phone = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language, width: 390 });
      await phone.open('/');
      await phone.settled();
      const last = phone.page.locator('.choices label').last();
      const { x, width } = (await last.boundingBox())!;
      expect([language, x + width <= 390]).toEqual([language, true]);
      await phone.context.close();
    }
    const { admin, page } = stage;
    await admin.open('/');
    for (const [name, head] of [
      ['Models', 'Model'],
      ['Access keys', 'Access key'],
    ] as const)
      expect(await page.getByRole('table', { name, exact: true }).getByRole('columnheader').allTextContents()).toEqual([head, 'Requests', 'Cost']);
  });

  test('the switch for errors stands in the address as one would write it, and is read however it is spelled', async () => {
    const { admin, page } = stage;
    await admin.open('/logs');
    await page.getByRole('switch', { name: 'Errors only' }).check();
    await until(async () => address().search.includes('errors_only'), 'the filter to be in the address', waitMs);
    expect(address().search).toContain('errors_only=true');
    for (const spelling of ['true', '%22true%22', '1', 'TRUE', 'yes']) {
      await admin.open(`/logs?errors_only=${spelling}`);
      await page.getByRole('cell', { name: /^400 / }).first().waitFor();
      expect([spelling, await page.getByRole('switch', { name: 'Errors only' }).isChecked()]).toEqual([spelling, true]);
      expect([spelling, await page.getByRole('cell', { name: '200', exact: true }).count()]).toEqual([spelling, 0]);
    }
    await admin.open('/logs?errors_only=banana');
    await page.getByRole('alert').getByText('errors_only', { exact: true }).waitFor();
  });

  test('the page of a call that used nothing shows no zeros and no dash for what never was', async () => {
    const { admin, page } = stage;
    const id = await stage.ask('no-such-model');
    await admin.open(`/logs?request=${id}`);
    const usage = page.getByRole('dialog').getByRole('region', { name: 'Tokens and cost' });
    await usage.getByText('Nothing was used.').waitFor();
    expect((await usage.textContent())?.replace('Tokens and cost', '').trim()).toBe('Nothing was used.');
    const timeline = page.getByRole('dialog').getByRole('region', { name: 'Timeline' });
    await timeline.getByText(/^complete after \d/).waitFor();
    expect(await timeline.textContent()).not.toContain('–');
  });

  test('their pages look well in both languages and themes, at a desk and on a phone', async () => {
    const { browser, gateway } = stage;
    const found = await faultsOfLooks(browser, { url: gateway.url, token: gateway.consoleKey }, [
      { path: '/costs', name: 'costs' },
      { path: '/statistics?range=24h', name: 'statistics' },
      { path: '/', name: 'overview' },
    ]);
    expect(found).toEqual([]);
  });

  test('a page of costs that stays open goes on into the next day', async () => {
    const { browser, gateway } = stage;
    const { page, context, open } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    const dayMs = 86_400_000;
    const midnight = Math.ceil(Date.now() / dayMs) * dayMs;
    await page.clock.install({ time: midnight - 30_000 });
    await open('/costs');
    await page.getByRole('table', { name: 'Costs by group' }).waitFor();
    const asked = page.waitForRequest((request) => request.url().includes(`/stats/series?`) && request.url().includes(`to=${midnight + dayMs}`));
    await page.clock.fastForward(65_000);
    await asked;
    await context.close();
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
