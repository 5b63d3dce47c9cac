/** People and their keys in a browser: a key that leaked, who is told of it, members with keys of their own, and what monitors are spared. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mintAccessKey } from '@model-gateway/secrets';
import { askFrom } from '../support/ask-from.ts';
import { until } from '../support/gateway.ts';
import { type SmtpServer, startSmtpServer } from '../support/smtp-server.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, visit, waitMs } from './browser.ts';
import { axeFindings, faultsOfLooks, picture } from './looks.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('People and keys in a browser') ? describe : describe.skip;
const password = 'long enough for two';
const value = mintAccessKey();

let stage: Stage;
let mail: SmtpServer;
let receiver: Server;
const received: string[] = [];
/** What the webhook answers. */
let receiverStatus = 200;
const tokens = { ada: '', olga: '' };

const dialog = () => stage.page.getByRole('dialog');
const call = (key: string, from: string, agent: string) =>
  askFrom(from, `${stage.gateway.url}/v1/chat/completions`, {
    key,
    body: { model: 'best', messages: [{ role: 'user', content: 'hi' }] },
    headers: { 'user-agent': agent },
  });
const admitted = async (key: string): Promise<number> => (await askFrom('127.0.0.1', `${stage.gateway.url}/v1/models`, { key })).status;
const comesTo = (key: string, status: number) => until(async () => (await admitted(key)) === status, `the key to be answered ${status}`, waitMs);

