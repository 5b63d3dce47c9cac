/** The studio in a real browser: scripts and rules are tried on a started gateway. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { browserAvailable, buildConsole, launchBrowser, prepareMs, seriousFaults, type Visitor, visit, waitMs } from './browser.ts';

const available = browserAvailable('The studio in a browser');
const suite = available ? describe : describe.skip;

let browser: Browser;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;

const run = () => page.getByRole('button', { name: 'Run', exact: true }).click();
const result = () => page.getByRole('region', { name: 'Result' });
const after = () => result().getByRole('textbox', { name: 'After' });
const script = () => page.getByRole('textbox', { name: 'Script', exact: true });

async function write(text: string) {
  await script().click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

suite('studio', () => {
  beforeAll(async () => {
    buildConsole();
    [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' })]);
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test('a script runs, and its change is seen', async () => {
    await admin.open('/studio');
    await write("function transform(body, context) {\n  body.model = context.upstreamModel + '!';\n  return body;\n}");
    await run();
    await after().getByText('"example-model-2025!"').waitFor();
    await result()
      .getByText(/^\d+ operations?$/)
      .waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  test('a fault is marked at its line until the script is changed', async () => {
    await write('function transform(body) {\n  const a = 1;\n  body.nowhere.b = a;\n  return body;\n}');
    await run();
    await page.getByRole('alert').getByText('in line 3').waitFor();
    const marks = page.locator('.cm-lintRange-error');
    await until(async () => (await marks.allTextContents()).join('|') === 'body.nowhere.b = a;', 'the line to be marked', waitMs);
    await script().click();
    await page.keyboard.type(' ');
    await marks.first().waitFor({ state: 'detached' });
  });

  test('what a script may use is offered', async () => {
    await write('');
    await page.keyboard.type('context.upstreamN');
    await page.getByRole('option', { name: /^upstreamName/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.type(';\nregex_ext');
    await page.getByRole('option', { name: /^regex_extract/ }).waitFor();
    await page.keyboard.press('Escape');
  });

  test('rules are tried, and say what each did', async () => {
    await page.getByRole('tab', { name: 'Rules' }).click();
    await page.getByRole('tabpanel', { name: 'Rules' }).waitFor();
    await page.getByRole('tabpanel', { name: 'Scripts' }).waitFor({ state: 'hidden' });
    await run();
    await result().getByText('2 of 2 rules changed something').waitFor();
    await after().getByText('Answer in one sentence.').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
  });

  test('nothing threw on the way', () => expect(admin.faults).toEqual([]));
});
