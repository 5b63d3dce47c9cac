/** Callers' bodies in, upstream bodies out: recorded requests, every form of input, and what each way cannot carry. */
import { describe, expect, test } from '@jest/globals';
import { readContext, recorded, seal, writeContext } from '../../test/support/alpha-response.ts';
import { describeRecorded } from '../../test/support/describe-recorded.ts';
import type { Conversation, Turn } from '../chat/conversation.ts';
import type { WriteRequestContext } from '../contract/index.ts';
import { asArray, own } from '../kit/read.ts';
import { readRequest } from './client/read-request.ts';
import { writeRequest } from './upstream/write-request.ts';

const read = (body: object): ReturnType<typeof readRequest> => readRequest({ model: 'm', ...body }, readContext);
const write = (conversation: Partial<Conversation>, changes: Partial<WriteRequestContext> = {}): { body: Record<string, unknown>; fields: string[] } => {
  const { body, losses } = writeRequest({ system: [], turns: [], tools: [], sampling: {}, stream: true, ...conversation }, writeContext(changes));
  return { body: body as Record<string, unknown>, fields: losses.map((loss) => loss.field) };
};
const wire = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
const user = (...parts: Turn['parts']): Turn => ({ role: 'user', parts });
const assistant = (...parts: Turn['parts']): Turn => ({ role: 'assistant', parts });
const text = (value: string): { type: 'text'; text: string } => ({ type: 'text', text: value });

const requests = recorded('request.json').filter(({ name, text: body }) => !name.startsWith('delete') && own(JSON.parse(body), 'background') !== true);

describeRecorded(requests.length > 0, 'alpha_response requests')('recorded requests', () => {
  test.each(requests)('$name: read, written, read again', ({ text: recordedBody }) => {
    const body = JSON.parse(recordedBody) as Record<string, unknown>;
    const before = wire(body);
    const first = read(body);
    expect(body).toEqual(before);
    const { body: written } = write(first.conversation, { openSignature: (sealed) => sealed });
    const second = read(wire(written) as object);
    const comparable = ({ conversation }: typeof first): unknown => ({
      ...conversation,
      // Declared losses: reasoning without a signature, ids of reasoning, and cache marks.
      turns: conversation.turns.map((turn) => ({
        ...turn,
        parts: turn.parts.filter((part) => part.type !== 'thinking' || part.signature).map((part) => ({ ...part, itemId: undefined, cache: undefined })),
      })),
      tools: conversation.tools.map((tool) =>
        tool.type === 'function' ? { ...tool, strict: tool.strict ?? false } : { ...tool, raw: tool.type === 'server' ? tool.raw : undefined },
      ),
      // Declared too: this model tells no token probabilities.
      sampling: { ...conversation.sampling, logprobs: undefined, maxTokens: conversation.sampling.maxTokens && Math.max(16, conversation.sampling.maxTokens) },
      // And the mode of the cache, which goes with its marks.
      cacheMode: undefined,
      stream: true,
    });
    expect(comparable(second)).toEqual(comparable(first));
    expect(written['store']).toBe(false);
    expect(written).not.toHaveProperty('previous_response_id');
  });
});

