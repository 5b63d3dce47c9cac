/** The turn in a reply, as its caller sees it. */
import { describe, expect, test } from '@jest/globals';
import type { ReplyTurn } from '../../../contract/index.ts';
import { own } from '../../../kit/read.ts';
import { turns } from './index.ts';

const turn: ReplyTurn = { id: 'resp_own', previous: 'resp_before', conversation: null, store: true, background: false };
const named = { id: 'resp_own', previous_response_id: 'resp_before', store: true, background: false };
const reply = { form: 'sse', model: 'm', createdAt: 7, body: { model: 'm', temperature: 0.5, instructions: 'Be brief.' } } as const;
const observe = () => turns.createObserver(turn, reply);
const event = (type: string, fields: object): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
const response = (status: string, more: object = {}): object => ({ ...named, object: 'response', status, model: 'm', output: [], ...more });
const message = (id: string, text: string, status = 'completed') => ({ id, type: 'message', role: 'assistant', status, content: [{ type: 'output_text', text, annotations: [] }] }); // biome-ignore format: one line
const begun = event('response.created', { response: response('in_progress') });
const open = (index: number) =>
  event('response.output_item.added', { output_index: index, item: { ...message(`msg_${index}`, ''), content: [], status: 'in_progress' } }) +
  event('response.content_part.added', { output_index: index, content_index: 0, part: { type: 'output_text', text: '', annotations: [] } });
const words = (index: number, delta: string) => event('response.output_text.delta', { output_index: index, content_index: 0, delta });
const done = (index: number, text: string) => event('response.output_item.done', { output_index: index, item: message(`msg_${index}`, text) });

describe('a reply that ends', () => {
  test.each(['completed', 'incomplete', 'failed'] as const)('response.%s: the object of its last event', (status) => {
    const observer = observe();
    observer.written(begun + open(0) + words(0, 'Hi'));
    expect(observer.ended()).toBeNull();
    const end = response(status, { output: [message('msg_0', 'Hi')], usage: { total_tokens: 1 } });
    observer.written(done(0, 'Hi') + event(`response.${status}`, { response: end }));
    expect(observer.ended()).toEqual({ status, response: end });
  });

  test('items of the events before it, where it does not list them', () => {
    const observer = observe();
    observer.written(begun + open(0) + open(1) + done(1, 'two') + done(0, 'one') + event('response.completed', { response: response('completed') }));
    expect(own(observer.ended()?.response, 'output')).toEqual([message('msg_0', 'one'), message('msg_1', 'two')]);
  });

  test('records without names, in bytes, or with other framing', () => {
    const end = response('completed', { output: [message('msg_0', 'é')] });
    for (const data of [JSON.stringify({ type: 'response.completed', response: end }), JSON.stringify({ response: end, type: 'response.completed' })]) {
      const observer = observe();
      observer.record({ data });
      expect(observer.ended()).toEqual({ status: 'completed', response: end });
      const bytes = observe();
      bytes.written(Buffer.from(`data:${data}\r\n\r\ndata: [DONE]\r\n\r\n`));
      expect(bytes.ended()).toEqual({ status: 'completed', response: end });
    }
  });

  test('a whole reply, also one that is only queued', () => {
    const observer = observe();
    observer.whole(response('completed'));
    expect(observer.ended()).toEqual({ status: 'completed', response: response('completed') });
    const queued = observe();
    queued.whole(response('queued'));
    expect(queued.ended()?.status).toBe('queued');
  });

  test('one that nests too deep to be printed again keeps its id and status alone', () => {
    const observer = observe();
    const nested = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
    observer.written(`${begun}event: response.completed\ndata: {"type":"response.completed","response":{"output":[${nested}]}}\n\n`);
    expect(observer.ended()).toEqual({ status: 'completed', response: response('completed') });
  });
});

describe('a reply that breaks off', () => {
  test('before anything was said: the request is repeated as in any response', () => {
    const broken = observe().broken('failed', { code: 'server_error', message: 'The upstream failed.' });
    expect(broken).toMatchObject({
      ...named,
      object: 'response',
      created_at: 7,
      status: 'failed',
      error: { code: 'server_error', message: 'The upstream failed.' },
      incomplete_details: null,
      model: 'm',
      output: [],
      temperature: 0.5,
      instructions: 'Be brief.',
    });
  });

  test('finished items as they are, open ones with the words so far', () => {
    const observer = observe();
    observer.written(begun + open(0) + words(0, 'one') + done(0, 'one') + open(1) + words(1, 'half '));
    observer.written(words(1, 'an é'), true);
    observer.written(Buffer.from(words(1, 'nswer é')), true);
    const broken = observer.broken('incomplete');
    expect(broken).toEqual({
      ...response('incomplete', { error: null, incomplete_details: { reason: 'max_output_tokens' }, usage: expect.objectContaining({ total_tokens: 0 }) }),
      output: [message('msg_0', 'one'), message('msg_1', 'half an énswer é', 'incomplete')],
    });
    // Asked again, as where the first answer could not be stored.
    expect(observer.broken('incomplete')).toEqual(broken);
  });

  test('however long the open item is', () => {
    const observer = observe();
    observer.written(begun + open(0));
    for (let at = 0; at < 5000; at++) observer.written(words(0, `${at} `), at % 2 === 0);
    const text = Array.from({ length: 5000 }, (_, at) => `${at} `).join('');
    expect(own(observer.broken('cancelled'), 'output')).toEqual([message('msg_0', text, 'incomplete')]);
  });

  test('items that run side by side', () => {
    const observer = observe();
    observer.written(begun + open(0) + open(1) + words(0, 'a') + words(1, 'b') + done(0, 'a') + words(1, 'c'));
    expect(own(observer.broken('incomplete'), 'output')).toEqual([message('msg_0', 'a'), message('msg_1', 'bc', 'incomplete')]);
  });
});

test('a background run before it begins', () => {
  const run = { ...turn, background: true, conversation: 'conv_1', previous: null };
  expect(turns.queued(run, reply)).toMatchObject({
    id: 'resp_own',
    object: 'response',
    status: 'queued',
    background: true,
    conversation: { id: 'conv_1' },
    previous_response_id: null,
    output: [],
    usage: null,
    temperature: 0.5,
  });
});
