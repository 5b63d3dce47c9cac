/** A session of a coding agent as a timeline: turns, cost of each, a failover, a cache that was lost; from the list of sessions to a request and back. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, seriousFaults, visit, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Sessions as timelines') ? describe : describe.skip;
const session = 'session-of-an-agent-1';

let stage: Stage;

suite('sessions', () => {
  beforeAll(async () => {
    stage = await openStage();
    const of = (model: string) => ({ name: model, upstream: 'main', upstream_model_id: model });
    const made = await stage.gateway.console('POST', '/import', {
      version: 2,
      upstreams: [{ name: 'main', protocol: 'alpha', base_url: stage.upstream.url, api_keys: [{ key: 'sk-of-main-000' }] }],
      models: [of('text:3'), of('status:500'), { name: 'coder', upstream: 'main', upstream_model_id: 'text:5' }],
      load_balancers: [
        {
          name: 'safe',
          strategy: 'priority',
          entries: [
            { model: 'status:500', weight: 2 },
            { model: 'coder', weight: 1 },
          ],
        },
      ],
      pricing: [{ name: 'all', model: '*', input: '1000', output: '2000' }],
    });
    expect([made.status, made.body.error]).toEqual([200, undefined]);
    for (const model of ['coder', 'safe', 'status:500', 'coder']) await stage.ask(model, { headers: { 'x-claude-code-session-id': session } });
  }, prepareMs);

  afterAll(() => stage?.close());

  test('the list leads to the timeline, and a turn to its request', async () => {
    const { page, admin } = stage;
    await admin.open('/sessions');
    await until(async () => (await page.getByRole('link', { name: session }).count()) > 0, 'the session in the list', waitMs);
    await page.getByRole('link', { name: session }).click();
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.waitFor();
    await admin.settled();
    expect(await timeline.getByRole('listitem').count()).toBe(4);
    expect(await timeline.getByText(/^failed over from/).count()).toBe(1);
    expect(await timeline.getByText(/\$0\.\d/).count()).toBe(3);
    expect(await timeline.getByText(/500/).count()).toBeGreaterThan(0);
    expect(await seriousFaults(page)).toEqual([]);
    await timeline
      .getByRole('button', { name: /^Request at/ })
      .first()
      .focus();
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Request' });
    await drawer.getByRole('link', { name: session }).waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await timeline.waitFor();
  });

  test('is read on a phone, in the dark, in Chinese', async () => {
    const { browser, gateway } = stage;
    const phone = await visit(browser, { url: gateway.url, token: gateway.consoleKey, dark: true, width: 390, language: 'zh' });
    await phone.open(`/sessions?session=${session}`);
    await phone.page.getByRole('region', { name: '时间线' }).waitFor();
    await phone.settled();
    expect(await seriousFaults(phone.page)).toEqual([]);
    expect(await phone.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(1);
    if (process.env['SCREENSHOTS']) await phone.page.screenshot({ path: `${process.env['SCREENSHOTS']}/session-phone.png`, fullPage: true });
    expect(phone.faults).toEqual([]);
    await phone.context.close();
  });

  test('one that nobody had says so', async () => {
    await stage.admin.open('/sessions?session=nobody');
    await stage.page.getByText('There is no request of this session', { exact: false }).waitFor();
    expect(stage.admin.faults).toEqual([]);
  });
});