describe('reading input', () => {
  test('a string, an item without type, roles and parts', () => {
    expect(read({ input: 'hi' }).conversation.turns).toEqual([user(text('hi'))]);
    const { conversation, losses } = read({
      instructions: 'be brief',
      input: [
        { role: 'developer', content: 'dev' },
        { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'sys' }] },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA==', detail: 'low' },
          ],
        },
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          phase: 'commentary',
          status: 'completed',
          content: [
            { type: 'output_text', text: 'b', annotations: [] },
            { type: 'refusal', refusal: 'c' },
          ],
        },
        { role: 'system', content: 'later' },
      ],
    });
    expect(losses).toEqual([]);
    expect(conversation.system).toEqual([{ text: 'be brief' }, { text: 'dev' }, { text: 'sys' }]);
    expect(conversation.turns).toEqual([
      user(text('a'), { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AA==', detail: 'low' }),
      assistant({ ...text('b'), phase: 'commentary' }, { type: 'refusal', text: 'c' }),
      { role: 'system', parts: [text('later')] },
    ]);
  });

  test('files and images by data, address and id', () => {
    const content = [
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
      { type: 'input_file', filename: 'b.csv', file_data: 'YSxi' },
      { type: 'input_file', file_url: 'https://x/y.pdf' },
      { type: 'input_file', file_id: 'file-1' },
      { type: 'input_image', file_id: 'file-2' },
      { type: 'input_image', image_url: 'https://x/y.png' },
      { type: 'input_audio', input_audio: { data: 'AAA', format: 'mp3' } },
      { type: 'input_audio', audio_url: 'data:audio/mpeg;base64,BBB' },
      { type: 'input_audio', audio_url: 'https://x/y.mp3' },
      { type: 'input_audio', file_id: 'file-3' },
    ];
    expect(read({ input: [{ role: 'user', content }] }).conversation.turns[0]?.parts).toEqual([
      { type: 'media', kind: 'document', mimeType: 'application/pdf', data: 'JVBE', filename: 'a.pdf' },
      { type: 'media', kind: 'document', mimeType: 'text/csv', data: 'YSxi', filename: 'b.csv' },
      { type: 'media', kind: 'document', url: 'https://x/y.pdf' },
      { type: 'media', kind: 'document', fileId: 'file-1' },
      { type: 'media', kind: 'image', fileId: 'file-2' },
      { type: 'media', kind: 'image', url: 'https://x/y.png' },
      { type: 'media', kind: 'audio', mimeType: 'audio/mp3', data: 'AAA' },
      { type: 'media', kind: 'audio', mimeType: 'audio/mpeg', data: 'BBB' },
      { type: 'media', kind: 'audio', url: 'https://x/y.mp3' },
      { type: 'media', kind: 'audio', fileId: 'file-3' },
    ]);
    expect(() => read({ input: [{ role: 'user', content: [{ type: 'input_audio' }] }] })).toThrow(
      expect.objectContaining({ param: 'input.0.content.0.input_audio.data' }),
    );
  });

  test('a tool loop with reasoning: what belongs together is one turn', () => {
    const { turns } = read({
      input: [
        { role: 'user', content: 'q' },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [
            { type: 'summary_text', text: 's1' },
            { type: 'summary_text', text: 's2' },
          ],
          encrypted_content: 'E',
        },
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'b', name: 'g', input: 'free' },
        {
          type: 'function_call_output',
          call_id: 'a',
          output: [
            { type: 'input_text', text: 'r' },
            { type: 'input_image', image_url: 'https://i' },
          ],
        },
        { type: 'custom_tool_call_output', call_id: 'b', output: 'ok' },
        { role: 'user', content: 'next' },
      ],
    }).conversation;
    expect(turns).toEqual([
      user(text('q')),
      assistant(
        { type: 'thinking', text: 's1\n\ns2', signature: 'E', itemId: 'rs_1', summary: ['s1', 's2'] },
        { type: 'tool-call', id: 'a', name: 'f', arguments: '{}' },
        { type: 'tool-call', id: 'b', name: 'g', arguments: 'free', custom: true },
      ),
      user(
        { type: 'tool-result', callId: 'a', content: [text('r'), { type: 'media', kind: 'image', url: 'https://i' }] },
        { type: 'tool-result', callId: 'b', content: [text('ok')], custom: true },
      ),
      user(text('next')),
    ]);
  });

  test('raw reasoning of open models is text without a signature', () => {
    expect(
      read({ input: [{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'raw' }], encrypted_content: null }] }).conversation.turns[0]
        ?.parts,
    ).toEqual([{ type: 'thinking', text: 'raw' }]);
  });

  test('state that only a vendor has: refused where it matters, named as lost where it does not', () => {
    expect(() => read({ input: [{ type: 'item_reference', id: 'msg_42' }] })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'input.0', message: expect.stringMatching(/msg_42.*store:false/) }),
    );
    expect(() => read({ input: 'x', conversation: 'conv_1' })).toThrow(expect.objectContaining({ param: 'conversation' }));
    expect(() => read({ input: 'x', background: true })).toThrow(expect.objectContaining({ param: 'background' }));
    const { losses, conversation } = read({
      input: [
        { type: 'reasoning', id: 'rs_1', summary: [] },
        { type: 'web_search_call', id: 'ws_1' },
      ],
      previous_response_id: 'resp_1',
      truncation: 'auto',
      top_logprobs: 2,
      include: ['reasoning.encrypted_content', 'file_search_call.results'],
      background: false,
      conversation: null,
    });
    expect(conversation.turns).toEqual([]);
    expect(losses.map((loss) => loss.field).sort()).toEqual(['include.1', 'input.0', 'input.1', 'previous_response_id', 'truncation']);
  });

  test.each<[object, string]>([
    [{}, 'input'],
    [{ input: 3 }, 'input'],
    [{ input: [3] }, 'input.0'],
    [{ input: [{}] }, 'input.0.type'],
    [{ input: [{ role: 'robot', content: 'x' }] }, 'input.0.role'],
    [{ input: [{ role: 'user', content: 3 }] }, 'input.0.content'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input.0.content.0.text'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input.0.content.0.image_url'],
    [{ input: [{ type: 'function_call', call_id: 'a' }] }, 'input.0.name'],
    [{ input: 'x', temperature: 'hot' }, 'temperature'],
    [{ input: 'x', max_output_tokens: -1 }, 'max_output_tokens'],
    [{ input: 'x', stream: 'yes' }, 'stream'],
    [{ input: 'x', tools: {} }, 'tools'],
    [{ input: 'x', tools: [{ name: 'f' }] }, 'tools.0.type'],
    [{ input: 'x', tools: [{ type: 'function' }] }, 'tools.0.name'],
    [{ input: 'x', tool_choice: 'maybe' }, 'tool_choice'],
    [{ input: 'x', reasoning: { effort: 'huge' } }, 'reasoning.effort'],
    [{ input: 'x', text: { format: { type: 'xml' } } }, 'text.format.type'],
  ])('%j is a 400 that names %s', (body, param) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'invalid_request', status: 400, param }));
  });

  test('null, unknown and inherited fields count as absent', () => {
    const body = JSON.parse(
      '{"input":"x","tools":null,"tool_choice":null,"text":null,"reasoning":null,"temperature":null,"stream":null,"obfuscation":1,"__proto__":{"temperature":1}}',
    ) as object;
    expect(read(body).conversation).toEqual({ system: [], turns: [user(text('x'))], tools: [], sampling: {}, stream: false });
  });

  test('tools and choices in every form', () => {
    const tools = [
      {
        type: 'function',
        name: 'f',
        description: 'd',
        parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
        strict: true,
      },
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      { type: 'web_search' },
      { type: 'mcp', server_label: 'srv', server_url: 'https://x' },
      { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'in' }] },
    ];
    const choices: [unknown, unknown][] = [
      ['auto', { type: 'auto' }],
      ['none', { type: 'none' }],
      ['required', { type: 'any' }],
      [
        { type: 'function', name: 'f' },
        { type: 'tool', name: 'f' },
      ],
      [
        { type: 'custom', name: 'c' },
        { type: 'tool', name: 'c' },
      ],
      [{ type: 'web_search' }, { type: 'tool', name: 'web_search' }],
      [
        { type: 'mcp', server_label: 'srv' },
        { type: 'tool', name: 'srv' },
      ],
      [
        {
          type: 'allowed_tools',
          mode: 'required',
          tools: [
            { type: 'function', name: 'f' },
            { type: 'mcp', server_label: 'srv' },
          ],
        },
        { type: 'any', allowed: ['f', 'srv'] },
      ],
    ];
    for (const [sent, expected] of choices) {
      const { conversation } = read({ input: 'x', tools, tool_choice: sent });
      expect(conversation.toolChoice).toEqual(expected);
      expect(conversation.tools.map((tool) => [tool.type, tool.name])).toEqual([
        ['function', 'f'],
        ['custom', 'c'],
        ['server', 'web_search'],
        ['server', 'srv'],
        ['function', 'ns__in'],
      ]);
      // The same words go out again.
      expect(write(conversation).body['tool_choice']).toEqual(sent);
    }
    const { conversation } = read({ input: 'x', tools });
    expect(asArray(write(conversation).body['tools'])?.slice(0, 4)).toEqual(tools.slice(0, 4));
  });
});

