/** The decision on tools: by the specification's order, and the same for lists and calls. */
import { describe, expect, test } from '@jest/globals';
import type { McpToolAcl } from '@model-gateway/contracts';
import { isServerVisible, isToolAllowed, isWholeServerAllowed } from '../src/access/decide.ts';

const acl = (parts: Partial<McpToolAcl>): McpToolAcl => ({ allowed_tools: [], denied_tools: [], allowed_tags: [], ...parts });
const tool = (server: string, name: string, tags: string[] = []) => ({ server, tool: name, tags });

describe('the decision', () => {
  test.each<[string, Partial<McpToolAcl>, ReturnType<typeof tool>, boolean]>([
    ['nothing is allowed without lists', {}, tool('a', 'x', ['t']), false],
    ['a tool by its name', { allowed_tools: ['a.x'] }, tool('a', 'x'), true],
    ['another tool of the server', { allowed_tools: ['a.x'] }, tool('a', 'y'), false],
    ['a whole server', { allowed_tools: ['a.*'] }, tool('a', 'x.y'), true],
    ['a tool of any server', { allowed_tools: ['*.x'] }, tool('b', 'x'), true],
    ['everything', { allowed_tools: ['*'] }, tool('b', 'x'), true],
    ['a server whose name begins the same', { allowed_tools: ['a.*'] }, tool('ab', 'x'), false],
    ['denied before allowed', { allowed_tools: ['a.x'], denied_tools: ['a.x'] }, tool('a', 'x'), false],
    ['denied before tags', { allowed_tags: ['t'], denied_tools: ['*.x'] }, tool('a', 'x', ['t']), false],
    ['a tag', { allowed_tags: ['t'] }, tool('a', 'x', ['s', 't']), true],
    ['tools and tags add up', { allowed_tools: ['b.*'], allowed_tags: ['t'] }, tool('a', 'x', ['t']), true],
    ['a tag of another server', { allowed_tags: ['t'] }, tool('a', 'x', ['s']), false],
    ['names with dots', { allowed_tools: ['a.x.y'] }, tool('a', 'x.y'), true],
    ['a pattern without a dot names no tool', { allowed_tools: ['a'] }, tool('a', 'x'), false],
  ])('%s', (_name, lists, asked, allowed) => {
    expect(isToolAllowed(acl(lists), asked)).toBe(allowed);
  });

  test('a server is there for those who may use something of it', () => {
    const of = { server: 'a', tags: ['t'] };
    expect(isServerVisible(acl({ allowed_tools: ['a.x'] }), of)).toBe(true);
    expect(isServerVisible(acl({ allowed_tools: ['*.x'] }), of)).toBe(true);
    expect(isServerVisible(acl({ allowed_tags: ['t'] }), of)).toBe(true);
    expect(isServerVisible(acl({ allowed_tools: ['ab.x'] }), of)).toBe(false);
    expect(isServerVisible(acl({ allowed_tools: ['*'], denied_tools: ['a.*'] }), of)).toBe(false);
    expect(isServerVisible(undefined, of)).toBe(false);
  });

  test('what is no tool takes the whole server', () => {
    expect(isWholeServerAllowed(acl({ allowed_tools: ['a.*'] }), { server: 'a' })).toBe(true);
    expect(isWholeServerAllowed(acl({ allowed_tools: ['*'] }), { server: 'a' })).toBe(true);
    expect(isWholeServerAllowed(acl({ allowed_tools: ['a.x'] }), { server: 'a' })).toBe(false);
    expect(isWholeServerAllowed(acl({ allowed_tags: ['t'] }), { server: 'a' })).toBe(false);
    expect(isWholeServerAllowed(acl({ allowed_tools: ['*'], denied_tools: ['a.x'] }), { server: 'a' })).toBe(false);
    expect(isWholeServerAllowed(acl({ allowed_tools: ['*'], denied_tools: ['b.x'] }), { server: 'a' })).toBe(true);
  });
});

/** A plain reading of the specification, to compare with: every pattern becomes the set of tools that it names. */
function readPlainly({ allowed_tools, denied_tools, allowed_tags }: McpToolAcl, { server, tool: name, tags }: ReturnType<typeof tool>): boolean {
  const named = [`${server}.${name}`, `${server}.*`, `*.${name}`, '*', '*.*'];
  if (named.some((pattern) => denied_tools.includes(pattern))) return false;
  if (named.some((pattern) => allowed_tools.includes(pattern))) return true;
  return tags.some((tag) => allowed_tags.includes(tag));
}

test('ten thousand random lists: the decision is the specification’s, and what may be called is of a server that is there', () => {
  let seed = 7;
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((seed / 2_147_483_648) * below);
  };
  const servers = ['a', 'b', 'a-b', 'c_d'];
  const tools = ['x', 'y', 'x.y', 'find_all'];
  const tags = ['t', 'u', 'v'];
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const pattern = (): string => (random(8) === 0 ? '*' : `${pick([...servers, '*'])}.${pick([...tools, '*'])}`);
  const some = <T>(make: () => T): T[] => Array.from({ length: random(4) }, make);
  for (let round = 0; round < 10_000; round++) {
    const lists = acl({ allowed_tools: some(pattern), denied_tools: some(pattern), allowed_tags: some(() => pick(tags)) });
    for (let at = 0; at < 4; at++) {
      const asked = tool(
        pick(servers),
        pick(tools),
        some(() => pick(tags)),
      );
      const allowed = isToolAllowed(lists, asked);
      expect([lists, asked, allowed]).toEqual([lists, asked, readPlainly(lists, asked)]);
      if (allowed) expect([lists, asked, isServerVisible(lists, asked)]).toEqual([lists, asked, true]);
    }
  }
});
