/** The palette finds everything by name or id and does what it is told; names lead to what they name; several rows are changed at once; and a conflict has a way out. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, choose, dialogHasFocus, dialogsGone, prepareMs, seriousFaults, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('The palette') ? describe : describe.skip;

let stage: Stage;
const address = () => new URL(stage.page.url()).pathname + new URL(stage.page.url()).search;
const addressComesTo = (wanted: RegExp) => until(async () => wanted.test(decodeURIComponent(address())), `${wanted} in the address`, waitMs);
const input = () => stage.page.getByRole('textbox', { name: 'Find anything, or do something…' });

/** Types into a palette that is opened by its keys, and gives what it offers once it holds the line. */
async function offered(text: string, line: string | RegExp) {
  const { page } = stage;
  await page.keyboard.press('Control+k');
  await input().waitFor();
  await input().fill(text);
  const found = page.getByRole('dialog').getByRole('button', { name: line }).first();
  await found.waitFor();
  return found;
}

suite('the palette', () => {
  beforeAll(async () => {
    stage = await openStage();
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'openai-main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: 'sk-of-openai-main-000' }] }],
      models: [{ name: 'talker', upstream: 'openai-main', upstream_model_id: 'text:3', aliases: ['chatty'] }],
      load_balancers: [{ name: 'talk-pool', entries: [{ model: 'talker' }] }],
      pricing: [{ name: 'talk-price', model: 'talker', input: '1', output: '2' }],
      key_groups: [
        { name: 'research', models: ['*'] },
        { name: 'interns', models: ['*'] },
      ],
      access_keys: ['ada', 'bob', 'cy', 'dee'].map((name) => ({ name, group: 'interns' })),
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
  }, prepareMs);

  afterAll(() => stage?.close());

  test.each([
    ['ada', /^ada/, /access-keys\?edit=ada/],
    ['resear', /^research/, /key-groups\?edit=research/],
    ['chatty', /^talker.*chatty/, /models\?edit=talker/],
    ['talk-pool', /^talk-pool/, /load-balancers\?edit=talk-pool/],
    ['openai-main', /^openai-main/, /upstreams\?edit=openai-main/],
    ['timeout', /^Time-outs of an upstream/, /upstreams$/],
    ['budget', /^Costs and budgets/, /costs/],
    ['new key', /^New access key/, /access-keys\?create=new/],
  ])('finds %s', async (text, line, wanted) => {
    await stage.admin.open('/health');
    await offered(text, line);
    // The first that fits stands first: Enter takes it.
    if (text === 'ada') await stage.page.keyboard.press('Enter');
    else await (await stage.page.getByRole('dialog').getByRole('button', { name: line }).first()).click();
    await addressComesTo(wanted);
  });

  test('keeps what is typed before it has loaded', async () => {
    const { page, admin } = stage;
    const loads: (() => Promise<void>)[] = [];
    await page.route(/palette-core[^/]*\.js$/, (route) => void loads.push(() => route.continue()));
    await admin.open('/health');
    await page.keyboard.press('Control+k');
    await until(async () => loads.length > 0, 'the palette to be asked for', waitMs);
    await page.keyboard.type('resex');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('arch');
    await page.keyboard.press('Enter');
    for (const load of loads) await load();
    await page.unroute(/palette-core[^/]*\.js$/);
    await input().waitFor();
    expect(await input().inputValue()).toBe('research');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^research/ })
      .waitFor();
    expect(address()).toMatch(/\/health$/);
  });

  test('takes what is typed right after Ctrl+K, before its field has the focus', async () => {
    const { page, admin } = stage;
    await admin.open('/health');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('research', { delay: 30 });
    await until(async () => (await input().inputValue()) === 'research', 'all letters to be there', waitMs);
    await page.keyboard.type('x');
    expect(await input().inputValue()).toBe('researchx');
  });

  test('finds a request and a session by their ids', async () => {
    const id = await stage.ask('talker', { headers: { 'x-claude-code-session-id': 'a-session-of-ada-1' } });
    await stage.admin.open('/health');
    await (await offered(id, new RegExp(`^${id}`))).click();
    await addressComesTo(new RegExp(`logs\\?request=${id}`));
    await stage.page.getByRole('dialog', { name: 'Find anything' }).waitFor({ state: 'detached' });
    await stage.page.getByRole('dialog').getByText(id, { exact: true }).waitFor();
    await stage.page.keyboard.press('Escape');
    await dialogsGone(stage.page);
    const session = (await stage.gateway.console('GET', `/logs/${id}`)).body.session_id as string;
    await (await offered(session, new RegExp(`^${session}`))).click();
    await addressComesTo(new RegExp(`session=${session}`));
  });

  test('does what it is told, after a question', async () => {
    const { page, gateway, admin } = stage;
    await admin.open('/health');
    await (await offered('disable ada', 'Disable Access key ada')).click();
    const question = page.getByRole('dialog', { name: 'Disable Access key ada' });
    await question.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText('ada is disabled').waitFor();
    expect((await gateway.console('GET', '/access-keys/ada')).body.enabled).toBe(false);
    await (await offered('enable ada', 'Enable Access key ada')).click();
    await page.getByText('ada is enabled').waitFor();
    expect((await gateway.console('GET', '/access-keys/ada')).body.enabled).toBe(true);
  });

  test('searches nowhere for the value of a key, and says whose it is when asked', async () => {
    const { page, gateway, admin } = stage;
    const { body } = await gateway.console('GET', '/access-keys/bob/api-key');
    await admin.open('/health');
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(`${request.url()} ${request.postData() ?? ''}`));
    const line = await offered(body.api_key, /Find out whose key this is/);
    expect(asked.filter((text) => text.includes(body.api_key))).toEqual([]);
    await line.click();
    await addressComesTo(/key-use\?key=bob/);
    expect(asked.filter((text) => text.includes(body.api_key))).toHaveLength(1);
  });

  test('is offered to monitors without what they may not do', async () => {
    const { browser, gateway } = stage;
    await gateway.console('POST', '/users', { username: 'mona', password: 'long-enough', role: 'monitor' });
    const signed = await fetch(`${gateway.consoleUrl}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'mona', password: 'long-enough' }),
    });
    const { token } = (await signed.json()) as { token: string };
    const mona = await visit(browser, { url: gateway.url, token, dark: true, width: 390, language: 'zh' });
    await mona.open('/health');
    await mona.page.keyboard.press('Control+k');
    await mona.page.getByPlaceholder('查找任何内容，或执行操作……').fill('ada');
    await mona.page.getByRole('dialog').getByRole('button', { name: /^ada/ }).waitFor();
    expect(await seriousFaults(mona.page)).toEqual([]);
    await mona.page.getByPlaceholder('查找任何内容，或执行操作……').fill('新建');
    await mona.page.getByText('没有找到').waitFor();
    expect(mona.faults).toEqual([]);
    await mona.context.close();
  });

  test('names lead to what they name', async () => {
    const { page, admin } = stage;
    await admin.open('/access-keys');
    await page.getByRole('link', { name: 'interns' }).first().click();
    await addressComesTo(/key-groups\?edit=interns/);
    await admin.open('/models');
    await page.getByRole('link', { name: 'openai-main' }).first().click();
    await addressComesTo(/upstreams\?edit=openai-main/);
  });

  test('several keys are moved, tagged and disabled at once, each with its record', async () => {
    const { page, gateway, admin } = stage;
    await admin.open('/access-keys?group=interns');
    for (const name of ['bob', 'cy', 'dee']) await page.getByRole('checkbox', { name: `Choose ${name}` }).check();
    await page.getByText('3 chosen').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Change tags' }).click();
    await dialogHasFocus(page);
    const tags = page.getByRole('dialog').getByLabel('Add these tags').first();
    await tags.fill('summer');
    await tags.press('Enter');
    await page.getByRole('button', { name: 'Change them' }).click();
    await page.getByText('3 entries were changed').waitFor();
    expect((await gateway.console('GET', '/access-keys/cy')).body.tags).toEqual(['summer']);

    await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check();
    await page.getByText('4 chosen').waitFor();
    await page.getByRole('button', { name: 'Move to a group' }).click();
    await dialogHasFocus(page);
    await choose(page, 'To the group', 'research');
    await page.getByRole('button', { name: 'Change them' }).click();
    await page.getByText('4 entries were changed').waitFor();
    const { items } = (await gateway.console('GET', '/audit-logs?limit=100')).body as {
      items: { action: string; entity_id: string; diff: { group?: unknown } }[];
    };
    const moved = items.filter(({ action, diff }) => action === 'batch_update' && diff?.group !== undefined);
    expect(moved.map(({ entity_id }) => entity_id).sort()).toEqual(['ada', 'bob', 'cy', 'dee']);
  });

  test('a conflict shows both sides and goes on with either', async () => {
    const { page, gateway, admin } = stage;
    const open = async () => {
      await admin.open('/key-groups?edit=research');
      await dialogHasFocus(page);
      const words = page.getByRole('dialog').getByRole('textbox', { name: 'Description' });
      await words.waitFor();
      return words;
    };
    let words = await open();
    await words.fill('mine');
    await gateway.console('PATCH', '/key-groups/research', { description: 'theirs', models: ['talker'] });
    await page.getByRole('button', { name: 'Save' }).click();
    const notice = page.getByRole('alert').filter({ hasText: 'Somebody else changed this meanwhile' });
    await notice.getByText('theirs').waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await notice.getByRole('button', { name: 'Keep my changes, take the rest' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await dialogsGone(page);
    expect((await gateway.console('GET', '/key-groups/research')).body).toMatchObject({ description: 'mine', models: ['talker'] });

    words = await open();
    await words.fill('mine again');
    await gateway.console('PATCH', '/key-groups/research', { description: 'theirs again' });
    await page.getByRole('button', { name: 'Save' }).click();
    await notice.getByRole('button', { name: 'Take what is there now' }).click();
    await until(async () => (await words.inputValue()) === 'theirs again', 'their words in the form', waitMs);
  });

  test('nothing threw on the way', () => expect(stage.admin.faults).toEqual([]));
});
