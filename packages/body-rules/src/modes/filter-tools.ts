/**
 * `filter-tools`: removes tools by name (or by type, where the vendor runs them); `*` is a wildcard, and `{"keep": …}` removes all others. A tool
 * choice that names a removed tool is removed too, and settings that mean nothing without tools go with the last one. With a `path` the rule acts on
 * other arrays than the protocol's own, whose tool choices then stay.
 */
import { type Edit, JsonDocument, type Need } from '@model-gateway/json-bytes';
import type { BodyLayout } from '@model-gateway/protocols';
import type { Mode } from '../mode.ts';
import { findAll, pathOf } from '../path.ts';
import { matchesPattern } from '../pattern.ts';
import { RuleError } from '../rule-error.ts';
import { readTarget } from '../targets.ts';
import { readTexts } from '../value.ts';
import { removeAt } from '../write.ts';

type Goes = (names: readonly string[]) => boolean;

function readFilter(value: unknown): Goes {
  const keeps = typeof value === 'object' && value !== null && !Array.isArray(value);
  const { keep, ...others } = keeps ? (value as Record<string, unknown>) : { keep: value };
  if (Object.keys(others).length > 0) throw new RuleError('value', 'must be names of tools, or {"keep": names}');
  const patterns = readTexts(keep, 'the name of a tool');
  const named: Goes = (names) => names.some((name) => patterns.some((pattern) => matchesPattern(pattern, name)));
  return keeps ? (names) => !named(names) : named;
}

/** Takes tools out of every array of them. An array that is left without any goes with the object that held nothing else. */
function removeTools(
  document: JsonDocument,
  { places, namesOf }: Pick<BodyLayout['tools'], 'places' | 'namesOf'>,
  goes: Goes,
): { removed: Set<string>; left: boolean } {
  const removed = new Set<string>();
  let left = false;
  for (const place of places) {
    const edits: Edit[] = [];
    for (const found of findAll(document.value, place.split('.'))) {
      if (!Array.isArray(found.value)) continue;
      const gone = new Set<number>();
      for (const [index, tool] of found.value.entries()) {
        const names = namesOf(tool);
        if (names.length > 0 && goes(names)) {
          gone.add(index);
          for (const name of names) removed.add(name);
        } else if (names.length > 0) left = true;
      }
      const isEmptied = gone.size > 0 && found.value.every((tool, index) => gone.has(index) || namesOf(tool).length === 0);
      if (isEmptied) edits.push(removeAt(found.place));
      else for (const index of gone) edits.push(removeAt([...found.place, index]));
    }
    document.apply(edits);
  }
  return { removed, left };
}

/** Lists of tools inside lists leave empty objects behind. */
function removeHusks(document: JsonDocument, places: readonly string[]): void {
  const isHusk = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
  for (const place of places.filter((one) => !one.includes('*')))
    for (const found of findAll(document.value, place.split('.'))) {
      if (!Array.isArray(found.value) || !found.value.some(isHusk)) continue;
      if (found.value.every(isHusk)) document.apply([removeAt(found.place)]);
      else document.apply(found.value.flatMap((value, index) => (isHusk(value) ? [removeAt([...found.place, index])] : [])));
    }
}

function removeChoices(document: JsonDocument, choices: BodyLayout['tools']['choices'], removed: ReadonlySet<string>): void {
  for (const { path, namesOf, above = 0 } of choices)
    for (const { place, value } of findAll(document.value, path.split('.'))) {
      const isGone = (choice: unknown) => namesOf(choice).some((name) => removed.has(name));
      if (!Array.isArray(value)) document.apply(isGone(value) ? [removeAt(place)] : []);
      else if (value.length > 0 && value.every(isGone)) document.apply([removeAt(place.slice(0, place.length - above))]);
      else document.apply(value.flatMap((choice, index) => (isGone(choice) ? [removeAt([...place, index])] : [])));
    }
}

/** Without knowledge of the protocol a tool is called what it says itself. */
const ownNames: BodyLayout['tools']['namesOf'] = (tool) =>
  [['function', 'name'], ['name'], ['type']]
    .flatMap((path) => findAll(tool, path).flatMap(({ value }) => (typeof value === 'string' ? [value] : [])))
    .slice(0, 1);

export const filterTools: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const goes = readFilter(rule.value);
    const path = rule.path ? readTarget(rule).join('.') : null;
    return (body, { layout }) => {
      const document = new JsonDocument(body);
      if (!layout || isElsewhere(path, layout)) {
        if (path !== null) removeTools(document, { places: [path], namesOf: layout?.tools.namesOf ?? ownNames }, goes);
        return document.edits();
      }
      const { removed, left } = removeTools(document, layout.tools, goes);
      if (removed.size === 0) return [];
      removeHusks(document, layout.tools.places);
      if (left) removeChoices(document, layout.tools.choices, removed);
      else for (const text of layout.tools.meaningless) document.apply(findAll(document.value, text.split('.')).map(({ place }) => removeAt(place)));
      return document.edits();
    };
  },
  needs({ path }, layout) {
    if (!layout || isElsewhere(path, layout)) return path ? [{ path: pathOf(path), depth: 'value' }] : [];
    const { places, choices, meaningless } = layout.tools;
    const looked = [...places, ...choices.map((choice) => choice.path)].map((text): Need => ({ path: pathOf(text), depth: 'value' }));
    return [...looked, ...meaningless.map((text): Need => ({ path: pathOf(text), depth: 'place' }))];
  },
  moves: () => true,
};

/** One of the protocol's own places means all of them: some wires have lists of tools inside lists. */
const isElsewhere = (path: string | null | undefined, { tools }: BodyLayout): boolean => !!path && !tools.places.includes(path);
