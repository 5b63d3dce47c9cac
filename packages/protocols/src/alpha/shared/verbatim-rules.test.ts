import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json-bytes';
import type { VerbatimReplyContext, VerbatimRequestContext } from '../../contract/index.ts';
import type { SignatureRefusal } from '../../kit/signature-refusal.ts';
import { verbatim } from './verbatim-rules.ts';

function request(body: unknown, options: { stream?: boolean; model?: string; refused?: SignatureRefusal } = {}) {
  const text = JSON.stringify(body);
  let parsed = 0;
  const context: VerbatimRequestContext = {
    target: { baseUrl: 'https://h', directPath: false, upstreamModelId: options.model ?? 'real', neutralHeaders: false, extraConfig: null },
    operation: 'generate',
    stream: options.stream ?? false,
    openSignature: (sealed) => (sealed.startsWith('mine:') ? sealed.slice(5) : null),
    mintId: (prefix) => `${prefix}1`,
    ...(options.refused && { signaturesRefused: options.refused }),
    contains: (part) => text.includes(part),
    value: (key) => {
      const value = (body as Record<string, unknown>)[key];
      return value === undefined ? undefined : Buffer.from(JSON.stringify(value));
    },
    parse() {
      parsed++;
      return JSON.parse(text) as unknown;
    },
  };
  const { edits, losses } = verbatim.requestEdits(context);
  return { after: JSON.parse(apply(text, edits)) as Record<string, unknown>, losses, parsed };
}

const apply = (text: string, edits: Parameters<typeof applyEdits>[1]): string => new TextDecoder().decode(applyEdits(new TextEncoder().encode(text), edits));

const reply = (asked: unknown = {}) => {
  const context: VerbatimReplyContext = {
    model: 'caller-name',
    mintId: (prefix) => `${prefix}1`,
    sealSignature: (signature) => `sealed:${signature}`,
    requestValue: (key) => (asked as Record<string, unknown>)[key],
  };
  return verbatim.createReply(context);
};

const messages = [{ role: 'user', content: 'x' }];

describe('signatures in the fields of other vendors’ proxies', () => {
  const message = (signature: string) => ({
    role: 'assistant',
    content: 'a',
    reasoning_opaque: signature,
    thinking_blocks: [
      { type: 'thinking', thinking: 't', signature: signature },
      { type: 'redacted_thinking', data: signature },
    ],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, provider_specific_fields: { thought_signature: signature } }],
  });

  test('are sealed on the way out, opened on the way in', () => {
    const whole = { model: 'x', choices: [{ index: 0, message: message('P') }] };
    const { text } = { text: apply(JSON.stringify(whole), reply().whole(whole)) };
    expect(JSON.parse(text)).toEqual({ model: 'caller-name', choices: [{ index: 0, message: message('sealed:P') }] });
    expect(request({ model: 'c', messages: [message('mine:P')] }).after['messages']).toEqual([message('P')]);
  });

  test('and taken out when they are not ours to send', () => {
    const [stripped] = request({ model: 'c', messages: [message('raw')] }).after['messages'] as Record<string, unknown>[];
    expect(JSON.stringify(stripped)).not.toContain('raw');
    expect(stripped).toMatchObject({ content: 'a', thinking_blocks: [], tool_calls: [{ id: 'c' }] });
  });
});

test('ids of nine characters stay as they are where only such are taken, and nothing is said of them', () => {
  const history = [{ role: 'assistant', content: null, tool_calls: [{ id: 'abcDEF123', type: 'function', function: { name: 'f', arguments: '{}' } }] }];
  const { after, losses } = request({ model: 'c', messages: history }, { model: 'mistral-large' });
  expect([after['messages'], losses]).toEqual([history, []]);
});

