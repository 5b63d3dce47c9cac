/** A session that ends while somebody types: what was typed is there again once the same person has signed in. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator } from 'playwright-core';
import { until } from '../support/gateway.ts';
import { browserAvailable, choose, prepareMs, type Visitor, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Ends of sessions in a browser') ? describe : describe.skip;
const password = 'correct horse battery';

let stage: Stage;
let visitor: Visitor;
let username: string;
const box = (name: string) => visitor.page.getByRole('textbox', { name, exact: true });
const press = (name: string) => visitor.page.getByRole('button', { name, exact: true }).click();

async function signedIn(role: string): Promise<void> {
  username = `${role}-${Math.random().toString(36).slice(2, 8)}`;
  await stage.gateway.console('POST', '/users', { username, role, password });
  const { token } = (await stage.gateway.console('POST', '/login', { username, password })).body;
  visitor = await visit(stage.browser, { url: stage.gateway.url, token });
}

/** Ended in another tab, so that the page notices at once; then somebody signs in again. */
async function sessionEnds(next = username): Promise<void> {
  await visitor.page.evaluate("localStorage.removeItem('model-gateway.token'); dispatchEvent(new StorageEvent('storage', { key: 'model-gateway.token' }))");
  await box('User name').fill(next);
  await box('Password').fill(password);
  await press('Sign in');
}

const isBack = (field: Locator, text: string): Promise<void> =>
  until(async () => (await field.count()) === 1 && (await field.inputValue()) === text, `“${text}” to be back`, waitMs);

suite('ends of sessions', () => {
  beforeAll(async () => {
    stage = await openStage();
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [{ name: 'good', upstream: 'main', upstream_model_id: 'ok' }],
      key_groups: [{ name: 'open', models: ['*'], member_keys: { max: 3 } }],
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the message and the settings of the playground', async () => {
    await signedIn('admin');
    const { page } = visitor;
    await visitor.open('/playground?model=good');
    await box('Message').fill('Half a question');
    await sessionEnds();
    await isBack(box('Message'), 'Half a question');
    await page.getByText('What you had typed when the session ended is back.', { exact: false }).waitFor();
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  test('the first steps: the step, and what stands in it', async () => {
    await signedIn('admin');
    await visitor.open('/start');
    const name = box('Name in this gateway');
    await name.fill('mine');
    await sessionEnds();
    await isBack(name, 'mine');
    await choose(visitor.page, 'Or use one that is there', 'main');
    const other = box('Another model');
    await other.fill('half-a-model');
    await sessionEnds();
    await isBack(other, 'half-a-model');
    expect(visitor.faults).toEqual([]);
    await visitor.context.close();
  });

  test('the question of route explain', async () => {
    await signedIn('admin');
    await visitor.open('/explain');
    const model = visitor.page.getByRole('combobox', { name: 'Model', exact: true }).or(box('Model'));
    await model.fill('good-for-what');
    await sessionEnds();
    await isBack(model, 'good-for-what');
    await visitor.context.close();
  });

  test('a member’s new key, whose dialog opens again', async () => {
    await signedIn('member');
    await stage.gateway.console('PATCH', '/key-groups/open', { members: [username] });
    await visitor.open('/my');
    await visitor.page.getByRole('button', { name: 'New key' }).first().click();
    await box('Name').fill('laptop');
    await sessionEnds();
    await isBack(box('Name'), 'laptop');
    await visitor.context.close();
  });

  test('a new login', async () => {
    await signedIn('admin');
    await visitor.open('/credentials?create=new');
    await box('Name').fill('of-the-team');
    await sessionEnds();
    await isBack(box('Name'), 'of-the-team');
    await visitor.context.close();
  });

  test('nothing of it is shown to somebody else', async () => {
    await signedIn('admin');
    await visitor.open('/playground?model=good');
    await box('Message').fill('For my eyes');
    await stage.gateway.console('POST', '/users', { username: 'somebody-else', role: 'admin', password });
    await sessionEnds('somebody-else');
    await box('Message').waitFor();
    await visitor.settled();
    expect(await box('Message').inputValue()).toBe('');
    await visitor.context.close();
  });
});
