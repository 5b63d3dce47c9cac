/** How pages look to everybody: in both languages and themes, at a desk and on a phone. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { visit } from './browser.ts';

const axe = createRequire(import.meta.url)('axe-core') as { source: string };
/** A folder for pictures of what the tests saw, for people. */
const pictures = process.env['PICTURES'];

export const picture = async (page: Page, name: string): Promise<void> => {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true });
};

/** Every finding of accessibility, however slight, a line each. */
export async function axeFindings(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>(
    "axe.run(document, { resultTypes: ['violations'] })",
  );
  return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes[0]?.html.slice(0, 160)}`);
}

/** Elements of the content that one must push sideways to see whole: their labels. */
export const pushed = `[...document.querySelectorAll('main *')]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(one).overflowX) && one.clientWidth > 0)
  .map((one) => one.querySelector('[aria-label]')?.getAttribute('aria-label') ?? one.className)`;

/** `pages.test.ts` has the other two, of every page as it is with less on it. */
const ways = [
  { dark: true, width: 1280, language: 'zh' },
  { dark: false, width: 390, language: 'en' },
] as const;

/**
 * What is wrong with the pages in every way, a line each. `fits`: nothing of them is pushed sideways on a phone either; of others only the page itself is not.
 */
export async function faultsOfLooks(browser: Browser, { url, token }: { url: string; token: string }, pages: { path: string; name: string; fits?: boolean }[]) {
  const found: string[] = [];
  for (const way of ways) {
    const visitor = await visit(browser, { url, token, ...way });
    for (const { path, name, fits = false } of pages) {
      const where = `${name}, ${way.language}, ${way.dark ? 'dark' : 'light'}, ${way.width} px`;
      await visitor.open(path);
      await visitor.settled();
      found.push(...(await axeFindings(visitor.page)).map((fault) => `${where}: ${fault}`));
      const wider = await visitor.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      if (wider > 1) found.push(`${where}: ${wider} px too wide`);
      if (fits) found.push(...(await visitor.page.evaluate<string[]>(pushed)).map((label) => `${where}: one must push ${label}`));
      await picture(visitor.page, `${name}-${way.language}-${way.dark ? 'dark' : 'light'}-${way.width}`);
    }
    found.push(...visitor.faults);
    await visitor.context.close();
  }
  return found;
}
