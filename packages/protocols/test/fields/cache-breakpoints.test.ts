/** Cache marks of other protocols as the breakpoints of the newest OpenAI models, and the other way round. */
import { describe, expect, test } from '@jest/globals';
import { readUsage as readChatUsage } from '../../src/alpha/shared/usage.ts';
import { readUsage } from '../../src/alpha_response/shared/usage.ts';
import { ask, type Pair } from '../board/cross.ts';
import { speakers, target, upstreams } from '../laws/harness.ts';

function asked(client: string, id: string, upstreamModelId: string, body: Record<string, unknown>) {
  const upstream = upstreams.find((one) => one.id.split(',')[0] === id)!;
  const pair: Pair = { client: speakers.find((one) => one.id === client)!, upstream: { ...upstream, id, target: { ...target, upstreamModelId } } };
  const { text, losses } = ask(pair, body);
  return { body: JSON.parse(text), text, losses };
}

const cache_control = { type: 'ephemeral' };
const hour = { type: 'ephemeral', ttl: '1h' };
const message = (role: string, text: string, mark?: object) => ({ role, content: [{ type: 'text', text, ...(mark && { cache_control: mark }) }] });
const marked = (mark: object) => ({
  model: 'm',
  max_tokens: 100,
  system: [{ type: 'text', text: 'rules', cache_control: mark }],
  messages: [message('user', 'one'), message('assistant', 'two'), message('user', 'three', mark)],
});

describe('marks become breakpoints', () => {
  test.each(['gpt-5.6-terra', 'gpt-6-astra'])('on the parts of a Responses request to %s', (model) => {
    const { body, losses } = asked('beta', 'alpha_response', model, marked(hour));
    expect(body.prompt_cache_options).toEqual({ mode: 'explicit', ttl: '12h' });
    expect(body.instructions).toBeUndefined();
    expect(body.input[0]).toMatchObject({ role: 'system', content: [{ type: 'input_text', text: 'rules', prompt_cache_breakpoint: { mode: 'explicit' } }] });
    expect(body.input.at(-1).content[0].prompt_cache_breakpoint).toEqual({ mode: 'explicit' });
    expect(losses.filter(({ field }) => /cache/.test(field))).toEqual([]);
  });

  test('on the parts of a chat completion, which keeps them for half an hour at most', () => {
    const { body, losses } = asked('beta', 'alpha', 'gpt-5.6-terra', marked(hour));
    expect(body.prompt_cache_options).toEqual({ mode: 'explicit', ttl: '30m' });
    expect(body.messages[0].content[0]).toMatchObject({ text: 'rules', prompt_cache_breakpoint: { mode: 'explicit' } });
    expect(body.messages.at(-1).content[0].prompt_cache_breakpoint).toEqual({ mode: 'explicit' });
    expect(losses.find(({ field }) => field === 'cache_control.ttl')?.action).toBe('downgraded');
  });

  test.each([
    [
      { type: 'ephemeral', ttl: '5m' },
      { mode: 'explicit', ttl: '30m' },
    ],
    [cache_control, { mode: 'explicit' }],
  ])('%j asks for %j', (mark, options) => {
    expect(asked('beta', 'alpha_response', 'gpt-5.6', marked(mark)).body.prompt_cache_options).toEqual(options);
    expect(asked('beta', 'alpha', 'gpt-5.6', marked(mark)).body.prompt_cache_options).toEqual(options);
  });

  test('each keeps its own lifetime where they differ', () => {
    const mixed = { ...marked(cache_control), system: [{ type: 'text', text: 'rules', cache_control: hour }] };
    const { body } = asked('beta', 'alpha_response', 'gpt-5.6', mixed);
    expect(body.prompt_cache_options).toEqual({ mode: 'explicit', ttl: '12h' });
    expect(body.input[0].content[0].prompt_cache_breakpoint).toEqual({ mode: 'explicit' });
    expect(body.input.at(-1).content[0].prompt_cache_breakpoint).toEqual({ mode: 'explicit', ttl: '30m' });
  });

  test.each(['alpha', 'alpha_response'])('the last four stay, for %s', (upstream) => {
    const content = ['1', '2', '3', '4', '5', '6'].map((text) => ({ type: 'text', text, prompt_cache_breakpoint: { mode: 'explicit' } }));
    const chat = { model: 'm', messages: [{ role: 'user', content }] };
    const input = { model: 'm', input: [{ role: 'user', content: content.map((part) => ({ ...part, type: 'input_text' })) }] };
    const { body, losses } = upstream === 'alpha' ? asked('alpha_response', 'alpha', 'gpt-5.6', input) : asked('alpha', upstream, 'gpt-5.6', chat);
    const parts = (body.messages ?? body.input)[0].content as Record<string, unknown>[];
    expect(parts.filter((part) => part['prompt_cache_breakpoint']).map((part) => part['text'])).toEqual(['3', '4', '5', '6']);
    expect(losses.find(({ field }) => field === 'cache_control')?.action).toBe('dropped');
  });

  test.each(['alpha', 'alpha_response'])('the result of a call carries one, for %s', (upstream) => {
    const { text, body } = asked('beta', upstream, 'gpt-5.6', {
      model: 'm',
      max_tokens: 100,
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        message('user', 'go'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done', cache_control }] },
      ],
    });
    expect(text).toContain('prompt_cache_breakpoint');
    const result = upstream === 'alpha' ? body.messages.at(-1).content : body.input.at(-1).output;
    expect(result).toMatchObject([{ text: 'done', prompt_cache_breakpoint: { mode: 'explicit' } }]);
  });

  test.each(['gpt-5.5', 'gpt-5.1', 'gpt-4o', 'gpt-oss-120b', 'qwen-plus', 'house-model'])('%s never sees one', (model) => {
    for (const upstream of ['alpha', 'alpha_response']) {
      const { text, losses } = asked('beta', upstream, model, marked(hour));
      expect(text).not.toMatch(/prompt_cache_(breakpoint|options)/);
      expect(losses.some(({ field, action }) => /cache_control/.test(field) && action === 'dropped')).toBe(true);
    }
  });

  test('content that takes no breakpoint keeps the vendor’s own', () => {
    const body = { ...marked(cache_control), messages: [message('user', 'one'), message('assistant', 'two', cache_control), message('user', 'three')] };
    const written = asked('beta', 'alpha_response', 'gpt-5.6', body);
    expect(written.body.prompt_cache_options?.mode).toBeUndefined();
    expect(written.losses.find(({ field }) => field === 'messages.cache_control')?.action).toBe('dropped');
  });
});

