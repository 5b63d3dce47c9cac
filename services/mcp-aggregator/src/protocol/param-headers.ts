/**
 * Arguments that a tool wants repeated in headers (`x-mcp-header` in its input schema), so that what stands between need not read bodies. The SDK's
 * rules: a chain of `properties` alone leads there, and only strings, integers and booleans are repeated; anything else makes the tool invalid.
 */
import { isObject } from '@model-gateway/contracts';
import { decodeHeaderValue, encodeHeaderValue } from './header-values.ts';

/** One argument that is repeated. */
export interface ParamHeader {
  /** Name without the prefix `Mcp-Param-`. */
  name: string;
  path: readonly string[];
  isInteger: boolean;
}

const mark = 'x-mcp-header';
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const repeatable = new Set(['string', 'integer', 'boolean']);
/** Schemas inside one another beyond that are not searched: such a tool is invalid if it has the mark there. */
const maxDepth = 64;

/** null: the tool's marks break the rules. */
export function readParamHeaders(inputSchema: unknown): ParamHeader[] | null {
  const found: ParamHeader[] = [];
  const names = new Set<string>();
  const visit = (schema: unknown, path: readonly string[], reachable: boolean): boolean => {
    if (typeof schema !== 'object' || schema === null || path.length > maxDepth) return true;
    if (Array.isArray(schema)) return schema.every((one) => visit(one, path, false));
    if (isObject(schema) && Object.hasOwn(schema, mark)) {
      const name = schema[mark];
      const type = schema['type'];
      if (!reachable || path.length === 0 || typeof name !== 'string' || !token.test(name)) return false;
      if (typeof type !== 'string' || !repeatable.has(type) || names.has(name.toLowerCase())) return false;
      names.add(name.toLowerCase());
      found.push({ name, path, isInteger: type === 'integer' });
    }
    return Object.entries(schema as object).every(([key, value]) => {
      if (key === 'properties' && isObject(value)) return Object.entries(value).every(([property, child]) => visit(child, [...path, property], reachable));
      // Values that are data, no schemas.
      if (key === mark || key === 'const' || key === 'enum' || key === 'default' || key === 'examples') return true;
      return visit(value, [...path, key], false);
    });
  };
  return visit(inputSchema, [], true) ? found : null;
}

function argumentAt(args: unknown, path: readonly string[]): string | undefined {
  let value = args;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  return typeof value === 'number' && (Number.isSafeInteger(value) || !Number.isInteger(value)) && Number.isFinite(value) ? String(value) : undefined;
}

/** What is sent to the server: computed anew, whatever the caller sent. */
export const paramHeaders = (wanted: readonly ParamHeader[], args: unknown): Record<string, string> =>
  Object.fromEntries(
    wanted.flatMap(({ name, path }) => {
      const value = argumentAt(args, path);
      return value === undefined ? [] : [[`mcp-param-${name.toLowerCase()}`, encodeHeaderValue(value)] as const];
    }),
  );

/** The first header that does not say what the body does; null: all do. Headers in lower case. */
export function paramHeaderFault(wanted: readonly ParamHeader[], args: unknown, headers: Readonly<Record<string, string>>): string | null {
  for (const { name, path, isInteger } of wanted) {
    const value = argumentAt(args, path);
    if (value === undefined) continue;
    const sent = headers[`mcp-param-${name.toLowerCase()}`];
    if (sent === undefined) return `the body has ${path.join('.')}, and the header Mcp-Param-${name} is missing`;
    const decoded = decodeHeaderValue(sent);
    const same = decoded === value || (isInteger && decoded !== null && /^-?\d+(?:\.0+)?$/.test(decoded) && Number(decoded) === Number(value));
    if (!same) return `the header Mcp-Param-${name} does not say what the body does`;
  }
  return null;
}
