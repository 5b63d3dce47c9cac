/** Our own stream and whole replies: valid for strict clients, and the same reply when read again. */
import { describe, expect, test } from '@jest/globals';
import { noUsage, type Usage } from '@model-gateway/contracts';
import fc from 'fast-check';
import { readContext, readStream, replyContext, seal, unseal } from '../../../test/support/alpha-response.ts';
import { validateStream } from '../../../test/validate/alpha-response.ts';
import type { BlockStart, ChatEvent, FinishReason } from '../../chat/event.ts';
import { foldEvents } from '../../chat/fold.ts';
import { asArray, own } from '../../kit/read.ts';
import { ResponseReader, readWhole } from '../upstream/read-response.ts';
import { readRequest } from './read-request.ts';
import { createWriter, writeWhole } from './write-response.ts';

const usage: Usage = { ...noUsage, input: 10, cacheRead: 5, output: 7, reasoning: 3 };
const start: ChatEvent = { type: 'start', id: 'up', model: 'up-model' };
const ending = (reason: FinishReason): ChatEvent[] => [{ type: 'finish', reason }, { type: 'usage', usage }, { type: 'end' }];
const deltas = { text: 'text-delta', thinking: 'thinking-delta', refusal: 'refusal-delta', 'tool-call': 'arguments-delta' } as const;

function block(index: number, open: BlockStart, texts: string[], signature?: string): ChatEvent[] {
  const type = deltas[open.type as keyof typeof deltas];
  return [
    { type: 'block-start', index, block: open },
    ...texts.map((text): ChatEvent => ({ type, index, text })),
    ...(signature === undefined ? [] : [{ type: 'signature', index, signature } as const]),
    { type: 'block-end', index },
  ];
}

function write(events: ChatEvent[], echo?: unknown): { text: string; losses: unknown[]; types: string[]; last: unknown } {
  const writer = createWriter(replyContext(echo));
  const text = events.map((event) => writer.write(event)).join('');
  expect(validateStream(text)).toEqual([]);
  const json = [...text.matchAll(/^data: ([^\n]*)$/gm)].map((match) => JSON.parse(match[1] ?? '') as unknown);
  return { text, losses: writer.losses, types: json.map((event) => String(own(event, 'type'))), last: own(json.at(-1), 'response') };
}

const call = (id: string, name: string, custom?: true): BlockStart => ({ type: 'tool-call', id, name, ...(custom && { custom }) });
const echoOf = (body: object): unknown => readRequest({ input: 'x', ...body }, readContext).echo;