describe('writing', () => {
  test('part types follow the role, and results keep their images', () => {
    const turns = [
      user(text('a')),
      assistant({ ...text('b'), phase: 'final_answer' }, { type: 'tool-call', id: 'x', name: 'f', arguments: '' }),
      user({ type: 'tool-result', callId: 'x', content: [text('r'), { type: 'media', kind: 'image', mimeType: 'image/png', data: 'AA==' }] }, text('c')),
    ];
    expect(write({ turns }).body['input']).toEqual([
      { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'b' }], phase: 'final_answer' },
      { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'x',
        output: [
          { type: 'input_text', text: 'r' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA==' },
        ],
      },
      { role: 'user', content: [{ type: 'input_text', text: 'c' }] },
    ]);
  });

  test('storage is never requested; encrypted reasoning is, except from models that have none', () => {
    expect(write({}).body).toMatchObject({ model: 'gpt-5', store: false, include: ['reasoning.encrypted_content'], stream: true });
    const target = { ...writeContext().target, upstreamModelId: 'openai/gpt-4o-mini' };
    const { input: _input, ...body } = write({}, { target, stream: false }).body as Record<string, unknown>;
    expect(body).toEqual({ model: 'openai/gpt-4o-mini', store: false });
  });

  test('reasoning goes back before its call when its signature opens, and is a declared loss otherwise', () => {
    const call = { type: 'tool-call', id: 'x', name: 'f', arguments: '{}' } as const;
    const thinking = (signature?: string): Turn['parts'][number] => ({
      type: 'thinking',
      text: 't',
      itemId: 'rs_1',
      ...(signature !== undefined && { signature }),
    });
    const open = write({ turns: [assistant(thinking(seal('P')), call)] });
    expect(open.body['input']).toEqual([
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'P' },
      { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' },
    ]);
    expect(open.fields).toEqual([]);
    for (const parts of [
      [thinking('foreign'), call],
      [thinking(), call],
      [call, thinking(seal('P'))],
    ]) {
      const { body, fields } = write({ turns: [assistant(...parts)] });
      expect(body['input']).toEqual([{ type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' }]);
      expect(fields).toHaveLength(1);
    }
  });

  test('calls without ids are paired with their results by name and order; long ids keep their pair', () => {
    const call = (name: string, id = ''): Turn['parts'][number] => ({ type: 'tool-call', id, name, arguments: '{}' });
    const result = (name: string | undefined, callId = ''): Turn['parts'][number] => ({
      type: 'tool-result',
      callId,
      content: [text('r')],
      ...(name !== undefined && { name }),
    });
    const long = 'x'.repeat(200);
    const items =
      asArray(
        write({ turns: [assistant(call('f'), call('g'), call('f'), call('h', long)), user(result('g'), result('f'), result(undefined), result('h', long))] })
          .body['input'],
      ) ?? [];
    const ids = items.map((item) => String(own(item, 'call_id')));
    expect(new Set(ids).size).toBe(4);
    expect(ids.slice(4)).toEqual([ids[1], ids[0], ids[2], ids[3]]);
    expect(ids[3]?.length).toBeLessThanOrEqual(64);
  });

  test('strict is off unless asked for with a schema that allows it; foreign vendors’ tools are left out', () => {
    const { body, fields } = write({
      tools: [
        { type: 'function', name: 'f' },
        { type: 'function', name: 'g', strict: true, parameters: { type: 'object' } },
        { type: 'server', name: 'web_search', raw: {}, rawProtocol: 'beta' },
      ],
    });
    expect(body['tools']).toEqual([
      { type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false },
      { type: 'function', name: 'g', parameters: { type: 'object', properties: {} }, strict: false },
    ]);
    expect(fields).toEqual(['tools.strict', 'tools.2', 'messages']);
  });

  test('tools that the caller runs and only this protocol knows are functions elsewhere, in histories too', () => {
    const { conversation, losses } = read({
      tools: [{ type: 'shell' }, { type: 'apply_patch' }, { type: 'shell', environment: { type: 'container_auto' } }],
      input: [
        { role: 'user', content: 'go' },
        { type: 'shell_call', call_id: 'a', status: 'completed', action: { commands: ['ls'], timeout_ms: null, max_output_length: 9 } },
        { type: 'apply_patch_call', call_id: 'b', status: 'completed', operation: { type: 'delete_file', path: 'x' } },
        { type: 'shell_call_output', call_id: 'a', output: [{ stdout: 'out', stderr: '', outcome: { type: 'exit', exit_code: 2 } }] },
        { type: 'apply_patch_call_output', call_id: 'b', status: 'failed', output: 'no such file' },
      ],
    });
    expect(conversation.tools.map(({ type, name }) => [type, name])).toEqual([
      ['function', 'shell'],
      ['function', 'apply_patch'],
      ['server', 'shell'],
    ]);
    expect(conversation.turns.slice(1)).toEqual([
      assistant(
        { type: 'tool-call', id: 'a', name: 'shell', arguments: '{"commands":["ls"],"max_output_length":9}' },
        { type: 'tool-call', id: 'b', name: 'apply_patch', arguments: '{"type":"delete_file","path":"x"}' },
      ),
      user(
        { type: 'tool-result', callId: 'a', content: [text('out\n[exit code 2]')] },
        { type: 'tool-result', callId: 'b', content: [text('no such file')], isError: true },
      ),
    ]);
    expect(losses.map(({ field }) => field)).toEqual(['tools.client']);
  });

  test('the grammar of a free-text tool comes over from chat completions', () => {
    const raw = { type: 'custom', custom: { name: 'c', format: { type: 'grammar', grammar: { syntax: 'regex', definition: 'x' } } } };
    expect(write({ tools: [{ type: 'custom', name: 'c', raw, rawProtocol: 'alpha' }] }).body['tools']).toEqual([
      { type: 'custom', name: 'c', format: { type: 'grammar', syntax: 'regex', definition: 'x' } },
    ]);
  });

  test('what has no place here is declared', () => {
    const { body, fields } = write({
      sampling: {
        maxTokens: 1,
        stop: ['x'],
        topK: 3,
        seed: 1,
        presencePenalty: 1,
        frequencyPenalty: 1,
        choices: 2,
        logprobs: true,
        topLogprobs: 3,
        logitBias: { 1: 1 },
      },
      metadata: { a: 1 },
      reasoning: { budget: 8000 },
      toolChoice: { type: 'any' },
      turns: [user({ type: 'media', kind: 'video', url: 'https://v' }, { type: 'media', kind: 'document', text: 'doc', title: 'T' })],
    });
    expect(body).toMatchObject({
      max_output_tokens: 16,
      reasoning: { effort: 'medium' },
      input: [
        {
          content: [
            { type: 'input_text', text: '[video omitted: https://v]' },
            { type: 'input_text', text: 'T\n\ndoc' },
          ],
        },
      ],
    });
    expect(body).not.toHaveProperty('tool_choice');
    expect(fields.sort()).toEqual(
      [
        'frequency_penalty',
        'logit_bias',
        'logprobs',
        'max_tokens',
        'messages.media',
        'messages.media',
        'metadata',
        'n',
        'presence_penalty',
        'reasoning.budget',
        'seed',
        'stop',
        'tool_choice',
        'top_k',
        'top_logprobs',
      ].sort(),
    );
  });

  test('files', () => {
    const media = (more: object): Turn['parts'][number] => ({ type: 'media', kind: 'document', ...more });
    const turns = [
      user(
        media({ data: 'AA==', mimeType: 'application/pdf' }),
        media({ data: 'AA==', mimeType: 'text/plain', title: 'n.txt' }),
        media({ url: 'https://d', filename: 'x' }),
        media({ fileId: 'f' }),
      ),
    ];
    expect(own(asArray(write({ turns }).body['input'])?.[0], 'content')).toEqual([
      { type: 'input_file', filename: 'document.pdf', file_data: 'data:application/pdf;base64,AA==' },
      { type: 'input_file', filename: 'n.txt', file_data: 'data:text/plain;base64,AA==' },
      { type: 'input_file', file_url: 'https://d' },
      { type: 'input_file', file_id: 'f' },
    ]);
  });

  test('counting asks without the fields of a call', () => {
    const { body } = write({ system: [{ text: 's' }], turns: [user(text('a'))], sampling: { maxTokens: 5 }, user: 'u' }, { operation: 'count-tokens' });
    expect(Object.keys(body).sort()).toEqual(['input', 'instructions', 'model']);
  });

  test('several system parts keep their borders', () => {
    expect(write({ system: [{ text: 'a' }, { text: 'b' }], turns: [user(text('c'))] }).body).toMatchObject({
      instructions: 'a',
      input: [{ role: 'system', content: [{ type: 'input_text', text: 'b' }] }, { role: 'user' }],
    });
  });

  test('a request of nothing but system text has an item all the same', () => {
    const { body } = write({ system: [{ text: 'a' }], turns: [] });
    expect(body).toMatchObject({ input: [{ role: 'system', content: [{ type: 'input_text', text: 'a' }] }] });
    expect(body).not.toHaveProperty('instructions');
  });
});
