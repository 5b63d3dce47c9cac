/** What stands between the browser and the gateway: requests that are blocked, a proxy that answers for it, sessions of other tabs. What is said is true, and nobody is signed out for another's sake. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page, Route } from 'playwright-core';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Connections of the console') ? describe : describe.skip;
const away = 'The gateway does not answer';
const password = 'the word of ada';

let stage: Stage;

const badGateway = (route: Route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' });

const signedIn = async (): Promise<string> => (await stage.gateway.console('POST', '/login', { username: 'ada', password })).body.token;

const storedToken = (page: Page): Promise<string | null> => page.evaluate<string | null>("localStorage.getItem('model-gateway.token')");

suite('connections', () => {
  beforeAll(async () => {
    stage = await openStage();
    const made = await stage.gateway.console('POST', '/users', { username: 'ada', role: 'admin', password });
    expect(made.status).toBe(201);
    await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'coder', upstream: 'main', upstream_model_id: 'text:3' }],
    });
    await stage.gateway.settle();
  }, prepareMs);

  afterAll(() => stage?.close());

  test('one request that the browser blocks is no gateway that is away', async () => {
    const { admin, page } = stage;
    const blocked = '**/console/api/upstreams?*';
    let asked = 0;
    let others = 0;
    const count = (request: { url(): string }) => {
      if (request.url().includes('/sso-credentials')) others++;
    };
    await page.route(blocked, (route) => {
      asked++;
      return route.abort();
    });
    page.on('request', count);
    await admin.open('/upstreams');
    // Asked three times at most, and then said.
    await page.getByText('The gateway did not answer.', { exact: false }).first().waitFor();
    await admin.settled();
    expect(await page.getByText(away).count()).toBe(0);
    expect(asked).toBeLessThanOrEqual(4);
    expect(others).toBeLessThanOrEqual(2);
    page.off('request', count);
    await page.unroute(blocked);
  });

  test('a proxy that answers for a gateway that is away does not hide it, and pages go on by themselves', async () => {
    const { admin, page } = stage;
    await admin.open('/rate-limits');
    await admin.settled();
    await page.route('**/console/api/**', badGateway);
    await page.getByRole('link', { name: 'Upstreams', exact: true }).click();
    await page.getByText(away).waitFor();
    await page.getByText('answered in its place (HTTP 502)', { exact: false }).first().waitFor();
    await page.unroute('**/console/api/**');
    await page.getByText(away).waitFor({ state: 'detached' });
    await page.getByText('answered in its place', { exact: false }).first().waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'New upstream', exact: true }).first().waitFor();
  });

  test('an answer that comes late for an older session does not end the newer one', async () => {
    const { browser, gateway } = stage;
    const older = await signedIn();
    const visitor = await visit(browser, { url: gateway.url, token: null });
    const { page } = visitor;
    await visitor.page.goto(`${gateway.url}/console/upstreams`);
    await page.evaluate(`localStorage.setItem('model-gateway.token', ${JSON.stringify(older)})`);
    await page.reload();
    await page.getByRole('heading', { name: 'Upstreams', level: 2 }).waitFor();
    await visitor.settled();
    let held: Route | undefined;
    await page.route('**/console/api/models*', (route) => {
      if (held) return route.continue();
      held = route;
    });
    await page.getByRole('link', { name: 'Models', exact: true }).click();
    await until(async () => held !== undefined, 'the request of the older session', waitMs);
    const newer = await signedIn();
    // As another tab does that signs in anew.
    await page.evaluate(`localStorage.setItem('model-gateway.token', ${JSON.stringify(newer)})`);
    await gateway.console('POST', '/logout', undefined, { authorization: `Bearer ${older}` });
    await held?.continue();
    await page.getByRole('heading', { name: 'Models', level: 2 }).waitFor();
    await page.getByRole('button', { name: 'New model', exact: true }).first().waitFor();
    await visitor.settled();
    expect(await storedToken(page)).toBe(newer);
    await visitor.context.close();
  });

  test('a secret key is called wrong only where the gateway says so', async () => {
    const { browser, gateway } = stage;
    const { page, context } = await visit(browser, { url: gateway.url, token: null });
    await page.goto(`${gateway.url}/console/`);
    await page.getByText('Secret key', { exact: true }).click();
    await page.getByRole('textbox', { name: 'Console secret key' }).fill(gateway.consoleKey);
    await page.route('**/console/api/me', badGateway);
    const press = () => page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await press();
    await page.getByText('answered in its place (HTTP 502)', { exact: false }).waitFor();
    await page.unroute('**/console/api/me');
    await page.route('**/console/api/me', (route) => route.abort());
    await press();
    await page.getByText('The gateway did not answer.', { exact: false }).waitFor();
    await page.unroute('**/console/api/me');
    await press();
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    await context.close();
  });

  test('behind a proxy that holds the stream back requests show all the same, and a silent connection is not waited for', async () => {
    const { browser, gateway } = stage;
    const { page, context, open } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    let asked = 0;
    // Never answered, as by a proxy that gathers the whole of it.
    await page.route('**/console/api/logs/stream*', () => void asked++);
    await page.clock.install();
    await open('/logs');
    await page.getByText('0 shown').waitFor();
    await stage.ask('coder');
    await page.getByText('1 shown').waitFor();
    await page.getByText('connecting…').waitFor();
    expect(asked).toBe(1);
    await page.clock.fastForward(41_000);
    await until(async () => asked === 2, 'another connection', waitMs);
    await context.close();
  });

  test('the playground says in Chinese that the gateway did not answer', async () => {
    const { browser, gateway } = stage;
    const visitor = await visit(browser, { url: gateway.url, token: gateway.consoleKey, language: 'zh' });
    const { page } = visitor;
    await visitor.open('/playground');
    await visitor.settled();
    await page.route('**/console/api/models/test', (route) => route.abort());
    await page.getByRole('textbox', { name: '消息' }).fill('你好');
    await page.getByRole('button', { name: '发送', exact: true }).click();
    await page.getByText('网关没有响应', { exact: false }).first().waitFor();
    expect(await page.getByText('did not answer', { exact: false }).count()).toBe(0);
    await visitor.context.close();
  });

  test('a gateway that takes questions and answers none is away, too', async () => {
    const { browser, gateway } = stage;
    const { page, context, open, settled } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    await open('/rate-limits');
    await settled();
    const held: Route[] = [];
    let isSilent = true;
    await page.route('**/console/api/**', (route) => {
      if (!isSilent) return route.continue();
      held.push(route);
    });
    await page.getByRole('link', { name: 'Upstreams', exact: true }).click();
    await page.getByText(away).waitFor();
    expect(held.some((route) => route.request().url().includes('/sign-in-options'))).toBe(true);
    isSilent = false;
    await page.getByText(away).waitFor({ state: 'detached' });
    // What was asked in vain is asked again.
    await page.getByRole('button', { name: 'New upstream', exact: true }).first().waitFor();
    await context.close();
  });

  test('a question whose connection is lost is asked once more', async () => {
    const { browser, gateway } = stage;
    const { page, context, open, settled } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    await open('/rate-limits');
    await settled();
    let asked = 0;
    await page.route('**/console/api/upstreams?*', (route) => {
      asked++;
      if (asked > 1) return route.continue();
    });
    await page.clock.install();
    await page.getByRole('link', { name: 'Upstreams', exact: true }).click();
    await until(async () => asked === 1, 'the question', waitMs);
    await page.clock.fastForward(61_000);
    await page.clock.resume();
    await page
      .getByRole('link', { name: 'main', exact: true })
      .or(page.getByRole('button', { name: 'main', exact: true }))
      .first()
      .waitFor();
    expect(await page.getByText(away).count()).toBe(0);
    await context.close();
  });

  test('a hidden tab leaves its connection to the others, and shows what it missed when it is looked at again', async () => {
    const { browser, gateway } = stage;
    const { page, context, open } = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    const streams = { begun: 0, over: 0 };
    page.on('request', (request) => void (request.url().includes('/logs/stream') && streams.begun++));
    page.on('requestfailed', (request) => void (request.url().includes('/logs/stream') && streams.over++));
    const turn = (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} }); document.dispatchEvent(new Event('visibilitychange'))`,
      );
    await open('/logs');
    await page.getByText('live', { exact: true }).first().waitFor();
    await turn(true);
    await until(async () => streams.over === streams.begun, 'the connection to be given back', waitMs);
    const shown = async () => Number.parseInt((await page.getByText(/^\d+ shown$/).textContent()) ?? '', 10);
    const before = await shown();
    await stage.ask('coder');
    const begun = streams.begun;
    await turn(false);
    await until(async () => streams.begun === begun + 1, 'a new connection', waitMs);
    await page.getByText(`${before + 1} shown`, { exact: true }).waitFor();
    await context.close();
  });
});
