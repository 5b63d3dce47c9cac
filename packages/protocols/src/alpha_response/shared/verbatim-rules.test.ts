/** Verbatim bodies: what changes in the bytes, and that nothing else does. */
import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json-bytes';
import { record, recorded, seal, writeContext } from '../../../test/support/alpha-response.ts';
import type { VerbatimReplyContext } from '../../contract/index.ts';
import { own } from '../../kit/read.ts';
import { markSignature } from '../../kit/signature-mark.ts';
import type { SignatureRefusal } from '../../kit/signature-refusal.ts';
import { verbatim } from './verbatim-rules.ts';

function pass(
  body: unknown,
  open: (sealed: string) => string | null = () => 'OPENED',
  { model = 'gpt-5', refused }: { model?: string; refused?: SignatureRefusal } = {},
): { body: Record<string, unknown>; losses: string[]; text: string } {
  const text = JSON.stringify(body);
  const written = writeContext({ openSignature: open, ...(refused && { signaturesRefused: refused }) });
  const context = {
    ...{ ...written, target: { ...written.target, upstreamModelId: model } },
    contains: (part: string) => text.includes(part),
    parse: () => JSON.parse(text) as unknown,
  };
  const { edits, losses } = verbatim.requestEdits(context);
  const edited = applyEdits(text, edits);
  return { body: JSON.parse(edited) as Record<string, unknown>, losses: losses.map((loss) => loss.field), text: edited };
}

const replyContext: VerbatimReplyContext = {
  model: 'caller-model',
  mintId: (prefix) => `${prefix}1`,
  sealSignature: seal,
  requestValue: () => undefined,
};
const sealed = seal('P');
const call = { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'f', arguments: '{}' };

describe('requests', () => {
  test('only the model changes, and the body is not even parsed', () => {
    const text = '{"model": "alias",  "input":"previous", "store":true, "unknown":{"a":[1, 2]}}';
    const parse = (): never => {
      throw new Error('parsed');
    };
    const context = { ...writeContext(), contains: (part: string) => text.includes(part), parse };
    expect(applyEdits(text, verbatim.requestEdits(context).edits)).toBe(text.replace('"alias"', '"gpt-5"'));
  });

  test('previous_response_id goes, with a word; store stays', () => {
    const { body, losses } = pass({ model: 'm', previous_response_id: 'resp_1', store: true, input: 'x' });
    expect(body).toEqual({ model: 'gpt-5', store: true, input: 'x' });
    expect(losses).toEqual(['previous_response_id']);
    expect(pass({ model: 'm', input: 'say "previous_response_id"' }).losses).toEqual([]);
  });

  test('reasoning without what it led to is left out', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed };
    const user = { role: 'user', content: 'x' };
    for (const after of [[], [user], [reasoning], [{ type: 'function_call_output', call_id: 'a', output: 'x' }]])
      expect(pass({ model: 'm', input: [user, reasoning, ...after] }).body['input']).toEqual([user, ...after.filter((item) => item !== reasoning)]);
    for (const after of [call, { type: 'message', role: 'assistant', content: [] }, { type: 'web_search_call', id: 'ws_1' }])
      expect(pass({ model: 'm', input: [user, reasoning, after] }).body['input']).toHaveLength(3);
  });

  test('what Codex notes of its items for OpenAI is left out, and nothing else of them', () => {
    const note = { internal_chat_message_metadata_passthrough: { turn_id: 't', content_item_kinds: ['agents_md'] } };
    const user = { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'x' }] };
    const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed };
    const output = { type: 'function_call_output', call_id: 'a', output: 'y' };
    const { body, losses } = pass({ model: 'm', input: [user, reasoning, call, output].map((item) => ({ ...item, ...note })) });
    expect(body['input']).toEqual([user, { ...reasoning, encrypted_content: 'OPENED' }, call, output]);
    expect(losses).toEqual([]);
    expect(pass({ model: 'm', input: [{ ...reasoning, ...note }, output] }).body['input']).toEqual([output]);
  });

  test('references to stored state are refused', () => {
    expect(() => pass({ model: 'm', input: [{ type: 'item_reference', id: 'msg_7' }] })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'input.0', message: expect.stringContaining('msg_7') }),
    );
    expect(() => pass({ model: 'm', conversation: { id: 'conv_1' }, input: 'x' })).toThrow(expect.objectContaining({ param: 'conversation' }));
    expect(pass({ model: 'm', conversation: null, input: 'x' }).body).toEqual({ model: 'gpt-5', conversation: null, input: 'x' });
  });

  test('a signature that opens goes through with its item', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: sealed };
    const { body, losses } = pass({ model: 'm', input: [item, call] });
    expect(body['input']).toEqual([{ ...item, encrypted_content: 'OPENED' }, call]);
    expect(losses).toEqual([]);
  });

  test('a signature that may not be sent is removed with its item, and the next item loses its id', () => {
    const readable = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: sealed };
    const empty = { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: sealed };
    const { body, losses } = pass({ model: 'm', input: [{ role: 'user', content: 'q' }, readable, call, empty, { ...call, id: 'fc_2' }] }, () => null);
    const { id: _id, ...bare } = call;
    expect(body['input']).toEqual([{ role: 'user', content: 'q' }, bare, bare]);
    expect(losses).toHaveLength(2);
  });

  test.each([markSignature(sealed, { kind: 'redacted' }), markSignature(sealed, { kind: 'text' }), markSignature(sealed, { kind: 'call', callId: 'a' })])(
    'a proof of another vendor is never sent here: %s',
    (encrypted) => {
      expect(pass({ model: 'm', input: [call, { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: encrypted }] }).body['input']).toEqual([call]);
    },
  );

  test('signatures that we did not seal are not sent: their account is unknown', () => {
    const summary = [{ type: 'summary_text', text: 't' }];
    const raw = [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }, { type: 'reasoning', summary, encrypted_content: 'gAAAB' }, call];
    const { body, losses } = pass({ model: 'm', input: raw }, () => null);
    expect(body['input']).toEqual([{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }]);
    expect(losses).toEqual(['input.0.encrypted_content', 'input.1.encrypted_content']);
  });

  test('reasoning that is only a name at some upstream goes', () => {
    const { body, losses } = pass({ model: 'm', input: [{ type: 'reasoning', id: 'rs_1', summary: [] }, call] });
    expect(body['input']).toEqual([{ type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' }]);
    expect(losses).toEqual(['input.0']);
  });
});

describe('reasoning without a signature', () => {
  const summary = [{ type: 'summary_text', text: 't' }];
  const minted = { type: 'reasoning', id: 'rs_hZ9g6bGI35gWPYStIzHEAB9i', summary };
  const vendors = { type: 'reasoning', id: `rs_${'0a1b'.repeat(12)}`, summary };
  const nameless = { type: 'reasoning', summary, content: null };
  const spoken = { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'so' }] };
  const { id: _id, ...bare } = call;
  const input = (body: object, options: { model?: string; refused?: SignatureRefusal } = {}) =>
    pass({ model: 'm', ...body }, (one) => (one === sealed ? 'OPENED' : null), options).body['input'];

  test.each([
    ['of a model of another protocol', minted, true],
    ['the same, where nothing is stored', minted, false],
    ['of the vendor, where nothing is stored', vendors, false],
    ['without a name', nameless, true],
    ['in its own words', spoken, false],
  ])('%s is replayed to nobody', (_name, item, store) => {
    expect(input({ store, input: [item, call] })).toEqual([bare]);
  });

  test('what the vendor may have stored stays as it is, and so does what open models read again', () => {
    expect(input({ input: [vendors, call] })).toEqual([vendors, call]);
    expect(input({ store: false, input: [spoken, call] }, { model: 'gpt-oss-120b' })).toEqual([spoken, call]);
    expect(input({ store: false, input: [minted, call] }, { model: 'gpt-oss-120b' })).toEqual([bare]);
  });

  test('after a refusal of an id, ids are removed, and items that hold nothing else; signatures stay', () => {
    const own = { type: 'reasoning', id: 'rs_own', summary, encrypted_content: sealed };
    const refused: SignatureRefusal = { about: 'item', item: String(vendors.id) };
    expect(input({ input: [vendors, call, own, { ...call, id: 'fc_2' }] }, { refused })).toEqual([
      bare,
      { type: 'reasoning', summary, encrypted_content: 'OPENED' },
      bare,
    ]);
  });

  test('after a refusal of reasoning that led to nothing, that alone goes', () => {
    const own = (id: string) => ({ type: 'reasoning', id, summary, encrypted_content: sealed });
    const { id: _rs, ...other } = own('rs_2');
    expect(
      input(
        { store: false, input: [own('rs_1'), { role: 'user', content: 'q' }, own('rs_2'), call] },
        { refused: { about: 'item', item: 'rs_1', alone: true } },
      ),
    ).toEqual([{ role: 'user', content: 'q' }, { ...other, encrypted_content: 'OPENED' }, bare]);
  });
});

