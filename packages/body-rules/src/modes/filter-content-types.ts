/**
 * `filter-content-types`: removes content blocks of these types, by default from every content array the protocol has. A text takes the place of a
 * removed image, and of the last block of an array, so that the model knows something was there and no array becomes empty. Where an array may hold
 * no text, the note goes into the message text next to it.
 */
import type { Edit, Need } from '@model-gateway/json-bytes';
import type { BodyLayout } from '@model-gateway/protocols';
import type { Mode } from '../mode.ts';
import { findAll, type Path, type Place, pathOf } from '../path.ts';
import { readTarget } from '../targets.ts';
import { readTexts } from '../value.ts';
import { removeAt } from '../write.ts';

type Blocks = Pick<BodyLayout, 'kindsOf' | 'textBlock' | 'wordsBeside'>;

/** Without knowledge of the protocol a block's type is its own `type` field. */
const ownType: Blocks = {
  kindsOf(block) {
    const type = typeof block === 'object' && block !== null && Object.hasOwn(block, 'type') ? (block as { type: unknown }).type : undefined;
    return typeof type === 'string' ? [type] : [];
  },
  textBlock: (text) => ({ type: 'text', text }),
};

interface Filter {
  types: ReadonlySet<string>;
  layout: Blocks;
}

/** `written` is the path as the layout spells it. */
function filterArray(body: unknown, { place, value: array }: { place: Place; value: readonly unknown[] }, written: string, { types, layout }: Filter): Edit[] {
  const removed: { index: number; type: string; image: boolean }[] = [];
  for (const [index, block] of array.entries()) {
    const kinds = layout.kindsOf(block);
    const type = kinds.find((kind) => types.has(kind));
    if (type !== undefined) removed.push({ index, type, image: kinds.includes('image') });
  }
  const [first] = removed;
  if (!first) return [];
  const image = removed.find((block) => block.image);
  const replacement = image ?? (removed.length === array.length ? first : undefined);
  const note = replacement && `[${image ? 'image' : replacement.type} removed]`;
  const placeholder = note === undefined ? null : (layout.textBlock(note, written) ?? null);
  const edits = removed.map(
    ({ index }): Edit => (placeholder !== null && index === replacement?.index ? { path: [...place, index], value: placeholder } : removeAt([...place, index])),
  );
  if (placeholder !== null) return edits;
  const emptied = removed.length === array.length ? [removeAt(place)] : edits;
  return note === undefined ? emptied : [...emptied, ...noteBeside(body, place, note, layout.wordsBeside?.(written) ?? null)];
}

/** The note, appended to the text that accompanies the array. */
function noteBeside(body: unknown, place: Place, note: string, key: string | null): Edit[] {
  const holder = place.slice(0, -1).reduce<unknown>((value, step) => (value as Record<string | number, unknown>)[step], body);
  const words = key === null ? undefined : (holder as Record<string, unknown>)[key];
  return key !== null && typeof words === 'string' ? [{ path: [...place.slice(0, -1), key], value: words === '' ? note : `${words}\n${note}` }] : [];
}

export const filterContentTypes: Mode = {
  takes: ['path', 'value'],
  compile(rule) {
    const path = rule.path ? readTarget(rule) : null;
    const types = new Set(readTexts(rule.value, 'the type of a block'));
    return (body, { layout }) => {
      const filter: Filter = { types, layout: layout ?? ownType };
      const paths: readonly Path[] = path ? [path] : (layout?.content ?? []).map((text) => text.split('.'));
      const gone: Edit[] = [];
      for (const one of paths)
        for (const { place, value } of findAll(body, one)) if (Array.isArray(value)) gone.push(...filterArray(body, { place, value }, one.join('.'), filter));
      return paths.length > 1 ? withoutHidden(gone) : gone;
    };
  },
  // Of content that is text nothing is read.
  needs: ({ path }, layout) =>
    (path ? [path] : (layout?.content ?? [])).flatMap((text): Need[] => [
      { path: pathOf(text), depth: 'length' },
      { path: [...pathOf(text), '*'], depth: 'value' },
      ...besideNeeds(text, layout),
    ]),
  moves: () => true,
};

function besideNeeds(text: string, layout: BodyLayout | null): Need[] {
  const key = layout?.wordsBeside?.(text) ?? null;
  return key === null ? [] : [{ path: [...pathOf(text).slice(0, -1), key], depth: 'text' }];
}

/** Blocks nested in a removed block need no edit of their own. */
function withoutHidden(edits: readonly Edit[]): Edit[] {
  // Not joined by dots: a caller's key may hold them.
  const idOf = (path: Edit['path']): string => JSON.stringify(path);
  const taken = new Set(edits.map(({ path }) => idOf(path)));
  return edits.filter(({ path }) => {
    for (let length = path.length - 1; length > 0; length--) if (taken.has(idOf(path.slice(0, length)))) return false;
    return true;
  });
}