test.each(['gpt-5.6', 'gpt-4o', 'claude-sonnet-4.5', 'qwen-plus'])('a mark on a call is a declared loss in a chat completion of %s', (model) => {
  const { losses } = asked('beta', 'alpha', model, {
    model: 'm',
    max_tokens: 100,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      message('user', 'go'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {}, cache_control }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
    ],
  });
  expect(losses.map(({ field, action, detail }) => [field, action, detail])).toContainEqual(['cache_control', 'dropped', expect.stringMatching(/^A call/)]);
});

test.each(['gpt-4o', 'qwen-plus'])('a mark on the result of a call is a declared loss in a chat completion of %s', (model) => {
  const { losses } = asked('beta', 'alpha', model, {
    model: 'm',
    max_tokens: 100,
    tools: [{ name: 'f', input_schema: { type: 'object' } }],
    messages: [
      message('user', 'go'),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done', cache_control }] },
    ],
  });
  expect(losses.filter(({ field }) => field === 'cache_control').map(({ action }) => action)).toEqual(['dropped']);
});

describe('options of a caller', () => {
  const part = { prompt_cache_breakpoint: { mode: 'explicit' } };
  // The harness puts a mark of its own on the last block, so the caller's precedes it.
  const bodies = {
    alpha: {
      model: 'm',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'hi', ...part },
            { type: 'text', text: 'now' },
          ],
        },
      ],
    },
    alpha_response: {
      model: 'm',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'hi', ...part },
            { type: 'input_text', text: 'now' },
          ],
        },
      ],
    },
  };
  describe.each(Object.entries(bodies))('%s', (client, body) => {
    const to = (options: object) => asked(client, 'beta', 'claude-sonnet-4-5', { ...body, prompt_cache_options: options });
    test('a lifetime holds for the breakpoints that name none', () => {
      const { body: written, losses } = to({ mode: 'explicit', ttl: '12h' });
      expect(written.messages[0].content[0].cache_control).toEqual(hour);
      expect(losses.filter(({ field }) => /cache/.test(field))).toEqual([]);
      expect(to({ mode: 'implicit' }).body.messages[0].content[0].cache_control).toEqual(cache_control);
    });
    test('comparison_response_id is a loss', () => {
      const { losses } = to({ mode: 'explicit', comparison_response_id: 'resp_1' });
      expect(losses.find((loss) => loss.field === 'prompt_cache_options.comparison_response_id')?.action).toBe('dropped');
    });
    test('prewarm asks for no reply, and is declared', () => {
      const limit = client === 'alpha' ? { max_tokens: 500 } : { max_output_tokens: 500 };
      const { body: written, losses } = asked(client, 'beta', 'claude-sonnet-4-5', { ...body, ...limit, prompt_cache_options: { prewarm: true } });
      expect(written.max_tokens).toBe(0);
      expect(losses.find((loss) => loss.field === 'prompt_cache_options.prewarm')?.action).toBe('emulated');
    });
    test.each([
      ['implicit beside breakpoints', { mode: 'implicit', ttl: '30m' }, { ttl: '30m' }],
      ['the default beside breakpoints', { ttl: '30m' }, { ttl: '30m' }],
      ['no options at all', undefined, undefined],
    ])('%s does not become explicit', (_name, options, expected) => {
      const other = client === 'alpha' ? 'alpha_response' : 'alpha';
      const { body: written, text } = asked(client, other, 'gpt-5.6', { ...body, ...(options && { prompt_cache_options: options }) });
      expect(text).toContain('"prompt_cache_breakpoint"');
      expect(written.prompt_cache_options).toEqual(expected);
    });
    test('half an hour stays half an hour at the same vendor', () => {
      const other = client === 'alpha' ? 'alpha_response' : 'alpha';
      const { body: written } = asked(client, other, 'gpt-5.6', { ...body, prompt_cache_options: { mode: 'explicit', ttl: '30m' } });
      expect(written.prompt_cache_options).toEqual({ mode: 'explicit', ttl: '30m' });
    });
  });
});

test('compute units beside the counts change nothing', () => {
  const counts = { input_tokens: 5, output_tokens: 2, total_tokens: 7 };
  expect(readUsage({ ...counts, compute_units: 12.5 })).toEqual(readUsage(counts));
  expect(readChatUsage({ ...counts, compute_units: { input: 1 } })).toEqual(readChatUsage(counts));
});
