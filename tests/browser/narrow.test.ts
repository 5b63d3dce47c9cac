/** Little room, paper and few colours: nothing of a page is cut off at 320 px, tables of a desk need no pushing at 1280 px, and what has the focus is seen whole. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { browserAvailable, dialogHasFocus, prepareMs, visit } from './browser.ts';
import { pushed } from './looks.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Little room') ? describe : describe.skip;

let stage: Stage;

/** Asked of the page: what ends outside the window, and cannot be pushed into it. */
const cutOff = `[...document.querySelectorAll('main *')].filter((one) => {
  const { right, width, height } = one.getBoundingClientRect();
  if (width < 2 || height < 2 || one.closest('figure table') || right <= innerWidth + 1) return false;
  for (let above = one.parentElement; above; above = above.parentElement) if (/auto|scroll/.test(getComputedStyle(above).overflowX)) return false;
  return true;
}).map((one) => one.tagName + ': ' + one.textContent.slice(0, 60))`;

/** A part of a bar of costs. */
const bar = 'main figure [title*="$"] > *';

/** Of the first that the selector finds. */
const styleOf = (page: Page, selector: string, property: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);

suite('little room', () => {
  beforeAll(async () => {
    stage = await openStage();
    await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'coder', upstream: 'main', upstream_model_id: 'text:100' }],
      pricing: [{ name: 'coder', model: 'coder', input: '1', output: '20' }],
      key_groups: [{ name: 'research', models: ['*'] }],
      access_keys: [{ name: 'grace.h', group: 'research', owner: 'ada', expires_at: '2098-12-31T10:00:00Z', budget: { limit: '500', period: 'month' } }],
    });
    await stage.gateway.settle();
    const { body } = await stage.gateway.console('GET', '/access-keys/grace.h/api-key');
    await stage.ask('coder', { key: body.api_key });
  }, prepareMs);

  afterAll(() => stage?.close());

  test.each(['/', '/costs', '/clients'])('%s is whole at 320 px', async (path) => {
    const { browser, gateway } = stage;
    const { page, context, open, settled } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, width: 320 });
    await open(path);
    await settled();
    expect(await page.evaluate<string[]>(cutOff)).toEqual([]);
    await context.close();
  });

  test('every column of the access keys is seen at 1280 px', async () => {
    const { admin, page } = stage;
    await admin.open('/access-keys');
    await page.getByText('/ $500.00', { exact: false }).waitFor();
    await admin.settled();
    expect(await page.evaluate<string[]>(pushed)).toEqual([]);
    // Times stand in one line, with all of it at hand.
    const expiry = page.getByTitle('Dec 31, 2098', { exact: false });
    expect(await expiry.textContent()).toBe('Dec 31, 2098');
    expect((await expiry.boundingBox())?.height).toBeLessThan(30);
  });

  test.each(['Tab', 'Shift+Tab'])('the focus is not behind the head or the buttons of a form (%s)', async (press) => {
    const { admin, page } = stage;
    await admin.open('/key-groups?create=new');
    await dialogHasFocus(page);
    const covered: string[] = [];
    for (let step = 0; step < 24; step++) {
      await page.keyboard.press(press);
      const by = await page.evaluate<string | null>(`(() => {
        const one = document.activeElement;
        const { left, top, width, height } = one.getBoundingClientRect();
        const above = document.elementFromPoint(left + width / 2, top + height / 2);
        const isBelow = above === null || one.contains(above) || above.contains(one) || one.closest('label, .mantine-Input-wrapper, .mantine-InputWrapper-root, .mantine-Switch-root')?.contains(above);
        return isBelow ? null : one.textContent + ' is behind ' + above.className;
      })()`);
      if (by !== null) covered.push(by);
    }
    expect(covered).toEqual([]);
  });

  test('paper has the page without the menu, its tables whole and its bars in colour', async () => {
    const { browser, gateway } = stage;
    const { page, context, open, settled } = await visit(browser, { url: gateway.url, token: gateway.consoleKey, width: 720 });
    await open('/costs');
    await page.locator(bar).first().waitFor({ state: 'attached' });
    await settled();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('navigation', { name: 'Menu' }).isVisible()).toBe(false);
    expect(await page.getByRole('banner').isVisible()).toBe(false);
    expect(await styleOf(page, bar, 'printColorAdjust')).toBe('exact');
    expect(await styleOf(page, 'main .mantine-ScrollArea-viewport', 'overflowX')).toBe('visible');
    await context.close();
  });

  test('where the system chooses the colours, switches, choices and bars are seen', async () => {
    const { browser, gateway } = stage;
    const { page, context, open, settled } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    await page.emulateMedia({ forcedColors: 'active' });
    await open('/logs');
    const on = '.mantine-Switch-input:checked + .mantine-Switch-track';
    const off = '.mantine-Switch-input:not(:checked) + .mantine-Switch-track';
    await page.locator(on).first().waitFor();
    for (const track of [on, off]) expect([track, await styleOf(page, track, 'borderTopWidth')]).toEqual([track, '1px']);
    expect(await styleOf(page, on, 'backgroundColor')).not.toBe(await styleOf(page, off, 'backgroundColor'));
    await open('/costs');
    await page.locator(bar).first().waitFor({ state: 'attached' });
    await settled();
    expect(await styleOf(page, bar, 'forcedColorAdjust')).toBe('none');
    expect(await styleOf(page, '.mantine-SegmentedControl-label[data-active]', 'outlineStyle')).toBe('solid');
    await context.close();
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
