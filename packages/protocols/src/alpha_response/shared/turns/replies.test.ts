/** Replies that are stored turns: one id everywhere, what was asked of the store said truthfully, and the stored object equal to the last event's. */
import { describe, expect, test } from '@jest/globals';
import { noUsage, type Usage } from '@model-gateway/contracts';
import { applyEdits } from '@model-gateway/json-bytes';
import { readContext, recorded, replyContext, seal, terminatorContext, writeContext } from '../../../../test/support/alpha-response.ts';
import { validateStream } from '../../../../test/validate/alpha-response.ts';
import type { ChatEvent } from '../../../chat/event.ts';
import { foldEvents } from '../../../chat/fold.ts';
import type { ReplyTurn } from '../../../contract/index.ts';
import { own } from '../../../kit/read.ts';
import { readRequest } from '../../client/read-request.ts';
import { createTerminator } from '../../client/stream-terminator.ts';
import { createWriter, writeWhole } from '../../client/write-response.ts';
import { verbatim } from '../verbatim-rules.ts';
import { turns } from './index.ts';

const turn: ReplyTurn = { id: 'resp_own', previous: 'resp_before', conversation: null, store: true, background: false };
const inConversation: ReplyTurn = { ...turn, previous: null, conversation: 'conv_1' };
const inBackground: ReplyTurn = { ...turn, background: true, previous: null };
const said = ({ conversation, previous, ...rest }: ReplyTurn) => ({
  ...{ id: 'resp_own', previous_response_id: previous, store: rest.store, background: rest.background },
  ...(conversation !== null && { conversation: { id: conversation } }),
});
const body = { model: 'caller-model', input: 'Hi', temperature: 0.5, store: true };
const reply = { form: 'sse', model: 'caller-model', createdAt: 1_700_000_000, body } as const;
const usage: Usage = { ...noUsage, input: 3, output: 2 };
const warning = { reason: 'upstream_broken', detail: 'The upstream closed the reply.', timestamp: '2026-01-01T00:00:00.000Z' };

const events: ChatEvent[] = [
  { type: 'start' },
  { type: 'block-start', index: 0, block: { type: 'text' } },
  { type: 'text-delta', index: 0, text: 'é😀 ' },
  { type: 'text-delta', index: 0, text: 'b' },
  { type: 'block-end', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'a', name: 'f' } },
  { type: 'arguments-delta', index: 1, text: '{"x":' },
  { type: 'arguments-delta', index: 1, text: '1}' },
  { type: 'block-end', index: 1 },
  { type: 'usage', usage },
  { type: 'finish', reason: 'tool-calls' },
  { type: 'end' },
];
const echoOf = () => readRequest({ ...body, background: true }, { ...readContext, state: 'gateway' }).echo;
const written = (of: ReplyTurn): string => {
  const writer = createWriter({ ...replyContext(echoOf()), turn: of });
  return events.map((event) => writer.write(event)).join('');
};
interface Json {
  [key: string]: unknown;
}
const responsesIn = (text: string): Json[] =>
  [...text.matchAll(/^data: ([^\n]*)$/gm)].flatMap((match) => {
    const response = own(JSON.parse(match[1] ?? ''), 'response');
    return response === undefined ? [] : [response as Json];
  });

describe.each([
  ['after another turn', turn],
  ['in a conversation', inConversation],
  ['in the background', inBackground],
])('a translated reply %s', (_where, of) => {
  test('is valid for strict clients, and names its turn in each event', () => {
    const text = written(of);
    expect(validateStream(text)).toEqual([]);
    const responses = responsesIn(text);
    expect(responses.map(({ status }) => status)).toEqual([...(of.background ? ['queued', 'queued'] : ['in_progress']), 'in_progress', 'completed']);
    for (const response of responses) expect(response).toMatchObject({ ...said(of), temperature: 0.5 });
  });

  test('is stored as its last event has it', () => {
    const text = written(of);
    const observer = turns.createObserver(of, reply);
    observer.written(text);
    expect(observer.ended()).toEqual({ status: 'completed', response: responsesIn(text).at(-1) });
  });

  test('whole, it is the same object', () => {
    const whole = writeWhole(foldEvents(events), { ...replyContext(echoOf()), turn: of }).body;
    expect(whole).toEqual(responsesIn(written(of)).at(-1));
  });

  test('broken off anywhere, it ends with the same id, and is stored as the terminator ends it', () => {
    const text = written(of);
    for (const { index } of text.matchAll(/\n\n/g)) {
      const prefix = text.slice(0, index + 2);
      const terminator = createTerminator({ ...terminatorContext(), turn: of });
      terminator.observe(Buffer.from(prefix));
      const ending = terminator.close(warning, usage);
      expect(validateStream(prefix + ending)).toEqual([]);
      if (ending === '') continue;
      const last = responsesIn(ending).at(-1);
      expect(last).toMatchObject(said(of));
      expect(terminator.response).toEqual(last);
      const observer = turns.createObserver(of, reply);
      observer.written(prefix);
      expect(observer.broken('incomplete', undefined, usage)).toEqual(last);
    }
  });
});

