/** Unions in the schemas of a body that passes, for a vendor that wants a type in each of their members. */
import type { Edit } from '@model-gateway/json-bytes';
import type { VerbatimRequestContext } from '../../contract/index.ts';
import { asArray, own } from '../../kit/read.ts';
import { typeUnions } from '../../kit/typed-unions.ts';
import { chatFamily } from './families.ts';

const holders = ['tools', 'response_format'] as const;

/** `taken`: edits that were made already, of which one may hold a whole tool. */
export function unionEdits(context: VerbatimRequestContext, taken: readonly Edit[]): Edit[] {
  if (!chatFamily(context.target).typedUnions) return [];
  const { value } = context;
  if (value && !holders.some((key) => value(key)?.includes('"anyOf"'))) return [];
  const body = context.parse();
  const places: Edit['path'][] = [
    ...(asArray(own(body, 'tools')) ?? []).map((_tool, at) => ['tools', at, 'function', 'parameters']),
    ['response_format', 'json_schema', 'schema'],
  ];
  return places.flatMap((path): Edit[] => {
    const schema = path.reduce<unknown>((holder, step) => (typeof step === 'number' ? asArray(holder)?.[step] : own(holder, step)), body);
    const typed = typeUnions(schema);
    return typed === schema || taken.some((edit) => edit.path.every((step, at) => path[at] === step)) ? [] : [{ path, value: typed }];
  });
}
