import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json';
import type { VerbatimReplyContext, VerbatimRequestContext } from '../protocol.ts';
import { verbatim } from './anatomy.ts';

function request(body: unknown, options: { stream?: boolean; model?: string } = {}) {
  const text = JSON.stringify(body);
  let parsed = 0;
  const context: VerbatimRequestContext = {
    target: { baseUrl: 'https://h', directPath: false, upstreamModelId: options.model ?? 'real', neutralHeaders: false, extraConfig: null },
    operation: 'generate',
    stream: options.stream ?? false,
    openSignature: (sealed) => (sealed.startsWith('mine:') ? sealed.slice(5) : null),
    mintId: (prefix) => `${prefix}1`,
    contains: (part) => text.includes(part),
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

describe('proofs that proxies of other vendors put elsewhere', () => {
  const message = (proof: string) => ({
    role: 'assistant',
    content: 'a',
    reasoning_opaque: proof,
    thinking_blocks: [
      { type: 'thinking', thinking: 't', signature: proof },
      { type: 'redacted_thinking', data: proof },
    ],
    tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' }, provider_specific_fields: { thought_signature: proof } }],
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

  test('sealed proofs are opened, or taken out with nothing else', () => {
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
        { id: '2', function: { name: 'f', arguments: '{}' }, ...google('skip_thought_signature_validator') },
      ],
    });
    expect(losses.map((loss) => loss.field)).toEqual(['reasoning.signature']);
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

  test('proofs are sealed wherever they stand', () => {
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
