/** One object or array of the body that is read when it is looked into: members keep their place in the text until a script changes them. */
import { eachElementText, eachMemberText, type Span } from '@model-gateway/json-bytes/text-cursor';

/** Shorter texts are read at once: a marker would cost more. */
const longText = 256;

/** A text of the body that nobody has read yet. */
export class PendingText {
  readonly #text: string;
  readonly #start: number;
  readonly #end: number;
  #read: string | undefined;

  constructor(text: string, start: number, end: number) {
    this.#text = text;
    this.#start = start;
    this.#end = end;
  }

  read(): string {
    this.#read ??= JSON.parse(this.#text.slice(this.#start, this.#end)) as string;
    return this.#read;
  }

  static is(value: unknown): value is PendingText {
    return typeof value === 'object' && value !== null && #text in value;
  }
}

export type Container = Record<PropertyKey, unknown> | unknown[];

/** A member as the text has it: its span, and what stood in the target for it at first. */
export interface Origin {
  span: Span;
  value: unknown;
}

const noElements: Origin[] = [];
const noMembers = new Map<string, Origin>();

export class LazyNode {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  #elements: Origin[] = noElements;
  #members: Map<string, Origin> = noMembers;
  #target: Container | undefined;
  #repeats = false;
  #filled = false;
  #touched = false;

  constructor(text: string, start: number, end: number) {
    this.text = text;
    this.start = start;
    this.end = end;
  }

  /** By index. Empty until filled: a body may have many nodes that nobody looks at. */
  get elements(): readonly Origin[] {
    return this.#elements;
  }

  /** By key. Empty until filled. */
  get members(): ReadonlyMap<string, Origin> {
    return this.#members;
  }

  /** A key is repeated, and the script saw one of its values: the object is printed anew, so that no reader takes another. */
  get repeats(): boolean {
    return this.#repeats;
  }

  get filled(): boolean {
    return this.#filled;
  }

  /** A script wrote into this very container. */
  get touched(): boolean {
    return this.#touched;
  }

  touch(): void {
    this.#touched = true;
  }

  get isArray(): boolean {
    return this.text.charCodeAt(this.start) === 91;
  }

  /** The target of this node's proxies: filled on first access, authoritative from then on. Children and long texts are markers in it. */
  get target(): Container {
    this.#target ??= this.isArray ? [] : {};
    return this.#target;
  }

  static is(value: unknown): value is LazyNode {
    return typeof value === 'object' && value !== null && #target in value;
  }

  fill(): void {
    if (this.#filled) return;
    this.#filled = true;
    const { text, target } = this;
    if (Array.isArray(target)) {
      const elements: Origin[] = [];
      this.#elements = elements;
      eachElementText(text, this.start, (span) => {
        const value = this.#marker(span);
        // Not by push: what a script calls is bounded, and the body is not the script's.
        elements[elements.length] = { span, value };
        target[target.length] = value;
      });
      return;
    }
    const members = new Map<string, Origin>();
    this.#members = members;
    eachMemberText(text, this.start, (key, span) => {
      const value = this.#marker(span);
      if (members.has(key)) this.#repeats = true;
      members.set(key, { span, value });
      // Not by assignment: `__proto__` is a key like any other in JSON.
      Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
    });
  }

  #marker({ start, end }: Span): unknown {
    const first = this.text.charCodeAt(start);
    if (first === 123 || first === 91) return new LazyNode(this.text, start, end);
    if (first === 34 && end - start > longText) return new PendingText(this.text, start, end);
    return JSON.parse(this.text.slice(start, end)) as unknown;
  }
}
