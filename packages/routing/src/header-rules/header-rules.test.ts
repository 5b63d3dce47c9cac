/** A group's header rules: each match, their order, and time that stays linear. */
import { describe, expect, test } from '@jest/globals';
import type { HeaderRule } from '@model-gateway/contracts';
import { headersAllowed } from './index.ts';

const rule = (match: HeaderRule['match'], value: string | undefined, action: HeaderRule['action'], header = 'X-Team'): HeaderRule => ({
  header,
  match,
  action,
  ...(value !== undefined && { value }),
});
const team = (value: string) => ({ 'x-team': value });

describe('matches', () => {
  test.each([
    ['exists', undefined, team(''), true],
    ['exists', undefined, {}, false],
    ['absent', undefined, {}, true],
    ['absent', undefined, team('a'), false],
    ['equals', 'red', team('red'), true],
    ['equals', 'red', team('Red'), false],
    ['equals', '', {}, false],
    ['prefix', 're', team('red'), true],
    ['prefix', 'ed', team('red'), false],
    ['suffix', 'ed', team('red'), true],
    ['suffix', 're', team('red'), false],
    ['contains', 'e', team('red'), true],
    ['contains', 'x', team('red'), false],
    ['regex', '^r.d$', team('red'), true],
    ['regex', 'e', team('red'), true],
    ['regex', '^e', team('red'), false],
    ['regex', '.*', {}, false],
  ] as [HeaderRule['match'], string | undefined, Record<string, string>, boolean][])('%s %p on %j: %p', (match, value, headers, matches) => {
    expect(headersAllowed([rule(match, value, 'allow')], headers)).toBe(matches);
    expect(headersAllowed([rule(match, value, 'deny')], headers)).toBe(!matches);
  });
});

test('no rules: everyone may', () => {
  expect(headersAllowed([], {})).toBe(true);
});

test('the first match decides', () => {
  const rules = [rule('equals', 'red', 'deny'), rule('exists', undefined, 'allow')];
  expect(headersAllowed(rules, team('red'))).toBe(false);
  expect(headersAllowed(rules, team('blue'))).toBe(true);
  expect(headersAllowed([...rules].reverse(), team('red'))).toBe(true);
});

test('with any allow rule, a request that matches none is denied; with deny rules only, it is allowed', () => {
  expect(headersAllowed([rule('equals', 'red', 'deny'), rule('equals', 'blue', 'allow')], team('green'))).toBe(false);
  expect(headersAllowed([rule('equals', 'red', 'deny')], team('green'))).toBe(true);
});

test('a header named like a property of every object is absent unless it was sent', () => {
  for (const header of ['constructor', 'toString', 'valueOf', '__proto__']) {
    expect(headersAllowed([rule('exists', undefined, 'allow', header)], {})).toBe(false);
    expect(headersAllowed([rule('contains', 'a', 'deny', header)], {})).toBe(true);
  }
  expect(headersAllowed([rule('equals', 'a', 'allow', 'constructor')], { constructor: 'a' } as unknown as Record<string, string>)).toBe(true);
});

test('a header that Node keeps as a list is read as one line', () => {
  const headers = { 'set-cookie': ['a=1', 'b=2'] } as unknown as Record<string, string>;
  expect(headersAllowed([rule('equals', 'a=1, b=2', 'allow', 'Set-Cookie')], headers)).toBe(true);
});

test('patterns that make a backtracking engine explode take linear time', () => {
  const text = `${'a'.repeat(8000)}!`;
  const began = process.cpuUsage();
  for (const pattern of ['^(a+)+$', '^(a|a)*$', '^(a|aa)+$', '(.*a){12}b']) {
    expect(headersAllowed([rule('regex', pattern, 'allow')], team(text))).toBe(false);
  }
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
});
