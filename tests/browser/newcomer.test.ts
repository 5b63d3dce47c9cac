/** A newcomer's first minutes, as README and console say it: from `npm start` to three teams with budgets, a price for each model and costs by team; a second provider; what another gateway knew. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { type FakeUpstream, startFakeUpstream } from '../fake-upstream/index.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/gateway.ts';
import { browserAvailable, buildConsole, dialogHasFocus, dialogsGone, launchBrowser, prepareMs, type Visitor, visit, waitMs } from './browser.ts';
import { axeFindings, faultsOfLooks, picture } from './looks.ts';

const suite = browserAvailable("A newcomer's first minutes in a browser") ? describe : describe.skip;
const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const run = promisify(execFile);
/** Of the whole walk, on a machine that does other things too. */
const walkMs = 300_000;

let browser: Browser;
let upstream: FakeUpstream;
let started: ChildProcess;
let printed = '';
let url: string;
let visitor: Visitor;
let page: Page;
let token = '';
const data = mkdtempSync(join(tmpdir(), 'gateway-newcomer-'));
const steps: { name: string; ms: number }[] = [];
/** Value of each team's key. */
const keys = new Map<string, string>();
const teams = [
  ['research', '200'],
  ['interns', '5'],
  ['product', '50'],
] as const;

