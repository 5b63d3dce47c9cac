/** Verbatim bodies: what changes in the bytes, and that nothing else does. */
import { describe, expect, test } from '@jest/globals';
import type { Loss } from '@model-gateway/contracts';
import { applyEdits, type Edit } from '@model-gateway/json-bytes';
import { countingIds, open, ownFixture, recorded, recordsOf, seal, target, writeContext } from '../../../test/support/beta.ts';
import { validateStream } from '../../../test/validate/beta.ts';
import type { VerbatimReply, VerbatimReplyContext, VerbatimRequestContext } from '../../contract/index.ts';
import { writePageToken } from '../../kit/found-page-token.ts';
import type { SignatureRefusal } from '../../kit/signature-refusal.ts';
import { verbatim } from './verbatim-rules.ts';

const edit = (text: string, edits: Edit[]): string => {
  const edited: unknown = applyEdits(text, edits);
  return typeof edited === 'string' ? edited : Buffer.from(edited as Uint8Array).toString();
};

function sendRequest(
  body: unknown,
  { baseUrl = 'https://upstream.test', model = 'upstream-id', refused }: { baseUrl?: string; model?: string; refused?: SignatureRefusal } = {},
) {
  const text = JSON.stringify(body);
  let parsed = 0;
  const context: VerbatimRequestContext = {
    ...writeContext(model, { target: target({ upstreamModelId: model, baseUrl }) }),
    ...(refused && { signaturesRefused: refused }),
    openPage: open,
    contains: (wanted) => text.includes(wanted),
    parse: () => {
      parsed += 1;
      return JSON.parse(text) as unknown;
    },
  };
  const { edits, losses } = verbatim.requestEdits(context);
  return { sent: JSON.parse(edit(text, edits)) as Record<string, unknown> & { messages: Record<string, unknown>[] }, parsed, losses };
}

const replyContext = (): VerbatimReplyContext => ({
  model: 'callers-name',
  mintId: countingIds(),
  sealSignature: seal,
  requestValue: () => undefined,
});

/** One recording is from before cache counts. */
const olderUsage = /no usage\.cache_/;

/** The stream as a caller gets it, record by record. */
function passStream(text: string): string {
  const reply = verbatim.createReply(replyContext());
  return recordsOf(text)
    .map((record) => {
      const raw = Buffer.from(record.raw).toString();
      const edits = reply.record(record);
      if (edits === 'drop') return '';
      return edits.length === 0 ? raw : raw.replace(record.data, () => edit(record.data, edits));
    })
    .join('');
}