test('a stream that broke before it began ends as its turn', () => {
  const terminator = createTerminator({ ...terminatorContext(), turn });
  expect(terminator.response).toBeUndefined();
  const text = terminator.close(warning);
  expect(validateStream(text)).toEqual([]);
  for (const response of responsesIn(text)) expect(response).toMatchObject(said(turn));
});

describe('verbatim replies', () => {
  const pass = (text: string, of: ReplyTurn): string => {
    const rules = verbatim.createReply({
      model: 'caller-model',
      mintId: (prefix) => `${prefix}1`,
      sealSignature: seal,
      requestValue: () => undefined,
      turn: of,
    });
    return text.replaceAll(/^data: ?([^\r\n]*)/gm, (_line, data: string) => {
      const edits = rules.record({ data, json: JSON.parse(data) });
      return `data: ${edits === 'drop' ? data : applyEdits(data, edits)}`;
    });
  };
  const streams = recorded('.sse').filter(({ text }) => text.includes('response.created') && !text.includes('[DONE]') && !text.includes('event: error'));
  (streams.length > 0 ? test.each(streams) : test.skip.each([{ name: 'none', text: '' }]))('recorded: $name', ({ text }) => {
    for (const one of [turn, inConversation]) {
      const passed = pass(text, one);
      const responses = responsesIn(passed);
      expect(responses.length).toBeGreaterThan(1);
      for (const response of responses) expect(response).toMatchObject(said(one));
      const observer = turns.createObserver(one, reply);
      observer.written(Buffer.from(passed));
      const last = responses.at(-1) as Json;
      expect(observer.ended()?.status).toBe(last['status']);
      if ((last['output'] as unknown[] | undefined)?.length) expect(observer.ended()?.response).toEqual(last);
    }
  });

  const wholes = recorded('response.json').filter(({ text }) => text.includes('"object": "response"') || text.includes('"object":"response"'));
  (wholes.length > 0 ? test.each(wholes) : test.skip.each([{ name: 'none', text: '{}' }]))('recorded whole: $name', ({ text }) => {
    const rules = verbatim.createReply({ model: 'm', mintId: (prefix) => `${prefix}1`, sealSignature: seal, requestValue: () => undefined, turn });
    const edited = JSON.parse(applyEdits(text, rules.whole(JSON.parse(text))));
    const { model: _model, output: _output, ...rest } = JSON.parse(text);
    const { output: _own, ...found } = edited;
    expect(found).toEqual({ ...rest, ...said(turn), model: 'm' });
  });
});

describe('requests whose turns the gateway holds', () => {
  test('may run in the background on a model of another protocol', () => {
    expect(readRequest({ ...body, background: true }, { ...readContext, state: 'gateway' }).losses).toEqual([]);
    expect(() => readRequest({ ...body, background: true }, readContext)).toThrow(expect.objectContaining({ param: 'background' }));
  });

  const sent = (asked: object, state?: 'gateway' | 'upstream') => {
    const text = JSON.stringify(asked);
    const context = { ...writeContext(state ? { state } : {}), contains: (part: string) => text.includes(part), parse: () => JSON.parse(text) as unknown };
    const { edits, losses } = verbatim.requestEdits(context);
    return { body: JSON.parse(applyEdits(text, edits)), losses: losses.map(({ field }) => field) };
  };

  test('pass without the background run, which is the gateway’s', () => {
    expect(sent({ ...body, background: true }, 'gateway')).toEqual({ body: { ...body, model: 'gpt-5' }, losses: [] });
    expect(sent({ ...body, background: true })).toEqual({ body: { ...body, model: 'gpt-5', background: true }, losses: [] });
  });

  test.each([
    ['2h', ['background_options']],
    ['soonest', []],
  ])('pass without the window of %s, which the vendor takes of its own background runs alone', (completion_window, losses) => {
    const asked = { ...body, background: true, background_options: { completion_window, continuation_id: 'c' } };
    expect(sent(asked, 'gateway')).toEqual({ body: { ...body, model: 'gpt-5' }, losses });
    expect(sent(asked, 'upstream')).toEqual({ body: { ...asked, model: 'gpt-5' }, losses: [] });
    expect(readRequest(asked, { ...readContext, state: 'gateway' }).losses.map(({ field }) => field)).toEqual(losses);
  });

  test('pass with all their names where the upstream holds what they name', () => {
    const input = [{ role: 'user', content: 'Hi' }];
    for (const names of [{ previous_response_id: 'resp_up' }, { conversation: 'conv_up' }, { background: true }])
      expect(sent({ model: 'm', input, ...names }, 'upstream')).toEqual({ body: { model: 'gpt-5', input, ...names }, losses: [] });
  });

  test.each([undefined, 'upstream'] as const)('never pass with names of items, whose owners nobody knows (held by: %s)', (state) => {
    for (const item of [{ type: 'item_reference', id: 'msg_1' }, { id: 'msg_1' }])
      expect(() => sent({ model: 'm', input: [item], previous_response_id: 'resp_up' }, state)).toThrow(expect.objectContaining({ param: 'input.0' }));
  });
});
