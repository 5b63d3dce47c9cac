/** Edits as a tree of their paths, so that one walk over the text makes them all. */
import type { Edit } from './edit.ts';
import { childAt, nodeAt, type PathNode, type Step } from './path-tree.ts';

/** One node of the edit tree: what to do with the value here, and with those below it. */
export interface EditNode extends PathNode<EditNode> {
  /** What to do with the value here: the text that takes its place, or null to remove it. Undefined: look further down. */
  replacement: string | null | undefined;
  /** Insert when the object lacks this key. */
  add: boolean;
  /** New elements, as JSON, by the place of the one before which they come. */
  inserts: Map<number, string[]> | null;
  /** Whether some child is to be added when missing. */
  adds: boolean;
}

const newNode = (): EditNode => ({ keys: null, elements: null, any: null, replacement: undefined, add: false, inserts: null, adds: false });

function addInsert(root: EditNode, { path, value }: Edit, spell: (text: string) => string): void {
  const place = path.at(-1);
  const printed = JSON.stringify(value) as string | undefined;
  if (typeof place !== 'number' || printed === undefined) return;
  const holder = nodeAt(root, spelled(path.slice(0, -1), spell), newNode);
  holder.inserts ??= new Map();
  const there = holder.inserts.get(place);
  if (there) there.push(spell(printed));
  else holder.inserts.set(place, [spell(printed)]);
}

/** Keys as the walked text spells them without escapes. */
const spelled = (path: Edit['path'], spell: (text: string) => string): Step[] => path.map((step) => (typeof step === 'string' ? spell(step) : step));

/**
 * Of two edits of one path the later counts; an edit above another hides it. `spell` gives keys and values in the units of the walked text.
 */
export function buildEditTree(edits: readonly Edit[], spell: (text: string) => string): EditNode {
  const root = newNode();
  for (const edit of edits) {
    if (edit.insert) {
      addInsert(root, edit, spell);
      continue;
    }
    const path = spelled(edit.path, spell);
    const last = path.pop();
    const parent = nodeAt(root, path, newNode);
    const node = last === undefined ? root : childAt(parent, last, newNode);
    const printed = JSON.stringify(edit.value) as string | undefined;
    node.replacement = printed === undefined ? null : spell(printed);
    node.add = edit.add === true && printed !== undefined;
    if (node.add) parent.adds = true;
  }
  return root;
}
