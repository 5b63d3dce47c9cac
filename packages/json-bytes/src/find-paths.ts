/** Finds out which of a few paths exist in JSON bytes. Only what may equal a wanted value is parsed: images and files are skipped unread. */
import { asBuffer, readKey, skipBlanks, skipValue, walkArray, walkObject } from './cursor.ts';
import { jsonEqual } from './equal.ts';
import { nodeAt, type PathNode, stepsOf } from './path-tree.ts';
import { braceOpen, bracketOpen, quote } from './syntax.ts';

/** One path to look for, perhaps only with a certain value. */
export interface PathQuestion {
  /** Keys and places of elements; `*` is every member. */
  path: readonly string[];
  /** Wanted value; absent: whatever there is. */
  equal?: unknown;
}

interface Node extends PathNode<Node> {
  /** Questions that end here: position → the wanted value, or undefined for anything. */
  ends: { id: number; wanted: { value: unknown; maxLength: number } | undefined }[];
}

const newNode = (): Node => ({ keys: null, elements: null, any: null, ends: [] });

/** Every character of a string may take six bytes; a number, or the blanks inside a container, are not endless in an honest body. */
const slack = 4096;
/** In bytes: a longer text is not this value. */
export const maxSpellingLength = (value: unknown): number => {
  const printed = Buffer.byteLength(JSON.stringify(value));
  return typeof value === 'string' ? printed * 6 : printed * 6 + slack;
};

/** One search: the walk ends when nothing is left to be found. */
interface Search {
  bytes: Buffer;
  found: Uint8Array;
  left: number;
}

export class PathFinder {
  readonly #root = newNode();
  readonly #count: number;
  /** In bytes as they may be spelled. */
  #maxKeyLength = 0;

  constructor(questions: readonly PathQuestion[]) {
    this.#count = questions.length;
    for (const [id, { path, equal }] of questions.entries()) {
      for (const step of path) if (step !== '*') this.#maxKeyLength = Math.max(this.#maxKeyLength, Buffer.byteLength(step) * 6 + 2);
      const node = nodeAt(this.#root, stepsOf(path), newNode);
      node.ends.push({ id, wanted: equal === undefined ? undefined : { value: equal, maxLength: maxSpellingLength(equal) } });
    }
  }

  /** For each question 1 where the bytes hold it, else 0, in one pass. The bytes are known to be JSON. Of a repeated key every value counts. */
  search(source: Uint8Array): Uint8Array {
    const search: Search = { bytes: asBuffer(source), found: new Uint8Array(this.#count), left: this.#count };
    if (search.left > 0) this.#value(search, skipBlanks(search.bytes, 0), [this.#root]);
    return search.found;
  }

  /** Offset after the value; -1 when the walk is over. */
  #value(search: Search, start: number, nodes: readonly Node[]): number {
    const { bytes } = search;
    let deeper = false;
    let end = -1;
    for (const node of nodes) {
      deeper ||= node.keys !== null || node.any !== null;
      for (const { id, wanted } of node.ends) {
        if (search.found[id] === 1) continue;
        if (wanted) {
          if (end < 0) end = skipValue(bytes, start);
          if (end < 0) return -1;
          if (!isEqual(bytes, start, end, wanted)) continue;
        }
        search.found[id] = 1;
        search.left -= 1;
      }
    }
    if (search.left === 0) return -1;
    if (deeper && bytes[start] === braceOpen) return this.#object(search, start, nodes);
    if (deeper && bytes[start] === bracketOpen) return this.#array(search, start, nodes);
    return end < 0 ? skipValue(bytes, start) : end;
  }

  #object(search: Search, start: number, nodes: readonly Node[]): number {
    const { bytes } = search;
    return walkObject(bytes, start, (keyStart, keyEnd, valueStart) => {
      const below = this.#below(nodes, keyEnd - keyStart > this.#maxKeyLength ? null : readKey(bytes, keyStart, keyEnd));
      return below ? this.#value(search, valueStart, below) : skipValue(bytes, valueStart);
    });
  }

  #array(search: Search, start: number, nodes: readonly Node[]): number {
    const { bytes } = search;
    const byIndex = nodes.some(({ keys }) => keys !== null);
    return walkArray(bytes, start, (index, elementStart) => {
      const below = this.#below(nodes, byIndex ? String(index) : null);
      return below ? this.#value(search, elementStart, below) : skipValue(bytes, elementStart);
    });
  }

  #below(nodes: readonly Node[], key: string | null): Node[] | null {
    let below: Node[] | null = null;
    for (const { keys, any } of nodes) {
      const exact = key === null ? undefined : keys?.get(key);
      if (exact) below = [...(below ?? []), exact];
      if (any) below = [...(below ?? []), any];
    }
    return below;
  }
}

function isEqual(bytes: Buffer, start: number, end: number, { value, maxLength }: { value: unknown; maxLength: number }): boolean {
  if (end - start > maxLength || (typeof value === 'string') !== (bytes[start] === quote)) return false;
  try {
    return jsonEqual(value, JSON.parse(bytes.toString('utf8', start, end)));
  } catch {
    return false;
  }
}
