/** What a first visit costs the line: everything the browser asks for from the sign-in to the drawn overview, as the gateway serves it. */
import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { browserAvailable, buildConsole, launchBrowser, prepareMs, visit } from './browser.ts';

const suite = browserAvailable('The first load of the console') ? describe : describe.skip;
const web = join(import.meta.dirname, '../../services/console/web');
const password = 'first-load-password';
const maxBytes = 300 * 1000;
/** Round trips are dear on a slow line. */
const maxFiles = 30;

let browser: Browser;
let gateway: TestGateway;
let upstream: FakeUpstream;
/** Addresses of files that the visit asked for. */
const files = new Set<string>();

interface Served {
  headers: IncomingHttpHeaders;
  /** As they came over the line. */
  bytes: number;
}

const serve = (url: string, encoding: string): Promise<Served> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': encoding } }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      response.on('end', () => resolve({ headers: response.headers, bytes }));
    }).on('error', reject);
  });

suite('the first load', () => {
  beforeAll(async () => {
    buildConsole();
    [browser, gateway, upstream] = await Promise.all([launchBrowser(), startGateway({ arrangement: 'embedded' }), startFakeUpstream()]);
    await gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: upstream.url, api_keys: [] }],
      models: [{ name: 'text', upstream: 'up', upstream_model_id: 'text:10' }],
    });
    await gateway.console('POST', '/users', { username: 'visitor', password, role: 'admin', enabled: true });
    // Charts and tables load when there is something to draw.
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'text', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await gateway.row(answer.headers.get('x-request-id') ?? '');
    const { page, context } = await visit(browser, { url: gateway.url, token: null });
    page.on('request', (request) => {
      if (!request.url().includes('/console/api/')) files.add(request.url());
    });
    await page.goto(`${gateway.url}/console`);
    await page.getByRole('textbox', { name: 'User name' }).fill('visitor');
    await page.getByRole('textbox', { name: 'Password' }).fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('img', { name: 'Traffic' }).waitFor();
    await page.getByRole('table', { name: 'Latest requests' }).waitFor();
    await page.waitForLoadState('networkidle');
    await context.close();
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await Promise.all([gateway?.stop(), upstream?.close()]);
  });

  test.each(['br', 'gzip'])('is at most 300 KB with %s, and whatever gains by it is served compressed', async (encoding) => {
    const served = await Promise.all([...files].map(async (url) => ({ url, ...(await serve(url, encoding)) })));
    expect(served.filter(({ headers, bytes }) => bytes > 1500 && headers['content-encoding'] !== encoding).map(({ url }) => url)).toEqual([]);
    expect(served.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(maxBytes);
  });

  test('takes few files', () => expect(files.size).toBeLessThanOrEqual(maxFiles));

  test('brings the styles of every component that is used, and of those alone', () => {
    const library = dirname(createRequire(join(web, 'package.json')).resolve('@mantine/core/styles.css'));
    const classes = (text: string): Set<string> => new Set(text.match(/\bm_[0-9a-f]{6,8}\b/g));
    const built = (kind: string) =>
      readdirSync(join(web, 'dist/assets'))
        .filter((name) => name.endsWith(kind))
        .map((name) => readFileSync(join(web, 'dist/assets', name), 'utf8'))
        .join('\n');
    const known = classes(readFileSync(join(library, 'styles.css'), 'utf8'));
    const [named, styled] = [classes(built('.js')), classes(built('.css'))];
    expect([...named].filter((name) => known.has(name) && !styled.has(name))).toEqual([]);
    const unused = readdirSync(join(library, 'styles')).filter((file) => {
      const own = [...classes(readFileSync(join(library, 'styles', file), 'utf8'))];
      return !file.includes('.layer.') && own.some((name) => styled.has(name)) && !own.some((name) => named.has(name));
    });
    expect(unused).toEqual([]);
  });
});
