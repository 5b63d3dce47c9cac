/** What a connection remembers, and which names it takes. */
import { expect, test } from '@jest/globals';
import { createSocketSession } from './socket.ts';

const endless = { take: () => true, give: () => undefined };
const start = (maxBytes = 10_000) => {
  let ids = 0;
  const session = createSocketSession({ mintId: (prefix) => `${prefix}${++ids}`, now: () => 0, maxBytes, memory: endless });
  /** Frames that come back at once; null: an upstream is asked. */
  return (frame: Record<string, unknown>) => {
    const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', ...frame }));
    const begun = 'answer' in input ? input : input.begin();
    return 'answer' in begun ? begun.answer.map((text) => JSON.parse(text)) : null;
  };
};
const warmUp = { generate: false, input: 'x'.repeat(1000) };

test('a chain is remembered up to its bound, however it grew', () => {
  const send = start();
  let previous: string | undefined;
  let turns = 0;
  for (;;) {
    const frames = send({ ...warmUp, previous_response_id: previous })!;
    if (frames[0].type === 'error') {
      expect(frames).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: 'previous_response_not_found' }) })]);
      break;
    }
    previous = frames[1].response.id;
    turns += 1;
  }
  // The one that was too long is not remembered.
  expect(turns).toBe(Math.floor(10_000 / 1100) + 1);
});

test('lanes share the remembered turns: the turn that ended longest ago is dropped first', () => {
  const send = start(5000);
  const ids = ['a', 'b', 'c', 'd', 'e'].map((stream_id) => send({ ...warmUp, stream_id })![1].response.id);
  const known = ids.map((previous_response_id) => send({ previous_response_id, input: 'Hi' }) === null);
  expect(known).toEqual([false, true, true, true, true]);
});

test('names of lanes: bounded, plain, and in each frame of the answer', () => {
  const send = start();
  for (const stream_id of ['two words', 'x'.repeat(257), '"', 7, {}, ['a']])
    expect(send({ ...warmUp, stream_id })).toEqual([expect.objectContaining({ type: 'error', error: expect.objectContaining({ code: 'invalid_stream_id' }) })]);
  for (let at = 0; at < 32; at++) expect(send({ ...warmUp, stream_id: `lane-${at}` })!.map(({ stream_id }) => stream_id)).toEqual([`lane-${at}`, `lane-${at}`]);
  expect(send({ ...warmUp, stream_id: 'one-more' })).toEqual([
    expect.objectContaining({ stream_id: 'one-more', error: expect.objectContaining({ code: 'websocket_stream_limit_reached' }) }),
  ]);
  expect(send({ ...warmUp, stream_id: 'lane-0' })).toHaveLength(2);
  for (const frame of send(warmUp)!) expect(frame).not.toHaveProperty('stream_id');
});

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const newSession = () => createSocketSession({ mintId: (prefix) => prefix, now: () => 0, maxBytes: 1_000_000, memory: endless });

test('frames are held to the bounds of bodies: what nests too deep, or says a name twice, is refused', () => {
  for (const [frame, code] of [
    [`{"type":"response.create","model":"m","input":${nested(20_000)}}`, 'invalid_request'],
    ['{"type":"response.create","model":"m","model":"n"}', 'duplicate_key'],
    ['{"type":"response.create","model":"m","Model":"n"}', 'duplicate_key'],
    ['{"type":"response.create","model":"m","temperature":1,"Temperature":2}', 'duplicate_key'],
    ['{"type":"response.create",}', 'invalid_json'],
    ['[]', 'invalid_json'],
  ] as const) {
    const input = newSession().read(frame);
    expect('answer' in input && input.answer.map((text) => JSON.parse(text))).toEqual([expect.objectContaining({ error: expect.objectContaining({ code }) })]);
  }
});

test('a reply that nests too deep is passed on, and not remembered', () => {
  const session = newSession();
  const begin = (frame: object) => {
    const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', ...frame }));
    return 'answer' in input ? input : input.begin();
  };
  const first = begin({});
  const data = `{"type":"response.completed","response":{"id":"resp_1","output":[${nested(20_000)}]}}`;
  expect('turn' in first && first.turn.frame('response.completed', data)).toBe(data);
  expect(begin({ previous_response_id: 'resp_1' })).toEqual({ answer: [expect.stringContaining('previous_response_not_found')] });
});

test.each([
  ['no output', {}],
  ['an empty output', { output: [] }],
])('a reply whose last event holds %s is remembered by the items that were done before it', (_name, sparse) => {
  const session = newSession();
  const begin = (frame: object) => {
    const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', input: 'Hi', ...frame }));
    return 'answer' in input ? input : input.begin();
  };
  const first = begin({});
  if (!('turn' in first)) throw new Error('answered');
  const done = (output_index: number, text: string) =>
    JSON.stringify({ type: 'response.output_item.done', output_index, item: { type: 'message', role: 'assistant', content: text } });
  first.turn.frame('response.output_item.done', done(1, 'second'));
  first.turn.frame('response.output_item.done', done(0, 'first'));
  first.turn.frame('response.completed', JSON.stringify({ type: 'response.completed', response: { id: 'resp_1', status: 'completed', ...sparse } }));
  const next = begin({ previous_response_id: 'resp_1', input: 'Go on' });
  expect('turn' in next && JSON.parse(next.turn.body).input.map(({ content }: { content: unknown }) => content)).toEqual(['Hi', 'first', 'second', 'Go on']);
});

test('connections share one memory limit: a turn beyond it is not remembered, and dropped turns free memory', () => {
  let held = 0;
  const memory = {
    take: (bytes: number) => {
      if (held + bytes > 2500) return false;
      held += bytes;
      return true;
    },
    give: (bytes: number) => {
      held -= bytes;
    },
  };
  const open = () => createSocketSession({ mintId: (prefix) => `${prefix}${++ids}`, now: () => 0, maxBytes: 10_000, memory });
  let ids = 0;
  const ask = (session: ReturnType<typeof open>, frame: Record<string, unknown>) => {
    const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', ...frame }));
    const begun = 'answer' in input ? input : input.begin();
    return 'answer' in begun ? begun.answer.map((text) => JSON.parse(text)) : null;
  };
  const [first, second, third] = [open(), open(), open()];
  const warm = (session: ReturnType<typeof open>) => ask(session, warmUp)![1].response.id as string;
  // In its own place: the one before goes first.
  for (let turns = 0; turns < 5; turns++) warm(first);
  warm(second);
  const unknown = warm(third);
  expect(ask(third, { previous_response_id: unknown, input: 'Hi' })).toEqual([expect.objectContaining({ type: 'error' })]);
  second.close();
  const known = warm(third);
  expect(ask(third, { previous_response_id: known, input: 'Hi' })).toBeNull();
  for (const session of [first, third]) session.close();
  expect(held).toBe(0);
});

test('a running response cannot be steered: the frame is refused by name, in its lane', () => {
  const refused = start()({ type: 'response.steer', stream_id: 'a', response_id: 'resp_1' });
  expect(refused).toEqual([
    expect.objectContaining({ type: 'error', status: 400, stream_id: 'a', error: expect.objectContaining({ code: 'unsupported_operation' }) }),
  ]);
  expect(refused?.[0].error.message).toContain('steered');
});