describe('replies', () => {
  const reply = verbatim.createReply(replyContext);
  const edited = (json: object): unknown => {
    const edits = reply.record(record(json));
    if (edits === 'drop') throw new Error('dropped');
    return JSON.parse(applyEdits(JSON.stringify(json), edits));
  };

  test('the model, and every signature, in events and in whole replies', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' };
    const response = { id: 'resp_1', model: 'gpt-5-2025', output: [item, { type: 'message' }] };
    const expected = { id: 'resp_1', model: 'caller-model', output: [{ ...item, encrypted_content: seal('E') }, { type: 'message' }] };
    expect(edited({ type: 'response.completed', response })).toEqual({ type: 'response.completed', response: expected });
    expect(edited({ type: 'response.output_item.done', item })).toEqual({ type: 'response.output_item.done', item: { ...item, encrypted_content: seal('E') } });
    expect(JSON.parse(applyEdits(JSON.stringify(response), reply.whole(response)))).toEqual(expected);
  });

  test('deltas, odd records and empty signatures change nothing', () => {
    const still = [
      { type: 'response.output_text.delta', delta: 'model' },
      { type: 'response.output_item.added', item: { encrypted_content: null } },
      { type: 'error', message: 'x' },
    ];
    for (const json of still) expect(reply.record(record(json))).toEqual([]);
    expect(reply.record({ data: '[DONE]', json: undefined })).toEqual([]);
    expect(reply.whole('text')).toEqual([]);
  });

  const streams = recorded('response.sse');
  (streams.length > 0 ? test.each(streams) : test.skip.each([{ name: 'none', text: '' }]))(
    'recorded: $name leaves no proof and no upstream model',
    ({ text }) => {
      const lines = text.split('\n').filter((line) => line.startsWith('data:') && !line.includes('[DONE]'));
      for (const line of lines) {
        const data = line.slice(5).trim();
        const json = JSON.parse(data) as unknown;
        const edits = verbatim.createReply(replyContext).record({ data, json });
        const out = applyEdits(data, edits === 'drop' ? [] : edits);
        expect(out).not.toMatch(/"encrypted_content": ?"(?!bWdzaWcx)/);
        const model = own(own(JSON.parse(out), 'response'), 'model');
        expect(model === undefined || model === 'caller-model').toBe(true);
        if (edits.length === 0) expect(out).toBe(data);
      }
    },
  );
});