describe('requests', () => {
  test('only the model changes, and nothing is parsed for it', () => {
    expect(request({ model: 'caller', messages, odd: { kept: 1 } })).toEqual({ after: { model: 'real', messages, odd: { kept: 1 } }, losses: [], parsed: 0 });
  });

  test('a stream asks for usage, beside what the caller set', () => {
    expect(request({ model: 'c', messages, stream: true }, { stream: true }).after['stream_options']).toEqual({ include_usage: true });
    expect(request({ model: 'c', messages, stream_options: { include_obfuscation: false } }, { stream: true }).after['stream_options']).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
    expect(request({ model: 'c', messages, stream_options: null }, { stream: true }).after['stream_options']).toEqual({ include_usage: true });
    expect(request({ model: 'c', messages }, { stream: true, model: 'mistral-large' }).after['stream_options']).toBeUndefined();
  });

  test('sealed signatures are opened, or removed and nothing else', () => {
    const google = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });
    const assistant = {
      role: 'assistant',
      content: null,
      reasoning_details: [
        { type: 'reasoning.text', text: 'a', signature: 'mine:A' },
        { type: 'reasoning.text', text: 'b', signature: 'other' },
        { type: 'reasoning.encrypted', data: 'other' },
        { type: 'reasoning.encrypted', data: 'mine:D' },
      ],
      tool_calls: [
        { id: '1', function: { name: 'f', arguments: '{}' }, ...google('mine:T') },
        { id: '2', function: { name: 'f', arguments: '{}' }, ...google('skip_thought_signature_validator') },
      ],
    };
    const { after, losses } = request({ model: 'c', messages: [...messages, assistant] });
    expect((after['messages'] as unknown[])[1]).toEqual({
      ...assistant,
      reasoning_details: [
        { type: 'reasoning.text', text: 'a', signature: 'A' },
        { type: 'reasoning.text', text: 'b' },
        { type: 'reasoning.encrypted', data: 'D' },
      ],
      tool_calls: [
        { id: '1', function: { name: 'f', arguments: '{}' }, ...google('T') },
        { id: '2', function: { name: 'f', arguments: '{}' } },
      ],
    });
    expect(losses.map((loss) => loss.field)).toEqual(['reasoning.signature']);
  });
});

