/** Tools that an upstream does not take as they are: what is sent instead, and what the caller gets back. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Conversation, Part, Tool, ToolChoice } from '../chat/conversation.ts';
import type { ChatEvent } from '../chat/event.ts';
import { bridgeTools, plainToolRules } from './tool-bridge.ts';
import { legalToolName, plainToolName } from './tool-names.ts';
import { InputUnwrapper, unwrapInput } from './unwrap-input.ts';

const talk = (tools: Tool[], parts: Part[] = [], more: Partial<Conversation> = {}): Conversation => ({
  system: [],
  turns: [{ role: 'assistant', parts }],
  tools,
  sampling: {},
  stream: true,
  ...more,
});
const patch: Tool = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Edits files.',
  raw: { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "*** Begin Patch"' } },
  rawProtocol: 'alpha_response',
};
const callEvents = (name: string, fragments: string[]): ChatEvent[] => [
  { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'a', name } },
  ...fragments.map((text): ChatEvent => ({ type: 'arguments-delta', index: 0, text })),
  { type: 'block-end', index: 0 },
];
const cut = (text: string, places: readonly number[]): string[] => {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((one, other) => one - other);
  return [...at, text.length].map((end, index) => text.slice(at[index - 1] ?? 0, end));
};

describe('tools that only their vendor’s models know', () => {
  const shell: Tool = {
    type: 'server',
    name: 'bash',
    raw: { type: 'bash_20250124', name: 'bash' },
    rawProtocol: 'beta',
    asFunction: { description: 'A shell.', parameters: { type: 'object' } },
  };
  const search: Tool = { type: 'server', name: 'web_search', raw: { type: 'web_search_20250305', name: 'web_search' }, rawProtocol: 'beta' };

  test('those that the caller runs become functions, but for that vendor', () => {
    const bridged = bridgeTools(talk([shell, search]), plainToolRules)!;
    expect(bridged.conversation.tools).toEqual([{ type: 'function', name: 'bash', description: 'A shell.', parameters: { type: 'object' } }, search]);
    expect(bridged.losses.map(({ field, action }) => [field, action])).toEqual([['tools.client', 'emulated']]);
    expect(bridged.bridge.restore(callEvents('bash', ['{}']))).toEqual(callEvents('bash', ['{}']));
    expect(bridgeTools(talk([shell, search]), { ...plainToolRules, vendorTools: 'beta' })).toBeNull();
    expect(bridgeTools(talk([search]), plainToolRules)).toBeNull();
  });

  test('a choice of one that is not sent is free, and its own vendor keeps it', () => {
    const chosen = talk([search, { type: 'function', name: 'f' }], [], { toolChoice: { type: 'tool', name: 'web_search' } });
    const bridged = bridgeTools(chosen, plainToolRules)!;
    expect(bridged.conversation.toolChoice).toEqual({ type: 'auto' });
    expect(bridged.losses.map(({ field, action }) => [field, action])).toEqual([['tool_choice', 'downgraded']]);
    expect(bridgeTools(chosen, { ...plainToolRules, vendorTools: 'beta' })).toBeNull();
    expect(bridgeTools(talk([shell], [], { toolChoice: { type: 'tool', name: 'bash' } }), plainToolRules)!.conversation.toolChoice).toEqual({
      type: 'tool',
      name: 'bash',
    });
  });
});

describe('names', () => {
  test('legal ones stay; others are replaced by legal ones, always the same, never two by one', () => {
    for (const name of ['f', 'get_weather', 'a-b', '9lives', 'x'.repeat(64)]) expect(legalToolName(name, plainToolName)).toBe(name);
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200 }), fc.string({ minLength: 1, maxLength: 200 }), (one, other) => {
        const sent = legalToolName(one, plainToolName);
        expect(sent).toMatch(plainToolName);
        expect(legalToolName(one, plainToolName)).toBe(sent);
        if (one !== other) expect(legalToolName(other, plainToolName)).not.toBe(sent);
      }),
    );
    expect(legalToolName('mcp.files/read', plainToolName)).toMatch(/^mcp_files_read_[0-9a-f]{8}$/);
    expect(legalToolName('9.9', /^[a-z_]\w*$/i)).toMatch(/^t_9_9_/);
  });

  test('everywhere a tool is named, and back in the reply', () => {
    const tools: Tool[] = [
      { type: 'function', name: 'files.read' },
      { type: 'function', name: 'plain' },
    ];
    const parts: Part[] = [
      { type: 'tool-call', id: 'a', name: 'files.read', arguments: '{}' },
      { type: 'tool-result', callId: 'a', name: 'files.read', content: [] },
    ];
    const sent = legalToolName('files.read', plainToolName);
    const choices: ToolChoice[] = [
      { type: 'tool', name: 'files.read' },
      { type: 'any', allowed: ['files.read', 'plain'] },
    ];
    for (const toolChoice of choices) {
      const given = talk(tools, parts, { toolChoice });
      const before = structuredClone(given);
      const bridged = bridgeTools(given, plainToolRules)!;
      expect(given).toEqual(before);
      expect(JSON.stringify(bridged.conversation)).not.toContain('files.read');
      expect(bridged.conversation.tools.map((tool) => tool.name)).toEqual([sent, 'plain']);
      expect(bridged.losses.map((loss) => loss.action)).toEqual(['renamed']);
      expect(bridged.bridge.restore(callEvents(sent, ['{}']))).toEqual(callEvents('files.read', ['{}']));
      expect(bridged.bridge.restore(callEvents('plain', ['{}']))).toEqual(callEvents('plain', ['{}']));
    }
  });

  test('a request without odd tools is left alone', () => {
    const parts: Part[] = [{ type: 'tool-call', id: 'a', name: 'f', arguments: '{}' }];
    expect(
      bridgeTools(
        talk(
          [
            { type: 'function', name: 'f' },
            { type: 'server', name: 'web.search' },
          ],
          parts,
        ),
        plainToolRules,
      ),
    ).toBeNull();
    expect(bridgeTools(talk([patch]), { ...plainToolRules, freeText: true })).toBeNull();
  });
});

describe('field note 26: free-text tools', () => {
  test('become functions with one text argument, their grammar in the description; history follows', () => {
    const parts: Part[] = [
      { type: 'tool-call', id: 'a', name: 'apply_patch', arguments: '*** "x"', custom: true },
      { type: 'tool-result', callId: 'a', content: [{ type: 'text', text: 'ok' }], custom: true },
    ];
    const { conversation, losses } = bridgeTools(talk([patch], parts), plainToolRules)!;
    const [tool] = conversation.tools;
    expect(tool).toMatchObject({ type: 'function', name: 'apply_patch', parameters: { required: ['input'] } });
    expect(tool?.description).toContain('Edits files.');
    expect(tool?.description).toContain('start: "*** Begin Patch"');
    expect(conversation.turns[0]?.parts).toEqual([
      { type: 'tool-call', id: 'a', name: 'apply_patch', arguments: '{"input":"*** \\"x\\""}' },
      { type: 'tool-result', callId: 'a', content: [{ type: 'text', text: 'ok' }] },
    ]);
    expect(losses.map(({ field }) => field)).toEqual(['tools.custom']);
  });

  test('and their calls come back as free text, each fragment as soon as it is there', () => {
    const { bridge } = bridgeTools(talk([patch]), plainToolRules)!;
    expect(bridge.restore(callEvents('apply_patch', ['{"in', 'put": "*** Be', 'gin\\', 'n+x', '"}']))).toEqual([
      { type: 'block-start', index: 0, block: { type: 'tool-call', id: 'a', name: 'apply_patch', custom: true } },
      { type: 'arguments-delta', index: 0, text: '*** Be' },
      { type: 'arguments-delta', index: 0, text: 'gin' },
      { type: 'arguments-delta', index: 0, text: '\n+x' },
      { type: 'block-end', index: 0 },
    ]);
  });

  test('any text, cut anywhere, in any JSON spelling', () => {
    const spell = (text: string, ascii: boolean): string =>
      ascii
        ? [...JSON.stringify(text)]
            .map((unit) => (unit > '~' ? [...Array(unit.length).keys()].map((at) => `\\u${unit.charCodeAt(at).toString(16).padStart(4, '0')}`).join('') : unit))
            .join('')
        : JSON.stringify(text);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.array(fc.nat()), fc.boolean(), fc.constantFrom('', ' ', '\n  '), (text, places, ascii, blank) => {
        const unwrapper = new InputUnwrapper();
        const json = `${blank}{${blank}"input"${blank}:${blank}${spell(text, ascii)}${blank}}`;
        expect(
          cut(json, places)
            .map((fragment) => unwrapper.push(fragment))
            .join('') + unwrapper.finish(),
        ).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['{"input":"a"}', 'a'],
    ['{"patch":"a"}', 'a'],
    ['{"a":1,"b":2}', '{"a":1,"b":2}'],
    ['not json', 'not json'],
    ['', ''],
  ])('what is inside %s', (sent, expected) => {
    expect(unwrapInput(sent)).toBe(expected);
    const unwrapper = new InputUnwrapper();
    expect(unwrapper.push(sent) + unwrapper.finish()).toBe(expected);
  });

  test('a long text of another form is kept whole, and no amount of blanks is slow', () => {
    const unwrapper = new InputUnwrapper();
    const json = JSON.stringify({ patch: 'x'.repeat(10_000) });
    expect([...json].map((unit) => unwrapper.push(unit)).join('') + unwrapper.finish()).toBe('x'.repeat(10_000));
    const began = process.cpuUsage();
    const blanks = new InputUnwrapper();
    for (let at = 0; at < 100_000; at++) blanks.push('          ');
    blanks.finish();
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(5_000);
  });
});
