/** What a connection remembers, and which names it takes. */
import { describe, expect, test } from '@jest/globals';
import { createSocketSession } from './socket.ts';

const storesTurns = false;
const endless = { take: () => true, give: () => undefined };
const start = (maxBytes = 10_000) => {
  let ids = 0;
  const session = createSocketSession({ headers: {}, mintId: (prefix) => `${prefix}${++ids}`, now: () => 0, maxBytes, memory: endless, storesTurns });
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
const newSession = () => createSocketSession({ headers: {}, mintId: (prefix) => prefix, now: () => 0, maxBytes: 1_000_000, memory: endless, storesTurns });

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
  const open = () => createSocketSession({ headers: {}, mintId: (prefix) => `${prefix}${++ids}`, now: () => 0, maxBytes: 10_000, memory, storesTurns });
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

describe('steering', () => {
  const steer = (session: ReturnType<typeof newSession>, frame: object) => {
    const input = session.read(JSON.stringify({ type: 'response.steer', ...frame }));
    return 'answer' in input && input.answer.map((text) => JSON.parse(text));
  };
  const failed = (code: string, input: unknown, previous_response_id: string) => ({
    type: 'response.steer.failed',
    sequence_number: 0,
    error: { type: 'invalid_request_error', code, message: expect.any(String) },
    steer: { previous_response_id, input },
  });

  test('is refused as at models that do not steer, and the input given back', () => {
    for (const input of ['Stop.', [{ type: 'message', role: 'user', content: 'Stop.' }]])
      expect(steer(newSession(), { previous_response_id: 'resp_1', input })).toEqual([failed('steering_not_supported', input, 'resp_1')]);
    expect(steer(newSession(), { input: 'Stop.' })).toEqual([failed('invalid_input', 'Stop.', '')]);
    expect(steer(newSession(), { previous_response_id: 'resp_1' })).toEqual([failed('invalid_input', [], 'resp_1')]);
  });

  test('is answered in the lane of the response that it is about', () => {
    const session = newSession();
    const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', stream_id: 'a', input: 'Hi' }));
    const begun = 'answer' in input ? input : input.begin();
    if (!('turn' in begun)) throw new Error('answered');
    begun.turn.frame('response.created', JSON.stringify({ type: 'response.created', response: { id: 'resp_1' } }));
    const stop = { previous_response_id: 'resp_1', input: 'Stop.' };
    expect(steer(session, stop)).toEqual([{ stream_id: 'a', ...failed('steering_not_supported', 'Stop.', 'resp_1') }]);
    begun.turn.frame('response.completed', JSON.stringify({ type: 'response.completed', response: { id: 'resp_1', output: [] } }));
    expect(steer(session, stop)).toEqual([failed('steering_not_supported', 'Stop.', 'resp_1')]);
  });
});

describe('turns that are stored', () => {
  const talk = (stores = true) => {
    const session = createSocketSession({
      headers: {},
      mintId: (prefix) => `${prefix}w`,
      now: () => 0,
      maxBytes: 100_000,
      memory: endless,
      storesTurns: stores,
    });
    const ask = (frame: object) => {
      const input = session.read(JSON.stringify({ type: 'response.create', model: 'm', ...frame }));
      return 'answer' in input ? input : input.begin();
    };
    const turn = (frame: object) => {
      const begun = ask(frame);
      if (!('turn' in begun)) throw new Error('answered');
      return { body: JSON.parse(begun.turn.body), repeats: begun.turn.repeats, frame: begun.turn.frame };
    };
    const end = (frame: (event: string, data: string) => string, id: string, store: boolean) =>
      frame('response.completed', JSON.stringify({ type: 'response.completed', response: { id, store, output: [{ type: 'message', role: 'assistant', content: id }] } })); // biome-ignore format: one line
    return { ask, turn, end };
  };
  const texts = (body: { input: { content: string }[] }) => body.input.map(({ content }) => content);

  test('one that this connection does not know is left to the store, with only what is new', () => {
    const { turn, end } = talk();
    const { body, repeats, frame } = turn({ previous_response_id: 'resp_before', input: 'Go on' });
    expect(body).toEqual({ model: 'm', stream: true, previous_response_id: 'resp_before', input: [{ type: 'message', role: 'user', content: 'Go on' }] });
    expect(repeats).toBeUndefined();
    // What the store put before it is not known here: the next turn is the store's, too.
    end(frame, 'resp_1', true);
    expect(turn({ previous_response_id: 'resp_1', input: 'And on' }).body.previous_response_id).toBe('resp_1');
  });

  test('one that it knows is repeated from memory, and named for the store', () => {
    const { turn, end } = talk();
    const first = turn({ input: 'Hi' });
    expect([texts(first.body), first.repeats]).toEqual([['Hi'], undefined]);
    end(first.frame, 'resp_1', true);
    const second = turn({ previous_response_id: 'resp_1', input: ['Go', 'on'].map((content) => ({ role: 'user', content })) });
    expect(second.body).not.toHaveProperty('previous_response_id');
    expect([texts(second.body), second.repeats]).toEqual([['Hi', 'resp_1', 'Go', 'on'], { turn: 'resp_1', items: 2 }]);
    expect(turn({ previous_response_id: 'resp_1', input: 'x', store: false }).repeats).toBeUndefined();
  });

  test('after a warm-up, or a turn that was not stored, all items are the request’s own', () => {
    const { ask, turn, end } = talk();
    const warm = ask({ generate: false, input: 'Hi' });
    expect('answer' in warm && JSON.parse(warm.answer[1] ?? '').response).toMatchObject({ id: 'resp_w', store: false });
    const first = turn({ previous_response_id: 'resp_w', input: 'Go on' });
    expect([texts(first.body), first.repeats]).toEqual([['Hi', 'Go on'], undefined]);
    end(first.frame, 'resp_1', false);
    expect(turn({ previous_response_id: 'resp_1', input: 'x' }).repeats).toBeUndefined();
  });

  test('a warm-up asks nobody, also not the store; without a store nothing is passed on', () => {
    const unknown = { answer: [expect.stringContaining('previous_response_not_found')] };
    expect(talk().ask({ generate: false, previous_response_id: 'resp_before', input: 'Hi' })).toEqual(unknown);
    expect(talk(false).ask({ previous_response_id: 'resp_before', input: 'Hi' })).toEqual(unknown);
    expect(talk().ask({ previous_response_id: 7, input: 'Hi' })).toEqual(unknown);
  });

  test('a turn of a conversation is not remembered: the conversation’s items are not known here', () => {
    const { turn, end } = talk();
    const first = turn({ conversation: 'conv_1', input: 'Hi' });
    expect(first.body.conversation).toBe('conv_1');
    end(first.frame, 'resp_1', true);
    expect(turn({ previous_response_id: 'resp_1', input: 'x' }).body.previous_response_id).toBe('resp_1');
  });

  test('the refusal of a turn that is not there is a frame', () => {
    const begun = talk().ask({ previous_response_id: 'resp_before', input: 'Hi' });
    const body = JSON.stringify({ error: { code: 'previous_response_not_found', type: 'invalid_request_error', message: 'm', param: 'previous_response_id' } });
    expect('turn' in begun && JSON.parse(begun.turn.writeError(400, body))).toEqual({ type: 'error', status: 400, ...JSON.parse(body) });
  });
});

test('a coding agent, which repeats no status here, is told of a limit and an overload by a failed response, others by an error', () => {
  const answer = (originator: string, status: number, code: string) => {
    const context = { headers: { originator }, mintId: (prefix: string) => `${prefix}1`, now: () => 5000, maxBytes: 1000, memory: endless, storesTurns };
    const input = createSocketSession(context).read(JSON.stringify({ type: 'response.create', model: 'm', stream_id: 'a', input: 'Hi' }));
    const begun = 'begin' in input ? input.begin() : input;
    return 'turn' in begun && JSON.parse(begun.turn.writeError(status, JSON.stringify({ error: { code, message: 'Please try again in 3s.' } })));
  };
  for (const [status, code] of [
    [429, 'rate_limit_exceeded'],
    [503, 'server_is_overloaded'],
  ] as const) {
    expect(answer('codex_exec', status, code)).toMatchObject({
      ...{ type: 'response.failed', stream_id: 'a', sequence_number: 0 },
      response: { id: 'resp_1', created_at: 5, model: 'm', status: 'failed', error: { code: 'rate_limit_exceeded', message: 'Please try again in 3s.' } },
    });
    expect(answer('somebody', status, code)).toMatchObject({ type: 'error', status, error: { code } });
  }
  expect(answer('codex_exec', 402, 'insufficient_quota')).toMatchObject({ type: 'error', status: 402 });
});
