/** Texts and patterns. */

import { currentMeter } from '../meter.ts';
import { compilePattern, expandText } from '../regexp.ts';

export function toText(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string, not ${value === null ? 'null' : typeof value}`);
  return value;
}

export const textBuiltins = {
  str_len(text: string): number {
    let length = 0;
    const characters = toText(text, 'text');
    for (let at = 0; at < characters.length; at++, length++) if (characters.codePointAt(at)! > 0xffff) at++;
    return length;
  },
  str_contains: (text: string, part: string): boolean => toText(text, 'text').includes(toText(part, 'part')),
  str_replace(text: string, part: string, replacement: string): string {
    const [whole, sought, given] = [toText(text, 'text'), toText(part, 'part'), toText(replacement, 'replacement')];
    return sought === '' ? whole : whole.replaceAll(sought, () => given);
  },
  str_starts_with: (text: string, start: string): boolean => toText(text, 'text').startsWith(toText(start, 'start')),
  str_trim: (text: string): string => toText(text, 'text').trim(),

  regex_match: (text: string, pattern: string): boolean => compilePattern(toText(pattern, 'pattern')).matcher(toText(text, 'text')).find(),
  regex_replace(text: string, pattern: string, replacement: string): string {
    const whole = toText(text, 'text');
    const given = toText(replacement, 'replacement');
    const matcher = compilePattern(toText(pattern, 'pattern')).matcher(whole);
    const names = Object.keys(matcher.pattern().namedGroups());
    let out = '';
    let from = 0;
    while (matcher.find()) {
      const groups: (string | undefined)[] = [];
      for (let group = 0; group <= matcher.groupCount(); group++) groups.push(matcher.group(group) ?? undefined);
      const named = Object.fromEntries([...groups.entries(), ...names.map((name) => [name, matcher.group(name) ?? undefined] as const)]);
      const match = Object.assign(groups, { index: matcher.start(), input: whole, groups: named });
      out += whole.slice(from, matcher.start()) + expandText(match as never, given);
      currentMeter()?.text(out);
      from = matcher.end();
    }
    return out + whole.slice(from);
  },
  regex_extract(text: string, pattern: string, group: number | string | null = 0): string | null {
    const matcher = compilePattern(toText(pattern, 'pattern')).matcher(toText(text, 'text'));
    if (!matcher.find()) return null;
    const wanted = group ?? 0;
    const known =
      typeof wanted === 'string'
        ? Object.hasOwn(matcher.pattern().namedGroups(), wanted)
        : Number.isInteger(wanted) && wanted >= 0 && wanted <= matcher.groupCount();
    if (!known) throw new RangeError(`the pattern has no group ${String(wanted).slice(0, 60)}`);
    return matcher.group(wanted as number) ?? null;
  },
};
