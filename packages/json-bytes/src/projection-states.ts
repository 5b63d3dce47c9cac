/** The paths of a projection compiled into a tree: what to read below each value. */
import { nodeAt, type PathNode, stepsOf } from './path-tree.ts';

/**
 * How much of a value is read: whether it exists (and is null), how many elements it has, the same but texts in full, or all of it. `like` is `value`
 * for readers that only compare: what cannot be equal stays unread.
 */
export type Depth = 'place' | 'length' | 'text' | 'value' | { like: unknown };

/** One path to read, and how much of the value there. */
export interface Need {
  /** Keys and places of elements; `*` is every member. What lies on the way is read as far as it leads there. */
  path: readonly string[];
  depth: Depth;
}

/** All needs as a tree of their paths. */
export interface Node extends PathNode<Node> {
  counts: boolean;
  scalars: boolean;
  maxTextLength: number;
  containers: boolean;
}

/** What is wanted of one value, by everyone whose path leads there. */
export interface State {
  /** Members that are wanted by their key, and for arrays by their place. */
  named: readonly { key: string; bytes: Buffer; state: State }[];
  byPlace: ReadonlyMap<number, State>;
  /** Every other member. */
  any: State | null;
  /** In bytes, of the keys in `named` as they may be spelled. */
  maxKeyLength: number;
  /** Whether a container is walked through, if it is not read whole. */
  enters: boolean;
  scalars: boolean;
  /** In bytes, the longest text that is read; -1: none is. */
  maxTextLength: number;
  containers: boolean;
}

export const newNode = (): Node => ({ keys: null, elements: null, any: null, counts: false, scalars: false, maxTextLength: -1, containers: false });

/** Each character takes six bytes at most. */
const maxSpellingLength = (text: string): number => text.length * 6 + 2;

export function putNeed(root: Node, { path, depth }: Need): void {
  const node = nodeAt(root, stepsOf(path), newNode);
  const like = typeof depth === 'object' ? depth.like : undefined;
  const all = depth === 'value';
  node.counts ||= depth === 'length' || depth === 'text';
  node.scalars ||= all || typeof depth === 'object';
  node.containers ||= all || (typeof like === 'object' && like !== null);
  if (all || depth === 'text') node.maxTextLength = Number.POSITIVE_INFINITY;
  else if (typeof like === 'string') node.maxTextLength = Math.max(node.maxTextLength, maxSpellingLength(like));
}

const wholeNumber = /^(?:0|[1-9]\d{0,9})$/;

export function stateOf(nodes: readonly Node[]): State {
  const below = nodes.flatMap(({ any }) => any ?? []);
  const keys = [...new Set(nodes.flatMap(({ keys }) => [...(keys?.keys() ?? [])]))];
  const named = keys.map((key) => ({
    key,
    bytes: Buffer.from(key, 'utf8'),
    state: stateOf([...nodes.flatMap((node) => node.keys?.get(key) ?? []), ...below]),
  }));
  const any = below.length > 0 ? stateOf(below) : null;
  return {
    named,
    byPlace: new Map(named.filter(({ key }) => wholeNumber.test(key)).map(({ key, state }) => [Number(key), state])),
    any,
    maxKeyLength: keys.reduce((maxLength, key) => Math.max(maxLength, maxSpellingLength(key)), 0),
    enters: any !== null || named.length > 0 || nodes.some(({ counts }) => counts),
    scalars: nodes.some(({ scalars }) => scalars),
    maxTextLength: nodes.reduce((maxLength, node) => Math.max(maxLength, node.maxTextLength), -1),
    containers: nodes.some(({ containers }) => containers),
  };
}
