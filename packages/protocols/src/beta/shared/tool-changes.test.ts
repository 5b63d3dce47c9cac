/** Tools that messages add or take away become one list, where a protocol has only that. */
import { expect, test } from '@jest/globals';
import { readRequest } from './read-request.ts';

const tool = (name: string) => ({ name, input_schema: { type: 'object' } });
const reference = (name: string) => ({ type: 'tool_reference', name });
const change = (type: 'tool_addition' | 'tool_removal', what: object) => ({ type, tool: what });
const read = (tools: unknown, ...changes: object[]) => {
  const messages = [
    { role: 'user', content: 'a' },
    { role: 'system', content: changes },
    { role: 'user', content: 'b' },
  ];
  const { conversation, losses } = readRequest(
    { max_tokens: 9, tools, messages },
    { path: '', operation: 'generate', model: 'm', streamForm: 'whole', headers: {} },
  );
  return { names: conversation.tools.map(({ name }) => name), turns: conversation.turns, losses: losses.map(({ field, action }) => `${action} ${field}`) };
};

test('added by definition, taken away and put back by name', () => {
  const definition = { type: 'tool_definition', definition: tool('g') };
  const { names, turns, losses } = read(
    [tool('f'), tool('h')],
    change('tool_addition', definition),
    change('tool_removal', reference('f')),
    change('tool_removal', reference('h')),
    change('tool_addition', reference('h')),
  );
  expect(names).toEqual(['h', 'g']);
  expect(turns.map(({ role }) => role)).toEqual(['user', 'user']);
  expect(losses).toEqual(['emulated messages.tool_changes']);
});

test('the last definition of a name holds; tools of servers are a declared loss; nothing odd is an error', () => {
  const newer = { type: 'tool_definition', definition: { ...tool('f'), description: 'newer' } };
  expect(read([tool('f')], change('tool_addition', newer)).names).toEqual(['f']);
  const server = read(undefined, change('tool_addition', { type: 'mcp_toolset_reference', server_name: 's' }), { type: 'tool_removal' });
  expect(server).toMatchObject({ names: [], losses: ['emulated messages.tool_changes', 'dropped messages.tool_changes'] });
});

test('a compaction tells what had changed before it', () => {
  const added = change('tool_addition', { type: 'tool_definition', definition: tool('g') });
  const compaction = (tool_changes?: object[]) => ({ type: 'compaction', content: 'so far', ...(tool_changes && { tool_changes }) });
  const removed = [change('tool_removal', reference('f'))];
  expect(read([tool('f')], compaction([added, ...removed])).names).toEqual(['g']);
  // The sum of what had changed, so that nothing before it counts; an older server tells nothing.
  expect(read([tool('f')], ...removed, compaction([])).names).toEqual(['f']);
  expect(read([tool('f')], ...removed, compaction(), added).names).toEqual(['g']);
  // One that failed has no summary.
  expect(read([tool('f')], ...removed, { type: 'compaction', content: null, tool_changes: [] }).names).toEqual([]);
});
