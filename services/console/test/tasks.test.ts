/** Tasks of upstreams on the console: the list and its filters, and the wish that one be stopped. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sealedAs, type TaskFacts, type TurnsCall } from '@model-gateway/contracts';
import { GatewayError } from '@model-gateway/contracts/errors';
import { createKeyring, generateMasterKey } from '@model-gateway/secrets';
import { mayUse } from '../src/api/permissions.ts';
import { api, type FreshHarness, seed, startFreshConsole } from './harness.ts';

const start = Date.now() - 3_600_000;
let harness: FreshHarness;
/** The stable id of the upstream's key. */
let account: string;
let calls: TurnsCall[];
let refusal: GatewayError | null;
let translator: { dispose(): Promise<void> };

interface Begun {
  id: string;
  at?: Partial<TaskFacts['at']>;
  key?: string;
  /** Seconds after the first. */
  after?: number;
}

async function begin({ id, at, key = 'ada', after = 0 }: Begun, keyring = harness.keyring): Promise<void> {
  const facts: TaskFacts = {
    id,
    owner: `owner-${key}`,
    upstreamTask: `theirs-${id}`,
    at: { model: 'fast', upstream: 'main', account, ...at },
    createdAt: start + after * 1000,
    request: {
      ...{ id: `r-${id}`, clientRequestId: null, accessKey: key, keyGroup: 'team', requestedModel: 'films', upstreamModelId: 'wan' },
      ...{ clientProtocol: 'passthrough', upstreamProtocol: 'delta', clientIp: null, userAgent: null, sessionId: null },
    },
  };
  const { owner, createdAt } = facts;
  const times = { createdAt, dueAt: createdAt + 86_400_000, expiresAt: createdAt + 7 * 86_400_000 };
  const found = { accessKey: key, model: facts.at.model, request: facts.request.id };
  await harness.storage.tasks.add({ owner, id, content: keyring.seal(JSON.stringify(facts), sealedAs.task(owner, id)), ...times, ...found });
}

const list = (query = '') => harness.call('GET', `${api}/tasks${query}`);
const idsOf = async (query: string): Promise<string[]> => (await list(query)).body.items.map(({ id }: { id: string }) => id);

beforeAll(async () => {
  harness = await startFreshConsole();
  await seed(harness);
  account = (await harness.call('GET', `${api}/upstreams/main`)).body.api_keys[0].id;
  translator = harness.bus.serve({
    open: {
      'translator.turns'(call, _body, stream) {
        calls.push(call);
        if (refusal) stream.fail(refusal);
        else stream.whole({ status: 200, headers: {} }, Buffer.from('{}'), {});
      },
    },
  });
  await begin({ id: 'task_first' });
  await begin({ id: 'task_second', after: 1, key: 'bob', at: { model: 'other' } });
  await begin({ id: 'task_third', after: 2, at: { account: 'gone' } });
  await begin({ id: 'task_fourth', after: 3, at: { upstream: 'nowhere' } });
  await begin({ id: 'task_unread', after: 4 }, createKeyring(generateMasterKey()));
  await harness.storage.tasks.end({ owner: 'owner-bob', id: 'task_second', status: 'succeeded', reply: 'sealed', heldUntil: 0 });
});
beforeEach(() => {
  calls = [];
  refusal = null;
});
afterAll(async () => {
  await translator.dispose();
  await harness.close();
});

describe('the list', () => {
  test('shows each task, the newest first, by whom and where; what cannot be opened is left out', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.next_cursor).toBeNull();
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(['task_fourth', 'task_third', 'task_second', 'task_first']);
    expect(body.items[3]).toEqual({
      ...{ id: 'task_first', state: 'running', created_at: new Date(start).toISOString(), expires_at: new Date(start + 7 * 86_400_000).toISOString() },
      ...{ access_key: 'ada', key_group: 'team', model: 'fast', requested_model: 'films', upstream: 'main', upstream_model_id: 'wan' },
      ...{ upstream_task: 'theirs-task_first', request_id: 'r-task_first', account_gone: false },
    });
  });

  test('is narrowed by state, key, model, request, id, and by whether somebody can still ask', async () => {
    expect(await idsOf('?state=succeeded')).toEqual(['task_second']);
    expect(await idsOf('?state=running&access_key=ada&account_gone=false')).toEqual(['task_first']);
    expect(await idsOf('?model=other')).toEqual(['task_second']);
    expect(await idsOf('?request=r-task_third')).toEqual(['task_third']);
    expect(await idsOf('?id=task_first')).toEqual(['task_first']);
    // No such model is configured, either.
    expect(await idsOf('?account_gone=true')).toEqual(['task_fourth', 'task_third', 'task_second']);
    expect(await idsOf('?state=&model=&access_key=&account_gone=')).toHaveLength(4);
    expect(await idsOf("?id=x'%20or%201=1%20--")).toEqual([]);
    expect((await list('?state=dreaming')).status).toBe(422);
    expect((await list('?cursor=nonsense')).status).toBe(422);
  });

  test('is paged, with filters as without', async () => {
    for (const [filter, wanted] of [
      ['', ['task_fourth', 'task_third', 'task_second', 'task_first']],
      ['&account_gone=true', ['task_fourth', 'task_third', 'task_second']],
    ] as const) {
      const found: string[] = [];
      let cursor: string | null = '';
      for (let page = 0; cursor !== null && page < 10; page++) {
        const { body } = await list(`?limit=1${filter}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`);
        found.push(...body.items.map(({ id }: { id: string }) => id));
        cursor = body.next_cursor;
      }
      expect([found, cursor]).toEqual([wanted, null]);
    }
  });

  test('is for everybody, cancelling for admins alone', () => {
    expect(mayUse('monitor', { method: 'get', path: `${api}/tasks` })).toBe(true);
    expect(mayUse('monitor', { method: 'delete', path: `${api}/tasks/{id}` })).toBe(false);
  });
});

describe('cancelling', () => {
  test('asks a translator as the task’s owner, whatever the key may use, and is audited', async () => {
    expect((await harness.call('DELETE', `${api}/tasks/task_first`)).status).toBe(204);
    expect(calls).toMatchObject([{ action: 'cancel-task', owner: 'owner-ada', target: 'task_first', keyGroup: 'team', operator: true }]);
    // It is looked at next.
    expect((await harness.storage.tasks.lease(10, 1_000)).map(({ id }) => id)).toEqual(['task_first']);
    const { items } = (await harness.call('GET', `${api}/audit-logs?entity_type=task`)).body;
    expect(items).toMatchObject([{ action: 'cancel', entity_id: 'task_first', diff: { access_key: 'ada', model: 'fast', upstream: 'main' } }]);
  });

  test('says what the upstream says, and is not audited where nothing was stopped', async () => {
    refusal = new GatewayError('invalid_request', { message: 'Only pending tasks are cancelled.' });
    expect(await harness.call('DELETE', `${api}/tasks/task_first`)).toMatchObject({
      status: 400,
      body: { error: { message: 'Only pending tasks are cancelled.' } },
    });
    refusal = new GatewayError('task_gone');
    expect((await harness.call('DELETE', `${api}/tasks/task_third`)).status).toBe(410);
    expect((await harness.call('DELETE', `${api}/tasks/task_second`)).status).toBe(409);
    expect((await harness.call('DELETE', `${api}/tasks/task_unknown`)).status).toBe(404);
    expect((await harness.call('GET', `${api}/audit-logs?entity_type=task`)).body.items).toHaveLength(1);
  });
});
