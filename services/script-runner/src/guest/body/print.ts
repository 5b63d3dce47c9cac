/** Prints what a script made: whole values as JSON, and a view's changes as replacements in the text that it is a view of. */
import { LimitFault, maxElements, maxResultLength, maxTextLength } from '../limits.ts';
import { LazyNode, type Origin, PendingText } from './node.ts';
import { nodeOf } from './view.ts';

/** The text from `start` up to `end` becomes `text`. In order, never overlapping. */
export interface Replacement {
  start: number;
  end: number;
  text: string;
}

/** Not by push: that of the sandbox is bounded for scripts. */
const add = (list: Replacement[], replacement: Replacement): void => {
  list[list.length] = replacement;
};

/** Containers inside one another: deeper ones are a circle, or no body. */
const maxDepth = 256;

/** Prints within bounds; made for one result. */
export class Printer {
  #length = 0;

  /** JSON text of a value; undefined for what JSON leaves out. Views come out as their text with its changes. */
  print(value: unknown, depth = 0): string | undefined {
    if (typeof value !== 'object' || value === null) return this.#scalar(value);
    if (depth > maxDepth) throw new TypeError('the body is nested too deeply, or holds itself');
    if (PendingText.is(value)) return this.#scalar(value.read());
    const node = LazyNode.is(value) ? value : nodeOf(value);
    if (node) return this.#count(this.#printNode(node, depth));
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === 'function') return this.print(Reflect.apply(toJSON, value, []), depth + 1);
    if (value instanceof Number || value instanceof String || value instanceof Boolean) return this.#scalar(value.valueOf());
    return Array.isArray(value) ? this.#printList(value, depth) : this.#printObject(value as Record<string, unknown>, depth);
  }

  /** What a node's text has to change; [] when nothing did. */
  changes(node: LazyNode, depth = 0): Replacement[] {
    const out: Replacement[] = [];
    this.#collect(node, out, depth);
    return out;
  }

  #scalar(value: unknown): string | undefined {
    if (typeof value === 'string' && value.length > maxTextLength) throw new LimitFault('StringTooLong', `a text is longer than ${maxTextLength} characters`);
    if (typeof value === 'bigint') throw new TypeError('a BigInt is not a JSON value');
    const text = JSON.stringify(value) as string | undefined;
    return text === undefined ? undefined : this.#count(text);
  }

  #count(text: string): string {
    this.#length += text.length;
    if (this.#length > maxResultLength) throw new LimitFault('ResultTooLarge', 'the returned body is too large');
    return text;
  }

  #printList(list: readonly unknown[], depth: number): string {
    if (list.length > maxElements) throw tooMany();
    let out = '';
    for (let at = 0; at < list.length; at++) out += (at > 0 ? ',' : '') + (this.print(list[at], depth + 1) ?? 'null');
    return `[${out}]`;
  }

  #printObject(object: Record<string, unknown>, depth: number): string {
    const keys = Object.keys(object);
    if (keys.length > maxElements) throw tooMany();
    let out = '';
    for (const key of keys) {
      const value = this.print(object[key], depth + 1);
      if (value !== undefined) out += `${out === '' ? '' : ','}${this.#count(JSON.stringify(key))}:${value}`;
    }
    return `{${out}}`;
  }

  /** A node's text with its changes made. */
  #printNode(node: LazyNode, depth: number): string {
    const changes = this.changes(node, depth);
    if (changes.length === 0) return node.text.slice(node.start, node.end);
    let out = '';
    let from = node.start;
    for (const { start, end, text } of changes) {
      out += node.text.slice(from, start) + text;
      from = end;
    }
    return out + node.text.slice(from, node.end);
  }

  #collect(node: LazyNode, out: Replacement[], depth: number): void {
    if (!node.filled) return;
    if (depth > maxDepth) throw new TypeError('the body is nested too deeply, or holds itself');
    if (!node.touched && !node.repeats) for (const { value } of node.isArray ? node.elements : node.members.values()) this.#descend(value, out, depth);
    else if (Array.isArray(node.target)) this.#collectList(node, node.target, out, depth);
    else this.#collectObject(node, node.target, out, depth);
  }

  #descend(value: unknown, out: Replacement[], depth: number): void {
    if (LazyNode.is(value)) this.#collect(value, out, depth + 1);
  }

  /** What the list still begins with and ends with stays; what is between is printed anew. */
  #collectList(node: LazyNode, list: readonly unknown[], out: Replacement[], depth: number): void {
    const { elements } = node;
    const shorter = Math.min(elements.length, list.length);
    let head = 0;
    while (head < shorter && stays(elements[head], list, head)) head++;
    let tail = 0;
    while (tail < shorter - head && stays(elements[elements.length - 1 - tail], list, list.length - 1 - tail)) tail++;
    if (list.length > elements.length && list.length > maxElements) throw tooMany();
    for (let at = 0; at < head; at++) this.#descend(list[at], out, depth);
    const made: string[] = [];
    for (let at = head; at < list.length - tail; at++) made[made.length] = this.print(list[at], depth + 1) ?? 'null';
    replaceElements(node, { head, tail, made }, out);
    for (let at = list.length - tail; at < list.length; at++) this.#descend(list[at], out, depth);
  }

  #collectObject(node: LazyNode, object: Record<PropertyKey, unknown>, out: Replacement[], depth: number): void {
    if (node.repeats) {
      add(out, { start: node.start, end: node.end, text: this.#printObject(object as Record<string, unknown>, depth) });
      return;
    }
    const keys = Object.keys(object);
    if (keys.length > node.members.size && keys.length > maxElements) throw tooMany();
    const cuts = new MemberCuts(out);
    for (const [key, origin] of node.members) {
      const now = valueAt(object, key);
      if (now.there && now.value === origin.value) {
        cuts.keep(origin);
        this.#descend(origin.value, out, depth);
        continue;
      }
      const text = now.there ? this.print(now.value, depth + 1) : undefined;
      if (text === undefined) cuts.remove(origin);
      else {
        cuts.keep(origin);
        add(out, { start: origin.span.start, end: origin.span.end, text });
      }
    }
    cuts.finish();
    let added = '';
    for (const key of keys) {
      if (node.members.has(key)) continue;
      const text = this.print(object[key], depth + 1);
      if (text !== undefined) added += `${added !== '' || cuts.kept > 0 ? ',' : ''}${JSON.stringify(key)}:${text}`;
    }
    if (added !== '') add(out, { start: cuts.end ?? node.start + 1, end: cuts.end ?? node.start + 1, text: this.#count(added) });
  }
}

const tooMany = (): LimitFault => new LimitFault('TooManyElements', `a list or object has more than ${maxElements} elements`);

function valueAt(object: object, key: PropertyKey): { there: boolean; value: unknown } {
  const descriptor = Reflect.getOwnPropertyDescriptor(object, key);
  if (!descriptor?.enumerable) return { there: false, value: undefined };
  return { there: true, value: 'value' in descriptor ? descriptor.value : Reflect.get(object, key) };
}

const stays = (origin: Origin | undefined, list: readonly unknown[], at: number): boolean => {
  const now = valueAt(list, String(at));
  return origin !== undefined && now.there && now.value === origin.value;
};

/** How a list differs from its text: so many elements at either end are the same, and those between are these. */
interface ListChange {
  head: number;
  tail: number;
  made: readonly string[];
}

/** Elements between the first `head` and the last `tail` become `made`, with the commas that this takes. */
function replaceElements({ elements, start }: LazyNode, { head, tail, made }: ListChange, out: Replacement[]): void {
  const gone = elements.length - head - tail;
  const text = made.join(',');
  const before = elements[head - 1]?.span.end;
  const after = elements[elements.length - tail]?.span.start;
  if (gone > 0 && made.length > 0) add(out, { start: elements[head]!.span.start, end: elements[elements.length - tail - 1]!.span.end, text });
  else if (gone > 0) {
    // One comma goes with them: the one before, else the one after.
    if (before !== undefined) add(out, { start: before, end: elements[elements.length - tail - 1]!.span.end, text: '' });
    else add(out, { start: elements[0]!.span.start, end: after ?? elements[elements.length - 1]!.span.end, text: '' });
  } else if (made.length > 0) {
    if (before !== undefined) add(out, { start: before, end: before, text: `,${text}` });
    else add(out, { start: after ?? start + 1, end: after ?? start + 1, text: after === undefined ? text : `${text},` });
  }
}

/** Removes members of an object with the commas between. */
class MemberCuts {
  kept = 0;
  /** Where something may be added: behind the last member that the text has. */
  end: number | undefined;
  readonly #out: Replacement[];
  /** Start of removed members before which none is kept. */
  #open: number | undefined;

  constructor(out: Replacement[]) {
    this.#out = out;
  }

  keep({ span }: Origin): void {
    if (this.#open !== undefined) add(this.#out, { start: this.#open, end: span.keyStart, text: '' });
    this.#open = undefined;
    this.kept++;
    this.end = span.end;
  }

  remove({ span }: Origin): void {
    if (this.kept > 0) add(this.#out, { start: this.end ?? span.keyStart, end: span.end, text: '' });
    else this.#open ??= span.keyStart;
    this.end = span.end;
  }

  finish(): void {
    if (this.#open !== undefined && this.end !== undefined) add(this.#out, { start: this.#open, end: this.end, text: '' });
  }
}
