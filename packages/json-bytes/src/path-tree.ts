/** Paths compiled into a tree, so that one walk over a value follows all of them: of edits, of questions, of parts to read. */

/** A step that leads to every member of an object or array. */
export const everyMember: unique symbol = Symbol('every member');

/** A string names an object's key, a number an array's element. */
export type Step = string | number | typeof everyMember;

/** The part of a node that leads on; `Self` is the node's own type with what is to be done there. */
export interface PathNode<Self> {
  keys: Map<string, Self> | null;
  elements: Map<number, Self> | null;
  any: Self | null;
}

/** The node at the end of the path, made with all nodes before it where they are missing. */
export function nodeAt<Node extends PathNode<Node>>(root: Node, path: readonly Step[], create: () => Node): Node {
  let node = root;
  for (const step of path) node = childAt(node, step, create);
  return node;
}

export function childAt<Node extends PathNode<Node>>(parent: Node, step: Step, create: () => Node): Node {
  if (step === everyMember) {
    parent.any ??= create();
    return parent.any;
  }
  if (typeof step === 'number') {
    parent.elements ??= new Map();
    return parent.elements.get(step) ?? put(parent.elements, step, create());
  }
  parent.keys ??= new Map();
  return parent.keys.get(step) ?? put(parent.keys, step, create());
}

function put<Key, Node>(map: Map<Key, Node>, key: Key, node: Node): Node {
  map.set(key, node);
  return node;
}

/** The steps of a path whose `*` means every member, as rules and conditions write them. */
export const stepsOf = (path: readonly string[]): Step[] => path.map((step) => (step === '*' ? everyMember : step));