describe('stream', () => {
  test('a response that is complete says when it was; one that runs, or was cut off, has no such time', () => {
    const timesOf = (reason: FinishReason): unknown[] => {
      const { text } = write([start, ...block(0, { type: 'text' }, ['a']), ...ending(reason)]);
      return [...text.matchAll(/"completed_at":(\w+)/g)].map(([, time]) => time);
    };
    expect(timesOf('stop')).toEqual(['null', 'null', '1700000002']);
    expect(timesOf('length')).toEqual(['null', 'null', 'null']);
  });

  test('the order of events', () => {
    const { types } = write([
      start,
      ...block(0, { type: 'thinking' }, ['a', 'b'], 'proof'),
      ...block(1, { type: 'text' }, ['c']),
      ...block(2, call('call_1', 'f'), ['{}']),
      ...ending('tool-calls'),
    ]);
    expect(types.map((type) => type.replace('response.', ''))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
  });

  test('the lifecycle events repeat the request', () => {
    const body = {
      instructions: 'be',
      tools: [{ type: 'function', name: 'f' }],
      tool_choice: 'required',
      temperature: 0.5,
      text: { verbosity: 'low' },
      metadata: { a: 'b' },
      store: false,
      max_output_tokens: 99,
      previous_response_id: 'resp_x',
      secret: 1,
    };
    const { text } = write([start, ...ending('stop')], echoOf(body));
    const created = own(JSON.parse(text.split('\n')[1]?.slice(6) ?? ''), 'response');
    const { previous_response_id: _previous, secret: _secret, ...repeated } = body;
    expect(created).toMatchObject({
      ...repeated,
      object: 'response',
      model: 'caller-model',
      created_at: 1_700_000_000,
      previous_response_id: null,
      output: [],
      usage: null,
    });
    expect(created).not.toHaveProperty('secret');
  });

  test('ids: ours for items, the upstream’s for calls, minted when it sent none', () => {
    const { last } = write([start, ...block(0, call('toolu_9', 'f'), []), ...block(1, call('', 'g'), ['{}']), ...ending('tool-calls')]);
    expect(own(last, 'id')).toMatch(/^resp_\d+$/);
    expect(own(last, 'output')).toEqual([
      { id: expect.stringMatching(/^fc_/), type: 'function_call', status: 'completed', arguments: '{}', call_id: 'toolu_9', name: 'f' },
      {
        id: expect.stringMatching(/^fc_/),
        type: 'function_call',
        status: 'completed',
        arguments: '{}',
        call_id: expect.stringMatching(/^call_\d+$/),
        name: 'g',
      },
    ]);
  });

  test('usage in this protocol’s bases', () => {
    expect(own(write([start, ...ending('stop')]).last, 'usage')).toEqual({
      input_tokens: 15,
      input_tokens_details: { cached_tokens: 5 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 25,
    });
  });

  test('a reply cut by its length is incomplete, and so is its last item', () => {
    const { types, last } = write([start, ...block(0, { type: 'text' }, ['a']), ...block(1, { type: 'text' }, ['b']), ...ending('length')]);
    expect(types.at(-1)).toBe('response.incomplete');
    expect(own(last, 'incomplete_details')).toEqual({ reason: 'max_output_tokens' });
    expect(asArray(own(last, 'output'))?.map((item) => own(item, 'status'))).toEqual(['completed', 'incomplete']);
  });

  test.each([['length'], ['content-filter'], ['context-window']] as const)('a call cut by %s never looks finished', (reason) => {
    const { types, last } = write([start, ...block(0, call('a', 'f'), ['{"x":1}']), ...block(1, call('b', 'g'), ['{"path":"/etc']), ...ending(reason)]);
    expect(types.filter((type) => type.endsWith('arguments.done'))).toHaveLength(1);
    expect(asArray(own(last, 'output'))?.map((item) => [own(item, 'call_id'), own(item, 'status')])).toEqual([
      ['a', 'completed'],
      ['b', 'incomplete'],
    ]);
  });

  test('blocks that overlap are items of their own, in order of opening', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'block-start', index: 0, block: call('a', 'f') },
      { type: 'block-start', index: 1, block: { type: 'text' } },
      { type: 'arguments-delta', index: 0, text: '{"x"' },
      { type: 'text-delta', index: 1, text: 'hm' },
      { type: 'arguments-delta', index: 0, text: ':1}' },
      { type: 'block-end', index: 1 },
      { type: 'block-end', index: 0 },
      ...ending('tool-calls'),
    ];
    const { last } = write(events);
    expect(asArray(own(last, 'output'))?.map((item) => own(item, 'type'))).toEqual(['function_call', 'message']);
    expect(own(asArray(own(last, 'output'))?.[0], 'arguments')).toBe('{"x":1}');
  });

  test('refusals', () => {
    const { types, last } = write([start, ...block(0, { type: 'refusal' }, ['no ', 'way']), ...ending('refusal')]);
    expect(types).toContain('response.refusal.done');
    expect(own(last, 'output')).toMatchObject([{ content: [{ type: 'refusal', refusal: 'no way' }] }]);
    expect(own(last, 'status')).toBe('completed');
  });

  test('a refusal without words of its own is not a success', () => {
    const { last } = write([start, ...block(0, { type: 'text' }, ['Some']), ...ending('refusal')]);
    expect(last).toMatchObject({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } });
  });

  test('free-text tools', () => {
    const native = write([start, ...block(0, call('a', 'apply_patch', true), ['*** Begin', '\n+x']), ...ending('tool-calls')]);
    const item = { type: 'custom_tool_call', status: 'completed', call_id: 'a', input: '*** Begin\n+x', name: 'apply_patch' };
    expect(own(native.last, 'output')).toMatchObject([item]);
    const cut = write([start, ...block(0, call('a', 'apply_patch', true), ['*** Be']), ...ending('length')]);
    expect(own(cut.last, 'output')).toMatchObject([{ status: 'incomplete', input: '*** Be' }]);
    expect(cut.types).not.toContain('response.custom_tool_call_input.done');
  });

  test('patches and the newer shell of the caller: what a model wrote becomes an item of its own kind, and what was cut runs nothing', () => {
    const echo = echoOf({ tools: [{ type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }] });
    const item = (name: string, given: string, reason: 'tool-calls' | 'length') =>
      (own(write([start, ...block(0, call('a', name), [given]), ...ending(reason)], echo).last, 'output') as unknown[])[0];
    expect(item('shell', '{"commands":["ls","pwd"],"timeout_ms":5}', 'tool-calls')).toMatchObject({
      ...{ type: 'shell_call', call_id: 'a', status: 'completed', environment: { type: 'local' } },
      action: { commands: ['ls', 'pwd'], timeout_ms: 5, max_output_length: null },
    });
    expect(item('apply_patch', '{"type":"create_file","path":"a.ts","diff":"+x"}', 'tool-calls')).toMatchObject({
      ...{ type: 'apply_patch_call', call_id: 'a', status: 'completed', operation: { type: 'create_file', path: 'a.ts', diff: '+x' } },
    });
    expect(item('shell', '{"commands":["rm', 'length')).toMatchObject({ status: 'incomplete', action: { commands: [] } });
    expect(item('apply_patch', '{"type":"delete_file","pa', 'length')).toMatchObject({ status: 'incomplete', operation: { path: '' } });
  });

  test("the caller's own shell: the arguments become one action, and a cut one runs nothing", () => {
    const echo = echoOf({ tools: [{ type: 'local_shell' }] });
    const run = (text: string, reason: 'tool-calls' | 'length' = 'tool-calls') =>
      own(write([start, ...block(0, call('a', 'local_shell'), [text]), ...ending(reason)], echo).last, 'output');
    expect(run('{"command":["ls","-l"],"timeout_ms":5}')).toMatchObject([
      { type: 'local_shell_call', call_id: 'a', status: 'completed', action: { type: 'exec', command: ['ls', '-l'], env: {}, timeout_ms: 5 } },
    ]);
    expect(run('{"command":"ls | wc"}')).toMatchObject([{ status: 'completed', action: { command: ['bash', '-lc', 'ls | wc'] } }]);
    expect(run('{"command":["rm","-rf"', 'length')).toMatchObject([{ status: 'incomplete', action: { command: [] } }]);
    // Without that tool it is a function like any other.
    expect(own(write([start, ...block(0, call('a', 'local_shell'), ['{}']), ...ending('tool-calls')]).last, 'output')).toMatchObject([
      { type: 'function_call' },
    ]);
  });

  test('field note 14: an id that one reply uses twice is minted anew', () => {
    const { last } = write([start, ...block(0, call('bash:0', 'f'), ['{}']), ...block(1, call('bash:0', 'f'), ['{}']), ...ending('tool-calls')]);
    const [first, second] = own(last, 'output') as { call_id: string }[];
    expect(first?.call_id).toBe('bash:0');
    expect(second?.call_id).toMatch(/^call_/);
  });

  test('namespaced tools get their two names back', () => {
    const echo = echoOf({ tools: [{ type: 'namespace', name: 'mcp__files', tools: [{ type: 'function', name: 'read' }] }] });
    expect(own(write([start, ...block(0, call('a', 'mcp__files__read'), ['{}']), ...ending('tool-calls')], echo).last, 'output')).toMatchObject([
      { namespace: 'mcp__files', name: 'read' },
    ]);
  });

  test('citations are in the text they belong to', () => {
    const cite: ChatEvent[] = [
      {
        type: 'block-start',
        index: 1,
        block: { type: 'raw', protocol: 'alpha_response', value: { type: 'output_text.annotation', annotation: { type: 'url_citation', url: 'u' } } },
      },
      { type: 'block-end', index: 1 },
    ];
    const { last } = write([start, ...block(0, { type: 'text' }, ['a']), ...cite, ...ending('stop')]);
    expect(own(last, 'output')).toMatchObject([{ content: [{ text: 'a', annotations: [{ type: 'url_citation', url: 'u' }] }] }]);
  });

  test('blocks of another vendor are a declared loss', () => {
    const { losses, last } = write([
      start,
      { type: 'block-start', index: 0, block: { type: 'raw', protocol: 'beta', value: {} } },
      { type: 'raw-delta', index: 0, value: {} },
      { type: 'block-end', index: 0 },
      ...ending('stop'),
    ]);
    expect(losses).toMatchObject([{ field: 'content.raw', action: 'dropped' }]);
    expect(own(last, 'output')).toEqual([]);
  });

  test('an error is never written: the stream terminator ends such streams', () => {
    expect(createWriter(replyContext()).write({ type: 'error', error: { class: 'server', message: 'x' } })).toBe('');
  });
});