describe('requests', () => {
  test('a plain body is not even parsed', () => {
    const { sent, parsed } = sendRequest({ model: 'callers-name', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], anything: { new: 1 } });
    expect(parsed).toBe(0);
    expect(sent).toEqual({ model: 'upstream-id', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }], anything: { new: 1 } });
  });

  describe('what the vendor’s own models refuse in the order of messages', () => {
    const ask = { role: 'user', content: 'q' };
    const use = (...ids: string[]) => ({ role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) });
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
    const absent = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: 'No result was recorded.' }], is_error: true });
    const send = (messages: unknown[], model = 'claude-sonnet-4-5') => {
      const { sent, losses } = sendRequest({ model: 'm', max_tokens: 5, messages }, { model });
      return { messages: sent.messages, losses: losses.map(({ field, action }) => `${field} ${action}`) };
    };
    const system = (text: string, more: object = {}) => ({ role: 'system', content: text, ...more });
    const folded = (text: string) => ({ type: 'text', text: `<system>\n${text}\n</system>` });

    test('calls without results are answered: at the end, before words, among others, before the next turn', () => {
      expect(send([ask, use('a')])).toEqual({ messages: [ask, use('a'), { role: 'user', content: [absent('a')] }], losses: ['tool_result emulated'] });
      expect(send([ask, use('a'), ask]).messages[2]).toEqual({ role: 'user', content: [absent('a'), { type: 'text', text: 'q' }] });
      expect(send([ask, use('a', 'b'), { role: 'user', content: [result('a')] }]).messages[2]).toEqual({ role: 'user', content: [absent('b'), result('a')] });
      expect(send([ask, use('a'), use('b'), { role: 'user', content: [result('b')] }, use('c')]).messages.slice(3)).toEqual([
        { role: 'user', content: [absent('a'), result('b')] },
        use('c'),
        { role: 'user', content: [absent('c')] },
      ]);
    });

    test('sound histories and models of others pass as they came', () => {
      const sound = [ask, use('a', 'b'), { role: 'user', content: [result('b')] }, { role: 'user', content: [result('a')] }];
      expect(send(sound)).toEqual({ messages: sound, losses: [] });
      expect(send([ask, use('a')], 'house-model')).toEqual({ messages: [ask, use('a')], losses: [] });
    });

    test('system turns become the user’s where the model takes none, behind the results that are awaited', () => {
      expect(send([ask, system('s')])).toEqual({ messages: [ask, { role: 'user', content: [folded('s')] }], losses: ['system downgraded'] });
      const between = [ask, use('a'), system('s', { output_config: { effort: 'low' } }), { role: 'user', content: [result('a')] }];
      expect(send(between)).toEqual({
        messages: [ask, use('a'), { role: 'user', content: [result('a'), folded('s')] }],
        losses: ['system downgraded', 'messages.output_config dropped'],
      });
      expect(send([ask, use('a'), system('s')]).messages[2]).toEqual({ role: 'user', content: [absent('a'), folded('s')] });
      expect(send([ask, system('s', { clear_at: 'next_user_message' }), ask])).toEqual({ messages: [ask, ask], losses: [] });
      expect(send([ask, system('s')], 'claude-opus-5')).toEqual({ messages: [ask, system('s')], losses: [] });
    });
  });

  test('a message thread goes on at an upstream of this protocol as it came', () => {
    const body = {
      model: 'm',
      thread: { type: 'continue', previous_message_id: 'msg_1' },
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] }],
    };
    expect(sendRequest(body).sent).toEqual({ ...body, model: 'upstream-id' });
  });

  test('signatures: ours are opened; thinking of other accounts is removed, never sent as text, and empty messages are removed', () => {
    const { sent, losses } = sendRequest({
      model: 'm',
      messages: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [{ type: 'redacted_thinking', data: 'raw' }] },
        { role: 'user', content: 'b' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'mine', signature: seal('proof') },
            { type: 'redacted_thinking', data: seal('opaque') },
            { type: 'thinking', thinking: 'theirs', signature: 'raw' },
            { type: 'redacted_thinking', data: 'raw' },
            { type: 'thinking', thinking: '', signature: 'raw' },
            { type: 'text', text: 'x' },
          ],
        },
      ],
    });
    expect(sent.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'user', content: 'b' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'mine', signature: 'proof' },
          { type: 'redacted_thinking', data: 'opaque' },
          { type: 'text', text: 'x' },
        ],
      },
    ]);
    expect(losses.map(({ field, action }) => [field, action])).toEqual([
      ['thinking.signature', 'dropped'],
      ['thinking', 'dropped'],
    ]);
  });

  test('a message that held nothing but readable thinking of another model goes as a whole', () => {
    const messages = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'theirs', signature: 'raw' }] },
      { role: 'user', content: 'b' },
    ];
    expect(sendRequest({ model: 'm', messages }).sent.messages).toEqual([messages[0], messages[2]]);
  });

  test('when the calls being answered lose their thinking, a budget goes too, with what depends on it', () => {
    const loop = (thinking: unknown, signature: string) =>
      sendRequest({
        model: 'm',
        thinking,
        context_management: { edits: [{ type: 'clear_thinking_20251015' }, { type: 'clear_tool_uses_20250919' }] },
        messages: [
          { role: 'user', content: 'a' },
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm', signature },
              { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
        ],
      }).sent;
    const stripped = loop({ type: 'enabled', budget_tokens: 2000 }, 'raw');
    expect(stripped).not.toHaveProperty('thinking');
    expect(stripped['context_management']).toEqual({ edits: [{ type: 'clear_tool_uses_20250919' }] });
    expect(loop({ type: 'adaptive' }, 'raw')).toHaveProperty('thinking');
    expect(loop({ type: 'enabled', budget_tokens: 2000 }, seal('p'))).toHaveProperty('thinking');
  });

  describe('a tool loop is one turn, which begins with its thinking', () => {
    const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
    const said = (...content: object[]) => ({ role: 'assistant', content });
    const result = (id: string, ...more: object[]) => ({ role: 'user', content: [{ type: 'tool_result', tool_use_id: id }, ...more] });
    const own = { type: 'thinking', thinking: 'hm', signature: seal('p') };
    const asked = { role: 'user', content: 'a' };
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    const sent = (messages: object[], model = 'claude-sonnet-4-5', more: object = {}, refused?: SignatureRefusal) =>
      sendRequest({ model: 'm', thinking, messages, ...more }, { model, ...(refused && { refused }) }).sent;

    test.each<[string, object[]]>([
      ['calls of a model that gave no thinking', [asked, said(use('1')), result('1')]],
      [
        'the same, with thinking of our own behind them',
        [asked, said(use('1')), result('1'), said(own, use('2')), result('2', { type: 'text', text: 'go on' })],
      ],
      ['thinking of an earlier turn', [asked, said(own, use('1')), result('1'), said({ type: 'text', text: 'x' }), asked, said(use('2')), result('2')]],
    ])('no budget for %s', (_name, messages) => {
      expect(sent(messages)).not.toHaveProperty('thinking');
    });

    test.each<[string, object[]]>([
      ['later calls of the loop without thinking', [asked, said(own, use('1')), result('1'), said(use('2')), result('2')]],
      ['a new question', [asked, said(use('1')), result('1'), said({ type: 'text', text: 'x' }), asked]],
      ['a plain conversation', [asked, said({ type: 'text', text: 'x' }), asked]],
    ])('a budget for %s', (_name, messages) => {
      expect(sent(messages)['thinking']).toEqual(thinking);
    });

    test('adaptive thinking, what becomes that, and servers that only speak the protocol have no such rule', () => {
      const messages = [asked, said(use('1')), result('1')];
      expect(sent(messages, 'claude-opus-4-6', { thinking: { type: 'adaptive' } })).toHaveProperty('thinking');
      expect(sent(messages, 'claude-opus-4-7')).toHaveProperty('thinking');
      expect(sent(messages, 'glm-4.6')).toHaveProperty('thinking');
    });

    test('an upstream that refuses it is retried without it, and gets its own signatures', () => {
      const messages = [asked, said(own, use('1')), result('1')];
      const again = sent(messages, 'glm-4.6', {}, { about: 'thinking' });
      expect(again).not.toHaveProperty('thinking');
      expect(again.messages[1]).toEqual(said({ ...own, signature: 'p' }, use('1')));
    });
  });

  test('the billing line goes to the vendor alone', () => {
    const line = 'x-anthropic-billing-header: cc_version=1; cch=abc;';
    const body = {
      model: 'm',
      system: [
        { type: 'text', text: line },
        { type: 'text', text: 'You are.' },
      ],
      messages: [],
    };
    expect(sendRequest(body).sent['system']).toEqual([{ type: 'text', text: 'You are.' }]);
    expect(sendRequest({ ...body, system: `${line}\n\nYou are.` }).sent['system']).toBe('You are.');
    expect(sendRequest({ ...body, system: [{ type: 'text', text: line }] }).sent).not.toHaveProperty('system');
    expect(sendRequest(body, { baseUrl: 'https://api.anthropic.com' }).sent['system']).toEqual(body.system);
    expect(sendRequest(body, { baseUrl: 'https://anthropic.com.evil.test' }).sent['system']).toHaveLength(1);
  });

  test('two calls of one id are refused here as well', () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'same', name: 'f', input: {} }] };
    expect(() => sendRequest({ model: 'm', messages: [call, call] })).toThrow('tool_use ids must be unique');
  });

  for (const { name, text } of recorded('request.json')) {
    test(`recorded ${name}: when every signature is ours, only the model changes`, () => {
      const context = {
        ...writeContext('upstream-id', { openSignature: (signature) => signature }),
        contains: (wanted: string) => text.includes(wanted),
        parse: () => JSON.parse(text) as unknown,
      };
      const { edits, losses } = verbatim.requestEdits(context);
      const model = (JSON.parse(text) as { model: string }).model;
      expect(edit(text, edits)).toBe(text.replace(new RegExp(`("model"\\s*:\\s*)"${model}"`), '$1"upstream-id"'));
      expect(losses).toEqual([]);
    });
  }
});

