/** Signing in, and who may what, in a browser: wrong words, a ban that ends by itself, users, sessions that end elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type LyingProvider, startLyingProvider } from '../../services/console/test/lying-provider.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, type Visitor, visit } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Signing in with a browser') ? describe : describe.skip;
const password = 'correct horse battery';
/** Longer than it takes to sign in once more on a busy machine: the ban must still stand then. */
const banSeconds = 12;

let stage: Stage;
let provider: LyingProvider;

const newVisitor = (): Promise<Visitor> => visit(stage.browser, { url: stage.gateway.url, token: null });

async function signIn(page: Page, username: string, word: string): Promise<void> {
  await page.getByRole('textbox', { name: 'User name' }).fill(username);
  await page.getByRole('textbox', { name: 'Password' }).fill(word);
  // The answer to this try, not what is still shown of the one before.
  const answered = page.waitForResponse((response) => response.url().endsWith('/console/api/login'));
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await answered;
}

suite('signing in', () => {
  beforeAll(async () => {
    provider = await startLyingProvider();
    const oidc = {
      CONSOLE_OIDC_ISSUER: provider.issuer,
      CONSOLE_OIDC_CLIENT_ID: 'console',
      CONSOLE_OIDC_REDIRECT_URL: `${provider.issuer}/console/api/oidc/callback`,
      CONSOLE_OIDC_LABEL: 'Corporate',
      CONSOLE_OIDC_ADMIN_ROLES: 'admins',
    };
    stage = await openStage({ env: { ...oidc, CONSOLE_PASSWORD: password, CONSOLE_MAX_FAILURES: '3', CONSOLE_BAN_DURATION: String(banSeconds) } });
    // The gateway's port is known only now.
    provider.callback = `${stage.gateway.url}/console/api/oidc/callback`;
  }, prepareMs);

  afterAll(async () => {
    await stage?.close();
    await provider?.close();
  });

  test('who signs in at the OpenID provider arrives at the page that was asked for, also after a refusal', async () => {
    const { page, context, faults } = await newVisitor();
    await page.goto(`${stage.gateway.url}/console/models?q=gpt`);
    const elsewhere = page.getByRole('link', { name: 'Sign in with Corporate' });
    provider.claims = { preferred_username: 'zoe', groups: ['nobody'] };
    await elsewhere.click();
    await page.getByText('Your account there may not use this console.', { exact: false }).waitFor();
    provider.claims = { preferred_username: 'zoe', groups: ['admins'] };
    await elsewhere.click();
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe('/console/models?q=gpt');
    expect(faults).toEqual([]);
    await context.close();
  });

  test('too many wrong passwords ban the address; the ban counts down and ends by itself', async () => {
    const { page, context, faults } = await newVisitor();
    await page.goto(`${stage.gateway.url}/console/models`);
    for (let count = 0; count < 3; count++) {
      await signIn(page, 'admin', 'not the password');
      await page.getByText('The user name or the password is wrong.').waitFor();
      await page.getByRole('textbox', { name: 'Password' }).fill('');
    }
    await signIn(page, 'admin', password);
    const banned = page.getByText('Too many failed sign-ins from this address.', { exact: false });
    await banned.waitFor();
    expect(await banned.textContent()).toMatch(/Try again in 0:(?:0[1-9]|1[0-2])\./);
    await banned.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    // Where one wanted to go is where one arrives.
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  test('users are made, corrected and changed; what is done to them is felt at once', async () => {
    const { admin, page, gateway } = stage;
    const box = (name: string) => page.getByRole('textbox', { name, exact: true });
    const save = () => page.getByRole('button', { name: 'Save', exact: true }).click();
    const gone = () => dialogsGone(page);
    await admin.open('/settings/users');
    await page.getByRole('button', { name: 'New user' }).first().click();
    await dialogHasFocus(page);
    await box('User name').fill('grace');
    await box('Password').fill('short');
    await save();
    await page.locator('.mantine-InputWrapper-error').waitFor();
    await box('Password').fill('long enough for two');
    await save();
    await gone();

    const grace = await newVisitor();
    await grace.page.goto(`${gateway.url}/console`);
    await signIn(grace.page, 'grace', 'long enough for two');
    await grace.page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await grace.page.getByRole('link', { name: 'Users' }).count()).toBe(0);

    await page.getByRole('table').getByRole('button', { name: 'grace', exact: true }).click();
    await choose(page, 'Role', 'Administrator');
    await save();
    await gone();
    expect((await gateway.console('GET', '/users/grace')).body.role).toBe('admin');

    await page.getByRole('table').getByRole('button', { name: 'grace', exact: true }).click();
    await page.getByRole('button', { name: 'End sessions' }).click();
    await page.getByText('All sessions of grace ended').waitFor();
    // The page may have asked something by itself and know already.
    const signInAgain = grace.page.getByRole('textbox', { name: 'User name' });
    await Promise.any([grace.page.getByRole('link', { name: 'Requests' }).first().click(), signInAgain.waitFor()]);
    await signInAgain.waitFor();
    await grace.context.close();

    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('dialog', { name: 'Delete grace?' }).getByRole('button', { name: 'Delete' }).click();
    await page.getByText('grace was deleted').waitFor();
  });

  test('a new password is asked for twice, and counts from then on', async () => {
    await stage.gateway.console('POST', '/users', { username: 'ada', role: 'admin', password: 'the first password', enabled: true });
    const { page, context, open } = await newVisitor();
    await page.goto(`${stage.gateway.url}/console`);
    await signIn(page, 'ada', 'the first password');
    await page.getByRole('button', { name: 'Account' }).waitFor();
    await open('/settings/account');
    await page.getByText('this one').waitFor();
    await page.getByRole('textbox', { name: 'Current password' }).fill('the first password');
    await page.getByRole('textbox', { name: 'New password', exact: true }).fill('the second password');
    await page.getByRole('textbox', { name: 'New password again' }).fill('the second passwort');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The two are not the same.').waitFor();
    await page.getByRole('textbox', { name: 'New password again' }).fill('the second password');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Your password was changed; other sessions ended.').waitFor();
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await signIn(page, 'ada', 'the second password');
    await page.getByRole('heading', { name: 'Account' }).waitFor();
    await context.close();
  });

  test('who signs in next in the same window sees nothing of what was read before', async () => {
    await stage.gateway.console('POST', '/users', { username: 'ida', role: 'admin', password: 'the word of ida' });
    await stage.gateway.console('POST', '/users', { username: 'olga', role: 'monitor', password: 'the word of olga' });
    const { page, context, open, follow } = await newVisitor();
    await page.goto(`${stage.gateway.url}/console`);
    await signIn(page, 'ida', 'the word of ida');
    await page.getByRole('button', { name: 'Account' }).waitFor();
    await open('/settings/users');
    await page.getByRole('table').getByRole('button', { name: 'olga', exact: true }).waitFor();
    await stage.gateway.console('DELETE', '/sessions?username=ida');
    await follow('/models');
    await page.getByRole('textbox', { name: 'User name' }).waitFor();
    await signIn(page, 'olga', 'the word of olga');
    await page.getByRole('heading', { name: 'Models' }).waitFor();
    await follow('/settings/users');
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    expect(await page.getByText('ida', { exact: true }).count()).toBe(0);
    await context.close();
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
