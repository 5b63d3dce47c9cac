import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import OpenAI from 'openai';
import { type FakeUpstream, haveFixtures, startFakeUpstream } from './index.ts';

let upstream: FakeUpstream;
let client: OpenAI;
beforeAll(async () => {
  upstream = await startFakeUpstream({
    play: (body) => ({
      text:
        JSON.stringify(body)
          .match(/say-\w+/g)
          ?.join(' ') ?? '',
    }),
  });
  client = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'k', maxRetries: 0 });
});
afterAll(() => upstream.close());

// biome-ignore lint/suspicious/noExplicitAny: events are looked into freely.
async function read(stream: unknown, count = Number.POSITIVE_INFINITY): Promise<any[]> {
  const events: unknown[] = [];
  for await (const event of stream as AsyncIterable<unknown>) if (events.push(event) >= count) break;
  return events;
}
const polled = async (id: string, status: string) => {
  for (;;) {
    const response = await client.responses.retrieve(id);
    if (response.status === status) return response;
  }
};

describe('stored responses', () => {
  test('are read, listed, chained and deleted by their account alone', async () => {
    const one = await client.responses.create({ model: 'play', input: 'say-one' });
    expect((await client.responses.retrieve(one.id)).output).toEqual(one.output);
    expect((await client.responses.inputItems.list(one.id)).data).toMatchObject([{ role: 'user', content: [{ text: 'say-one' }] }]);
    const two = await client.responses.stream({ model: 'play', input: 'say-two', previous_response_id: one.id }).finalResponse();
    expect(two.output_text).toBe('say-one say-one say-two');
    const other = new OpenAI({ baseURL: `${upstream.url}/v1`, apiKey: 'other', maxRetries: 0 });
    await expect(other.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 });
    await expect(client.responses.cancel(one.id)).rejects.toMatchObject({ status: 400 });
    await expect(client.responses.retrieve(one.id, { stream: true })).rejects.toMatchObject({ status: 400 });
    await client.responses.delete(one.id);
    await expect(client.responses.retrieve(one.id)).rejects.toMatchObject({ status: 404 });
    const unstored = await client.responses.create({ model: 'play', input: 'say-one', store: false });
    await expect(client.responses.retrieve(unstored.id)).rejects.toMatchObject({ status: 404 });
  });
});

describe('background runs', () => {
  test('go on unwatched, are polled, and are cancelled', async () => {
    const queued = await client.responses.create({ model: 'text:3+slow:20', input: 'go', background: true });
    expect([queued.status, queued.background]).toEqual(['queued', true]);
    await polled(queued.id, 'in_progress');
    expect((await polled(queued.id, 'completed')).output).toHaveLength(1);
    await expect(client.responses.retrieve(queued.id, { stream: true })).rejects.toMatchObject({ status: 400 });
    const long = await client.responses.create({ model: 'text:500+slow:20', input: 'go', background: true });
    for (let times = 0; times < 2; times++) expect((await client.responses.cancel(long.id)).status).toBe('cancelled');
    expect((await client.responses.retrieve(long.id)).status).toBe('cancelled');
  });

  test('a stream is taken up again behind the event that it broke off at', async () => {
    const first = await read(await client.responses.create({ model: 'text:10+slow:20', input: 'go', background: true, stream: true }), 4);
    expect(first.map(({ type, sequence_number }) => [type, sequence_number]).slice(0, 3)).toEqual([
      ['response.created', 0],
      ['response.queued', 1],
      ['response.in_progress', 2],
    ]);
    const rest = await read(await client.responses.retrieve(first[0].response.id, { stream: true, starting_after: 3 }));
    expect(rest.map(({ sequence_number }) => sequence_number)).toEqual(rest.map((_, at) => at + 4));
    expect(rest.at(-1).type).toBe('response.completed');
  });

  const recorded = haveFixtures() ? test : test.skip;
  recorded('recorded polls follow the recorded creation', async () => {
    const { id, status } = await client.responses.create({ model: 'fixture/alpha_response_state/background-with-tool/3', input: 'go', background: true });
    expect(status).toBe('queued');
    const statuses = [];
    for (let times = 0; times < 3; times++) statuses.push((await client.responses.retrieve(id, { stream: false })).status);
    expect(statuses).toEqual(['in_progress', 'completed', 'completed']);
  });
});
