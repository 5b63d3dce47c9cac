/** Stored bodies in a real browser: switched on in a group, read on a request's page, tried in the studio and the playground. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import type { Browser, Page } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { scriptedModels } from '../support/callers.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import { browserAvailable, buildConsole, launchBrowser, prepareMs, seriousFaults, type Visitor, visit, waitMs } from './browser.ts';

const suite = browserAvailable('Stored bodies in a browser') ? describe : describe.skip;

const hostile = `<img src=x onerror="alert(1)"> </script><script>alert(2)</script> it's "quoted" $(reboot) 世界`;
const key = mintAccessKey();

let browser: Browser;
let upstream: FakeUpstream;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;

const ask = async (content: string, stream: boolean, model = 'alpha ok') => {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model,
      stream,
      temperature: 0.25,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    }),
  });
  await response.text();
  const id = response.headers.get('x-request-id')!;
  await until(async () => (await gateway.console('GET', `/logs/${id}`)).body.has_bodies === true, 'its bodies');
  return id;
};
const openRequest = async (visitor: Visitor, id: string) => {
  await visitor.open(`/logs?request_id=${id}`);
  await visitor.page.getByRole('row').filter({ hasText: 'kept' }).first().click();
  return visitor.page.getByRole('dialog');
};

suite('stored bodies', () => {
  beforeAll(async () => {
    buildConsole();
    // A script of the suite adds a field of its own making, to be found in what was sent.
    upstream = await startFakeUpstream({ strict: false });
    [browser, gateway] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' })]);
    await gateway.configure({
      ...scriptedModels(upstream.url, ['ok']),
      key_groups: [{ name: 'kept', models: ['*'] }],
      access_keys: [{ name: 'kept', group: 'kept', key }],
    });
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await upstream?.close();
  });

  test('a group is told to store them, and says what that means', async () => {
    await admin.open('/key-groups');
    await page.getByRole('button', { name: 'kept', exact: true }).click();
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('button', { name: 'Stored bodies' }).click();
    await drawer.getByRole('switch', { name: 'Store what is sent and answered' }).press('Space');
    await drawer.getByText('can then be read by admins').waitFor();
    await drawer.getByRole('textbox', { name: 'Forgotten after' }).fill('2');
    expect(await seriousFaults(page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.waitFor({ state: 'detached' });
    const { body } = await gateway.console('GET', '/key-groups/kept');
    expect(body.store_bodies).toEqual({ enabled: true, max_bytes: 65_536, ttl_hours: 2 });
    await page.getByRole('row').filter({ hasText: 'kept' }).getByText('stores bodies').waitFor();
    await gateway.settle();
  });

  test("a request's page shows them as text, once asked, and how to send it again", async () => {
    const id = await ask(hostile, false);
    const drawer = await openRequest(admin, id);
    await drawer.getByRole('region', { name: 'Processing steps' }).waitFor();
    await drawer.getByRole('button', { name: 'Show the bodies' }).click();
    const request = drawer.getByRole('region', { name: 'Request body' });
    await request.waitFor();
    expect(JSON.parse((await request.locator('pre').textContent()) ?? '').messages[1].content).toBe(hostile);
    expect(await drawer.getByRole('region', { name: 'Response body' }).locator('pre').textContent()).toContain('chat.completion');
    const command = await drawer.getByRole('region', { name: 'The same again, as cURL' }).locator('pre').textContent();
    expect(command).toContain('/v1/chat/completions');
    expect(command).toContain(`it'\\''s`);
    expect(await drawer.locator('img').count()).toBe(0);
    expect(await seriousFaults(page)).toEqual([]);
    const { body } = await gateway.console('GET', '/audit-logs?action=reveal');
    expect(body.items[0]).toMatchObject({ entity_type: 'key_group', entity_id: 'kept', diff: { bodies_of: id } });
  });

  test('a stream is shown by its events, or as it was sent', async () => {
    const drawer = await openRequest(admin, await ask('hello there', true, 'beta ok'));
    await drawer.getByRole('region', { name: 'Processing steps' }).getByText('translate', { exact: true }).waitFor();
    await drawer.getByRole('button', { name: 'Show the bodies' }).click();
    const response = drawer.getByRole('region', { name: 'Response body' }).locator('pre');
    await response.waitFor();
    expect(await response.textContent()).toContain('"object": "chat.completion.chunk"');
    await drawer.getByText('As sent', { exact: true }).click();
    await until(async () => /^data: \{.*\n/.test((await response.textContent()) ?? ''), 'the stream as it was sent', waitMs);
  });

  test('a stored body is tried in the studio, from the page and from the list', async () => {
    const drawer = page.getByRole('dialog');
    await drawer.getByRole('link', { name: 'Open in the studio' }).click();
    await page.getByRole('textbox', { name: 'Body', exact: true }).getByText('hello there').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('hello there').first().waitFor();
    await page.getByRole('combobox', { name: 'From a recent request' }).click();
    await page.getByRole('option').nth(1).click();
    await page.getByRole('textbox', { name: 'Body', exact: true }).getByText('onerror').waitFor();
    // Read on its page, it is not read again here; the other was read on a page that has gone since.
    const { body } = await gateway.console('GET', '/audit-logs?action=reveal');
    const read = body.items.map(({ diff }: { diff: { bodies_of: string } }) => diff.bodies_of);
    expect(read).toEqual([read[2], expect.not.stringMatching(read[2]), expect.any(String)]);
    expect(await seriousFaults(page)).toEqual([]);
  });

  test('and goes on in the playground', async () => {
    const drawer = await openRequest(admin, await ask('go on from here', false));
    await drawer.getByRole('button', { name: 'Show the bodies' }).click();
    await drawer.getByRole('region', { name: 'Request body' }).waitFor();
    await drawer.getByRole('link', { name: 'Open in the playground' }).click();
    await page.getByRole('textbox', { name: 'Message' }).waitFor();
    await until(async () => (await page.getByRole('textbox', { name: 'Message' }).inputValue()) === 'go on from here', 'the words to be taken over');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('log').getByText('go on from here').first().waitFor();
  });

  test("an upstream's rules and scripts are taken to the studio as they are stored", async () => {
    const script = 'function transform(body) {\n  body.stored = true;\n  return body;\n}';
    await gateway.console('PATCH', '/upstreams/alpha', { request_transform_after: script, request_body_rules: [{ mode: 'remove', path: 'stored_rule' }] });
    await admin.open('/studio?tab=scripts&upstream=alpha');
    await page.getByRole('textbox', { name: 'Script', exact: true }).getByText('body.stored = true').waitFor();
    await page.getByRole('tabpanel', { name: 'Scripts' }).getByText('Loaded from alpha').waitFor();
    await admin.open('/studio?tab=rules&upstream=alpha');
    await until(async () => (await page.locator('input[value="stored_rule"]').count()) > 0, 'the rule');
    await admin.open('/upstreams');
    await page.getByRole('button', { name: 'alpha', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Body rules' }).click();
    const link = page.getByRole('dialog').getByRole('link', { name: 'Try rules in the studio' });
    expect(await link.getAttribute('href')).toBe('/console/studio?tab=rules&upstream=alpha');
  });

  test('a monitor sees the row and not the bodies', async () => {
    const id = await ask('not for monitors', false);
    await gateway.console('POST', '/users', { username: 'watcher', password: 'watches-only', role: 'monitor', enabled: true });
    const { body } = await gateway.console('POST', '/login', { username: 'watcher', password: 'watches-only' });
    const monitor = await visit(browser, { url: gateway.url, token: body.token });
    const drawer = await openRequest(monitor, id);
    await drawer.getByText('Only admins may read stored bodies.').waitFor();
    expect(await drawer.getByRole('button', { name: 'Show the bodies' }).count()).toBe(0);
    expect(monitor.faults).toEqual([]);
    await monitor.context.close();
  });

  test('nothing threw on the way', () => expect(admin.faults).toEqual([]));
});
