/** Forms under adverse conditions: no network, a proxy that answers for the gateway, a session that ends, thousands of names. No input is lost, nothing is sent in the background, and errors are shown. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Forms in a browser') ? describe : describe.skip;

let stage: Stage;
const box = (name: string) => stage.page.getByRole('textbox', { name, exact: true });
const press = (name: string) => stage.page.getByRole('button', { name, exact: true }).click();
const upstreamNames = async (): Promise<string[]> =>
  ((await stage.gateway.console('GET', '/upstreams')).body.items as { name: string }[]).map(({ name }) => name);

async function fillUpstream(name: string): Promise<void> {
  await stage.admin.open('/upstreams?create=new');
  await dialogHasFocus(stage.page);
  await box('Name').fill(name);
  await box('Base address').fill(stage.upstream.url);
}

async function leave(): Promise<void> {
  await press('Cancel');
  await press('Leave');
  await dialogsGone(stage.page);
}

suite('forms', () => {
  beforeAll(async () => {
    stage = await openStage();
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'only', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: Array.from({ length: 1_000 }, (_, at) => ({ name: `model-${String(at).padStart(4, '0')}`, upstream: 'only', upstream_model_id: 'ok' })),
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
  }, prepareMs);

  afterAll(() => stage?.close());

  test('an upstream of any protocol is made', async () => {
    const { page, gateway } = stage;
    await fillUpstream('messages');
    await choose(page, 'Protocol', 'Anthropic messages beta');
    await press('Save');
    await dialogsGone(page);
    expect((await gateway.console('GET', '/upstreams/messages')).body.protocol).toBe('beta');
    await stage.admin.open('/start');
    await until(async () => (await page.getByRole('combobox', { name: 'Protocol' }).inputValue()) !== '', 'the protocol of the first steps', waitMs);
  });

  test('without a network a save fails at once, and is not made later by itself', async () => {
    const { admin, page } = stage;
    await fillUpstream('unseen');
    await admin.context.setOffline(true);
    await press('Save');
    await page.getByText('The gateway did not answer.', { exact: false }).waitFor();
    await admin.context.setOffline(false);
    await leave();
    await admin.open('/upstreams');
    await admin.settled();
    expect(await upstreamNames()).not.toContain('unseen');
  });

  test('while the gateway is away it is said, and a page that was not loaded yet waits for it', async () => {
    const { admin, page } = stage;
    await admin.open('/rate-limits');
    await admin.settled();
    await admin.context.setOffline(true);
    await page.getByRole('link', { name: 'Tasks', exact: true }).click();
    await page.getByText('The gateway does not answer').waitFor();
    expect(await page.getByRole('link', { name: 'Overview', exact: true }).count()).toBe(1);
    await admin.context.setOffline(false);
    await page.getByRole('heading', { name: 'Tasks', level: 2 }).waitFor();
    await page.getByText('The gateway does not answer').waitFor({ state: 'detached' });
  });

  test('a date without its time is not saved as no expiry', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('POST', '/access-keys', { name: 'bounded', group: 'everyone' });
    await admin.open('/access-keys?edit=bounded');
    await dialogHasFocus(page);
    const expires = page.getByLabel('Expires', { exact: true });
    await expires.focus();
    await page.keyboard.type('12312098');
    await press('Save');
    await page.getByText('The date or the time is not complete.', { exact: false }).waitFor();
    await until(() => expires.evaluate((field) => field.matches(':focus')), 'the focus to come to the field', waitMs);
    await expires.fill('2098-12-31T10:00');
    await press('Save');
    await dialogsGone(page);
    const stored = (await gateway.console('GET', '/access-keys/bounded')).body.expires_at as string;
    expect(new Date(stored).getFullYear()).toBe(2098);
  });

  test('a file that was mended can be chosen again', async () => {
    const { admin, page } = stage;
    await admin.open('/settings/transfer');
    const [foreign, own] = await page.locator('input[type="file"]').all();
    const chosen = (content: string) => ({ name: 'gateway.yaml', mimeType: 'application/yaml', buffer: Buffer.from(content) });
    await own!.setInputFiles(chosen('version: 2'));
    await until(async () => (await box('File').inputValue()) === 'version: 2', 'the text of the file', waitMs);
    await foreign!.setInputFiles(chosen('model_list: ['));
    await page.getByRole('alert').first().waitFor();
    // A browser reports no choice of what the field already holds.
    for (const field of [foreign!, own!]) expect(await field.inputValue()).toBe('');
  });

  test('a file of megabytes is not put into a field, and is applied all the same', async () => {
    const { admin, page, gateway } = stage;
    const keys = Array.from({ length: 2_000 }, (_, at) => ({ name: `many-${at}`, group: 'of-a-file', description: 'x'.repeat(1_000) }));
    const content = JSON.stringify({ version: 2, key_groups: [{ name: 'of-a-file' }], access_keys: keys }, null, 2);
    await admin.open('/settings/transfer');
    const own = page.locator('input[type="file"]').last();
    const put = () => own.setInputFiles({ name: 'gateway.json', mimeType: 'application/json', buffer: Buffer.from(content) });
    await put();
    await page.getByText(/MiB in 10,\d{3} lines/).waitFor();
    expect(await box('File').count()).toBe(0);
    await page.getByRole('button', { name: 'Remove it' }).click();
    await box('File').waitFor();
    await put();
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('2,001 rows would change').or(page.getByText('2001 rows would change')).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await box('File').waitFor();
    expect((await gateway.console('GET', '/access-keys?q=many-&page_size=1')).body.total).toBe(2_000);
  });

  test('a page of a proxy is not shown as if it were the answer', async () => {
    const { page } = stage;
    await fillUpstream('behind-a-proxy');
    const address = '**/console/api/upstreams';
    await page.route(address, (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 502, contentType: 'text/html', body: '<html><h1>502 Bad Gateway</h1></html>' })
        : route.continue(),
    );
    await press('Save');
    await page.getByText('Something on the way to the gateway answered in its place (HTTP 502).', { exact: false }).waitFor();
    expect(await page.getByText('<html>', { exact: false }).count()).toBe(0);
    await page.unroute(address);
    await leave();
  });

  test('what stands in the import and in the studio outlives the session', async () => {
    const { browser, gateway } = stage;
    await gateway.console('POST', '/users', { username: 'grace', role: 'admin', password: 'the word of grace' });
    const { token } = (await gateway.console('POST', '/login', { username: 'grace', password: 'the word of grace' })).body;
    const { page, context, open } = await visit(browser, { url: gateway.url, token });
    const signInAgain = async () => {
      await page.getByRole('textbox', { name: 'User name' }).fill('grace');
      await page.getByRole('textbox', { name: 'Password' }).fill('the word of grace');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    await open('/settings/transfer');
    const file = page.getByRole('textbox', { name: 'File', exact: true });
    await file.fill('version: 2 # mine');
    await gateway.console('DELETE', '/sessions?username=grace');
    await page.getByRole('button', { name: 'Show what would change', exact: true }).click();
    await signInAgain();
    await until(async () => (await file.inputValue()) === 'version: 2 # mine', 'the text of the import to be back', waitMs);
    await page.getByRole('link', { name: 'Rules and scripts', exact: true }).click();
    const script = page.getByRole('textbox', { name: 'Script', exact: true });
    await script.fill('// mine');
    await gateway.console('DELETE', '/sessions?username=grace');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await signInAgain();
    await until(async () => (await script.textContent()) === '// mine', 'the script to be back', waitMs);
    await context.close();
  });

  test('a form that outlived its session compares with what it was filled with', async () => {
    const { browser, gateway } = stage;
    await gateway.console('POST', '/users', { username: 'ada', role: 'admin', password: 'the word of ada' });
    const { token } = (await gateway.console('POST', '/login', { username: 'ada', password: 'the word of ada' })).body;
    const { page, context, open } = await visit(browser, { url: gateway.url, token });
    await open('/upstreams?edit=only');
    const address = page.getByRole('textbox', { name: 'Base address', exact: true });
    await address.fill('http://mine.example');
    await gateway.console('DELETE', '/sessions?username=ada');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('textbox', { name: 'User name' }).fill('ada');
    await page.getByRole('textbox', { name: 'Password' }).fill('the word of ada');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await until(async () => (await address.inputValue()) === 'http://mine.example', 'what was typed to be back', waitMs);
    await gateway.console('PATCH', '/upstreams/only', { user_agent: 'theirs' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const changed = page.getByRole('table', { name: 'Somebody else changed this meanwhile' });
    await changed.waitFor();
    expect(await changed.getByRole('row').allInnerTexts()).toEqual(['Field\tThere now\tHere', 'user_agent\ttheirs\t–']);
    await context.close();
  });

  test('the fault of a secret is told to screen readers, and the secret is read by the keyboard', async () => {
    const { page } = stage;
    await fillUpstream('secretive');
    const key = page.getByLabel('Key', { exact: true });
    await key.fill('sk with spaces');
    await press('Save');
    await page.getByText('must be printable ASCII without spaces').waitFor();
    expect(await key.getAttribute('aria-invalid')).toBe('true');
    const focused = () => page.evaluate("document.activeElement?.getAttribute('data-path')");
    await until(async () => (await focused()) === 'api_keys.0.key', 'the keyboard to be where the fault is', waitMs);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await until(async () => (await key.getAttribute('type')) === 'text', 'the secret to be shown', waitMs);
    await leave();
  });

  test.each(['/playground', '/clients', '/explain'])('one of a thousand models is found by typing, at %s', async (path) => {
    const { admin, page } = stage;
    await admin.open(path);
    await admin.settled();
    const model = page.getByRole('combobox', { name: 'Model', exact: true }).or(box('Model'));
    await model.fill('l-0987');
    await page.getByRole('option', { name: 'model-0987' }).waitFor();
  });

  test('the secret key is not offered keys of its own', async () => {
    const { admin, page } = stage;
    await admin.open('/my');
    await page.getByText('Signed in with the secret key').waitFor();
    expect(await page.getByRole('link', { name: 'My keys' }).count()).toBe(0);
  });

  test('the box before a row takes no room from its name', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    const cell = page.getByRole('row').nth(1).getByRole('cell').first();
    await cell.waitFor();
    expect((await cell.boundingBox())?.width).toBeLessThan(60);
  });

  test('what was sent in the playground leads to its request', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'away', protocol: 'alpha', base_url: 'http://127.0.0.1:9', api_keys: [] }],
      models: [{ name: 'out-of-reach', upstream: 'away', upstream_model_id: 'ok' }],
    });
    await admin.open('/playground?model=out-of-reach');
    await box('Message').fill('Hello');
    await page.keyboard.press('Enter');
    await page.getByText('The upstream failed.').waitFor();
    const request = page.getByRole('link', { name: /^[0-9a-f]{8}-/ });
    await gateway.row((await request.textContent()) ?? '');
    await request.click();
    const why = page.getByRole('region', { name: 'Why it failed' });
    await why.getByText('away could not be reached.').waitFor();
    // The gateway's own words are not put into the upstream's mouth.
    expect(await why.getByText('away said', { exact: false }).count()).toBe(0);
  });

  test('a server of tools that gave no answer is not called unasked', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('POST', '/mcp-servers', { name: 'silent', endpoint: 'http://127.0.0.1:9/mcp' });
    await admin.open('/mcp-servers');
    await page.getByText('The server could not be reached.').waitFor();
    expect(await page.getByText('Not asked yet').count()).toBe(0);
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