describe('what a compaction carries for its vendor alone', () => {
  const compacted = { type: 'compaction', content: 'We said hello.', signature: 'proof', encrypted_content: 'opaque', tool_changes: [] };
  const sealedOne = { ...compacted, signature: seal('proof'), encrypted_content: seal('opaque') };
  const sent = (block: object) => sendRequest({ model: 'm', messages: [{ role: 'assistant', content: [block] }] });

  test('is sealed in whole replies and in streams', () => {
    const reply = verbatim.createReply(replyContext());
    const whole = { content: [compacted] };
    expect(JSON.parse(edit(JSON.stringify(whole), reply.whole(whole)))).toEqual({ content: [sealedOne] });
    const passed = (event: object) => JSON.parse(edit(JSON.stringify(event), reply.record({ json: event } as never) as Edit[])) as unknown;
    const begun = (block: object) => ({ type: 'content_block_start', index: 0, content_block: block });
    expect(passed(begun(compacted))).toEqual(begun(sealedOne));
    expect(passed(begun({ type: 'compaction', content: null, encrypted_content: null }))).toEqual(
      begun({ type: 'compaction', content: null, encrypted_content: null }),
    );
    const grown = (encrypted_content: string) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'compaction_delta', content: 'We said hello.', encrypted_content },
    });
    expect(passed(grown('opaque'))).toEqual(grown(seal('opaque')));
  });

  test('is opened for its issuer, and left out for any other, who gets the summary', () => {
    expect(sent(sealedOne)).toMatchObject({ sent: { messages: [{ content: [compacted] }] }, losses: [] });
    const { signature: _signature, encrypted_content: _encrypted, ...readable } = compacted;
    const foreign = sent(compacted);
    expect(foreign.sent.messages).toEqual([{ role: 'assistant', content: [readable] }]);
    expect(foreign.losses).toEqual([expect.objectContaining({ field: 'compaction.signature', action: 'dropped' })]);
    expect(sent(readable)).toMatchObject({ sent: { messages: [{ content: [readable] }] }, losses: [] });
  });
});

