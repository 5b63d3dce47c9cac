/** `background: true` where the upstream has no such thing: the gateway runs it, and callers poll, watch, leave, return and cancel. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Response } from 'openai/resources/responses/responses';
import { arrangements, until } from '../../support/gateway.ts';
import { send } from '../../support/send.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { hostNames, type Json, openStage, refusalOf, type Stage, textOf } from './stage.ts';

const paced = 'play+slow:30';
const long = 'text:400+slow:50';
const hosts = hostNames.filter((host) => host !== 'alpha_response');

describe.each(arrangements('stored-turns/background-gateway'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, ...(arrangement === 'split' && { twice: ['edge'] }) }, [paced, long, 'err:500']);
  });
  afterAll(() => stage?.stop());

  const idOf = (at: string): string => `background-${at}-${Math.random()}`;
  async function polled(id: string, ...statuses: string[]): Promise<Response> {
    let response: Response | undefined;
    await until(
      async () => {
        response = await stage.client.responses.retrieve(id, { stream: false });
        return statuses.includes(response.status as string);
      },
      `the run to be ${statuses.join(' or ')}`,
    );
    return response as Response;
  }

  describe.each(hosts)('%s', (host) => {
    test('queued, in progress, completed; one row', async () => {
      const request = idOf(host);
      const from = performance.now();
      const queued = await stage.client.responses.create(
        { model: `${host} ${paced}`, input: 'think-one', background: true },
        { headers: { 'z-request-id': request } },
      );
      expect(queued).toMatchObject({ status: 'queued', background: true, output: [], model: `${host} ${paced}`, usage: null });
      // It is answered before the upstream has said all.
      expect(performance.now() - from).toBeLessThan(5000);
      const completed = await polled(queued.id, 'completed');
      expect([textOf(completed), completed.background, completed.id]).toEqual(['said one', true, queued.id]);
      expect(completed.usage?.output_tokens).toBeGreaterThan(0);
      const row = await stage.gateway.row(request);
      expect(row).toMatchObject({ status: 200, model: `${host} ${paced}`, kind: 'call', output_tokens: completed.usage!.output_tokens });
      expect((await stage.gateway.rows()).filter((one) => one.client_request_id === request)).toHaveLength(1);
      stage.takeRequests();
      await stage.ask({ model: host, input: 'say-two', previous_response_id: queued.id });
      expect(withoutIds(readSpoken(host, stage.takeRequests()[0]!.json))).toEqual([
        ['user', 'think-one'],
        ['assistant', 'said one'],
        ['user', 'say-two'],
      ]);
    });

    test('a stream that is left runs on, and is taken up again byte by byte', async () => {
      const whole = await raw('POST', '/v1/responses', { model: `${host} ${paced}`, input: 'think-one', background: true, stream: true });
      const events = eventsOf(whole.text);
      expect(events.slice(0, 3).map(({ data }) => [data.type, data.sequence_number, data.response.status])).toEqual([
        ['response.created', 0, 'queued'],
        ['response.queued', 1, 'queued'],
        ['response.in_progress', 2, 'in_progress'],
      ]);
      expect(events.at(-1)!.data).toMatchObject({ type: 'response.completed', response: { background: true, status: 'completed' } });
      const { id } = events[0]!.data.response;
      for (const after of [0, 1, 3, events.length - 2]) {
        const again = await raw('GET', `/v1/responses/${id}?stream=true&starting_after=${after}`);
        expect([after, again.status, eventsOf(again.text).map(({ text }) => text)]).toEqual([after, 200, events.slice(after + 1).map(({ text }) => text)]);
      }
      const stream = (await stage.client.responses.create({
        model: `${host} ${paced}`,
        input: 'say-two',
        background: true,
        stream: true,
      })) as AsyncIterable<Json>;
      let left = '';
      for await (const event of stream) {
        left = event.response.id;
        break;
      }
      const resumed = await stage.client.responses.stream({ response_id: left, starting_after: 0 }).finalResponse();
      expect(textOf(resumed as unknown as Response)).toBe('said two');
      expect(textOf(await polled(left, 'completed'))).toBe('said two');
    });

    test('cancel stops the upstream, once and for all', async () => {
      stage.takeRequests();
      const { id } = await stage.client.responses.create({ model: `${host} ${long}`, input: 'go', background: true });
      await polled(id, 'in_progress');
      const [request] = stage.takeRequests();
      for (let times = 0; times < 2; times++) expect(await stage.client.responses.cancel(id)).toMatchObject({ id, status: 'cancelled', background: true });
      await until(async () => request!.closed !== null, 'the upstream to be left');
      expect(request!.closed!.reason).toBe('left');
      expect((await stage.client.responses.retrieve(id)).status).toBe('cancelled');
    });
  });

  const raw = (method: string, path: string, body?: Json, url = stage.gateway.url) =>
    send(url, path, {
      method,
      headers: { authorization: `Bearer ${stage.gateway.key}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });

  test('a run that fails says so', async () => {
    const { id } = await stage.client.responses.create({ model: 'beta err:500', input: 'go', background: true });
    const failed = await polled(id, 'failed');
    expect(failed.error).toMatchObject({ code: expect.any(String), message: expect.any(String) });
  });

  test('a run goes on without its caller, and another edge knows it', async () => {
    const controller = new AbortController();
    const stream = (await stage.client.responses.create(
      { model: `gamma ${paced}`, input: 'say-one', background: true, stream: true },
      { signal: controller.signal },
    )) as AsyncIterable<Json>;
    let id = '';
    for await (const event of stream) {
      id = event.response.id;
      break;
    }
    controller.abort();
    const url = stage.gateway.edgeUrls.at(-1)!;
    const again = await raw('GET', `/v1/responses/${id}?stream=true&starting_after=0`, undefined, url);
    expect(eventsOf(again.text).at(-1)!.data).toMatchObject({ type: 'response.completed', response: { id } });
    // Its end may still be on its way to a busy store.
    await until(async () => (await raw('GET', `/v1/responses/${id}`, undefined, url)).json.status === 'completed', 'the end to be stored');
  });

  test('with store:false it is refused, and so is what is no boolean', async () => {
    expect(await refusalOf(stage.ask({ model: 'beta', input: 'say-one', background: true, store: false }))).toMatchObject({ status: 400 });
    expect(await refusalOf(stage.ask({ model: 'beta', input: 'say-one', background: 'yes' as Json }))).toMatchObject({ status: 400 });
  });

  test('a key without a grant, and one that asks for no such model, are refused at once', async () => {
    await stage.gateway.configure({ key_groups: [{ name: 'narrow', models: ['alpha'] }] });
    const narrow = await stage.addKey('narrow-caller', undefined, 'narrow');
    expect((await refusalOf(narrow.responses.create({ model: 'beta', input: 'say-one', background: true }))).status).toBe(403);
    expect((await refusalOf(stage.client.responses.create({ model: 'nothing', input: 'say-one', background: true }))).status).toBe(404);
  });
});

/** Each event as it was written, and what it says. */
function eventsOf(text: string): { text: string; data: Json }[] {
  return text
    .split('\n\n')
    .filter((block) => /^data: \{/m.test(block))
    .map((block) => ({ text: block, data: JSON.parse(/^data: (.*)$/m.exec(block)![1]!) }));
}
