/**
 * `strip-lines`: removes matching lines from the text at the path. A line matches when it holds the value's text; `{match, value}` asks for
 * another comparison, and a list takes out what any of it matches.
 */
import { RE2JS } from 're2js';
import type { Mode } from '../mode.ts';
import { findAll, pathOf } from '../path.ts';
import { RuleError } from '../rule-error.ts';
import { readTarget } from '../targets.ts';
import { readValue } from '../value.ts';

type Matches = (line: string) => boolean;

const comparisons: ReadonlyMap<unknown, (text: string) => Matches> = new Map<unknown, (text: string) => Matches>([
  ['contains', (text) => (line) => line.includes(text)],
  ['equals', (text) => (line) => line === text],
  ['prefix', (text) => (line) => line.startsWith(text)],
  ['suffix', (text) => (line) => line.endsWith(text)],
  ['regex', compileRegex],
]);

/** Of the linear-time kind: the text is a caller's. */
function compileRegex(text: string): Matches {
  try {
    const regex = RE2JS.compile(text);
    return (line) => regex.matcher(line).find();
  } catch (error) {
    const reason = error instanceof Error ? error.message.slice(0, 200) : 'it does not compile';
    throw new RuleError('value', `is not a regular expression in RE2 syntax (no lookaround, no backreferences): ${reason}`);
  }
}

const shape = 'must be text, {"match": "contains|equals|prefix|suffix|regex", "value": text}, or a list of them';

function readMatcher(value: unknown): Matches {
  const { match, value: text, ...others } = typeof value === 'string' ? { match: 'contains', value } : ((value ?? {}) as Record<string, unknown>);
  const compare = comparisons.get(match);
  if (!compare || typeof text !== 'string' || text === '' || Object.keys(others).length > 0) throw new RuleError('value', shape);
  return compare(text);
}

/** The text without the lines that match; line ends of the lines that stay are as they were. */
export function stripLines(text: string, matches: Matches): string {
  if (!text.includes('\n')) return matches(text) ? '' : text;
  const lines = text.split('\n');
  const kept = lines.filter((line) => !matches(line.endsWith('\r') ? line.slice(0, -1) : line));
  return kept.length === lines.length ? text : kept.join('\n');
}

export const stripLinesMode: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const path = readTarget(rule);
    const dynamic = typeof rule.value === 'string' && rule.value.includes('{{') ? readValue(rule.value) : null;
    const fixed = dynamic ? [] : (Array.isArray(rule.value) ? rule.value : [rule.value]).map(readMatcher);
    if (!dynamic && fixed.length === 0) throw new RuleError('value', shape);
    return (body, { facts }) => {
      const text = dynamic?.(facts);
      const matchers = typeof text === 'string' ? [readMatcher(text)] : fixed;
      const matches: Matches = (line) => matchers.some((one) => one(line));
      return findAll(body, path).flatMap(({ place, value }) => {
        const next = typeof value === 'string' ? stripLines(value, matches) : value;
        return next === value ? [] : [{ path: place, value: next }];
      });
    };
  },
  needs: ({ path }) => [{ path: pathOf(path), depth: 'value' }],
};
