/** Reads fields of untrusted gamma JSON, where every name may come in camelCase or in snake_case. */
import { invalid } from '../../kit/fail.ts';
import { asArray, asNumber, asObject, asString, type JsonObject, own } from '../../kit/read.ts';

const snakeNames = new Map<string, string>();

/** The snake_case twin of one of our own field names (the cache is bounded by the names this folder uses). */
function snakeName(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) {
    snake = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    snakeNames.set(name, snake);
  }
  return snake;
}

/** A caller's field name in camelCase. */
export const camelName = (name: string): string => name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** The field under either spelling; null counts as absent. */
export const field = (value: unknown, name: string): unknown => own(value, name) ?? own(value, snakeName(name));

/** The spelling under which the object holds the field; undefined when it does not. */
export function spelling(value: unknown, name: string): string | undefined {
  const object = asObject(value);
  if (!object) return undefined;
  return [name, snakeName(name)].find((key) => Object.hasOwn(object, key));
}

export const textField = (value: unknown, name: string): string | undefined => asString(field(value, name));
export const objectField = (value: unknown, name: string): JsonObject | undefined => asObject(field(value, name));

/** Throws the 400 that names the first of a caller's fields that holds something else than an object. */
export function requireObjects(value: unknown, names: readonly string[], path: string): void {
  const wrong = names.find((name) => field(value, name) !== undefined && objectField(value, name) === undefined);
  if (wrong !== undefined) throw invalid(below(path, wrong), 'must be an object');
}

/** The same for fields that hold text. */
export function requireTexts(value: unknown, names: readonly string[], path: string): void {
  const wrong = names.find((name) => field(value, name) !== undefined && textField(value, name) === undefined);
  if (wrong !== undefined) throw invalid(below(path, wrong), 'must be a string');
}

/** The same for lists of objects, where a lone object stands for a list of one. */
export function requireList(value: unknown, name: string, path: string): void {
  const found = field(value, name);
  if (found !== undefined && !asArray(found) && !asObject(found)) throw invalid(below(path, name), 'must be an array');
  const wrong = listField(value, name).findIndex((entry) => !asObject(entry));
  if (wrong !== -1) throw invalid(`${below(path, name)}.${wrong}`, 'must be an object');
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** A list, where a lone object stands for a list of one. */
export function listField(value: unknown, name: string): unknown[] {
  const found = field(value, name);
  return asArray(found) ?? (asObject(found) ? [found] : []);
}

/** A number, or digits in a string (protobuf's JSON allows both); anything else that is present is a 400 that names the field. */
export function numberField(value: unknown, name: string, path: string): number | undefined {
  const found = field(value, name);
  if (found === undefined) return undefined;
  const number = asNumber(found) ?? (typeof found === 'string' && found.trim() !== '' ? asNumber(Number(found)) : undefined);
  if (number === undefined) throw invalid(`${path}.${name}`, 'must be a number');
  return number;
}

/** Signatures come back as base64url from some clients; everything else uses standard base64 with padding. */
export function standardBase64(text: string): string {
  if (!/[-_]/.test(text) && text.length % 4 === 0) return text;
  let end = text.length;
  while (text[end - 1] === '=') end--;
  const standard = text.slice(0, end).replaceAll('-', '+').replaceAll('_', '/');
  return standard + '='.repeat((4 - (standard.length % 4)) % 4);
}

/** JSON text of a value that was parsed from JSON; too deep for the printer is the caller's fault, not ours. */
export function printJson(value: unknown, path: string): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) throw invalid(path, 'is nested too deeply');
    throw error;
  }
}