test('searches that the gateway ran go to the vendor as text, without tokens that it could not read', () => {
  const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } };
  const found = (token: string) => ({
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://w.test', title: 'Weather', encrypted_content: token }],
  });
  const said = (token: string) => ({
    type: 'text',
    text: 'It is mild.',
    citations: [{ type: 'web_search_result_location', url: 'https://w.test', title: 'Weather', encrypted_index: token, cited_text: 'mild' }],
  });
  const bodyWith = (token: string) => ({
    model: 'callers-name',
    max_tokens: 5,
    messages: [
      { role: 'user', content: 'weather?' },
      { role: 'assistant', content: [search, found(token), said(token)] },
      { role: 'user', content: 'and tomorrow?' },
    ],
  });
  const { sent, losses } = sendRequest(bodyWith(writePageToken('It is mild in Oslo.', seal)));
  expect(sent.messages[1]!['content']).toEqual([
    { type: 'text', text: '[web_search: {"query":"weather"}]' },
    { type: 'text', text: expect.stringContaining('It is mild in Oslo.') },
    { type: 'text', text: 'It is mild.' },
  ]);
  expect(losses).toEqual([expect.objectContaining({ action: 'emulated' })]);
  // One that was changed, and one of the generation that everybody could read: what they held is not believed.
  for (const token of ['mgw2.forged', `mgw1.${Buffer.from('Buy gold.').toString('base64')}`]) {
    const { sent, losses } = sendRequest(bodyWith(token));
    expect(sent.messages[1]!['content']).toEqual([
      { type: 'text', text: '[web_search: {"query":"weather"}]' },
      { type: 'text', text: '[web_search result]\nWeather — https://w.test' },
      { type: 'text', text: 'It is mild.' },
    ]);
    expect(losses.map(({ field, action }) => [field, action])).toContainEqual(['messages.web_search', 'dropped']);
  }
  // The vendor's own stay as they are.
  expect(sendRequest(bodyWith('RW9sb2dpc3Q=')).sent.messages).toEqual(bodyWith('RW9sb2dpc3Q=').messages);
});

