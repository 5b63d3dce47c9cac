/** `background: true` where the upstream has it: the run is the upstream's own, under its id, and everything about it is asked of the account that began it. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'openai/resources/responses/responses';
import { freePort } from '../../support/free-port.ts';
import { arrangements, until } from '../../support/gateway.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { type Json, openStage, refusalOf, type Stage, textOf } from './stage.ts';

const paced = 'play+slow:30';
const long = 'text:400+slow:50';

describe.each(arrangements('stored-turns/background-upstream'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, borrowed: true }, [paced, long]);
  });
  afterAll(() => stage?.stop());

  const model = `alpha_response ${paced}`;
  const begin = (input: string, more: Json = {}): Promise<Response> => stage.client.responses.create({ model, input, background: true, ...more });
  async function polled(id: string, status = 'completed'): Promise<Response> {
    let response: Response | undefined;
    await until(async () => {
      response = await stage.client.responses.retrieve(id, { stream: false });
      return response.status === status;
    }, `the run to be ${status}`);
    return response as Response;
  }
  /** What the upstream was asked about a stored response since the last call. */
  let from = 0;
  const takeCalls = () => {
    const taken = stage.fake.requests.slice(from).map(({ method, path, headers }) => [method, path.replace(/^.*\/v1/, '/v1'), headers.authorization]);
    from = stage.fake.requests.length;
    return taken;
  };

  test('it has the upstream’s id, and is polled there', async () => {
    const queued = await begin('say-one');
    expect(queued).toMatchObject({ status: 'queued', background: true, model, output: [] });
    expect(queued.id).toMatch(/^resp_fake/);
    takeCalls();
    const completed = await polled(queued.id);
    expect([textOf(completed), completed.id, completed.model]).toEqual(['said one', queued.id, model]);
    const calls = takeCalls();
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) expect(call).toEqual(['GET', expect.stringContaining(`/v1/responses/${queued.id}`), 'Bearer sk-fake-alpha_response']);
    const items = await stage.client.responses.inputItems.list(queued.id, { order: 'asc' });
    expect(JSON.stringify(items.data)).toContain('say-one');
  });

  test('to other keys it is not there', async () => {
    const other = await stage.addKey('other');
    const { id } = await begin('say-one');
    takeCalls();
    for (const asked of [other.responses.retrieve(id), other.responses.cancel(id), other.responses.delete(id), other.responses.inputItems.list(id)])
      expect(await refusalOf(asked as Promise<unknown>)).toMatchObject({ status: 404 });
    expect(takeCalls()).toEqual([]);
    expect((await polled(id)).id).toBe(id);
  });

  test('an address that is a whole endpoint keeps its query behind the response', async () => {
    await stage.gateway.configure({
      models: [
        {
          name: 'versioned',
          upstream: 'alpha_response',
          upstream_model_id: paced,
          base_url: `${stage.fake.url}/azure/v1/responses?api-version=2025-04-01-preview`,
          direct_path: true,
        },
      ],
    });
    const { id } = await begin('say-one', { model: 'versioned' });
    takeCalls();
    expect(textOf(await polled(id))).toBe('said one');
    await stage.client.responses.inputItems.list(id, { order: 'asc' });
    const paths = new Set(takeCalls().map(([, path]) => path));
    const version = 'api-version=2025-04-01-preview';
    expect([...paths]).toEqual([`/v1/responses/${id}?${version}&stream=false`, `/v1/responses/${id}/input_items?${version}&order=asc`]);
  });

  test('cancel is the upstream’s, and may be repeated', async () => {
    const { id } = await stage.client.responses.create({ model: `alpha_response ${long}`, input: 'go', background: true });
    for (let times = 0; times < 2; times++) expect(await stage.client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect((await stage.client.responses.retrieve(id)).status).toBe('cancelled');
  });

  test('deleting it deletes it there', async () => {
    const { id } = await begin('say-one');
    await polled(id);
    takeCalls();
    await stage.client.responses.delete(id);
    expect(takeCalls().map(([method, path]) => [method, path])).toEqual([['DELETE', `/v1/responses/${id}`]]);
    expect(await refusalOf(stage.client.responses.retrieve(id))).toMatchObject({ status: 404 });
  });

  test('a stream is left and taken up again behind the last event seen', async () => {
    const stream = (await stage.client.responses.create({ model, input: 'think-one', background: true, stream: true })) as AsyncIterable<Json>;
    const seen: Json[] = [];
    for await (const event of stream) {
      seen.push(event);
      if (seen.length === 5) break;
    }
    expect(seen.map(({ type, sequence_number }) => [type, sequence_number]).slice(0, 3)).toEqual([
      ['response.created', 0],
      ['response.queued', 1],
      ['response.in_progress', 2],
    ]);
    const { id } = seen[0].response;
    for (const after of [4, 0]) {
      const rest: Json[] = [];
      for await (const event of (await stage.client.responses.retrieve(id, { stream: true, starting_after: after })) as AsyncIterable<Json>) rest.push(event);
      expect(rest.map(({ sequence_number }) => sequence_number)).toEqual(rest.map((_, at) => after + 1 + at));
      expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id, model, status: 'completed' } });
    }
    // The SDK's own way of taking it up.
    const resumed = await stage.client.responses.stream({ response_id: id, starting_after: 1 }).finalResponse();
    expect(textOf(resumed as unknown as Response)).toBe('said one');
  });

  test('refusals of the upstream reach the caller', async () => {
    const { id } = await begin('say-one');
    expect(await refusalOf(stage.client.responses.retrieve(id, { stream: true, starting_after: 0 }))).toMatchObject({ status: 400 });
  });

  test('gateway turn, background turn, gateway turn: each goes on from the one before', async () => {
    const one = await stage.ask({ model: 'beta', input: 'say-one' });
    stage.takeRequests();
    const two = await begin('say-two', { previous_response_id: one.response.id });
    const [request] = stage.takeRequests();
    expect(withoutIds(readSpoken('alpha_response', request!.json))).toEqual([
      ['user', 'say-one'],
      ['assistant', 'said one'],
      ['user', 'say-two'],
    ]);
    expect(request!.json).toMatchObject({ background: true });
    expect(request!.json).not.toHaveProperty('previous_response_id');
    await polled(two.id);
    stage.takeRequests();
    const three = await stage.ask({ model: 'beta', input: 'say-three', previous_response_id: two.id });
    const last = stage.takeRequests().at(-1);
    expect(withoutIds(readSpoken('beta', last!.json))).toEqual([
      ['user', 'say-one'],
      ['assistant', 'said one'],
      ['user', 'say-two'],
      ['assistant', 'said two'],
      ['user', 'say-three'],
    ]);
    expect(textOf(three.response)).toBe('said three');
  });

  test('a conversation is read by a run, which adds nothing to it, as is declared', async () => {
    const conversation = await stage.client.conversations.create({ items: [{ role: 'user', content: 'say-early' }] });
    stage.takeRequests();
    const { data: queued, response } = await stage.client.responses
      .create({ model, input: 'say-one', background: true, conversation: conversation.id })
      .withResponse();
    const [request] = stage.takeRequests();
    expect(JSON.stringify(request!.json)).toContain('say-early');
    expect(request!.json).not.toHaveProperty('conversation');
    await polled(queued.id);
    expect((await stage.client.conversations.items.list(conversation.id)).data).toHaveLength(1);
    expect((await stage.losses(response.headers.get('x-request-id')!)).map(({ field }) => field)).toContain('conversation');
  });

  test('background onto background goes on upstream', async () => {
    const one = await begin('say-one');
    await polled(one.id);
    stage.takeRequests();
    const two = await begin('say-two', { previous_response_id: one.id });
    const [request] = stage.takeRequests();
    expect(request!.json).toMatchObject({ previous_response_id: one.id, background: true });
    expect(withoutIds(readSpoken('alpha_response', request!.json))).toEqual([['user', 'say-two']]);
    expect(textOf(await polled(two.id))).toBe('said two');
    // From another model its items are read and sent.
    stage.takeRequests();
    await stage.ask({ model: 'gamma', input: 'say-three', previous_response_id: two.id });
    const last = stage.takeRequests().at(-1);
    expect(withoutIds(readSpoken('gamma', last!.json)).map(([, text]) => text)).toEqual(['say-one', 'said one', 'say-two', 'said two', 'say-three']);
  });

  test('a run that is still under way is waited for by who goes on from it', async () => {
    const one = await begin('say-one');
    const two = await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: one.id });
    expect(textOf(two.response)).toBe('said two');
  });

  test('the account that began it answers for it, also after the other keys were exchanged; an upstream that is gone is 502', async () => {
    const keys = ['sk-first', 'sk-second'];
    const upstream = { name: 'two-accounts', protocol: 'alpha_response' as const, base_url: `${stage.fake.url}/two-accounts` };
    await stage.gateway.configure({
      upstreams: [{ ...upstream, api_keys: keys.map((key) => ({ key })) }],
      models: [{ name: 'two-accounts', upstream: 'two-accounts', upstream_model_id: paced }],
    });
    const begun: [id: string, account: string][] = [];
    for (let times = 0; times < 4; times++) {
      takeCalls();
      const { id } = await begin('say-one', { model: 'two-accounts' });
      begun.push([id, String(takeCalls()[0]![2])]);
    }
    const stored = (await stage.gateway.console('GET', '/upstreams/two-accounts')).body;
    // A caller keeps to one of the keys; the other entry's value is exchanged, and this one keeps its id and value.
    const account = begun[0]![1];
    const first = stored.api_keys[keys.indexOf(account.replace('Bearer ', ''))];
    const changed = await stage.gateway.console('PUT', '/upstreams/two-accounts', {
      ...upstream,
      api_keys: [{ id: first.id }, { key: 'sk-third' }],
    });
    expect(changed.status).toBe(200);
    await stage.gateway.settle();
    const ofFirst = begun.filter(([, one]) => one === account);
    expect(ofFirst.length).toBeGreaterThan(0);
    for (const [id] of ofFirst) {
      takeCalls();
      expect((await polled(id)).id).toBe(id);
      for (const [, , asked] of takeCalls()) expect(asked).toBe(account);
    }
    const away = await stage.gateway.console('PUT', '/upstreams/two-accounts', {
      ...upstream,
      base_url: `http://127.0.0.1:${await freePort()}`,
      api_keys: [{ id: first.id }],
    });
    expect(away.status).toBe(200);
    await stage.gateway.settle();
    const [[id] = ['']] = ofFirst;
    expect((await refusalOf(stage.client.responses.retrieve(id))).status).toBe(502);
    expect((await refusalOf(stage.ask({ model: 'beta', input: 'say-two', previous_response_id: id }))).status).toBe(502);
  });
});
