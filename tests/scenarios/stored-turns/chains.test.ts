/** Turns that name the one before them: what each kind of upstream is sent, also when the model changes between them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { arrangements } from '../../support/gateway.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { callsOf, type Host, hostNames, type Json, openStage, refusalOf, type Stage, signersIn, signingHosts, textOf, tools } from './stage.ts';

const withReasoning = { include: ['reasoning.encrypted_content' as const], reasoning: { effort: 'low' as const } };
/** Every host once before and once after the change of model. */
const pairs = hostNames.map((name, at) => [name, hostNames[(at + 1) % hostNames.length] as Host] as const);

describe.each(arrangements('stored-turns/chains'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, borrowed: true });
  });
  afterAll(() => stage?.stop());

  test('fifty chains at once hold their own turns alone', async () => {
    stage.takeRequests();
    const turns = [0, 1, 2, 3];
    const chains = Array.from({ length: 50 }, (_, at) => at);
    await Promise.all(
      chains.map(async (chain) => {
        let previous: string | undefined;
        for (const turn of turns) {
          const input = `say-c${chain}t${turn}`;
          const { response } = await stage.ask({ model: 'alpha', input, ...(previous && { previous_response_id: previous }) }, { stream: turn % 2 === 0 });
          expect(textOf(response)).toBe(`said c${chain}t${turn}`);
          previous = response.id;
        }
      }),
    );
    const requests = stage.takeRequests().map(({ json }) => JSON.stringify(readSpoken('alpha', json)));
    const expected = chains.flatMap((chain) =>
      turns.map((last) => {
        const before = turns.slice(0, last).flatMap((turn) => [
          ['user', `say-c${chain}t${turn}`],
          ['assistant', `said c${chain}t${turn}`],
        ]);
        return JSON.stringify([...before, ['user', `say-c${chain}t${last}`]]);
      }),
    );
    expect(requests.sort()).toEqual(expected.sort());
  });
  beforeEach(() => void stage.takeRequests());

  /** The only request since the last look, as the host's protocol has it. */
  const onlyRequest = (): Json => {
    const requests = stage.takeRequests();
    expect(requests).toHaveLength(1);
    return requests[0]!;
  };
  /** All that was stored of a turn, as a caller without a store would keep it for itself. */
  const itemsOf = async (id: string): Promise<Json[]> => {
    const input = await stage.client.responses.inputItems.list(id, { order: 'asc', limit: 100 });
    return [...input.data, ...(await stage.retrieveEnded(id)).output];
  };

  describe.each([
    ['whole', false],
    ['streamed', true],
  ])('%s', (_form, stream) => {
    test.each(pairs)('from %s to %s and back', async (first, second) => {
      const one = await stage.ask({ model: first, input: 'think-one', ...withReasoning }, { stream });
      expect(textOf(one.response)).toBe('said one');
      onlyRequest();
      const two = await stage.ask({ model: second, input: 'think-two', previous_response_id: one.response.id, ...withReasoning }, { stream });
      expect([textOf(two.response), two.response.previous_response_id]).toEqual(['said two', one.response.id]);
      const changed = onlyRequest();
      expect(readSpoken(second, changed.json)).toEqual([
        ['user', 'think-one'],
        ['assistant', 'said one'],
        ['user', 'think-two'],
      ]);
      expect(signersIn(changed.body.toString('utf8'))).toEqual([]);
      expect(changed.json).not.toHaveProperty('previous_response_id');
      const three = await stage.ask({ model: first, input: 'say-three', previous_response_id: two.response.id, ...withReasoning }, { stream });
      expect(textOf(three.response)).toBe('said three');
      const back = onlyRequest();
      expect(withoutIds(readSpoken(first, back.json))).toEqual([
        ['user', 'think-one'],
        ['assistant', 'said one'],
        ['user', 'think-two'],
        ['assistant', 'said two'],
        ['user', 'say-three'],
      ]);
      // Its own signature is there again, and nobody else's.
      expect(signersIn(back.body.toString('utf8')).filter((host) => host !== first)).toEqual([]);
      if (['alpha_response', 'beta'].includes(first)) expect(signersIn(back.body.toString('utf8'))).toEqual([first]);
    });

    test.each(hostNames)('the body at %s is the one that a caller who sends all items itself would cause', async (host) => {
      const one = await stage.ask({ model: host, input: 'calls-one', tools, ...withReasoning }, { stream });
      const outputs = callsOf(one.response).map(({ call_id, name }) => ({ type: 'function_call_output' as const, call_id, output: `output-${name}` }));
      expect(outputs).toHaveLength(2);
      const two = await stage.ask({ model: host, input: outputs, previous_response_id: one.response.id, tools, ...withReasoning }, { stream });
      stage.takeRequests();
      await stage.ask({ model: host, input: 'say-three', previous_response_id: two.response.id, tools, ...withReasoning }, { stream });
      const chained = onlyRequest();
      const items = [...(await itemsOf(one.response.id)), ...(await itemsOf(two.response.id))];
      await stage.ask({ model: host, input: [...items, { role: 'user', content: 'say-three' }], tools, ...withReasoning }, { stream });
      const sent = onlyRequest();
      if (host === 'alpha_response') expect(asPlainItems(chained.json)).toEqual(asPlainItems(sent.json));
      else expect(chained.body.toString('utf8')).toBe(sent.body.toString('utf8'));
    });
  });

  test.each(pairs)('a tool round over two turns, called at %s and answered at %s', async (first, second) => {
    const one = await stage.ask({ model: first, input: 'calls-one', tools });
    const calls = callsOf(one.response);
    expect(calls.map(({ name }) => name)).toEqual(['look', 'find']);
    onlyRequest();
    const two = await stage.ask({
      model: second,
      previous_response_id: one.response.id,
      tools,
      input: calls.map(({ call_id, name }) => ({ type: 'function_call_output', call_id, output: `output-${name}` })),
    });
    expect(textOf(two.response)).toBe('read find');
    const request = onlyRequest();
    const spoken = readSpoken(second, request.json);
    expect(withoutIds(spoken)).toEqual([
      ['user', 'calls-one'],
      ['call', 'look'],
      ['call', 'find'],
      ['result', 'output-look'],
      ['result', 'output-find'],
    ]);
    const ids = spoken.slice(1).map(([, , id]) => id);
    expect(ids.slice(2)).toEqual(ids.slice(0, 2));
    // These take any id of up to 64 characters, so they see those that were stored.
    if (second === 'alpha' || second === 'alpha_response') expect(ids.slice(0, 2)).toEqual(calls.map(({ call_id }) => call_id));
  });

  test.each(hostNames)('the middle one of three turns is deleted: what %s is sent afterwards', async (host) => {
    const one = await stage.ask({ model: host, input: 'say-one' });
    const two = await stage.ask({ model: host, input: 'say-two', previous_response_id: one.response.id });
    const three = await stage.ask({ model: host, input: 'say-three', previous_response_id: two.response.id });
    await stage.client.responses.delete(two.response.id);
    expect(await refusalOf(stage.client.responses.retrieve(two.response.id))).toMatchObject({ status: 404 });
    expect((await stage.client.responses.retrieve(three.response.id)).previous_response_id).toBe(two.response.id);
    stage.takeRequests();
    await stage.ask({ model: host, input: 'say-four', previous_response_id: three.response.id });
    expect(withoutIds(readSpoken(host, onlyRequest().json))).toEqual([
      ['user', 'say-one'],
      ['assistant', 'said one'],
      ['user', 'say-three'],
      ['assistant', 'said three'],
      ['user', 'say-four'],
    ]);
    // The deleted one itself still leads to what was before it.
    await stage.ask({ model: host, input: 'say-five', previous_response_id: two.response.id });
    expect(withoutIds(readSpoken(host, onlyRequest().json))).toEqual([
      ['user', 'say-one'],
      ['assistant', 'said one'],
      ['user', 'say-five'],
    ]);
  });

  test('instructions, tools and sampling are not inherited, items are', async () => {
    const one = await stage.ask({ model: 'alpha', input: 'say-one', instructions: 'Be brief.', temperature: 0.3, tools, tool_choice: 'none' });
    stage.takeRequests();
    await stage.ask({ model: 'alpha', input: 'say-two', previous_response_id: one.response.id });
    const { json } = onlyRequest();
    expect([json.temperature, json.tools, json.messages.map(({ role }: Json) => role)]).toEqual([undefined, undefined, ['user', 'assistant', 'user']]);
  });

  test.each(hostNames)('an item_reference is replaced by its item: %s', async (host) => {
    const one = await stage.ask({ model: host, input: 'say-one' });
    const [message] = one.response.output;
    stage.takeRequests();
    await stage.ask({
      model: host,
      input: [
        { role: 'user', content: 'say-before' },
        { type: 'item_reference', id: message!.id as string },
        { role: 'user', content: 'say-after' },
      ],
    });
    expect(withoutIds(readSpoken(host, onlyRequest().json))).toEqual([
      ['user', 'say-before'],
      ['assistant', 'said one'],
      ['user', 'say-after'],
    ]);
  });

  test('an item_reference that names nothing, or an item of another key, is 404', async () => {
    const other = await stage.addKey('referring');
    const one = await stage.ask({ model: 'alpha', input: 'say-one' });
    stage.takeRequests();
    for (const [client, id] of [
      [stage.client, 'msg_nothing'],
      [other, one.response.output[0]!.id as string],
    ] as const)
      expect(
        await refusalOf(
          client.responses.create({
            model: 'alpha',
            input: [
              { type: 'item_reference', id },
              { role: 'user', content: 'say-two' },
            ],
          }),
        ),
      ).toMatchObject({
        status: 404,
        message: expect.stringContaining(`Item with id '${id}' not found.`),
      });
    expect(stage.takeRequests()).toEqual([]);
  });

  test('counting tokens counts the whole chain', async () => {
    const long = await stage.ask({ model: 'beta', input: `say-one ${'many words '.repeat(200)}` });
    stage.takeRequests();
    await stage.client.responses.inputTokens.count({ model: 'beta', input: 'say-two', previous_response_id: long.response.id });
    // The upstream's counter is asked: what it is asked to count is the whole chain.
    const counted = JSON.stringify(stage.takeRequests().map(({ json }) => json));
    for (const text of ['say-one', 'many words', 'said one', 'say-two']) expect(counted).toContain(text);
  });

  test('branches: two turns go on from one', async () => {
    const one = await stage.ask({ model: 'gamma', input: 'say-one' });
    stage.takeRequests();
    for (const word of ['left', 'right']) {
      await stage.ask({ model: 'gamma', input: `say-${word}`, previous_response_id: one.response.id });
      expect(withoutIds(readSpoken('gamma', onlyRequest().json)).at(-1)).toEqual(['user', `say-${word}`]);
    }
  });

  test('signatures return to their vendor also when the caller did not ask to see them', async () => {
    for (const host of signingHosts) {
      const one = await stage.ask({ model: host, input: 'call-one', tools, reasoning: { effort: 'low' } });
      const [call] = callsOf(one.response);
      stage.takeRequests();
      await stage.ask({
        model: host,
        previous_response_id: one.response.id,
        tools,
        reasoning: { effort: 'low' },
        input: [{ type: 'function_call_output', call_id: call!.call_id, output: 'output-one' }],
      });
      expect([host, signersIn(onlyRequest().body.toString('utf8'))]).toEqual([host, [host]]);
    }
  });
});

/** This vendor takes ids of items or none, and a text as a string or as a part: neither changes what it reads. */
function asPlainItems({ input, ...body }: Json): Json {
  return {
    ...body,
    input: input.map(({ id: _id, status: _status, type = 'message', content, ...item }: Json) => ({
      ...item,
      type,
      ...(content !== undefined && { content: typeof content === 'string' ? content : content.map(({ text }: Json) => text).join('') }),
    })),
  };
}