suite('people and keys', () => {
  beforeAll(async () => {
    receiver = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (piece: string) => received.push(piece));
      request.on('end', () => response.writeHead(receiverStatus).end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    [stage, mail] = await Promise.all([openStage(), startSmtpServer()]);
    const { gateway, upstream } = stage;
    await gateway.configure({
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: upstream.url, api_keys: [{ key: 'sk-of-main-000' }] }],
      models: [
        { name: 'best', upstream: 'main', upstream_model_id: 'text:20' },
        { name: 'secret-model', upstream: 'main', upstream_model_id: 'text:5' },
      ],
      key_groups: [
        {
          name: 'team',
          models: ['best'],
          members: ['ada'],
          member_keys: { max: 2, max_budget: { limit: 10, period: 'month', currency: 'USD' }, max_days: 30 },
        },
      ],
      access_keys: [{ name: 'leaked', group: 'everyone', key: value, owner: 'grace@example.com' }],
    });
    await gateway.console('POST', '/pricing', { name: 'best', model: 'best', input: '1', output: '2000' });
    await gateway.settle();
    for (const [username, role] of [
      ['ada', 'member'],
      ['olga', 'monitor'],
    ] as const) {
      await gateway.console('POST', '/users', { username, role, password });
      tokens[username] = (await gateway.console('POST', '/login', { username, password })).body.token;
    }
    expect((await call(value, '127.0.0.1', 'laptop/1')).status).toBe(200);
    const use = async () => (await gateway.console('GET', '/access-keys/leaked/use')).body.known_addresses.length as number;
    await until(async () => (await use()) === 1, 'the first address to be known', waitMs);
    expect((await call(value, '127.0.0.7', 'stranger/1')).status).toBe(200);
    await until(async () => (await use()) === 2, 'the second address to be known', waitMs);
  }, prepareMs);

  afterAll(async () => {
    await stage?.close();
    await Promise.all([mail?.close(), new Promise((resolve) => receiver?.close(resolve))]);
  });

  test('alert channels are made by keyboard, tested, and what was sent is listed', async () => {
    const { admin, page } = stage;
    const box = (name: string) => page.getByRole('textbox', { name, exact: true });
    await admin.open('/settings/alerts');
    await page.getByText('Nothing was sent yet.').waitFor();
    await page.getByRole('button', { name: 'New alert channel' }).first().focus();
    await page.keyboard.press('Enter');
    await dialogHasFocus(page);
    await box('Name').fill('mail');
    await choose(page, 'Kind', 'E-mail');
    await box('From').fill('gateway@example.com');
    await page.getByRole('combobox', { name: 'To', exact: true }).fill('ops@example.com');
    await page.keyboard.press('Enter');
    await choose(page, 'Encryption', 'None');
    // The server is missing: said at its field.
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog().locator('.mantine-InputWrapper-error').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await box('Mail server').fill('127.0.0.1');
    await box('Port').fill(String(mail.port));
    await page.getByRole('button', { name: 'Save', exact: true }).focus();
    await page.keyboard.press('Enter');
    await dialogsGone(page);
    await page.getByRole('table').getByRole('button', { name: 'mail', exact: true }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test message was accepted.').waitFor();
    await until(async () => mail.mails.length === 1, 'the mail', waitMs);
    expect(mail.mails[0]).toMatchObject({ from: 'gateway@example.com', to: ['ops@example.com'] });
    await page.keyboard.press('Escape');
    await dialogsGone(page);

    await page.getByRole('button', { name: 'New alert channel' }).first().click();
    await dialogHasFocus(page);
    await box('Name').fill('hook');
    await box('Address of the webhook').fill(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/path-canary`);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dialogsGone(page);
    receiverStatus = 503;
    await page.getByRole('table').getByRole('button', { name: 'hook', exact: true }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText(/The test message was not accepted: .*503/).waitFor();
    receiverStatus = 200;
    await page.getByRole('button', { name: 'Send a test' }).click();
    await until(async () => received.length > 1, 'the webhook to be called', waitMs);
    expect(await page.content()).not.toContain('path-canary');
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    const messages = page.getByRole('table', { name: 'Messages' });
    await messages.getByText('sent', { exact: true }).first().waitFor();
    await picture(page, 'alerts');
  });

  test('a key that leaked is found, seen, rotated with an overlap, told of and disabled, by keyboard alone', async () => {
    const { admin, page } = stage;
    const press = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    await admin.open('/key-use');
    await page.getByLabel('The whole value').first().focus();
    await page.keyboard.insertText(value);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'leaked', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'leaked', exact: true }).waitFor();
    expect([page.url().includes('gk-'), new URL(page.url()).searchParams.get('key')]).toEqual([false, 'leaked']);
    const addresses = page.getByRole('table', { name: 'Addresses' });
    const stranger = addresses.getByRole('row').filter({ hasText: '127.0.0.7' });
    await stranger.getByText('new', { exact: true }).waitFor();
    expect(await addresses.getByRole('row').filter({ hasText: '127.0.0.1' }).getByText('new', { exact: true }).count()).toBe(0);
    await page.getByRole('table', { name: 'Programs' }).getByRole('link', { name: 'stranger/1' }).waitFor();
    await page.getByRole('table', { name: 'Models' }).getByRole('link', { name: 'best' }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'key-use');

    await press('Rotate');
    await dialogHasFocus(page);
    await page.getByRole('textbox', { name: 'Hours that the old value works beside the new one' }).fill('2');
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'The key leaked' });
    const rotated = (await shown.getByRole('region', { name: 'Key', exact: true }).locator('pre').textContent()) ?? '';
    expect(rotated).toMatch(/^gk-/);
    await press('Done');
    await dialogsGone(page);
    await comesTo(rotated, 200);
    expect(await admitted(value)).toBe(200);
    await page.getByText(/^The value before the last rotation still works until /).waitFor();
    await press('End now');
    await comesTo(value, 401);
    await page.getByText(/^The value before the last rotation still works until /).waitFor({ state: 'detached' });

    // The gateway's own mail tells the owner, since a channel sends any.
    await press('Tell the owner');
    await page.getByText('Mail to grace@example.com is on its way.').waitFor();
    await until(async () => mail.mails.some(({ to }) => to.join() === 'grace@example.com'), 'the mail to the owner', waitMs);

    await press("It is the owner's");
    await stranger.getByText('new', { exact: true }).waitFor({ state: 'detached' });
    await press('Disable now');
    await page.getByRole('button', { name: 'Enable again' }).waitFor();
    await comesTo(rotated, 401);
    await stranger.getByRole('link', { name: '127.0.0.7' }).click();
    await page.getByRole('heading', { name: 'Requests', exact: true }).waitFor();
    await page.getByText('1 shown', { exact: true }).waitFor();
  });

  test('who leaves is seen to leave keys behind, and they are found from there', async () => {
    const { admin, page, gateway } = stage;
    await gateway.console('POST', '/users', { username: 'grace', role: 'member', password, email: 'grace@example.com' });
    await gateway.console('POST', '/access-keys', { name: 'over', group: 'team', owner: 'grace', expires_at: '2020-01-01T00:00:00Z' });
    await admin.open('/settings/users?edit=grace');
    await page.getByText('One access key has the owner grace. It goes on working when this user is disabled or deleted.').waitFor();
    const ofAddress = page.getByRole('alert').filter({ hasText: 'grace@example.com' });
    await ofAddress.getByRole('link', { name: 'To the keys' }).click();
    await page.getByText('Owner: grace@example.com', { exact: true }).waitFor();
    await page.getByText('1 entry', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'leaked', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show the keys of all owners' }).click();
    await page.getByRole('button', { name: 'over', exact: true }).waitFor();
    expect(new URL(page.url()).searchParams.has('owner')).toBe(false);
    // A key whose time is over is not called enabled where one decides what to do about it.
    await admin.open('/key-use?key=over');
    await page.getByRole('region', { name: 'The key', exact: true }).getByText('Expired', { exact: true }).waitFor();
  });

  test('who deletes a user is offered to disable the keys that the user leaves', async () => {
    const { admin, page, gateway } = stage;
    const [kept, disabled] = [mintAccessKey(), mintAccessKey()];
    await gateway.console('POST', '/users', { username: 'alan', role: 'member', password, email: 'alan@example.com' });
    await gateway.console('POST', '/access-keys', { name: 'of-address', group: 'team', owner: 'alan@example.com', key: kept });
    await gateway.console('POST', '/access-keys', { name: 'of-name', group: 'team', owner: 'alan', key: disabled });
    await gateway.console('POST', '/access-keys', { name: 'off', group: 'team', owner: 'alan', enabled: false });
    await comesTo(disabled, 200);
    await admin.open('/settings/users?edit=alan');
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    const question = page.getByRole('dialog', { name: 'Delete alan?' });
    await question.getByLabel('Disable the access key with the owner alan@example.com too').waitFor();
    await question.getByLabel('Disable the access key with the owner alan too').check();
    expect(await axeFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Delete', exact: true }).click();
    await comesTo(disabled, 401);
    expect(await admitted(kept)).toBe(200);
    // The keys are disabled first.
    await dialogsGone(page);
    expect((await gateway.console('GET', '/users/alan')).status).toBe(404);
  });

  test('a member makes a key within what the group allows, sets up a client with it, and sees what it asked and cost', async () => {
    const { browser, gateway } = stage;
    const ada = await visit(browser, { url: gateway.url, token: tokens.ada });
    const { page } = ada;
    // Also while the own page loads, the one of the address is not drawn: it would ask for what a member may not see.
    const refused: string[] = [];
    page.on('response', (response) => response.status() === 403 && refused.push(response.url()));
    for (const path of ['/logs', '/statistics', '/upstreams']) {
      await ada.open(path);
      await page.getByRole('heading', { name: 'My keys' }).waitFor();
      await ada.settled();
    }
    expect(refused).toEqual([]);
    expect(await page.getByRole('navigation', { name: 'Menu' }).getByRole('link').allTextContents()).toEqual(['My keys', 'Account', 'Appearance']);
    await page.getByText('You have no key yet').waitFor();
    await page.getByRole('button', { name: 'New key' }).first().focus();
    await page.keyboard.press('Enter');
    await dialogHasFocus(page);
    const box = (name: string) => page.getByRole('textbox', { name, exact: true });
    const submit = page.getByRole('dialog').getByRole('button', { name: 'New key', exact: true });
    await box('Name').fill('laptop');
    await box('Budget').fill('11');
    await submit.click();
    await page.getByRole('dialog').locator('.mantine-InputWrapper-error, [role=alert]').first().waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'my-new-key');
    await box('Budget').fill('5');
    await box('Days until it expires').fill('7');
    await submit.focus();
    await page.keyboard.press('Enter');
    const shown = page.getByRole('dialog', { name: 'The key ada.laptop' });
    const key = (await shown.getByRole('region', { name: 'Key', exact: true }).locator('pre').textContent()) ?? '';
    const snippet = (await shown.getByRole('region', { name: 'shell' }).locator('pre').textContent()) ?? '';
    for (const part of [key, gateway.url, 'best']) expect(snippet).toContain(part);
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'my-client-setup');
    await shown.getByRole('button', { name: 'Done' }).click();
    await dialogsGone(page);
    await comesTo(key, 200);
    const answer = await call(key, '127.0.0.1', 'agent/1');
    expect(answer.status).toBe(200);
    const requests = async () => (await gateway.console('GET', '/access-keys/ada.laptop/use')).body.total?.requests as number | undefined;
    await until(async () => (await requests()) === 1, 'the request to be kept', waitMs);

    await ada.open('/my?tab=requests');
    await page.getByRole('table', { name: 'Requests' }).getByRole('row').filter({ hasText: 'ada.laptop' }).getByText('200').waitFor();
    await page.getByRole('tab', { name: 'Costs' }).click();
    const cost = page.getByRole('table', { name: 'By key' }).getByRole('row').filter({ hasText: 'ada.laptop' }).getByRole('cell').last();
    expect(await cost.textContent()).toMatch(/^\$0\.\d*[1-9]/);
    await page.getByRole('tab', { name: 'Keys', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'ada.laptop' });
    await row.getByText(/^\$0\.\d+ \/ \$5\.00 a month$/).waitFor();

    await row.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('dialog', { name: 'The key ada.laptop' }).getByRole('button', { name: 'Done' }).click();
    await dialogsGone(page);
    expect(await admitted(key)).toBe(200);
    await row.getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await dialogsGone(page);
    await row.getByRole('cell').getByText('Disabled', { exact: true }).last().waitFor();
    await comesTo(key, 401);
    await row.getByRole('button', { name: 'Set up a client' }).click();
    await page.getByRole('dialog', { name: 'The key ada.laptop' }).getByRole('button', { name: 'Done' }).click();
    await dialogsGone(page);
    // The admin's pages hold nothing of it that a member may not see.
    expect((await page.content()).includes('secret-model')).toBe(false);
    expect(ada.faults).toEqual([]);
    await ada.context.close();
  });

  test('a monitor is spared forms that end in a refusal, and buttons that ask for one again', async () => {
    const { browser, gateway } = stage;
    const olga = await visit(browser, { url: gateway.url, token: tokens.olga });
    const { page } = olga;
    await olga.open('/start');
    await page.getByText('This page is for administrators.', { exact: false }).waitFor();
    expect(await page.getByRole('textbox').count()).toBe(0);
    for (const path of [
      '/settings/audit',
      '/settings/history',
      '/settings/users',
      '/settings/alerts',
      '/settings/transfer',
      '/settings/set-aside',
      '/studio',
    ]) {
      await olga.open(path);
      await olga.settled();
      await page.getByText('This page is for administrators.', { exact: false }).waitFor();
      expect([path, await page.getByRole('button', { name: 'Try again' }).count()]).toEqual([path, 0]);
    }
    // By its name, as its value is looked up by administrators alone.
    await olga.open('/key-use');
    await choose(page, 'Access key', 'leaked');
    await page.getByRole('table', { name: 'Addresses' }).waitFor();
    for (const name of ['Disable now', 'Enable again', 'Rotate', 'Tell the owner'])
      expect([name, await page.getByRole('button', { name }).count()]).toEqual([name, 0]);
    expect(olga.faults).toEqual([]);
    await olga.context.close();
  });

  test('their pages look well in both languages and themes, at a desk and on a phone', async () => {
    const { browser, gateway } = stage;
    const found = await faultsOfLooks(browser, { url: gateway.url, token: gateway.consoleKey }, [
      { path: '/key-use?key=leaked', name: 'key-use', fits: true },
      { path: '/settings/alerts', name: 'alerts' },
    ]);
    const own = await faultsOfLooks(browser, { url: gateway.url, token: tokens.ada }, [
      { path: '/my', name: 'my-keys', fits: true },
      { path: '/my?tab=requests', name: 'my-requests', fits: true },
      { path: '/my?tab=costs', name: 'my-costs', fits: true },
    ]);
    expect([...found, ...own]).toEqual([]);
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
