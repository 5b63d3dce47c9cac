/** Items of Responses requests that newer clients send: what pairs, what passes as it is, and what is declared. */
import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json-bytes';
import { verbatim } from '../../src/alpha_response/shared/verbatim-rules.ts';
import { ask, type Pair } from '../board/cross.ts';
import { speakers, target, upstreams } from '../laws/harness.ts';
import { seal, writeContext } from '../support/alpha-response.ts';

function asked(id: string, input: unknown[], upstreamModelId: string) {
  const upstream = upstreams.find((one) => one.id.split(',')[0] === id)!;
  const client = speakers.find((one) => one.id === 'alpha_response')!;
  const pair: Pair = { client, upstream: { ...upstream, id, target: { ...target, upstreamModelId } } };
  const { text, losses } = ask(pair, { model: 'm', input, max_output_tokens: 100 });
  return { body: JSON.parse(text), losses };
}

const user = { role: 'user', content: 'go' };
const call = (call_id: string, name: string) => ({ type: 'function_call', call_id, name, arguments: '{}' });

describe('an output without call_id', () => {
  test.each([
    ['answers the oldest open call', {}],
    ['whatever its own id is', { id: 'fco_1' }],
  ])('%s', (_name, more) => {
    const input = [user, call('call_1', 'first'), call('call_2', 'second')];
    const outputs = ['one', 'two'].map((output, at) => ({ type: 'function_call_output', output, ...more, ...('id' in more && { id: `fco_${at}` }) }));
    const { messages } = asked('beta', [...input, ...outputs], 'claude-sonnet-4-5').body;
    const [one, two] = messages[1].content;
    expect([one.name, two.name]).toEqual(['first', 'second']);
    expect(messages[2].content).toMatchObject([
      { type: 'tool_result', tool_use_id: one.id },
      { type: 'tool_result', tool_use_id: two.id },
    ]);
    expect(JSON.stringify(messages[2].content[0])).toContain('one');
    expect(JSON.stringify(messages[2].content[1])).toContain('two');
  });

  test('answers the call of the tool that it names', () => {
    const outputs = ['second', 'first'].map((name) => ({ type: 'function_call_output', name, output: `of ${name}` }));
    const { messages } = asked('alpha', [user, call('call_1', 'first'), call('call_2', 'second'), ...outputs], 'gpt-4o').body;
    const tools = messages.filter(({ role }: { role: string }) => role === 'tool');
    expect(tools.map(({ tool_call_id, content }: Record<string, unknown>) => [tool_call_id, content]).sort()).toEqual([
      ['call_1', 'of first'],
      ['call_2', 'of second'],
    ]);
  });
});

const toBeta = (input: unknown[], more: object = {}): string[] => {
  const pair: Pair = { client: speakers.find((one) => one.id === 'alpha_response')!, upstream: upstreams.find((one) => one.id === 'beta')! };
  return ask(pair, { model: 'm', input, max_output_tokens: 100, ...more }).losses.map(({ action, field }) => `${action} ${field}`);
};

describe('what only the vendor knows is declared', () => {
  test.each(['additional_tools', 'tool_search_output'])('of tools in %s as of those in the request', (type) => {
    const tool = { type: 'function', name: 'f', parameters: { type: 'object' }, async: true, allowed_callers: ['programmatic'], output_schema: {} };
    const lost = ['dropped tools.async', 'dropped tools.output_schema', 'dropped tools.allowed_callers'];
    expect(toBeta([user, { type, tools: [tool] }])).toEqual(expect.arrayContaining(lost));
    expect(toBeta([user], { tools: [tool] })).toEqual(expect.arrayContaining(lost));
  });

  test('skills of a shell that the caller runs', () => {
    const shell = (skills: object[]) => ({ tools: [{ type: 'shell', environment: { type: 'local', skills } }] });
    expect(toBeta([user], shell([{ name: 's', description: 'd', path: '/s' }]))).toContain('dropped tools.environment.skills');
    expect(toBeta([user], shell([])).filter((loss) => loss.includes('skills'))).toEqual([]);
  });

  test('that a program made a call', () => {
    const made = (caller: object) => [user, { ...call('call_1', 'f'), caller }, { type: 'function_call_output', call_id: 'call_1', output: 'x' }];
    expect(toBeta(made({ type: 'program', caller_id: 'prog_1' }))).toContain('dropped input.1.caller');
    expect(toBeta(made({ type: 'direct' })).filter((loss) => loss.includes('caller'))).toEqual([]);
  });

  test('how it reasons, unless as usual', () => {
    const asks = (more: object) => toBeta([user], { reasoning: { effort: 'high', ...more } }).filter((loss) => /\.(?:mode|context)$/.test(loss));
    expect(asks({ mode: 'pro', context: 'all_turns' })).toEqual(['dropped reasoning.mode', 'dropped reasoning.context']);
    expect(asks({ mode: 'standard', context: 'auto' })).toEqual([]);
  });
});

const vendors = [
  { type: 'configuration_update', tools: [] },
  { type: 'program', id: 'prog_1', code: 'x' },
  { type: 'program_output', call_id: 'prog_1', output: 'x' },
  { type: 'tool_search_call', call_id: 'ts_1', arguments: {} },
  { type: 'item_of_next_year', anything: { new: [1] } },
];

describe.each(vendors)('$type', (item) => {
  test('passes as it is to the same protocol', () => {
    const text = JSON.stringify({ model: 'm', input: [user, item] });
    const context = { ...writeContext(), contains: (part: string) => text.includes(part), parse: () => JSON.parse(text) as unknown };
    const { edits, losses } = verbatim.requestEdits(context);
    expect(JSON.parse(applyEdits(text, edits)).input).toEqual([user, item]);
    expect(losses).toEqual([]);
  });

  test.each([
    ['beta', 'claude-sonnet-4-5'],
    ['alpha', 'gpt-4o'],
    ['gamma', 'gemini-2.5-pro'],
  ])('is a declared loss at %s, and never refused', (id, model) => {
    expect(asked(id, [user, item], model).losses).toContainEqual(expect.objectContaining({ field: 'input.1', action: 'dropped' }));
  });
});

describe('a compaction', () => {
  const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'opaque' };
  const reply = verbatim.createReply({ model: 'm', mintId: (prefix) => prefix, sealSignature: seal, requestValue: () => undefined });

  test('is sealed in events, in replies and in compacted conversations', () => {
    const sealed = { ...item, encrypted_content: seal('opaque') };
    const event = { type: 'response.output_item.done', output_index: 0, item };
    const passed = applyEdits(JSON.stringify(event), reply.record({ json: event } as never) as never);
    expect(JSON.parse(passed)).toEqual({ ...event, item: sealed });
    for (const object of ['response', 'response.compaction']) {
      const body = { object, output: [item] };
      expect(JSON.parse(applyEdits(JSON.stringify(body), reply.whole(body)))).toEqual({ object, output: [sealed] });
    }
  });

  test('the event that it grows passes as it is', () => {
    const json = { type: 'response.compaction.compacting', item_id: 'cmp_1', output_index: 0, sequence_number: 3 };
    expect(reply.record({ json } as never)).toEqual([]);
  });
});