describe('signatures come back to their parts', () => {
  test.each<[string, ChatEvent[], object]>([
    ['thinking', block(0, { type: 'thinking' }, ['t'], 'P'), { type: 'thinking', text: 't', signature: seal('P') }],
    ['thinking without text', block(0, { type: 'thinking' }, [], 'P'), { type: 'thinking', text: '', signature: seal('P') }],
    ['a redacted block', block(0, { type: 'redacted-thinking', data: 'P' }, []), { type: 'thinking', redacted: true, signature: seal('P') }],
    ['a call', block(0, call('a:b', 'f'), ['{}'], 'P'), { type: 'tool-call', id: 'a:b', signature: seal('P') }],
    ['a text', block(0, { type: 'text' }, ['t'], 'P'), { type: 'text', text: 't', signature: seal('P') }],
  ])('%s', (_, events, part) => {
    const { last } = write([start, ...events, ...ending('stop')]);
    const { conversation } = readRequest({ input: own(last, 'output') }, readContext);
    expect(conversation.turns).toHaveLength(1);
    expect(conversation.turns[0]?.parts).toHaveLength(1);
    expect(conversation.turns[0]?.parts[0]).toMatchObject(part);
  });

  test('of two calls at once, each has its own', () => {
    const { last } = write([start, ...block(0, call('a', 'f'), ['{}'], 'P'), ...block(1, call('b', 'g'), ['{}']), ...ending('tool-calls')]);
    const parts = readRequest({ input: own(last, 'output') }, readContext).conversation.turns[0]?.parts;
    expect(parts).toMatchObject([{ id: 'a', signature: seal('P') }, { id: 'b' }]);
    expect(parts?.[1]).not.toHaveProperty('signature');
  });
});

