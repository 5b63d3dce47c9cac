/** What stands between the browser and the gateway: requests that are blocked, a proxy that answers for it. What is said is true. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Route } from 'playwright-core';
import { browserAvailable, prepareMs, visit } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Connections of the console') ? describe : describe.skip;
const away = 'The gateway does not answer';

let stage: Stage;

const badGateway = (route: Route) => route.fulfill({ status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' });

suite('connections', () => {
  beforeAll(async () => {
    stage = await openStage();
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

  test('the playground says in Chinese that the gateway did not answer', async () => {
    const { browser, gateway } = stage;
    await gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'coder', upstream: 'main', upstream_model_id: 'text:3' }],
    });
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
});
