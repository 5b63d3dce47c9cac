/** Every page and every form: accessible in light and dark, no wider than the screen, in whole words, and running nothing of a stranger's. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { browserAvailable, buildConsole, dialogsGone, launchBrowser, prepareMs, seriousFaults, type Visitor, visit } from './browser.ts';
import { keyLikeTexts } from './texts.ts';

const suite = browserAvailable('Every page in a browser') ? describe : describe.skip;

/** Markup, an embedded change of direction, and one long word. */
const hostile = `<img src=x onerror=alert(1)> \u202Egnirts\u202C ${'w'.repeat(120)}`;
/** What headers can carry. */
const hostileHeader = `<img src=x onerror=alert(3)> ${'v'.repeat(120)}`;

/** Read from the application, so that a page added there is tested here. */
const router = readFileSync(join(import.meta.dirname, '../../services/console/web/src/app/router.tsx'), 'utf8');
const paths = [...router.matchAll(/^ {2}\['(\/[^']*)', \(\) => import/gm)].map(([, path]) => path ?? '');

/** `requestId` is also what scripts call it. */
const keys = new Set([...keyLikeTexts()].filter((key) => key !== 'requestId'));

let browser: Browser;
let gateway: TestGateway;
let upstream: FakeUpstream;

/** Texts in sight that are the key of a text: it was not loaded, or is not there. */
const rawKeys = async ({ page }: Visitor): Promise<string[]> => {
  const shown = await page.evaluate<string[]>(`(() => {
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) found.push(walker.currentNode.data.trim());
    for (const element of document.querySelectorAll('[aria-label], [placeholder]')) found.push(element.getAttribute('aria-label') ?? '', element.placeholder ?? '');
    return found;
  })()`);
  return shown.filter((text) => keys.has(text));
};

/** What is wrong with what is in sight, a line each. */
async function faultsOf(visitor: Visitor, name: string): Promise<string[]> {
  const { page } = visitor;
  const wider = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  return [
    ...(await seriousFaults(page)).map((fault) => `${name}: ${fault}`),
    ...(wider > 1 ? [`${name} is ${wider} px too wide`] : []),
    ...((await page.locator('img[src="x"], script:not([src])').count()) > 0 ? [`${name} has elements of a stranger's`] : []),
    ...(await rawKeys(visitor)).map((key) => `${name} shows the key ${key}`),
  ];
}

const colours = [
  { dark: false, width: 1280, language: 'en' },
  { dark: true, width: 390, language: 'zh' },
] as const;

suite('every page', () => {
  beforeAll(async () => {
    buildConsole();
    [browser, gateway, upstream] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' }), startFakeUpstream()]);
    await gateway.configure({
      upstreams: [
        {
          name: 'limited',
          protocol: 'alpha',
          base_url: upstream.url,
          api_keys: [{ key: 'sk-of-a-provider', weight: 1 }],
          user_agent: 'x',
          custom_headers: { 'x-odd': '<b>' },
          rate_limit: { rpm: 60, max_concurrency: 2 },
        },
      ],
      models: [
        { name: hostile, upstream: 'limited', upstream_model_id: hostile, aliases: ['<script>alert(2)</script>'] },
        { name: 'text', upstream: 'limited', upstream_model_id: 'text:10' },
      ],
      load_balancers: [{ name: `lb ${hostile}`, entries: [{ model: hostile }] }],
      key_groups: [
        {
          name: 'odd',
          models: ['*', hostile, '<b>*'],
          description: hostile,
          header_acl: [{ header: 'x-odd', match: 'contains', value: '<i>', action: 'deny' }],
          budget: { limit: 5, period: 'day', currency: 'USD' },
        },
      ],
      access_keys: [{ name: `key ${hostile}`, group: 'odd', description: hostile, tags: ['<u>tag</u>'] }],
    });
    await gateway.console('POST', '/pricing', {
      name: `price ${hostile}`,
      model: 'text',
      currency: 'USD',
      mode: 'per_token',
      input: '1',
      output: '1',
      description: hostile,
    });
    await gateway.console('POST', '/users', { username: 'somebody', password: 'long-enough', role: 'monitor', enabled: true });
    await fetch(`${gateway.consoleUrl}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': hostileHeader },
      body: JSON.stringify({ username: 'somebody', password: 'long-enough' }),
    });
    const key = (await gateway.console('GET', `/access-keys/${encodeURIComponent(`key ${hostile}`)}/api-key`)).body.api_key as string;
    const ids = await Promise.all(
      ['text', hostile, 'no-such <b>model</b>'].map(async (model) => {
        const answer = await fetch(`${gateway.url}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': key, 'content-type': 'application/json', 'user-agent': hostileHeader, 'x-claude-code-session-id': hostileHeader },
          body: JSON.stringify({ model, max_tokens: 16, top_k: 3, messages: [{ role: 'user', content: hostile }] }),
        });
        await answer.text();
        return answer.headers.get('x-request-id') ?? '';
      }),
    );
    await Promise.all(ids.map((id) => gateway.row(id)));
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await Promise.all([gateway?.stop(), upstream?.close()]);
  });

  test('are known', () => expect(paths.length).toBeGreaterThan(20));

  test.each(colours)(
    'is right ($language, $width px)',
    async (way) => {
      const visitor = await visit(browser, { url: gateway.url, token: gateway.consoleKey, ...way });
      const found: string[] = [];
      await visitor.open(paths.at(-1) ?? '');
      for (const path of paths) {
        await visitor.follow(path);
        await visitor.settled();
        found.push(...(await faultsOf(visitor, path)));
      }
      expect([...found, ...visitor.faults]).toEqual([]);
      await visitor.context.close();
    },
    600_000,
  );

  test.each(colours)('the sign-in is right ($language, $width px)', async (way) => {
    const visitor = await visit(browser, { url: gateway.url, token: null, ...way });
    await visitor.page.goto(`${gateway.url}/console`);
    await visitor.page.locator('form').waitFor();
    await visitor.settled();
    expect([...(await faultsOf(visitor, 'sign-in')), ...visitor.faults]).toEqual([]);
    await visitor.context.close();
  });

  /** By the page: the name of a button that opens something there. */
  const opened = [
    ['/upstreams', 'limited'],
    ['/models', hostile],
    ['/load-balancers', `lb ${hostile}`],
    ['/key-groups', 'odd'],
    ['/access-keys', `key ${hostile}`],
    ['/pricing', `price ${hostile}`],
    ['/settings/users', 'somebody'],
    ['/settings/history', '2'],
  ] as const;

  test.each(colours)(
    'the forms are right ($language, $width px)',
    async (way) => {
      const visitor = await visit(browser, { url: gateway.url, token: gateway.consoleKey, ...way });
      const { page } = visitor;
      const found: string[] = [];
      await visitor.open('/');
      for (const [path, name] of opened) {
        await visitor.follow(path);
        await page.getByRole('table').getByRole('button', { name, exact: true }).click();
        await page.getByRole('dialog').waitFor();
        await visitor.settled();
        const folded = page.getByRole('dialog').locator('.mantine-Accordion-control[aria-expanded="false"]');
        while ((await folded.count()) > 0) await folded.first().click();
        await visitor.settled();
        found.push(...(await faultsOf(visitor, `form of ${path}`)));
        await page.keyboard.press('Escape');
        await dialogsGone(page);
      }
      await visitor.follow('/logs');
      for (const name of ['200', '404']) {
        await page.getByRole('row', { name }).first().click();
        await page.getByRole('dialog').waitFor();
        await visitor.settled();
        found.push(...(await faultsOf(visitor, `a request of status ${name}`)));
        await page.keyboard.press('Escape');
        await dialogsGone(page);
      }
      expect([...found, ...visitor.faults]).toEqual([]);
      await visitor.context.close();
    },
    600_000,
  );
});
