/** What a list costs a model, whose descriptions give way first, and which words find a tool. */
import { describe, expect, test } from '@jest/globals';
import type { McpServer } from '../src/servers/server.ts';
import { readTools, type Tool } from '../src/servers/tool.ts';
import { type OfferedTool, offeredTools, printTools } from '../src/tools/offered.ts';
import { ToolIndex } from '../src/tools/search.ts';

// biome-ignore lint/suspicious/noExplicitAny: lists are read freely.
type Json = any;

const everything = { allowed_tools: ['*'], denied_tools: [], allowed_tags: [] };
const caller = { acl: everything, separator: '.' } as const;
const toolOf = (name: string, description: string): Tool => {
  const text = JSON.stringify({ name, description, inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } });
  return readTools([text]).tools[0]!;
};
const serverOf = (name: string, tools: Tool[], tags: string[] = []): McpServer => ({ name, isWell: true, tools, record: { tags } }) as unknown as McpServer;

/** In the order of priorities, as a registry gives them. */
const servers = [
  serverOf('first', [toolOf('create_invoice', `Creates an invoice. ${'x'.repeat(400)}`), toolOf('list_invoices', `Lists what was billed. ${'x'.repeat(400)}`)]),
  serverOf('second', [toolOf('bookRoom', `Reserves a place to meet. ${'x'.repeat(400)}`)], ['office']),
  serverOf('third', [toolOf('delete_event', `Removes an appointment of calendars. ${'x'.repeat(400)}`), toolOf('noop', '')]),
];
const offered = offeredTools(servers, caller, true);
const tokensOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + Math.ceil(Buffer.byteLength(text) / 4), 0);
const described = (texts: readonly string[]): string[] =>
  texts.map((text) => JSON.parse(text) as Json).flatMap(({ name, description }) => (description ? [name] : []));

describe('a name that stands twice', () => {
  test('in a server’s list is the first tool’s, and operators are told', () => {
    const texts = ['first', 'second', 'third'].map((description) => JSON.stringify({ name: 'same', description, inputSchema: { type: 'object' } }));
    const { tools, faults } = readTools(texts);
    expect(tools.map(({ name, description }) => [name, description])).toEqual([['same', 'first']]);
    expect(new Set(faults)).toEqual(new Set(['same: listed more than once, and the first alone is offered']));
  });

  test('because dots became underscores is that of the tool whose own it is, or the first one’s', () => {
    const dotted = [
      serverOf(
        'odd',
        ['a.b', 'a_b', 'c.d.e', 'c.d_e'].map((name) => toolOf(name, '')),
      ),
    ];
    const namesWith = (separator: '.' | '__') => offeredTools(dotted, { ...caller, separator }, true).map(({ name, tool }) => [name, tool.name]);
    expect(namesWith('__')).toEqual([
      ['odd__a_b', 'a_b'],
      ['odd__c_d_e', 'c.d.e'],
    ]);
    expect(namesWith('.')).toHaveLength(4);
  });

  test('because of dots is the other tool’s where only that may be called', () => {
    const dotted = [
      serverOf(
        'odd',
        ['a.b', 'a_b'].map((name) => toolOf(name, '')),
      ),
    ];
    const acl = { ...everything, denied_tools: ['odd.a_b'] };
    expect(offeredTools(dotted, { acl, separator: '__' }, true).map(({ tool }) => tool.name)).toEqual(['a.b']);
  });
});

describe('a limit of tokens', () => {
  const names = offered.map(({ name }) => name);
  const whole = tokensOf(printTools(offered, null));

  test('takes descriptions from the servers of the largest priority on, one by one, and nothing else', () => {
    expect(names).toEqual(['first.create_invoice', 'first.list_invoices', 'second.bookRoom', 'third.delete_event', 'third.noop']);
    const withText = names.filter((name) => name !== 'third.noop');
    let last = withText.length;
    for (let limit = whole; limit > 0; limit -= 20) {
      const texts = printTools(offered, limit);
      const left = described(texts);
      expect([limit, left]).toEqual([limit, withText.slice(0, left.length)]);
      expect(left.length).toBeLessThanOrEqual(last);
      last = left.length;
      expect(texts.map((text) => JSON.parse(text) as Json)).toMatchObject(names.map((name) => ({ name, inputSchema: { required: ['id'] } })));
      // Prefixes of names are not counted: some tokens each.
      if (left.length > 0) expect(tokensOf(texts)).toBeLessThan(limit + 5 * names.length);
    }
    expect(last).toBe(0);
  });

  test('counts what is listed beside the tools, and none where there is none', () => {
    expect(described(printTools(offered, whole))).toHaveLength(4);
    expect(described(printTools(offered, whole, 200))).toHaveLength(2);
    expect(described(printTools(offered, null, 1_000_000))).toHaveLength(4);
  });
});

describe('a search', () => {
  const index = new ToolIndex(offered);
  const found = (query: string): string | undefined => index.search(query, 10)[0]?.name;

  test.each([
    ['a part of a snake_case name', 'invoice', 'first.create_invoice'],
    ['a plural', 'invoices', 'first.create_invoice'],
    ['a part of a camelCase name', 'room', 'second.bookRoom'],
    ['another form of a word', 'booking rooms', 'second.bookRoom'],
    ['words of a description alone', 'appointments', 'third.delete_event'],
    ['the singular of a description’s word', 'calendar', 'third.delete_event'],
    ['a whole name', 'delete_event', 'third.delete_event'],
    ['the name of its server', 'second', 'second.bookRoom'],
    ['a tag of its server', 'office', 'second.bookRoom'],
  ])('finds a tool by %s', (_what, query, name) => {
    expect(index.search(query, 10).map((one: OfferedTool) => one.name)).toContain(name);
    if (query !== 'invoices') expect(found(query)).toBe(name);
  });

  test('finds nothing by what stands nowhere, and no more than was asked for', () => {
    expect(index.search('zebra', 10)).toEqual([]);
    expect(index.search('', 10)).toEqual([]);
    expect(index.search('invoice', 1)).toHaveLength(1);
  });
});
