/** What is open over a page stands in its address; what was typed there outlives the session. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, dialogHasFocus, dialogsGone, prepareMs, type Visitor, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Addresses of the console') ? describe : describe.skip;
const strange = 'a/b c&d=é#?%';

let stage: Stage;
const dialog = (name?: string) => stage.page.getByRole('dialog', { ...(name !== undefined && { name, exact: true }) });
const search = () => new URL(stage.page.url()).search;
const searchComesTo = (wanted: string) => until(async () => search() === wanted, `${wanted || 'nothing'} to be what is open`, waitMs);

suite('addresses', () => {
  beforeAll(async () => {
    stage = await openStage();
    await stage.gateway.configure({
      upstreams: [{ name: 'up', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [] }],
      models: [
        { name: 'text', upstream: 'up', upstream_model_id: 'text:10' },
        { name: strange, upstream: 'up', upstream_model_id: 'x' },
        { name: '123', upstream: 'up', upstream_model_id: 'x' },
      ],
    });
  }, prepareMs);

  afterAll(() => stage?.close());

  test('a form is opened, loaded again and left by its address', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    await page.getByRole('table').getByRole('button', { name: 'text', exact: true }).click();
    await dialog('text').waitFor();
    await searchComesTo('?edit=text');
    await page.reload();
    await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('text');
    await page.goBack();
    await dialogsGone(page);
    await page.goForward();
    await dialog('text').waitFor();
    await dialogHasFocus(page);
    // Closed by hand it is as if it had not been opened: Back does not open it.
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    await searchComesTo('');
    await page.getByRole('button', { name: 'New model' }).click();
    await dialog('New model').waitFor();
    await searchComesTo('?create=new');
    await page.goBack();
    await dialogsGone(page);
  });

  test.each([strange, '123', 'nobody'])('a link that somebody sent opens %s alone', async (name) => {
    const { admin, page } = stage;
    await admin.open(`/models?edit=${encodeURIComponent(name)}`);
    await dialog(name).waitFor();
    if (name === 'nobody') {
      await dialog(name).getByRole('alert').getByRole('button', { name: 'Try again' }).waitFor();
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    } else await page.getByRole('textbox', { name: 'Name', exact: true }).waitFor();
    await dialogHasFocus(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await dialogsGone(page);
    await searchComesTo('');
    await page.getByRole('heading', { name: 'Models' }).waitFor();
  });

  test('Back asks before typed words are lost', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    await page.getByRole('table').getByRole('button', { name: 'text', exact: true }).click();
    await page.getByRole('textbox', { name: "Upstream's name" }).fill('text:3');
    admin.faults.length = 0;
    await page.goBack();
    await dialogsGone(page);
    expect(admin.faults.splice(0)).toEqual([expect.stringMatching(/^dialog: Leave without saving/)]);
  });

  test('a request has an address too, however long ago it was', async () => {
    const { admin, page } = stage;
    const id = await stage.ask('text');
    await admin.open('/logs');
    await page.getByRole('row').filter({ hasText: 'text' }).first().click();
    await dialog().getByText(id, { exact: true }).waitFor();
    await searchComesTo(`?request=${id}`);
    await admin.open(`/logs?error_code=nothing&request=${id}`);
    await dialog().getByText(id, { exact: true }).waitFor();
    await dialogHasFocus(page);
    await page.keyboard.press('Escape');
    await dialogsGone(page);
    await searchComesTo('?error_code=nothing');
    await admin.open('/logs?request=nothing');
    await dialog().getByText('There is no request of this id.').waitFor();
  });

  describe('a session that ends while something is typed', () => {
    let visitor: Visitor;
    const box = (name: string) => visitor.page.getByRole('textbox', { name, exact: true });
    const signIn = async (username: string) => {
      await box('User name').fill(username);
      await box('Password').fill(`the word of ${username}`);
      await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await visitor.page.getByRole('button', { name: 'Account' }).waitFor();
    };
    /** What the page asks by itself may meet the end first: then the sign-in has taken the form's place before it is saved. */
    const saveAfterEnd = async (username: string) => {
      await stage.gateway.console('DELETE', `/sessions?username=${username}`);
      const save = visitor.page.getByRole('button', { name: 'Save' }).click({ timeout: 5000 });
      await save.catch(() => box('User name').waitFor());
    };

    beforeAll(async () => {
      for (const username of ['ida', 'olga']) await stage.gateway.console('POST', '/users', { username, role: 'admin', password: `the word of ${username}` });
      visitor = await visit(stage.browser, { url: stage.gateway.url, token: null });
      await visitor.page.goto(`${stage.gateway.url}/console/models`);
      await signIn('ida');
    });

    test('goes on where it was, and is stored as what it was begun on', async () => {
      const { page } = visitor;
      await page.getByRole('table').getByRole('button', { name: 'text', exact: true }).click();
      await box("Upstream's name").fill('text:4');
      await saveAfterEnd('ida');
      await signIn('ida');
      await page.getByText('What you had typed when the session ended is back.', { exact: false }).waitFor();
      expect(await box("Upstream's name").inputValue()).toBe('text:4');
      await page.getByRole('button', { name: 'Save' }).click();
      await dialogsGone(page);
      expect((await stage.gateway.console('GET', '/models/text')).body.upstream_model_id).toBe('text:4');
    });

    test('a change that somebody else made meanwhile is not overwritten', async () => {
      const { page } = visitor;
      await page.getByRole('table').getByRole('button', { name: 'text', exact: true }).click();
      await box("Upstream's name").fill('text:5');
      await stage.gateway.console('PATCH', '/models/text', { upstream_model_id: 'text:6' });
      await saveAfterEnd('ida');
      await signIn('ida');
      await page.getByText('What you had typed', { exact: false }).first().waitFor();
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Somebody else changed this meanwhile', { exact: false }).waitFor();
    });

    test('somebody else who signs in does not see it', async () => {
      await box("Upstream's name").fill('words of ida');
      await saveAfterEnd('ida');
      await signIn('olga');
      await box("Upstream's name").waitFor();
      expect(await box("Upstream's name").inputValue()).toBe('text:6');
      await saveAfterEnd('olga');
      await signIn('ida');
      await box("Upstream's name").waitFor();
      expect(await box("Upstream's name").inputValue()).toBe('text:6');
      await visitor.context.close();
      expect(visitor.faults).toEqual([]);
    });
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));

  test('an address that names no page says so in its heading and its title', async () => {
    const { admin, page } = stage;
    await admin.open('/models');
    await admin.open('/modells?q=text');
    await page.getByRole('heading', { level: 2, name: 'There is no such page' }).waitFor();
    expect(await page.title()).toBe('There is no such page · Model gateway');
    await page.getByRole('link', { name: 'To the overview' }).click();
    await page.getByRole('heading', { level: 2, name: 'Overview' }).waitFor();
  });
});