const box = (name: string) => page.getByRole('textbox', { name, exact: true });
const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
async function api(method: string, path: string, body?: unknown) {
  const answer = await fetch(`${url}/console/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: assertions look into it freely.
  return { status: answer.status, body: (await answer.json()) as any };
}
/** One step of the walk, timed. */
async function step(name: string, what: () => Promise<void>): Promise<void> {
  const begun = Date.now();
  await what();
  steps.push({ name, ms: Date.now() - begun });
}
/** Pastes the shell's lines of the last step, with another team's key in place of the first's. */
async function paste(snippet: string, key: string): Promise<string> {
  const [first] = keys.values();
  const { stdout } = await run('sh', ['-c', snippet.replaceAll(first ?? '', key)]);
  return stdout;
}

suite('a newcomer', () => {
  beforeAll(async () => {
    // A checkout that was started before: what the first start installs and builds is npm's time, and the browser's suites build the pages once.
    buildConsole();
    [browser, upstream] = await Promise.all([launchBrowser(), startFakeUpstream()]);
  }, prepareMs);

  afterAll(async () => {
    await browser?.close();
    await upstream?.close();
    if (started?.pid !== undefined && started.exitCode === null) {
      const ended = new Promise((resolve) => started.once('exit', resolve));
      process.kill(-started.pid, 'SIGTERM');
      await ended;
    }
    rmSync(data, { recursive: true, force: true });
  });

  test(
    'walks from npm start to costs by team in five minutes, guessing no step',
    async () => {
      const begun = Date.now();
      for (const said of [
        'npm start  ',
        'The first `npm start` prints the password',
        'the first steps there lead from a provider to models, teams with budgets',
        '_Costs and budgets_',
      ])
        expect(readme).toContain(said);
      await step('npm start', async () => {
        const [port, probe] = [await freePort(), await freePort()];
        url = `http://127.0.0.1:${port}`;
        const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));
        started = spawn('npm', ['start'], {
          cwd: root,
          detached: true,
          env: { ...env, PORT: `${port}`, PROMETHEUS_PORT: `${probe}`, HOST: '127.0.0.1', DATA_DIR: data },
        });
        for (const stream of [started.stdout, started.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (printed += text));
        await until(async () => (await fetch(`${url}/readyz`)).ok, `the gateway to be ready: ${printed}`, 120_000);
      });
      await step('sign in with the printed password', async () => {
        const password = /as admin with the password\s+(\S+)/.exec(printed)?.[1] ?? '';
        visitor = await visit(browser, { url, token: null });
        page = visitor.page;
        await page.goto(`${url}/console`);
        await box('User name').fill('admin');
        await box('Password').fill(password);
        await press('Sign in');
        await page.waitForURL('**/console/start');
        token = (await api('POST', '/login', { username: 'admin', password })).body.token;
      });
      await step('a provider, first with a wrong address', async () => {
        await page.getByText('OpenAI-compatible', { exact: true }).click();
        await box('Name in this gateway').fill('provider');
        await box('Base address').fill('http://127.0.0.1:9');
        await press('Save and test');
        await page.getByText('It was not kept: correct address or key and test again.').waitFor();
        expect((await api('GET', '/upstreams')).body.total).toBe(0);
        await box('Base address').fill(upstream.url);
        await page.getByLabel('Provider key').fill('sk-of-the-provider');
        await press('Save and test');
      });
      await step('models', async () => {
        await page.getByText('The connection works: 3 models found.').waitFor();
        await page.getByRole('button', { name: /^Choose all 3/ }).click();
        expect(await axeFindings(page)).toEqual([]);
        await press('Add 3 models');
      });
      await step('one call', async () => {
        await press('Send');
        await page.getByRole('button', { name: 'Next', exact: true }).click();
      });
      await step('three teams with budgets', async () => {
        for (const [at, [name, amount]] of teams.entries()) {
          if (at > 0) await press('Add a team');
          const team = page.getByRole('group', { name: `Team ${at + 1}` });
          await team.getByRole('textbox', { name: 'Name' }).fill(name);
          await team.getByRole('textbox', { name: 'Budget a month (US dollars)' }).fill(amount);
        }
        expect(await axeFindings(page)).toEqual([]);
        await picture(page, 'wizard-teams');
        await press('Create 3 teams and their keys');
      });
      let snippet = '';
      await step('their keys, and a call of each as the page says it', async () => {
        for (const [name] of teams)
          keys.set(
            name,
            (await page
              .getByRole('region', { name: `Access key of ${name}` })
              .locator('pre')
              .textContent()) ?? '',
          );
        snippet = (await page.getByRole('region', { name: 'shell' }).locator('pre').textContent()) ?? '';
        expect(await axeFindings(page)).toEqual([]);
        await picture(page, 'wizard-ready');
        for (const key of keys.values()) await until(async () => (await paste(snippet, key)).includes('chat.completion'), 'an answer', waitMs);
      });
      await step('a price for each model, from the overview', async () => {
        await page.getByRole('link', { name: 'To the overview' }).click();
        await page.getByText(/had no price and counts? in no budget/).waitFor({ timeout: 60_000 });
        await page.getByRole('link', { name: /^Add a price for / }).click();
        await dialogHasFocus(page);
        await box('Input').fill('1');
        await box('Output').fill('2000');
        await press('Save');
        await dialogsGone(page);
        const models = (await api('GET', '/models?page_size=50')).body.items as { name: string }[];
        const priced = ((await api('GET', '/pricing?page_size=50')).body.items as { model: string }[]).map(({ model }) => model);
        for (const { name } of models.filter((one) => !priced.includes(one.name))) {
          await press('New price');
          await dialogHasFocus(page);
          await box('Model').fill(name);
          await box('Input').fill('1');
          await box('Output').fill('2000');
          await press('Save');
          await dialogsGone(page);
        }
        await page.getByRole('table').getByRole('row').nth(models.length).waitFor();
      });
      await step('costs by team', async () => {
        for (const key of keys.values()) await paste(snippet, key);
        await page.getByRole('link', { name: 'Costs and budgets' }).click();
        const costs = page.getByRole('table', { name: 'Costs by group' });
        for (const [name, amount] of teams) {
          const cost = costs
            .getByRole('row')
            .filter({ has: page.getByRole('link', { name, exact: true }) })
            .getByRole('cell')
            .nth(1);
          await until(
            async () => {
              if (/^\$0\.\d*[1-9]/.test((await cost.textContent({ timeout: 1_000 })) ?? '')) return true;
              await page.reload();
              await costs.waitFor();
              return false;
            },
            `what ${name} cost`,
            60_000,
          );
          await page.getByRole('region', { name: 'Budgets' }).getByText(`Group ${name}`).waitFor();
          await page.getByRole('region', { name: 'Budgets' }).getByText(`/ $${amount}.00 a month`, { exact: false }).waitFor();
        }
        await picture(page, 'newcomer-costs');
      });
      const whole = Date.now() - begun;
      process.stderr.write(`newcomer: ${(whole / 1000).toFixed(1)} s: ${steps.map(({ name, ms }) => `${name} ${(ms / 1000).toFixed(1)}`).join(' · ')}\n`);
      expect(whole).toBeLessThan(walkMs);
      // What the README asks on the command line says the same.
      const { items } = (await api('GET', '/stats/top?by=group&order=cost&from=2026-01-01T00:00:00Z')).body;
      expect(items.map(({ value }: { value: string }) => value)).toEqual(expect.arrayContaining(teams.map(([name]) => name)));
      expect(((await api('GET', '/budgets')).body.items as { limit: string }[]).map(({ limit }) => limit).sort()).toEqual(['200', '5', '50']);
    },
    walkMs + 60_000,
  );

  test('a second provider with the same names goes behind them, or gets a prefix', async () => {
    await visitor.open('/start');
    await page.getByText('OpenAI-compatible', { exact: true }).click();
    await box('Name in this gateway').fill('second');
    await box('Base address').fill(upstream.url);
    await press('Save and test');
    await page.getByRole('checkbox', { name: 'text:10' }).check();
    await page.getByText('“text:10” is the name of another model.').waitFor();
    expect(await page.getByRole('button', { name: 'Add one model' }).isDisabled()).toBe(true);
    await box('Prefix').fill('eu-');
    await page.getByText('is the name of another model.', { exact: false }).waitFor({ state: 'detached' });
    await box('Prefix').fill('');
    await page.getByRole('switch', { name: 'Put both behind “text:10”' }).check();
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'wizard-names');
    await press('Add one model');
    await page.getByRole('button', { name: 'Send', exact: true }).waitFor();
    const { body } = await api('GET', '/load-balancers/text%3A10');
    expect(body.entries.map(({ model }: { model: string }) => model)).toEqual(['text:10--provider', 'text:10--second']);
    const [key] = keys.values();
    const ask = () =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'text:10', messages: [{ role: 'user', content: 'hi' }] }),
      });
    await until(async () => (await ask()).ok, 'the name to be answered by both', waitMs);
  });

  const pressByKey = async (name: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };

  /** Chooses a file of another gateway. `byKey`: without the mouse. */
  async function takeOver(source: string, file: { name: string; text: string }, byKey = false): Promise<void> {
    await visitor.open('/settings/transfer');
    if (byKey) {
      await page.getByRole('radio', { name: source, exact: true }).focus();
      await page.keyboard.press('Space');
    } else await page.getByText(source, { exact: true }).click();
    const chooser = page.waitForEvent('filechooser');
    await (byKey ? pressByKey : press)('Choose its file');
    const { text, name } = file;
    await (await chooser).setFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
    await page.getByRole('button', { name: 'Put it into the file below' }).waitFor();
  }

  test('a LiteLLM configuration is converted, each of its keys accounted for, and applied', async () => {
    await takeOver('LiteLLM', {
      name: 'config.yaml',
      text: `
model_list:
  - model_name: from-litellm
    litellm_params: { model: openai/text:5, api_base: "${upstream.url}/v1", api_key: sk-of-litellm, rpm: 600, temperature: 0.2 }
    model_info: { input_cost_per_token: 0.000001, output_cost_per_token: 0.000002 }
litellm_settings: { cache: true }
general_settings: { master_key: sk-master-of-litellm-1234567890 }
`,
    });
    const findings = page.getByRole('region', { name: 'What became of each key' });
    await findings.getByText('litellm_settings.cache', { exact: true }).waitFor();
    await page.getByRole('switch', { name: 'Also show what means the same here' }).check();
    const [said] = /\d+/.exec((await page.getByText(/^\d+ keys:$/).textContent()) ?? '') ?? [];
    expect((await findings.getByRole('row').count()) - 1).toBe(Number(said));
    for (const path of ['model_list[0].model_name', 'model_list[0].litellm_params.temperature', 'general_settings.master_key'])
      await findings.getByText(path, { exact: true }).waitFor();
    expect(await axeFindings(page)).toEqual([]);
    await picture(page, 'importer');
    await press('Put it into the file below');
    await press('Show what would change');
    await page.getByText(/^\d+ rows would change$/).waitFor();
    expect((await api('GET', '/models/from-litellm')).status).toBe(404);
    await press('Apply');
    await page.getByText(/^\d+ rows were changed$/).waitFor();
    const ask = () =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-master-of-litellm-1234567890', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'from-litellm', messages: [{ role: 'user', content: 'hi' }] }),
      });
    await until(async () => (await ask()).ok, "LiteLLM's master key to be answered", waitMs);
  });

  test('the tables of new-api are converted and applied, by the keyboard alone; a file of something else is refused', async () => {
    const value = 'k'.repeat(48);
    const channel = { id: 1, type: 1, key: 'sk-of-new-api', name: 'new-api-channel', status: 1, base_url: upstream.url, models: 'text:3', group: 'default' };
    const owned = { id: 7, user_id: 1, key: value, name: 'adas', status: 1, expired_time: -1, remain_quota: 500_000, unlimited_quota: false, group: '' };
    await takeOver('new-api', { name: 'tables.json', text: JSON.stringify({ channels: [channel], tokens: [owned] }) }, true);
    await picture(page, 'importer-new-api');
    await pressByKey('Put it into the file below');
    await pressByKey('Show what would change');
    await page.getByText(/rows would change$/).waitFor();
    await pressByKey('Apply');
    await page.getByText(/rows were changed$/).waitFor();
    expect((await api('POST', '/access-keys/lookup', { key: `sk-${value}` })).body.access_key?.name).toBe('adas');
    const chooser = page.waitForEvent('filechooser');
    await press('Choose its file');
    await (await chooser).setFiles({ name: 'tables.json', mimeType: 'text/plain', buffer: Buffer.from('{"channels": 7') });
    await page.getByText('This file could not be read').waitFor();
    await page.getByText('The file is not read: It is neither valid YAML nor JSON', { exact: false }).waitFor();
    const longer = page.waitForEvent('filechooser');
    await press('Choose its file');
    await (await longer).setFiles({ name: 'dump.sql', mimeType: 'text/plain', buffer: Buffer.alloc(4_000_001, 'x') });
    await page.getByText('Convert it on the command line: model-gateway import new-api FILE', { exact: false }).waitFor();
  });

  test('their pages look well in both languages and themes, at a desk and on a phone', async () => {
    const found = await faultsOfLooks(browser, { url, token }, [
      { path: '/start', name: 'first-steps', fits: true },
      { path: '/settings/transfer', name: 'transfer' },
    ]);
    expect([...found, ...visitor.faults]).toEqual([]);
  });
});
