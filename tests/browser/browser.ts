/** A real browser on a started gateway's console. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core';
import { until } from '../support/gateway.ts';

const root = join(import.meta.dirname, '../..');
/** The build without windows takes a quarter less CPU. */
const installed = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executable = process.env['CHROMIUM_PATH'] ?? installed.find(existsSync) ?? '/usr/bin/chromium';
/** For whatever a test waits for: it costs nothing when all is well, and machines that do other things too need it. */
export const waitMs = 30_000;
/** Of a suite's preparations: the application is built in them when its sources changed, or another suite's build is waited for. */
export const prepareMs = 240_000;

/** Whether suites in a browser can run here. Says so loudly when not, and fails under `CI=true`: a suite that silently does not run proves nothing. */
export function browserAvailable(suite: string): boolean {
  if (existsSync(executable)) return true;
  const message = `${suite} DID NOT RUN: there is no Chromium at ${executable} (CHROMIUM_PATH)`;
  if (process.env['CI'] === 'true') throw new Error(message);
  process.stderr.write(`${message}\n`);
  return false;
}

/** Builds the application when its sources changed: gateways that start afterwards serve it. */
export const buildConsole = (): void => void execFileSync(process.execPath, [join(root, 'scripts/build-web.mjs')], { stdio: 'inherit' });

/** `microphone`: one that hums, which pages may use unasked. */
export const launchBrowser = ({ microphone = false } = {}): Promise<Browser> => {
  const fakes = microphone ? ['--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', '--autoplay-policy=no-user-gesture-required'] : [];
  return chromium.launch({ executablePath: executable, args: ['--no-sandbox', ...fakes], timeout: prepareMs / 2 });
};

export interface Visit {
  /** Of the gateway. */
  url: string;
  /** A session or the secret key; null: not signed in. */
  token: string | null;
  dark?: boolean;
  width?: number;
  language?: string;
}

export interface Visitor {
  context: BrowserContext;
  page: Page;
  /** What the page threw, and dialogs that a script opened: none is right. */
  faults: string[];
  /** Opens a page of the console and waits for its title. */
  open(path: string): Promise<void>;
  /** Goes to another page as a link does, without loading the application anew. */
  follow(path: string): Promise<void>;
  /** Waits until every question to the API is answered and shown, and nothing moves any more. */
  settled(): Promise<void>;
}

export async function visit(browser: Browser, { url, token, dark = false, width = 1280, language = 'en' }: Visit): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce' });
  context.setDefaultTimeout(waitMs);
  const stored: Record<string, string> = { 'model-gateway.language': language, ...(token !== null && { 'model-gateway.token': token }) };
  await context.addInitScript((values: Record<string, string>) => {
    for (const [name, value] of Object.entries(values)) localStorage.setItem(name, value);
  }, stored);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('dialog', (dialog) => {
    // The browser's own question about unsaved words is right.
    if (dialog.type() !== 'beforeunload') faults.push(`dialog: ${dialog.message()}`);
    void dialog.accept();
  });
  const asked = new Set<Request>();
  page.on('request', (request) => {
    if (/\/console\/(?:api|assets)\//.test(request.url()) && !request.url().includes('/stream')) asked.add(request);
  });
  page.on('requestfinished', (request) => asked.delete(request));
  page.on('requestfailed', (request) => asked.delete(request));
  return {
    context,
    page,
    faults,
    async open(path) {
      await page.goto(`${url}/console${path}`);
      await page.getByRole('heading', { level: 2 }).first().waitFor();
    },
    async follow(path) {
      const before = await page.title();
      await page.evaluate(`history.pushState({}, '', ${JSON.stringify(`/console${path}`)})`);
      for (const end = Date.now() + waitMs; (await page.title()) === before; await page.waitForTimeout(25)) {
        if (Date.now() > end) throw new Error(`${path} did not open`);
      }
    },
    async settled() {
      const end = Date.now() + waitMs;
      // An answer may lead to the next question, and a part of the page that came late asks its own: all must be quiet for a moment.
      for (let quiet = 0; quiet < 4; quiet = asked.size === 0 && !(await page.evaluate<boolean>(stirring)) ? quiet + 1 : 0) {
        if (Date.now() > end) throw new Error(`${page.url()} did not come to rest; asked: ${[...asked].map((request) => request.url()).join(' ')}`);
        await page.waitForTimeout(40);
      }
    },
  };
}

/** Asked of the page as text: its policy lets nothing be compiled inside it. What still fades in has less contrast than it will have. */
const stirring = `document.querySelector('.mantine-Loader-root, .mantine-Skeleton-root') !== null
  || document.getAnimations().some((one) => one.playState === 'running' && one.effect.getTiming().iterations !== Infinity)`;

/** Waits until what opened over the page has the focus: it takes it twice, a moment after it is drawn, from whatever has it by then. */
export async function dialogHasFocus(page: Page): Promise<void> {
  await until(() => page.evaluate<boolean>("(document.activeElement?.closest('[role=dialog]') ?? null) !== null"), 'the focus to come to the dialog', waitMs);
  await page.evaluate('new Promise((over) => setTimeout(over, 0))');
}

/** Waits until nothing is open over the page. */
export const dialogsGone = (page: Page): Promise<void> => page.getByRole('dialog').first().waitFor({ state: 'detached' });

interface AxeResult {
  violations: { id: string; impact: string; nodes: { target: string[]; html: string }[] }[];
}

const axe = createRequire(import.meta.url)('axe-core') as { source: string };

/** Serious and critical faults of accessibility, a line each. */
export async function seriousFaults(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate<AxeResult>("axe.run(document, { resultTypes: ['violations'] })");
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ target, html }) => `${id}: ${target.join(' ')} ${html.slice(0, 160)}`));
}

/** Chooses an entry of a drop-down by its label; the listbox shares the label of its input. */
export async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}
