/** Deferred tools are offered at once to models that cannot search for tools. */
import { describe, expect, test } from '@jest/globals';
import { applyEdits } from '@model-gateway/json-bytes';
import { readContext, target } from '../../../test/support/beta.ts';
import { deferredMarks, offerAllTools, searchesTools } from './deferred-tools.ts';
import { readRequest } from './read-request.ts';

const body = {
  model: 'm',
  max_tokens: 9,
  tools: [
    { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    { name: 'read', input_schema: { type: 'object' } },
    { name: 'late', input_schema: { type: 'object' }, defer_loading: true },
  ],
  messages: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'tool_search_tool_regex', input: { pattern: 'late' } },
        {
          type: 'tool_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: { type: 'tool_search_tool_search_result', tool_references: [{ type: 'tool_reference', tool_name: 'late' }] },
        },
        { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference', tool_name: 'late' }] }] },
  ],
};

test('who searches', () => {
  expect(searchesTools(target({ baseUrl: 'https://api.anthropic.com' }))).toBe(true);
  expect(searchesTools(target({ baseUrl: 'https://compatible.test' }))).toBe(false);
  expect(searchesTools(target({ extraConfig: { tool_search: 'native' } }))).toBe(true);
});

describe('in bytes that otherwise pass', () => {
  test('nothing of the search is left, and everything else is', () => {
    const edited = JSON.parse(applyEdits(JSON.stringify(body), offerAllTools(body)));
    expect(edited.tools).toEqual([body.tools[1], { name: 'late', input_schema: { type: 'object' } }]);
    expect(edited.messages[1].content.map(({ type }: { type: string }) => type)).toEqual(['text', 'text', 'tool_use']);
    expect(edited.messages[2].content[0].content).toEqual([{ type: 'text', text: 'The tool late is available now.' }]);
    for (const mark of deferredMarks) expect(JSON.stringify(edited)).not.toContain(mark);
  });

  test('odd bodies are left alone', () => {
    for (const odd of [null, [], { tools: 'x', messages: 5 }, { tools: [null, 5], messages: [null, { content: [null] }] }])
      expect(offerAllTools(odd)).toEqual([]);
  });
});

test('read for another protocol: all tools at once, and the reference in words', () => {
  const { conversation, losses } = readRequest(body, readContext);
  expect(conversation.tools.map(({ name, type }) => [name, type])).toEqual([
    ['tool_search_tool_regex', 'server'],
    ['read', 'function'],
    ['late', 'function'],
  ]);
  expect(JSON.stringify(conversation.turns.at(-1))).toContain('The tool late is available now.');
  expect(losses).toContainEqual(expect.objectContaining({ field: 'tools.defer_loading', action: 'emulated' }));
});