describe('what other vendors left in the history', () => {
  const dummy = 'skip_thought_signature_validator';
  const google = (thought_signature: string) => ({ extra_content: { google: { thought_signature } } });
  const call = (id: string, more: object = {}) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' }, ...more });
  const calls = (...list: object[]) => ({ role: 'assistant', content: null, tool_calls: list });
  const answer = { role: 'tool', tool_call_id: 'abcDEF123', content: 'ok' };
  const sent = (history: object[], model: string, more: object = {}, refused?: SignatureRefusal) => {
    const { after, losses, parsed } = request({ model: 'c', messages: history, ...more }, { model, ...(refused && { refused }) });
    return { after, list: after['messages'] as Record<string, unknown>[], losses: losses.map(({ action, field }) => `${action} ${field}`), parsed };
  };

  test.each(['gpt-5.2', 'mistral-large-latest', 'deepseek-chat', 'some-model'])(
    'no placeholder for a missing signature goes to %s, nor an empty field for it',
    (model) => {
      const { list } = sent([...messages, calls(call('abcDEF123', google(dummy))), answer], model);
      expect(list[1]).toEqual(calls(call('abcDEF123')));
    },
  );

  test('nor the field of a signature that is not sent, but its other content', () => {
    const kept = call('abcDEF123', { extra_content: { google: { thought_signature: 'other', kept: 1 } } });
    expect(sent([...messages, calls(call('abcDEF123', google('other'))), answer], 'gpt-5.2').list[1]).toEqual(calls(call('abcDEF123')));
    expect(sent([...messages, calls(kept), answer], 'gpt-5.2').list[1]).toEqual(calls(call('abcDEF123', { extra_content: { google: { kept: 1 } } })));
  });

  test('a family that checks signatures gets the placeholder on the first call of each message, its own signatures unchanged', () => {
    const history = [
      calls(call('a'), call('b')),
      calls(call('c', google('mine:T')), call('d')),
      calls(call('e', google('other'))),
      calls(call('f', google(dummy))),
    ];
    const { list, losses } = sent(history, 'gemini-3-pro-preview');
    expect(list).toEqual([
      calls(call('a', google(dummy)), call('b')),
      calls(call('c', google('T')), call('d')),
      calls(call('e', google(dummy))),
      calls(call('f', google(dummy))),
    ]);
    expect(losses).toEqual(['emulated messages.tool_calls.signature']);
    // A model of an unknown name gets it once its upstream has asked for it, and keeps its own signatures.
    expect(sent(history, 'real', {}, { about: 'call-signature' }).list).toEqual(list);
  });

  const developer = { role: 'developer', content: 'be brief' };
  test.each(['deepseek-chat', 'mistral-large-latest', 'qwen3-max', 'kimi-k2', 'glm-4.6', 'some-model'])('%s gets the developer role as system', (model) => {
    const { list, losses } = sent([developer, ...messages], model);
    expect(list).toEqual([{ role: 'system', content: 'be brief' }, ...messages]);
    expect(losses).toEqual(['renamed messages.role']);
  });

  test('models of the vendor who made the role keep it, unparsed', () => {
    expect(sent([developer, ...messages], 'gpt-5.2')).toMatchObject({ list: [developer, ...messages], losses: [], parsed: 0 });
  });

  const thought = {
    role: 'assistant',
    content: 'a',
    reasoning_content: 'because',
    reasoning: 'because',
    reasoning_details: [{ type: 'reasoning.text', text: 'because', signature: 'other' }],
  };
  test.each(['mistral-large-latest', 'devstral-2512', 'gpt-5.2', 'gpt-4o', 'gemini-3-pro-preview', 'gemini-2.5-flash'])(
    '%s gets no reasoning of earlier replies',
    (model) => {
      const { list, losses } = sent([...messages, thought, ...messages], model);
      expect(list[1]).toEqual({ role: 'assistant', content: 'a' });
      expect(losses).toContain('dropped messages.reasoning');
    },
  );

  test('who gave it gets it back', () => {
    const own = { ...thought, reasoning_details: [{ type: 'reasoning.text', text: 'because', signature: 'mine:P' }] };
    const { list, losses } = sent([...messages, own, ...messages], 'openai/gpt-5.2');
    expect(list[1]).toEqual({ ...own, reasoning_details: [{ type: 'reasoning.text', text: 'because', signature: 'P' }] });
    expect(losses).toEqual([]);
  });

  test.each(['some-model', 'deepseek-chat', 'glm-4.6', 'qwen3-max'])('%s keeps the bytes of readable reasoning', (model) => {
    const plain = { role: 'assistant', content: 'a', reasoning_content: 'because' };
    expect(sent([...messages, plain, ...messages], model)).toMatchObject({ list: [...messages, plain, ...messages], losses: [], parsed: 0 });
  });

  test("what an SDK's own message object holds beside is not sent where only few fields are taken", () => {
    const echoed = { ...calls(call('abcDEF123')), refusal: null, annotations: [], audio: null, function_call: null };
    const { list, losses } = sent([...messages, echoed, answer], 'mistral-large-latest');
    expect(list[1]).toEqual(calls(call('abcDEF123')));
    expect(losses).toEqual([]);
    expect(sent([...messages, { ...echoed, refusal: 'no' }, answer], 'mistral-large-latest').losses).toEqual(['dropped messages.refusal']);
  });

  describe('calls without the reasoning that led to them', () => {
    const own = { ...calls(call('a')), reasoning_content: 'because' };
    const history = [...messages, own, answer, calls(call('b')), answer, { role: 'assistant', content: 'done' }];
    const filled = [...messages, own, answer, { ...calls(call('b')), reasoning_content: ' ' }, answer, { role: 'assistant', content: 'done' }];
    const enabled = { thinking: { type: 'enabled' } };

    test.each([
      ['deepseek-v3.2', enabled],
      ['deepseek-reasoner', {}],
      ['deepseek-v4-pro', {}],
      ['kimi-k2-thinking', {}],
      ['kimi-k2-turbo', enabled],
    ])('%s gets a blank in its place', (model, more) => {
      const { list, losses } = sent(history, model, more);
      expect(list).toEqual(filled);
      expect(losses).toEqual(['emulated messages.reasoning']);
    });

    test.each([
      ['deepseek-v3.2', {}],
      ['deepseek-v4-pro', { thinking: { type: 'disabled' } }],
      ['kimi-k2-turbo', {}],
      ['llama-3.3-70b', {}],
      ['some-model', enabled],
    ])('%s, which does not think, is not even looked at', (model, more) => {
      expect(sent(history, model, more)).toMatchObject({ list: history, losses: [], parsed: 0 });
    });

    test('refused all the same: no thinking, where that can be said, and a blank wherever there is none', () => {
      const again = sent(history, 'deepseek-v3.2', enabled, { about: 'reasoning' });
      expect(again.after['thinking']).toEqual({ type: 'disabled' });
      expect(again.list).toEqual([...filled.slice(0, -1), { role: 'assistant', content: 'done', reasoning_content: ' ' }]);
      const unknown = sent(history, 'some-model', {}, { about: 'reasoning' });
      expect(unknown.list).toEqual(again.list);
      expect(unknown.after['thinking']).toBeUndefined();
    });
  });
});

