/** Edits as a tree of their paths, so that one walk over the text makes them all. */
import type { Edit } from './edit.ts';

/** One node of the edit tree: what to do with the value here, and with those below it. */
export interface EditNode {
  /** What to do with the value here: the text that takes its place, or null to remove it. Undefined: look further down. */
  replacement: string | null | undefined;
  /** Insert when the object lacks this key. */
  add: boolean;
  /** The key as the walked text spells it without escapes, and as JSON. */
  key: string;
  keys: Map<string, EditNode> | null;
  elements: Map<number, EditNode> | null;
  /** New elements, as JSON, by the place of the one before which they come. */
  inserts: Map<number, string[]> | null;
  /** Whether some child is to be added when missing. */
  adds: boolean;
}

const newNode = (key: string): EditNode => ({ replacement: undefined, add: false, key, keys: null, elements: null, inserts: null, adds: false });

function childAt(parent: EditNode, segment: string | number, spell: (key: string) => string): EditNode {
  if (typeof segment === 'number') {
    parent.elements ??= new Map();
    let element = parent.elements.get(segment);
    if (!element) {
      element = newNode('');
      parent.elements.set(segment, element);
    }
    return element;
  }
  parent.keys ??= new Map();
  const key = spell(segment);
  let member = parent.keys.get(key);
  if (!member) {
    member = newNode(key);
    parent.keys.set(key, member);
  }
  return member;
}

function addInsert(root: EditNode, { path, value }: Edit, spell: (text: string) => string): void {
  const place = path.at(-1);
  const printed = JSON.stringify(value) as string | undefined;
  if (typeof place !== 'number' || printed === undefined) return;
  let holder = root;
  for (const segment of path.slice(0, -1)) holder = childAt(holder, segment, spell);
  holder.inserts ??= new Map();
  const there = holder.inserts.get(place);
  if (there) there.push(spell(printed));
  else holder.inserts.set(place, [spell(printed)]);
}

/**
 * Of two edits of one path the later counts; an edit above another hides it. `spell` gives keys and values in the units of the walked text.
 */
export function buildEditTree(edits: readonly Edit[], spell: (text: string) => string): EditNode {
  const root = newNode('');
  for (const edit of edits) {
    if (edit.insert) {
      addInsert(root, edit, spell);
      continue;
    }
    let parent = root;
    let node = root;
    for (const segment of edit.path) {
      parent = node;
      node = childAt(parent, segment, spell);
    }
    const printed = JSON.stringify(edit.value) as string | undefined;
    node.replacement = printed === undefined ? null : spell(printed);
    node.add = edit.add === true && printed !== undefined;
    if (node.add) parent.adds = true;
  }
  return root;
}