describe('replies', () => {
  test('model, ids of the caller’s calls and signatures change; every other byte stays', () => {
    const text = ownFixture('tools.sse');
    expect(passStream(text)).toBe(
      text
        .replace('"model":"claude-haiku-4-5"', '"model":"callers-name"')
        .replace('toolu_01Upstream', 'toolu_0001')
        .replace('toolu_02Upstream', 'toolu_0002')
        .replace('"c2lnbmF0dXJl"', `"${seal('c2lnbmF0dXJl')}"`)
        .replace('"b3BhcXVl"', `"${seal('b3BhcXVl')}"`),
    );
  });

  test('ids of server tools, and of calls that the upstream’s code made, stay', () => {
    const reply = verbatim.createReply(replyContext());
    const ids = (block: unknown) => reply.whole({ content: [block] });
    expect(ids({ type: 'server_tool_use', id: 'srvtoolu_1' })).toEqual([]);
    expect(ids({ type: 'mcp_tool_use', id: 'mcptoolu_1' })).toEqual([]);
    expect(ids({ type: 'tool_use', id: 'toolu_1', caller: { type: 'code_execution_20250825', tool_id: 'srvtoolu_1' } })).toEqual([]);
    expect(ids({ type: 'tool_use', id: 'toolu_1', caller: { type: 'direct' } })).toEqual([{ path: ['content', 0, 'id'], value: 'toolu_0001' }]);
  });

  for (const { name, text } of recorded('.sse')) {
    test(`recorded stream ${name}`, () => {
      const passed = passStream(text);
      const before = text.split('\n');
      const after = passed.split('\n');
      expect(after).toHaveLength(before.length);
      before.forEach((line, place) => {
        const mayChange =
          line.includes('"message_start"') || line.includes('"tool_use"') || line.includes('"signature_delta"') || line.includes('"redacted_thinking"');
        if (!mayChange) expect(after[place]).toBe(line);
        else expect(after[place]?.match(/\s*\}\s*$/)?.[0]).toBe(line.match(/\s*\}\s*$/)?.[0]);
      });
      expect(passed).toContain('"model":"callers-name"');
      for (const id of text.match(/"toolu_[A-Za-z0-9]{10,}"/g) ?? []) expect(passed).not.toContain(id);
      expect((passed.match(/srvtoolu_\w+/g) ?? []).join()).toBe((text.match(/srvtoolu_\w+/g) ?? []).join());
      expect(validateStream(passed).filter((fault) => !olderUsage.test(fault))).toEqual([]);
    });
  }

  for (const { name, text } of recorded('response.json').filter((file) => file.text.includes('"content"'))) {
    test(`recorded whole ${name}`, () => {
      const body = JSON.parse(text) as { content: Record<string, unknown>[] };
      const after = JSON.parse(edit(text, verbatim.createReply(replyContext()).whole(body))) as typeof body;
      expect(after).toMatchObject({ model: 'callers-name' });
      body.content.forEach((block, place) => {
        const changed = ['id', 'signature', 'data'].filter((field) => block[field] !== after.content[place]?.[field]);
        const expected = { tool_use: ['id'], thinking: ['signature'], redacted_thinking: ['data'] }[String(block['type'])] ?? [];
        expect(changed).toEqual(expected);
        expect({ ...after.content[place], id: 0, signature: 0, data: 0 }).toEqual({ ...block, id: 0, signature: 0, data: 0 });
      });
    });
  }
});

test('thinking that the vendor says it left aside is in the receipt, streamed and whole, and what it says passes', () => {
  const entry = (type: string) => [{ type, path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' }];
  const noted = (pass: (reply: VerbatimReply) => unknown): string[] => {
    const fields: string[] = [];
    const lose = ({ field }: Loss): void => void fields.push(field);
    pass(verbatim.createReply({ model: 'm', mintId: (prefix) => prefix, sealSignature: (text) => text, requestValue: () => undefined, lose }));
    return fields;
  };
  const record = (json: object) => ({ data: '', json });
  const dropped = { input_transformations: entry('thinking_dropped') };
  expect(noted((reply) => expect(reply.record(record({ type: 'message_start', message: dropped }))).toEqual([]))).toEqual(['messages.thinking']);
  expect(noted((reply) => expect(reply.record(record({ type: 'message_delta', delta: {}, ...dropped }))).toEqual([]))).toEqual(['messages.thinking']);
  expect(noted((reply) => expect(reply.whole({ content: [], ...dropped })).toEqual([]))).toEqual(['messages.thinking']);
  expect(noted((reply) => reply.whole({ content: [], input_transformations: entry('thinking_mismatch_allowed') }))).toEqual([]);
});

test('verdicts on calls name the ids that the caller has', () => {
  const verdictsOn = (id: string) => [{ type: 'dangerous_tool_use', status: { type: 'evaluated', tool_uses: { [id]: { type: 'not_flagged' } } } }];
  const call = { type: 'tool_use', id: 'toolu_vendors', name: 'Bash', input: {} };
  const event = (type: string, fields: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
  const streamed = passStream(
    event('content_block_start', { index: 0, content_block: call }) +
      event('message_delta', { delta: { safeguard_results: verdictsOn('toolu_vendors') }, usage: { output_tokens: 7 } }) +
      event('message_delta', { delta: { stop_reason: 'tool_use', safeguard_results: verdictsOn('toolu_vendors') }, usage: { output_tokens: 8 } }),
  );
  const [start, early, last] = recordsOf(streamed).map(({ data }) => JSON.parse(data));
  expect(start.content_block.id).not.toBe('toolu_vendors');
  for (const { delta } of [early, last]) expect(delta.safeguard_results).toEqual(verdictsOn(start.content_block.id));

  const body = { model: 'x', content: [call], safeguard_results: verdictsOn('toolu_vendors') };
  const whole = JSON.parse(edit(JSON.stringify(body), verbatim.createReply(replyContext()).whole(body)));
  expect(whole.safeguard_results).toEqual(verdictsOn(whole.content[0].id));
});
