/** Stored turns over the WebSocket: a new connection goes on from them, what is not stored is refused as its clients expect, and both ways share one store. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { arrangements, until } from '../../support/gateway.ts';
import { readSpoken, withoutIds } from './spoken.ts';
import { hostNames, type Json, openStage, type Stage, tools } from './stage.ts';

const ends = new Set(['response.completed', 'response.incomplete', 'response.failed', 'error', 'response.steer.failed']);

interface Talk {
  /** Sends it, and gives the frames up to the end of what it caused. */
  say(frame: Json): Promise<Json[]>;
  socket: WebSocket;
}

describe.each(arrangements('stored-turns/socket'))('a %s gateway', (arrangement) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ arrangement, ...(arrangement === 'split' && { twice: ['edge'] }) });
  });
  afterAll(() => stage?.stop());

  async function open(edge = 0, key = stage.gateway.key): Promise<Talk> {
    const url = stage.gateway.edgeUrls.at(edge) ?? stage.gateway.url;
    const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers: { authorization: `Bearer ${key}` } });
    const frames: Json[] = [];
    socket.on('message', (data) => frames.push(JSON.parse(data.toString())));
    await once(socket, 'open');
    return {
      socket,
      async say(frame) {
        const from = frames.length;
        socket.send(JSON.stringify(frame));
        await until(async () => frames.slice(from).some(({ type }) => ends.has(type)), 'the end of a turn');
        return frames.slice(from);
      },
    };
  }
  const create = (model: string, input: Json, more: Json = {}) => ({ type: 'response.create', model, input, ...more });

  test.each(hostNames)('%s: the connection breaks between two turns', async (host) => {
    const first = await open();
    const one = (await first.say(create(host, 'call-one', { tools }))).at(-1);
    expect(one).toMatchObject({ type: 'response.completed', response: { status: 'completed', store: true } });
    first.socket.terminate();
    const second = await open(1);
    stage.takeRequests();
    const call = one.response.output.find(({ type }: Json) => type === 'function_call');
    const output = [{ type: 'function_call_output', call_id: call.call_id, output: 'output-one' }];
    const two = (await second.say(create(host, output, { tools, previous_response_id: one.response.id }))).at(-1);
    expect(two).toMatchObject({ type: 'response.completed', response: { previous_response_id: one.response.id } });
    expect(withoutIds(readSpoken(host, stage.takeRequests()[0]!.json))).toEqual([
      ['user', 'call-one'],
      ['call', 'look'],
      ['result', 'output-one'],
    ]);
    // The turns of a connection go on from one another in its memory; what is stored of each is its own.
    const three = (await second.say(create(host, 'say-three', { previous_response_id: two.response.id }))).at(-1);
    const items = await stage.client.responses.inputItems.list(three.response.id);
    expect(items.data).toHaveLength(1);
    expect((await stage.retrieveEnded(three.response.id)) as Json).toMatchObject(three.response);
    stage.takeRequests();
    await stage.ask({ model: host, input: 'say-four', previous_response_id: three.response.id });
    expect(withoutIds(readSpoken(host, stage.takeRequests()[0]!.json)).map(([, text]) => text)).toEqual([
      ...['call-one', 'look', 'output-one', 'read one', 'say-three', 'said three', 'say-four'],
    ]);
    second.socket.close();
  });

  test('what was stored over HTTP is gone on from over the socket', async () => {
    const { response } = await stage.ask({ model: 'beta', input: 'say-one' });
    const talk = await open();
    stage.takeRequests();
    expect((await talk.say(create('gamma', 'say-two', { previous_response_id: response.id }))).at(-1).type).toBe('response.completed');
    expect(readSpoken('gamma', stage.takeRequests()[0]!.json)).toHaveLength(3);
    talk.socket.close();
  });

  test('unknown, foreign and unstored turns are refused, and the connection goes on', async () => {
    const other = await stage.addKey('other');
    const foreign = await stage.ask({ model: 'beta', input: 'say-one' }, { client: other });
    const unstored = (await (await open()).say(create('beta', 'say-one', { store: false }))).at(-1).response;
    const talk = await open();
    stage.takeRequests();
    for (const previous_response_id of ['resp_nothing', foreign.response.id, unstored.id])
      expect((await talk.say(create('beta', 'say-two', { previous_response_id }))).at(-1)).toMatchObject({
        type: 'error',
        status: 400,
        error: { code: 'previous_response_not_found' },
      });
    expect(stage.takeRequests()).toEqual([]);
    expect((await talk.say(create('beta', 'say-three'))).at(-1).type).toBe('response.completed');
    talk.socket.close();
  });

  test('steering is refused as its clients are told it may be', async () => {
    const talk = await open();
    const one = (await talk.say(create('beta', 'say-one'))).at(-1).response;
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'rather this' }] }];
    const frames = await talk.say({ type: 'response.steer', previous_response_id: one.id, input });
    expect(frames.at(-1)).toMatchObject({ type: 'response.steer.failed', error: { code: 'steering_not_supported' }, steer: { input } });
    expect((await talk.say(create('beta', 'say-two', { previous_response_id: one.id }))).at(-1).type).toBe('response.completed');
    talk.socket.close();
  });
});