describe('replies', () => {
  const record = (json: unknown) => ({ data: JSON.stringify(json), json });
  const edited = (one: ReturnType<typeof reply>, json: unknown) => {
    const edits = one.record(record(json));
    return edits === 'drop' ? 'drop' : (JSON.parse(apply(JSON.stringify(json), edits)) as unknown);
  };

  test('chunks carry the name that the caller used', () => {
    expect(edited(reply(), { id: '1', model: 'real', choices: [{ delta: { content: 'x' } }] })).toEqual({
      id: '1',
      model: 'caller-name',
      choices: [{ delta: { content: 'x' } }],
    });
    expect(reply().record({ data: '[DONE]', json: undefined })).toEqual([]);
  });

  test('usage that the caller did not ask for is not seen', () => {
    const counts = { prompt_tokens: 1 };
    expect(edited(reply(), { model: 'm', choices: [], usage: counts })).toBe('drop');
    expect(edited(reply(), { model: 'm', choices: [{}], usage: null })).toEqual({ model: 'caller-name', choices: [{}] });
    // Vendors that put it on the finish chunk do so unasked.
    expect(edited(reply(), { model: 'm', choices: [{}], usage: counts })).toEqual({ model: 'caller-name', choices: [{}], usage: counts });
    const asked = { stream_options: { include_usage: true } };
    expect(edited(reply(asked), { model: 'm', choices: [], usage: counts })).toEqual({ model: 'caller-name', choices: [], usage: counts });
    expect(edited(reply(asked), { model: 'm', choices: [{}], usage: null })).toEqual({ model: 'caller-name', choices: [{}], usage: null });
  });

  test('signatures are sealed in every field', () => {
    const delta = {
      reasoning_details: [
        { type: 'reasoning.text', signature: 'S' },
        { type: 'reasoning.encrypted', data: 'D' },
      ],
      tool_calls: [{ index: 0, extra_content: { google: { thought_signature: 'T' } } }],
      thought_signature: 'U',
    };
    expect(edited(reply(), { choices: [{ delta }] })).toEqual({
      choices: [
        {
          delta: {
            reasoning_details: [
              { type: 'reasoning.text', signature: 'sealed:S' },
              { type: 'reasoning.encrypted', data: 'sealed:D' },
            ],
            tool_calls: [{ index: 0, extra_content: { google: { thought_signature: 'sealed:T' } } }],
            thought_signature: 'sealed:U',
          },
        },
      ],
    });
  });

  test('a whole reply', () => {
    const body = {
      model: 'real',
      choices: [{ message: { content: 'x', extra_content: { google: { thought_signature: 'T' } } } }],
      usage: { prompt_tokens: 1 },
    };
    expect(JSON.parse(apply(JSON.stringify(body), reply().whole(body)))).toEqual({
      model: 'caller-name',
      choices: [{ message: { content: 'x', extra_content: { google: { thought_signature: 'sealed:T' } } } }],
      usage: { prompt_tokens: 1 },
    });
  });
});
