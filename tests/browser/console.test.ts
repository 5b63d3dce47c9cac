/** The console in a real browser, on a started gateway with a fake upstream behind it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { browserAvailable, buildConsole, choose, dialogHasFocus, dialogsGone, launchBrowser, prepareMs, type Visitor, visit, waitMs } from './browser.ts';

const available = browserAvailable('The console in a browser');
const suite = available ? describe : describe.skip;

let browser: Browser;
let gateway: TestGateway;
let upstream: FakeUpstream;
let admin: Visitor;
let page: Page;

const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
const box = (name: string) => page.getByRole('textbox', { name, exact: true });
const drawerGone = () => dialogsGone(page);
const rowButton = (name: string) => page.getByRole('table').getByRole('button', { name, exact: true });

suite('console in a browser', () => {
  beforeAll(async () => {
    buildConsole();
    [browser, gateway, upstream] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' }), startFakeUpstream()]);
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await Promise.all([gateway?.stop(), upstream?.close()]);
  });

  test('an empty gateway opens the first steps, which end with a key that works', async () => {
    await page.goto(`${gateway.url}/console`);
    await page.waitForURL('**/console/start');
    await page.getByText('OpenAI-compatible', { exact: true }).click();
    await box('Base address').fill('ftp://nowhere');
    await box('Name in this gateway').fill('');
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('must not be empty').first().waitFor();
    await until(
      async () => (await page.evaluate("document.activeElement?.getAttribute('data-path')")) === 'name',
      'the keyboard to be where the fault is',
      waitMs,
    );
    await page.getByText('must be an http(s) URL without credentials, query or fragment').first().waitFor();
    await box('Base address').fill(upstream.url);
    await box('Name in this gateway').fill('first');
    await page.getByRole('button', { name: 'Save and test' }).click();
    await page.getByText('The connection works: 3 models found.').waitFor();
    await page.getByRole('checkbox', { name: 'text:10' }).check();
    await page.getByRole('button', { name: 'Add one model' }).click();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Next' }).waitFor();
    expect(await page.getByTestId('reply').textContent()).not.toBe('');
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'Create the team and its key' }).click();
    const key = (await page.getByRole('region', { name: 'Access key of team' }).locator('pre').textContent()) ?? '';
    expect(await page.getByRole('region', { name: 'shell' }).locator('pre').textContent()).toContain(key);
    await gateway.settle();
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'text:10', messages: [{ role: 'user', content: 'hi' }] }),
    });
    expect(answer.status).toBe(200);
    await page.goto(`${gateway.url}/console`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  describe('configuration', () => {
    interface Form {
      path: string;
      create: string;
      name: string;
      /** Fills in the rest so that one field is wrong. */
      wrong: () => Promise<void>;
      /** Label of that field. */
      fault: string;
      right: () => Promise<void>;
      change: () => Promise<void>;
      /** Seen in the API afterwards. */
      changed: Record<string, unknown>;
    }
    const forms: Form[] = [
      {
        path: 'upstreams',
        create: 'New upstream',
        name: 'second',
        wrong: async () => {
          await box('Base address').fill(upstream.url);
          await page.getByRole('button', { name: 'Proxy, DNS and TLS' }).click();
          await box('Proxy').fill('gopher://proxy');
          // Folded again: a fault must open it.
          await page.getByRole('button', { name: 'Proxy, DNS and TLS' }).click();
        },
        fault: 'Proxy',
        right: () => box('Proxy').fill(''),
        change: async () => {
          await page.getByRole('button', { name: 'Rate limit' }).click();
          await box('Calls a minute').fill('90');
        },
        changed: { rate_limit: { rpm: 90, max_concurrency: null, tpm: null, tps_min_interval_ms: null, wait_timeout_secs: 10, initial_tokens: 100 } },
      },
      {
        path: 'models',
        create: 'New model',
        name: 'ok',
        wrong: () => choose(page, 'Upstream', 'first').then(() => box('Name').fill('text:10')),
        fault: 'Name',
        right: () => box('Name').fill('ok'),
        change: async () => {
          await page.getByRole('combobox', { name: 'Aliases' }).fill('fine');
          await page.keyboard.press('Enter');
        },
        changed: { aliases: ['fine'], upstream: 'first' },
      },
      {
        path: 'load-balancers',
        create: 'New load balancer',
        name: 'pool',
        wrong: async () => {
          await choose(page, 'Model', 'text:10');
          await box('Name').fill('fine-pool*');
        },
        fault: 'Name',
        right: () => box('Name').fill('pool'),
        change: () => box('Weight').fill('7'),
        changed: { entries: [{ model: 'text:10', weight: 7, enabled: true }] },
      },
      {
        path: 'key-groups',
        create: 'New group',
        name: 'crew',
        wrong: async () => {
          await page.getByRole('combobox', { name: 'Models' }).fill('text:*');
          await page.keyboard.press('Enter');
          await page.getByText('Grants one of', { exact: false }).waitFor();
          await page.getByRole('button', { name: 'Header rules', exact: false }).click();
          await page.getByRole('button', { name: 'Add a rule' }).click();
          await box('Header').fill('not a header');
        },
        fault: 'Header',
        right: async () => {
          await box('Header').fill('x-team');
          await page.getByRole('button', { name: 'Decide', exact: true }).click();
          await page.getByText('Allowed. Rule 1 decides.').waitFor();
        },
        change: async () => {
          await box('Description').fill('those of the crew');
          await page.getByRole('switch', { name: "Allow calls in the upstream's own terms" }).uncheck();
        },
        changed: {
          description: 'those of the crew',
          passthrough: 'off',
          models: ['text:*'],
          header_acl: [{ header: 'x-team', match: 'exists', action: 'allow' }],
        },
      },
      {
        path: 'access-keys',
        create: 'New access key',
        name: 'agent',
        wrong: async () => {
          await choose(page, 'Group', 'everyone');
          await page.getByRole('button', { name: 'Value of the key' }).click();
          await page.getByRole('textbox', { name: 'A value of your own' }).fill('gk-mistyped-value');
        },
        fault: 'A value of your own',
        right: () => page.getByRole('textbox', { name: 'A value of your own' }).fill(''),
        change: () => box('Description').fill('of an agent'),
        changed: { description: 'of an agent', group: 'everyone' },
      },
    ];

    test.each(forms.map((form) => [form.path, form] as const))('%s are made, corrected, changed', async (path, form) => {
      await admin.open(`/${path}`);
      await page.getByRole('button', { name: form.create }).first().click();
      await dialogHasFocus(page);
      await box('Name').fill(form.name);
      await form.wrong();
      await save();
      const field = page.locator('.mantine-InputWrapper-root', { has: page.locator('label', { hasText: new RegExp(`^${form.fault}`) }) });
      await field.locator('.mantine-InputWrapper-error').waitFor();
      await form.right();
      await save();
      if (path === 'access-keys') await page.getByRole('button', { name: 'Done' }).click();
      await drawerGone();
      await rowButton(form.name).click();
      await form.change();
      await save();
      await drawerGone();
      expect((await gateway.console('GET', `/${path}/${form.name}`)).body).toMatchObject(form.changed);
    });

    test('typed words are not lost by a slip', async () => {
      await admin.open('/models');
      await rowButton('ok').click();
      await box("Upstream's name").fill('text:3');
      await page.keyboard.press('Escape');
      await page.getByText('Leave without saving?').waitFor();
      await page.getByRole('button', { name: 'Go on editing' }).click();
      expect(await box("Upstream's name").inputValue()).toBe('text:3');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('button', { name: 'Leave', exact: true }).click();
      await drawerGone();
    });

    test.each(['at once', 'after the page was looked at anew'])('a change made by somebody else meanwhile is not overwritten, %s', async (when) => {
      await gateway.console('PATCH', '/key-groups/crew', { description: 'ours' });
      await admin.open('/key-groups');
      await rowButton('crew').click();
      await box('Description').fill('mine');
      await gateway.console('PATCH', '/key-groups/crew', { description: 'theirs' });
      if (when !== 'at once') {
        // What was read counts as fresh for five seconds.
        await page.waitForTimeout(5_100);
        const readAgain = page.waitForResponse((response) => response.url().endsWith('/key-groups/crew') && response.request().method() === 'GET');
        await page.evaluate("document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))");
        await readAgain;
        await admin.settled();
      }
      await save();
      await page.getByText('Somebody else changed this meanwhile', { exact: false }).waitFor();
      expect((await gateway.console('GET', '/key-groups/crew')).body.description).toBe('theirs');
    });

    test('what is in use is not deleted, and says by whom', async () => {
      await admin.open('/upstreams');
      await rowButton('first').click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('dialog', { name: 'Delete first?' }).getByRole('button', { name: 'Delete' }).click();
      await page.getByText('The upstream is still used by models', { exact: false }).waitFor();
    });

    test.each(['access-keys/agent', 'load-balancers/pool', 'models/ok', 'upstreams/second', 'key-groups/crew'])('%s is deleted', async (place) => {
      const [path = '', name = ''] = place.split('/');
      await admin.open(`/${path}`);
      await rowButton(name).click();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page
        .getByRole('dialog', { name: `Delete ${name}?` })
        .getByRole('button', { name: 'Delete' })
        .click();
      await page.getByText(`${name} was deleted`).waitFor();
      expect((await gateway.console('GET', `/${place}`)).status).toBe(404);
    });

    test("a provider's models become models in one go", async () => {
      await admin.open('/upstreams');
      await rowButton('first').click();
      await page.getByRole('button', { name: "List the provider's models" }).click();
      await admin.settled();
      await page.getByRole('button', { name: 'Choose all' }).click();
      await page.getByRole('button', { name: 'Add 2 as models' }).click();
      await page.getByText('2 models were added').waitFor();
      expect((await gateway.console('GET', '/models/pump')).body.upstream).toBe('first');
    });
  });

  test('keys are copied and rotated', async () => {
    await admin.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await gateway.console('POST', '/access-keys', { name: 'copied', group: 'everyone' });
    await admin.open('/access-keys');
    await page.getByRole('button', { name: 'Copy the key copied' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    const before = (await gateway.console('GET', '/access-keys/copied/api-key')).body.api_key;
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(before);
    await rowButton('copied').click();
    await page.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog', { name: 'Replace the value of copied?' }).getByRole('button', { name: 'Rotate' }).click();
    const shown = await page.getByRole('region', { name: 'Key', exact: true }).locator('pre').textContent();
    expect(shown).toMatch(/^gk-/);
    expect(shown).not.toBe(before);
    expect((await gateway.console('GET', '/access-keys/copied/api-key')).body.api_key).toBe(shown);
  });

  test('keys are copied on plain http too, and what fails is said', async () => {
    const { context, page, faults } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    // As it is where the address is not https.
    await context.addInitScript("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.goto(`${gateway.url}/console/access-keys`);
    await page.getByRole('button', { name: 'Copy the key copied' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search' }).press('Control+V');
    const value = (await gateway.console('GET', '/access-keys/copied/api-key')).body.api_key;
    expect(await page.getByRole('searchbox', { name: 'Search' }).inputValue()).toBe(value);
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    const refuse = (address: string) =>
      page.route(address, (route) => route.fulfill({ status: 503, json: { error: { code: 'x', message: 'Not now, please.' } } }));
    await refuse('**/access-keys/copied/api-key');
    await page.getByRole('button', { name: 'Copy the key copied' }).click();
    await page.getByText('Not now, please.').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('what could not be saved is said where it is seen', async () => {
    await admin.open('/upstreams');
    await page.getByRole('button', { name: 'New upstream' }).first().click();
    await dialogHasFocus(page);
    await box('Name').fill('unsaved');
    await box('Base address').fill(upstream.url);
    const address = '**/console/api/upstreams';
    await page.route(address, (route) => (route.request().method() === 'POST' ? route.abort() : route.continue()));
    await save();
    const said = page.getByText('The gateway did not answer.', { exact: false });
    await said.waitFor();
    const place = await said.boundingBox();
    expect(place && place.y + place.height).toBeLessThanOrEqual(page.viewportSize()?.height ?? 0);
    await page.unroute(address);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Leave', exact: true }).click();
    await drawerGone();
  });

  test('what a form does not show of a key stays as it is', async () => {
    const expires_at = '2099-01-02T03:04:59Z';
    await gateway.console('POST', '/access-keys', { name: 'lasting', group: 'everyone', expires_at });
    await admin.open('/access-keys');
    await rowButton('lasting').click();
    await box('Description').fill('to the second');
    await save();
    await drawerGone();
    expect((await gateway.console('GET', '/access-keys/lasting')).body).toMatchObject({ description: 'to the second', expires_at });
  });

  describe('playground', () => {
    const reply = () => page.getByTestId('reply').last();
    const lengthShown = async () => ((await reply().textContent()) ?? '').length;
    beforeAll(async () => {
      await gateway.configure({
        models: [
          { name: 'brief', upstream: 'first', upstream_model_id: 'text:6+slow:20' },
          { name: 'endless', upstream: 'first', upstream_model_id: 'pump+slow:20' },
          { name: 'broken', upstream: 'first', upstream_model_id: 'err:400:bad_thing' },
        ],
      });
    });

    test('shows a reply, with what was sent and what the upstream got', async () => {
      await admin.open('/playground?model=brief');
      await choose(page, 'Client protocol', 'Anthropic messages beta');
      await box('Message').fill('Hello there');
      await page.keyboard.press('Enter');
      await reply().waitFor();
      await page.getByRole('button', { name: 'Send' }).waitFor();
      expect(await lengthShown()).toBeGreaterThan(0);
      expect(await page.getByRole('region', { name: 'As the client sent it' }).locator('pre').textContent()).toContain('"max_tokens": 1024');
      const sent = await page.getByRole('region', { name: 'As the upstream got it', exact: false }).locator('pre').textContent();
      expect(JSON.parse(sent ?? '')).toMatchObject({ model: 'text:6+slow:20', messages: [{ role: 'user' }] });
    });

    test('shows a reply as it comes, and stops when told', async () => {
      await admin.open('/playground?model=endless');
      await choose(page, 'Client protocol', 'Anthropic messages beta');
      await box('Message').fill('Go on');
      await page.keyboard.press('Enter');
      await reply().waitFor();
      const early = await lengthShown();
      expect(early).toBeGreaterThan(0);
      await until(async () => (await lengthShown()) > early, 'the reply to grow', waitMs);
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.getByText('stopped', { exact: true }).waitFor();
      const received = upstream.requests.findLast(({ json }) => json['model'] === 'pump+slow:20');
      await received?.whenClosed;
      expect(received?.closed).toMatchObject({ reason: 'left' });
    });

    test.each(['OpenAI chat completions alpha', 'OpenAI responses alpha_response', 'Anthropic messages beta', 'Gemini gamma'])(
      '%s answers with a key too',
      async (title) => {
        await admin.open('/playground?model=text%3A10');
        await choose(page, 'Client protocol', title);
        await choose(page, 'Call with', 'caller');
        await box('Message').fill('Hello');
        await page.keyboard.press('Enter');
        await page.getByText('tokens read', { exact: false }).waitFor();
        expect(((await reply().textContent()) ?? '').length).toBeGreaterThan(10);
        await page.getByText('200', { exact: true }).waitFor();
      },
    );

    test('a refusal stands where the reply would', async () => {
      await admin.open('/playground?model=broken');
      await box('Message').fill('Hello');
      await page.keyboard.press('Enter');
      await page.getByRole('log').getByRole('alert').waitFor();
      await page.getByText('400', { exact: true }).waitFor();
    });
  });

  test('client settings hold the chosen key only when asked', async () => {
    await admin.open('/clients');
    await choose(page, 'Access key', 'caller');
    const settings = page.getByRole('region', { name: '~/.claude/settings.json' }).locator('pre');
    expect(await settings.textContent()).toContain('gk-your-key');
    await page.getByRole('button', { name: "Insert the key's value" }).click();
    await page.getByText(gateway.key, { exact: false }).first().waitFor();
    expect(JSON.parse((await settings.textContent()) ?? '').env).toMatchObject({ ANTHROPIC_BASE_URL: gateway.url, ANTHROPIC_AUTH_TOKEN: gateway.key });
  });

  test('a route is explained', async () => {
    await admin.open('/explain');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('Is required.').first().waitFor();
    await choose(page, 'Access key', 'caller');
    await page.getByRole('combobox', { name: 'Model' }).fill('text:10');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('The request would be sent.').waitFor();
  });

  test('a monitor looks and changes nothing', async () => {
    await gateway.console('POST', '/users', { username: 'watcher', password: 'watches-only', role: 'monitor', enabled: true });
    const watcher = await visit(browser, { url: gateway.url, token: null });
    await watcher.page.goto(`${gateway.url}/console`);
    await watcher.page.getByRole('textbox', { name: 'User name' }).fill('watcher');
    await watcher.page.getByRole('textbox', { name: 'Password' }).fill('watches-only');
    await watcher.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await watcher.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await watcher.page.getByRole('link', { name: 'Audit' }).count()).toBe(0);
    await watcher.open('/upstreams');
    await watcher.page.getByRole('button', { name: 'first', exact: true }).click();
    await watcher.page.getByText('Your role may look, but not change anything.').waitFor();
    expect(await watcher.page.getByRole('textbox', { name: 'Base address' }).isDisabled()).toBe(true);
    expect(await watcher.page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    // What is folded can still be opened.
    await watcher.page.getByRole('button', { name: 'Proxy, DNS and TLS' }).click();
    expect(await watcher.page.getByRole('textbox', { name: 'Proxy' }).isDisabled()).toBe(true);
    expect(await watcher.page.getByRole('button', { name: 'New upstream' }).count()).toBe(0);
    await watcher.open('/access-keys');
    expect(await watcher.page.getByRole('button', { name: 'Copy the key', exact: false }).count()).toBe(0);
    await watcher.context.close();
  });

  test('unknown addresses say so', async () => {
    await page.goto(`${gateway.url}/console/no/such/page`);
    await page.getByText('There is no such page').waitFor();
  });

  test('pages are reached from the keyboard', async () => {
    await admin.open('/models');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Find anything, or do something…').fill('explain');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Route explain' }).waitFor();
  });

  test('nothing threw on the way', () => expect(admin.faults).toEqual([]));
});
