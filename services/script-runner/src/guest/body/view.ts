/**
 * What a script sees of the body: proxies that behave as the plain objects and arrays would, except that each look at a container gives a new
 * one (`body.x === body.x` is false).
 */
import { type Container, LazyNode, PendingText } from './node.ts';

const nodes = new WeakMap<object, LazyNode>();
/** Which node a value is a view of. */
export const nodeOf = (value: unknown): LazyNode | undefined => (typeof value === 'object' && value !== null ? nodes.get(value) : undefined);

export function viewOf(node: LazyNode): object {
  const view = new Proxy(node.target, new View(node));
  nodes.set(view, node);
  return view;
}

/** A value of a proxy's target, as the script sees it. */
export function reveal(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (LazyNode.is(value)) return viewOf(value);
  return PendingText.is(value) ? value.read() : value;
}

/** A view that a script puts somewhere stays the same node there. */
const conceal = (value: unknown): unknown => nodeOf(value) ?? value;

class View implements ProxyHandler<Container> {
  readonly #node: LazyNode;

  constructor(node: LazyNode) {
    this.#node = node;
  }

  get(target: Container, key: PropertyKey, receiver: unknown): unknown {
    this.#node.fill();
    return reveal(Reflect.get(target, key, receiver));
  }

  set(target: Container, key: PropertyKey, value: unknown, receiver: unknown): boolean {
    this.#node.fill();
    if (nodeOf(receiver) !== this.#node) return Reflect.set(target, key, value, receiver);
    this.#node.touch();
    return Reflect.set(target, key, conceal(value));
  }

  has(target: Container, key: PropertyKey): boolean {
    this.#node.fill();
    return Reflect.has(target, key);
  }

  ownKeys(target: Container): (string | symbol)[] {
    this.#node.fill();
    return Reflect.ownKeys(target);
  }

  deleteProperty(target: Container, key: PropertyKey): boolean {
    this.#node.fill();
    this.#node.touch();
    return Reflect.deleteProperty(target, key);
  }

  getOwnPropertyDescriptor(target: Container, key: PropertyKey): PropertyDescriptor | undefined {
    this.#node.fill();
    const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
    if (descriptor && 'value' in descriptor) descriptor.value = reveal(descriptor.value);
    return descriptor;
  }

  defineProperty(target: Container, key: PropertyKey, descriptor: PropertyDescriptor): boolean {
    this.#node.fill();
    this.#node.touch();
    // What can no longer change must be seen the same at every look.
    if (descriptor.configurable === false || !Object.isExtensible(target)) pin(target, key);
    else if ('value' in descriptor && descriptor.configurable === true)
      return Reflect.defineProperty(target, key, { ...descriptor, value: conceal(descriptor.value) });
    return Reflect.defineProperty(target, key, descriptor);
  }

  preventExtensions(target: Container): boolean {
    this.#node.fill();
    for (const key of Reflect.ownKeys(target)) pin(target, key);
    return Reflect.preventExtensions(target);
  }
}

/** From now on every look gives the same view. */
function pin(target: Container, key: PropertyKey): void {
  const descriptor = Reflect.getOwnPropertyDescriptor(target, key);
  if (descriptor && 'value' in descriptor && descriptor.writable) Reflect.set(target, key, reveal(descriptor.value));
}