describe('laws', () => {
  const words = fc.array(fc.string({ minLength: 1, unit: 'binary' }), { maxLength: 4 });
  const anyBlock = fc.oneof(
    words.map((texts) => ({ open: { type: 'text' } as BlockStart, texts })),
    fc.tuple(words, fc.string({ minLength: 1 })).map(([texts, signature]) => ({ open: { type: 'thinking' } as BlockStart, texts, signature })),
    words.map((texts) => ({ open: { type: 'refusal' } as BlockStart, texts })),
    fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.json()).map(([name, json]) => ({ open: call(`call_${name}`, name), texts: [...json] })),
    fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), words).map(([name, texts]) => ({ open: call(`call_${name}`, name, true), texts })),
  );

  test('whatever a reply holds, the stream is valid and reads the same, streamed and whole', () => {
    fc.assert(
      fc.property(fc.array(anyBlock, { maxLength: 6 }), fc.constantFrom<FinishReason>('stop', 'tool-calls', 'pause', 'other'), (blocks, reason) => {
        const events = [
          start,
          // An id that comes twice would be minted anew.
          ...blocks.flatMap((entry, index) =>
            block(
              index,
              'id' in entry.open ? { ...entry.open, id: `${entry.open.id}_${index}` } : entry.open,
              entry.texts,
              'signature' in entry ? entry.signature : undefined,
            ),
          ),
          ...ending(reason),
        ];
        const sent = foldEvents(events);
        const { text, losses } = write(events);
        expect(losses).toEqual([]);
        const seen = foldEvents(readStream(text, new ResponseReader()));
        const opened = (message: typeof sent): unknown => message.blocks.map((entry) => ({ ...entry, signature: entry.signature && unseal(entry.signature) }));
        const closed = (message: typeof sent): unknown => message.blocks.map((entry) => ({ ...entry, signature: entry.signature }));
        expect(opened(seen)).toEqual(closed(sent));
        expect(seen.usage).toEqual(usage);
        expect(opened(foldEvents(readWhole(writeWhole(sent, replyContext()).body)))).toEqual(closed(sent));
      }),
      { numRuns: 200 },
    );
  });
});
