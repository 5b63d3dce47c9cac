/** Stored turns in a real browser: the chain on a request's page, what a turn holds, deletion. The API's answers are given here: `services/console/test/turns.test.ts` has the API. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { TurnChain } from '../../services/console/src/api/answers/index.ts';
import { scriptedModels } from '../support/callers.ts';
import { until } from '../support/gateway.ts';
import { browserAvailable, prepareMs, seriousFaults, waitMs } from './browser.ts';
import { openStage, type Stage } from './stage.ts';

const suite = browserAvailable('Stored turns in a browser') ? describe : describe.skip;

const hostile = '<img src=x onerror="alert(1)">';
const usage = { input_tokens: 1200, output_tokens: 34, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0 };
const request = { status: 200, error_code: null, ...usage, cost: '0.0012', cost_micros: 1200, currency: 'USD', duration_ms: 900 };
const common = { conversation: null, model: 'alpha ok', background: false, upstream: null, deleted: false };

let stage: Stage;
let page: Page;
let id: string;
let chain: TurnChain;
let deleted: string[] = [];

/** Answers what the pages ask about turns, and makes the request one that stored a turn. */
async function answerTurns(): Promise<void> {
  const json = (body: unknown) => ({ status: 200, contentType: 'application/json', body: JSON.stringify(body) });
  await page.route(/\/console\/api\/logs(\?|\/)/, async (route) => {
    const path = new URL(route.request().url()).pathname;
    if (path.endsWith('/turns')) return route.fulfill(json(chain));
    const withTurn = <Row extends { id: string }>(row: Row) => (row.id === id ? { ...row, turn_id: 'resp_2' } : row);
    const isOne = path.endsWith(`/logs/${id}`);
    if (!isOne && !path.endsWith('/logs')) return route.fallback();
    const answer = await (await route.fetch()).json();
    return route.fulfill(json(isOne ? withTurn(answer) : { ...answer, items: answer.items.map(withTurn) }));
  });
  await page.route(/\/console\/api\/access-keys\/[^/]+\/turns/, (route) => {
    const path = new URL(route.request().url()).pathname.replace('/console/api/', '');
    if (route.request().method() === 'GET')
      return route.fulfill(json({ id: 'resp_2', access_key: 'caller', input: [{ text: hostile }], response: { output: [] } }));
    deleted.push(path);
    for (const turn of chain.items) if (path.endsWith(turn.id)) turn.deleted = true;
    return route.fulfill({ status: 204 });
  });
}

suite('stored turns', () => {
  beforeAll(async () => {
    stage = await openStage();
    ({ page } = stage);
    await stage.gateway.configure(scriptedModels(stage.upstream.url, ['ok']));
    id = await stage.ask('alpha ok');
    chain = {
      has_more: false,
      access_key: 'caller',
      readable: true,
      items: [
        { ...common, id: 'resp_2', parent: 'resp_1', status: 'incomplete', created_at: '2026-01-02T03:04:05.000Z', request_id: id, request },
        {
          ...common,
          id: 'resp_1',
          parent: 'resp_0',
          status: 'completed',
          created_at: '2026-01-02T03:03:05.000Z',
          request_id: 'req_1',
          request,
          background: true,
        },
        {
          ...common,
          id: 'resp_0',
          parent: null,
          status: 'completed',
          created_at: '2026-01-02T03:02:05.000Z',
          request_id: 'req_0',
          request: null,
          deleted: true,
        },
      ],
    };
    await answerTurns();
  }, prepareMs);
  afterAll(() => stage?.close());

  test(
    'the page of a request shows its chain, and what a turn holds once somebody asks',
    async () => {
      await stage.admin.open(`/logs?request_id=${id}`);
      await page.getByRole('row').filter({ hasText: 'alpha ok' }).first().click();
      const section = page.getByRole('dialog').getByRole('region', { name: 'Stored turns' });
      await section.scrollIntoViewIfNeeded();
      const rows = section.getByRole('row');
      await rows.filter({ hasText: 'resp_2' }).getByText('incomplete').waitFor();
      await rows.filter({ hasText: 'resp_1' }).getByText('in the background').waitFor();
      await rows.filter({ hasText: 'resp_0' }).getByText('deleted').waitFor();
      expect(await rows.filter({ hasText: 'resp_2' }).textContent()).toContain('1,200 → 34');
      expect(await rows.filter({ hasText: 'resp_0' }).getByRole('button').count()).toBe(0);
      await section.getByRole('button', { name: 'Show what resp_2 holds' }).click();
      await section.getByRole('region', { name: 'Input of resp_2' }).getByText('onerror').waitFor();
      expect(await seriousFaults(page)).toEqual([]);
    },
    waitMs,
  );

  test(
    'a turn is deleted after a question',
    async () => {
      const section = page.getByRole('dialog').getByRole('region', { name: 'Stored turns' });
      await section.getByRole('button', { name: 'Delete resp_1' }).click();
      await page.getByRole('dialog', { name: 'Delete this turn?' }).getByRole('button', { name: 'Delete', exact: true }).click();
      await section.getByRole('row').filter({ hasText: 'resp_1' }).getByText('deleted').waitFor();
      expect(deleted).toEqual(['access-keys/caller/turns/resp_1']);
    },
    waitMs,
  );

  test(
    "all turns of a key are deleted from the key's page after a question",
    async () => {
      deleted = [];
      await stage.admin.open('/access-keys?edit=caller');
      await page.getByRole('dialog').getByRole('button', { name: 'Delete stored turns' }).click();
      const question = page.getByRole('dialog', { name: 'Delete all stored turns of caller?' });
      await question.waitFor();
      // While it fades in, its contrast is that of the page below.
      await until(async () => (await seriousFaults(page)).length === 0, 'a question without faults');
      await question.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByText('The stored turns of caller are deleted.').waitFor();
      expect(deleted).toEqual(['access-keys/caller/turns']);
    },
    waitMs,
  );
});
