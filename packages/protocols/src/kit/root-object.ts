/**
 * Schemas of arguments whose root is a choice (`anyOf`, `oneOf`, `allOf`), as tool servers declare them: several vendors refuse the whole request for
 * one. The members become one object that takes what any of them takes, and the choice is described in its `description`.
 */
import { asArray, asObject, asString, type JsonObject, own } from './read.ts';

const choices = ['anyOf', 'oneOf', 'allOf'] as const;
/** Other keywords refused at the root; what they require of an object is described in text. */
const others = ['not', 'enum', 'const', 'if', 'then', 'else'] as const;
/** Deeper than real schemas nest their choices. */
const deepest = 8;

/** `widened`: more is valid than before. The same schema when its root is a plain object. */
export function rootObject(parameters: unknown): { schema: JsonObject; relaxed: boolean } {
  const schema = asObject(parameters) ?? {};
  const merged = mergeChoices(schema, schema, 0);
  const object = merged['type'] === 'object' ? merged : { ...merged, type: 'object' };
  return { schema: object['properties'] === undefined && object['$ref'] === undefined ? { ...object, properties: {} } : object, relaxed: merged !== schema };
}

function mergeChoices(schema: JsonObject, root: JsonObject, depth: number): JsonObject {
  if (depth > deepest || (!choices.some((word) => asArray(schema[word])) && !others.some((word) => Object.hasOwn(schema, word)))) return schema;
  const merged = new Merged(schema);
  for (const word of choices) {
    const named = (asArray(schema[word]) ?? []).map((member) => resolve(member, root)).filter((member) => member !== undefined);
    const members = named.map((member) => mergeChoices(member, root, depth + 1));
    if (members.length > 0) merged.add(members, word === 'allOf');
  }
  return merged.print();
}

/** A member, or what it names among the root's definitions. */
function resolve(member: unknown, root: JsonObject): JsonObject | undefined {
  const ref = asString(own(member, '$ref'));
  const [, holder, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref ?? '') ?? [];
  return holder === undefined || name === undefined ? asObject(member) : asObject(own(own(root, holder), name));
}

class Merged {
  readonly #schema: JsonObject;
  readonly #properties = new Map<string, unknown>();
  readonly #required = new Set<unknown>();
  readonly #words: string[] = [];

  constructor(schema: JsonObject) {
    this.#schema = schema;
    for (const [name, property] of Object.entries(asObject(schema['properties']) ?? {})) this.#properties.set(name, property);
    for (const name of asArray(schema['required']) ?? []) this.#required.add(name);
  }

  /** `all`: every member holds at once; otherwise any of them. */
  add(members: readonly JsonObject[], all: boolean): void {
    const seen = new Map<string, unknown[]>();
    for (const member of members) {
      for (const [name, property] of Object.entries(asObject(member['properties']) ?? {})) {
        const known = seen.get(name) ?? [];
        if (!known.some((one) => JSON.stringify(one) === JSON.stringify(property))) known.push(property);
        seen.set(name, known);
      }
    }
    for (const [name, forms] of seen) {
      if (!this.#properties.has(name)) this.#properties.set(name, forms.length === 1 ? forms[0] : { [all ? 'allOf' : 'anyOf']: forms });
    }
    const required = members.map((member) => asArray(member['required']) ?? []);
    for (const name of required.flat()) if (all || required.every((names) => names.includes(name))) this.#required.add(name);
    if (!all && members.length > 1) this.#words.push(`Takes one of these forms: ${members.map(describe).join(' or ')}.`);
  }

  print(): JsonObject {
    const { description, properties: _properties, required: _required, ...rest } = this.#schema;
    for (const word of others) if (Object.hasOwn(rest, word)) this.#words.push(`${word}: ${JSON.stringify(rest[word])}`);
    for (const word of [...choices, ...others]) delete rest[word];
    const words = [asString(description), ...this.#words].filter((text) => text !== undefined && text !== '').join('\n\n');
    return {
      ...rest,
      type: 'object',
      ...(words !== '' && { description: words }),
      properties: Object.fromEntries(this.#properties),
      ...(this.#required.size > 0 && { required: [...this.#required] }),
    };
  }
}

/** `{path, depth?}` */
function describe(member: JsonObject): string {
  const required = new Set(asArray(member['required']) ?? []);
  const names = [...new Set([...Object.keys(asObject(member['properties']) ?? {}), ...required].map(String))];
  return `{${names.map((name) => (required.has(name) ? name : `${name}?`)).join(', ')}}`;
}
