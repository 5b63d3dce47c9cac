/** Credentials by login in a real browser: by a code for a device, by the vendor's page, by what was pasted, by the machine's identity; and what says that a login is needed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ssoProfileIds } from '@model-gateway/contracts';
import { loginProfiles } from '@model-gateway/protocols/login';
import type { Browser, Page } from 'playwright-core';
import { type MachineVendors, startMachineVendors } from '../../services/console/test/machine-vendors.ts';
import { type SsoVendor, startSsoVendor } from '../../services/console/test/sso-vendor.ts';
import { startGateway, type TestGateway, until } from '../support/gateway.ts';
import {
  browserAvailable,
  buildConsole,
  choose,
  dialogHasFocus,
  dialogsGone,
  launchBrowser,
  prepareMs,
  seriousFaults,
  type Visitor,
  visit,
  waitMs,
} from './browser.ts';
import { type CodeVendor, startCodeVendor } from './code-vendor.ts';

const suite = browserAvailable('Logins in a browser') ? describe : describe.skip;
const assets = join(import.meta.dirname, '../../services/console/web/dist');
const folder = mkdtempSync(join(tmpdir(), 'gateway-logins-'));
/** A folder for pictures of what the tests saw, for people. */
const pictures = process.env['PICTURES'];

let browser: Browser;
let gateway: TestGateway;
let admin: Visitor;
let page: Page;
let vendor: SsoVendor;
let machines: MachineVendors;
let codes: CodeVendor;

const field = (name: string) => page.getByRole('textbox', { name, exact: true });
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
const picture = async (name: string) => {
  if (pictures) await page.screenshot({ path: join(pictures, `${name}.png`) });
};
const newLogin = async (): Promise<void> => {
  await admin.open('/credentials');
  await page.getByRole('button', { name: 'New login', exact: true }).first().click();
  await field('Name').waitFor();
};
const credential = async (name: string) => (await gateway.console('GET', `/sso-credentials/${name}`)).body;

