/** What several vendors check in the same way and say in different words; and the bodies that examples are made of. */
import { findInSchema, type Json, list, objectOf, textOf } from '../read.ts';
import type { Refusal } from '../rule.ts';

export const bad = (message: string, more: Partial<Refusal> = {}): Refusal => ({ status: 400, message, ...more });

// ---- Chat messages

export const messagesOf = (body: Json): Json[] => list(body['messages']);
export const callsOf = (message: Json): Json[] => list(message['tool_calls']);
export const partsOf = (message: Json): Json[] => (Array.isArray(message['content']) ? list(message['content']) : []);
export const functionsOf = (body: Json): { at: number; spec: Json }[] =>
  list(body['tools']).flatMap((tool, at) => (tool['type'] === 'function' ? [{ at, spec: objectOf(tool['function']) }] : []));

export interface Unpaired {
  kind: 'unanswered' | 'orphan' | 'doubled call' | 'doubled result';
  /** The message that is wrong. */
  at: number;
  ids: string[];
}

/** The first call without its result, result without its call, or id that stands twice in one turn. */
export function findUnpaired(messages: readonly Json[]): Unpaired | null {
  let open: string[] = [];
  let answered = new Set<string>();
  let turn = -1;
  for (const [at, message] of messages.entries()) {
    if (message['role'] === 'tool') {
      const id = textOf(message['tool_call_id']);
      if (answered.has(id) && !open.includes(id)) return { kind: 'doubled result', at, ids: [id] };
      if (!open.includes(id)) return { kind: 'orphan', at, ids: [id] };
      open = open.filter((one) => one !== id);
      answered.add(id);
      continue;
    }
    if (open.length > 0) return { kind: 'unanswered', at: turn, ids: open };
    open = callsOf(message).map(({ id }) => textOf(id));
    answered = new Set();
    turn = at;
    if (new Set(open).size < open.length) return { kind: 'doubled call', at, ids: open };
  }
  return open.length > 0 ? { kind: 'unanswered', at: turn, ids: open } : null;
}

/** Arrays that do not say what they hold. */
export const findArrayWithoutItems = (schema: unknown): readonly string[] | null =>
  findInSchema(schema, (one, path) => (one['type'] === 'array' && one['items'] === undefined && one['prefixItems'] === undefined ? path : null));

/** Words at the root that make it something else than one object. */
export const rootUnion = (schema: unknown): string | null =>
  ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].find((word) => objectOf(schema)[word] !== undefined) ?? null;

/** The first place where a schema is not as `strict` wants it: all properties required, and no others allowed. */
export const findNotStrict = (schema: unknown): string | null =>
  findInSchema(schema, (one, path) => {
    if (one['type'] !== 'object' && one['properties'] === undefined) return null;
    const where = `In context=(${path.map((step) => `'${step}'`).join(', ')})`;
    if (one['additionalProperties'] !== false) return `${where}, 'additionalProperties' is required to be supplied and to be false.`;
    const required: unknown[] = Array.isArray(one['required']) ? one['required'] : [];
    const missing = Object.keys(objectOf(one['properties'])).find((name) => !required.includes(name));
    return missing === undefined
      ? null
      : `${where}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
  });

// ---- Examples

/** A schema as `strict` wants it. */
export const strictWeather = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false };

export const hello = [{ role: 'user', content: 'hello' }];
export const weather = { type: 'object', properties: { city: { type: 'string' } } };
export const chatTool = (parameters: unknown = weather, name = 'weather') => ({ type: 'function', function: { name, parameters } });
export const chatCall = (id = 'call_1', name = 'weather', args = '{"city":"Paris"}') => ({ id, type: 'function', function: { name, arguments: args } });
export const chatResult = (id = 'call_1', content: unknown = 'sunny') => ({ role: 'tool', tool_call_id: id, content });
/** A loop: question, call, result. */
export const chatLoop = (id = 'call_1') => [...hello, { role: 'assistant', content: null, tool_calls: [chatCall(id)] }, chatResult(id)];
export const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
export const picture = (type = 'image/png') => ({ type: 'image_url', image_url: { url: `data:${type};base64,${pixel}` } });