suite('logins', () => {
  beforeAll(async () => {
    buildConsole();
    const open = { enabled: true };
    [browser, gateway, vendor, machines, codes] = await Promise.all([
      launchBrowser(),
      startGateway({ arrangement: 'embedded', toml: { 'sso.profiles.alpha_user': open, 'sso.profiles.beta_workload': open } }),
      startSsoVendor(),
      startMachineVendors(),
      startCodeVendor(),
    ]);
    admin = await visit(browser, { url: gateway.url, token: gateway.consoleKey });
    page = admin.page;
  }, prepareMs);
  afterAll(async () => {
    await browser?.close();
    await Promise.all([gateway?.stop(), vendor?.close(), machines?.close(), codes?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('the application names no kind of login: what is closed is in none of its files', () => {
    const texts = readdirSync(assets, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:js|css|html|svg|json)$/.test(name))
      .map((name) => [name, readFileSync(join(assets, name), 'utf8')] as const);
    expect(texts.length).toBeGreaterThan(20);
    const words = ssoProfileIds.flatMap((id) => [id, loginProfiles[id].name]);
    const found = texts.flatMap(([name, text]) =>
      words.filter((word) => new RegExp(`(?<![\\w-])${word.replaceAll(/[()]/g, '\\$&')}(?![\\w-])`).test(text)).map((word) => `${name} names ${word}`),
    );
    expect(found).toEqual([]);
  });

  test('a code for a device is shown with its QR code, and the login ends by itself', async () => {
    await newLogin();
    await dialogHasFocus(page);
    await field('Name').fill('ide');
    await field('New upstream').fill('ide');
    await press('More settings');
    await field('Address of the identity center').fill(vendor.url);
    expect(await seriousFaults(page)).toEqual([]);
    await picture('form');
    vendor.answers = [{ status: 400, body: { __type: 'AuthorizationPendingException' } }];
    await press('Continue');
    await page.getByText('WDJB-MJHT', { exact: true }).waitFor();
    await page.getByRole('img', { name: 'QR code of https://device.example/?user_code=WDJB-MJHT' }).waitFor();
    const link = page.getByRole('link', { name: 'Open the vendor’s page' });
    expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual(['https://device.example/?user_code=WDJB-MJHT', 'noopener noreferrer']);
    expect(await seriousFaults(page)).toEqual([]);
    await picture('device');
    await page.getByText('The credential ide is there').waitFor();
    await page.getByText('The upstream ide uses it.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close', exact: true }).last().click();
    await dialogsGone(page);
    const row = page.getByRole('row', { name: /ide/ });
    await row.getByText('ok', { exact: true }).waitFor();
    await picture('list');
    expect(await credential('ide')).toMatchObject({ state: 'ok', upstreams: ['ide'] });
  });

  test('what is pasted is held to its form, and never shown again', async () => {
    await newLogin();
    await field('Name').fill('pasted');
    await choose(page, 'Way in', 'Paste what another client was given');
    await field('Tokens').fill('{"CANARY": 1}');
    await press('Take in');
    await page.getByText('expected the JSON that the vendor or its client wrote').first().waitFor();
    await picture('refused');
    await field('Tokens').fill(JSON.stringify({ accessToken: 'CANARY-pasted-access', refreshToken: vendor.refreshToken, expiresAt: '2999-01-01T00:00:00Z' }));
    await press('More settings');
    await field('Refresh address').fill(`${vendor.url}/refreshToken`);
    await press('Take in');
    await dialogsGone(page);
    expect(await credential('pasted')).toMatchObject({ state: 'ok', tokens: '********' });
    await page.getByRole('button', { name: 'pasted', exact: true }).click();
    await press('Renew now');
    await until(async () => (await credential('pasted')).refreshed_at !== null, 'the credential to be renewed', waitMs);
    expect(await page.content()).not.toContain('CANARY');
  });

  test('what is said of a login, and its settings, are changed: a renewal meanwhile is no conflict, another’s change is', async () => {
    await admin.open('/credentials?edit=pasted');
    await press('Edit');
    await field('Description').fill('of the team');
    await field('Region').fill('eu-west-1');
    await gateway.console('POST', '/sso-credentials/pasted/refresh');
    expect(await seriousFaults(page)).toEqual([]);
    await picture('edit');
    await press('Save');
    await page.getByRole('cell', { name: 'of the team', exact: true }).waitFor();
    expect(await credential('pasted')).toMatchObject({ state: 'ok', description: 'of the team', settings: { region: 'eu-west-1' } });
    await press('Edit');
    await field('Region').fill('');
    await gateway.console('PATCH', '/sso-credentials/pasted', { description: 'of others' });
    await press('Save');
    const changed = page.getByRole('table', { name: 'Somebody else changed this meanwhile' });
    await changed.getByRole('cell', { name: 'of others', exact: true }).waitFor();
    expect((await credential('pasted')).settings).toMatchObject({ region: 'eu-west-1' });
    await press('Keep my changes, take the rest');
    await changed.waitFor({ state: 'detached' });
    expect([await field('Description').inputValue(), await field('Region').inputValue()]).toEqual(['of others', '']);
    await press('Save');
    await page.getByRole('cell', { name: 'of others', exact: true }).waitFor();
    expect((await credential('pasted')).settings).not.toHaveProperty('region');
    await page.keyboard.press('Escape');
    await dialogsGone(page);
  });

  test('the vendor’s page sends the browser back here; or its address is pasted', async () => {
    const back = `${gateway.url}/console/credentials`;
    for (const [name, redirect] of [
      ['returned', back],
      ['copied', 'http://127.0.0.1:9/callback'],
    ] as const) {
      await newLogin();
      await choose(page, 'Kind', 'OpenAI account');
      await field('Name').fill(name);
      await choose(page, 'Way in', 'In the browser, which comes back');
      await field('Client id').fill('client-1');
      await press('More settings');
      await field('Issuer').fill(codes.url);
      await field('Login page').fill(`${codes.url}/authorize`);
      await field('Token address').fill(`${codes.url}/token`);
      await field('Return address').fill(redirect);
      await press('Continue');
      const link = page.getByRole('link', { name: 'Open the vendor’s page' });
      if (name === 'returned') {
        const [other] = await Promise.all([admin.context.waitForEvent('page'), link.click()]);
        await other.getByText(`The credential ${name} is there`).waitFor();
        expect(new URL(other.url()).search).not.toContain('code');
        expect(await seriousFaults(other)).toEqual([]);
        await other.close();
        await page.getByText('completed in another window').waitFor();
      } else {
        const reply = await fetch((await link.getAttribute('href'))!, { redirect: 'manual' });
        const address = reply.headers.get('location')!;
        const given = field('Address that the browser came back to');
        await given.fill(address.replace(/state=[^&]*/, 'state=another'));
        await press('Complete');
        await page.getByText('belongs to another login').first().waitFor();
        await picture('code');
        await given.fill(address);
        await press('Complete');
        await page.getByText(`The credential ${name} is there`).waitFor();
      }
      expect(await credential(name)).toMatchObject({ profile: 'alpha_user', state: 'ok' });
    }
    expect(codes.exchanged).toBe(2);
    await admin.open('/credentials?state=of-another-browser&code=x');
    await page.getByText('This browser has begun no such login').waitFor();
    await until(async () => !page.url().includes('code'), 'the code to leave the address', waitMs);
  });

  test('a machine identity is set up by its fields', async () => {
    const file = join(folder, 'token');
    writeFileSync(file, machines.trusted);
    await newLogin();
    await choose(page, 'Kind', 'Anthropic workload identity federation');
    await field('Name').fill('machine');
    await field('File of the identity token').fill(join(folder, 'missing'));
    await field('Federation rule').fill('fdrl_1');
    await field('Organisation').fill('org_1');
    await press('More settings');
    await field('Service account').fill('svac_1');
    await field('Token address').fill(`${machines.url}/v1/oauth/token`);
    await press('Take in');
    await page.getByText('token_file cannot be read').first().waitFor();
    await field('File of the identity token').fill(file);
    await press('Take in');
    await dialogsGone(page);
    expect(await credential('machine')).toMatchObject({ state: 'ok', account: 'svac_1' });
  });

  test('a credential that needs a login is said on every page, in both languages and colours, with the way out', async () => {
    vendor.answers = [{ status: 400, body: { error: 'invalid_grant' } }];
    await gateway.console('POST', '/sso-credentials/ide/refresh');
    await until(
      async () => (await gateway.console('GET', '/upstreams/ide')).body.unavailable === 'sso_needs_login',
      'the upstream to be out of routing',
      waitMs,
    );
    await admin.open('/models');
    const banner = page.getByRole('status').filter({ hasText: 'A credential needs a login' });
    await banner.getByRole('link', { name: 'ide', exact: true }).click();
    await page.getByText('Log in again: the upstreams that use it come back by themselves.').waitFor();
    await page.getByText('The vendor refused (invalid_grant).').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await picture('needs-login');
    await admin.open('/upstreams');
    await page.getByRole('row', { name: /ide/ }).getByText('needs login', { exact: true }).waitFor();
    const phone = await visit(browser, { url: gateway.url, token: gateway.consoleKey, dark: true, width: 390, language: 'zh' });
    await phone.open('/credentials?edit=ide');
    await phone.page.getByRole('button', { name: '重新登录' }).waitFor();
    await phone.settled();
    expect(await seriousFaults(phone.page)).toEqual([]);
    if (pictures) await phone.page.screenshot({ path: join(pictures, 'phone.png') });
    expect(await phone.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(1);
    await phone.page.keyboard.press('Escape');
    await dialogsGone(phone.page);
    await phone.page.getByText('1 个凭据需要重新登录').waitFor();
    await phone.open('/credentials?create=new');
    await phone.page.getByRole('textbox', { name: '名称', exact: true }).waitFor();
    await phone.settled();
    expect(await seriousFaults(phone.page)).toEqual([]);
    if (pictures) await phone.page.screenshot({ path: join(pictures, 'phone-form.png') });
    expect(phone.faults).toEqual([]);
    await phone.context.close();
  });

  test('by the keyboard alone: opened, left by Escape, logged in again under the same name', async () => {
    await admin.open('/credentials');
    const name = page.getByRole('button', { name: 'ide', exact: true });
    await name.focus();
    await page.keyboard.press('Enter');
    await dialogHasFocus(page);
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    await until(() => page.evaluate<boolean>("document.activeElement?.textContent === 'ide'"), 'the focus to come back', waitMs);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Log in again', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('ide: log in again').waitFor();
    await dialogHasFocus(page);
    await page.getByRole('button', { name: 'Continue', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The credential ide is there').waitFor();
    await until(async () => (await credential('ide')).state === 'ok', 'the credential to be well', waitMs);
    await until(async () => (await gateway.console('GET', '/upstreams/ide')).body.unavailable === null, 'the upstream to be back', waitMs);
    expect(admin.faults).toEqual([]);
  });
});
