/** Scripts on upstreams and models: their syntax, and the specification's other spelling of the two request slots. */
import type { ScriptField } from '@model-gateway/contracts';
import { checkScript } from '@model-gateway/script-language';
import type { Detail } from '../problem.ts';

const fields: readonly ScriptField[] = ['request_transform_before', 'request_transform_after', 'response_transform'];
type Scripts = Partial<Record<ScriptField, string | null>>;

const isBlank = (text: string | null | undefined): boolean => !text || text.trim() === '';

export const checkScripts = (input: Scripts): Detail[] =>
  fields.flatMap((field) => {
    const text = input[field];
    const fault = isBlank(text) ? null : checkScript(text as string);
    return fault ? [{ field, message: `line ${fault.line}: ${fault.message}` }] : [];
  });

/** A blank script is none. */
export const withoutBlankScripts = <T extends Scripts>(input: T): T => ({
  ...input,
  ...Object.fromEntries(fields.filter((field) => isBlank(input[field])).map((field) => [field, null])),
});

const positions: Readonly<Record<string, ScriptField>> = { after: 'request_transform_after', before: 'request_transform_before' };

/** `request_script` with `script_position`, and `response_script`, as the slots that they mean. A position without a script means nothing and changes nothing. */
export function spellScripts(body: Readonly<Record<string, unknown>>): { fields: Record<string, unknown>; refused: Detail[] } {
  const { request_script: request, script_position: position = 'after', response_script: response, ...given } = body;
  const rest: Record<string, unknown> = given;
  const refused: Detail[] = [];
  const put = (field: ScriptField, alias: string, value: unknown): void => {
    if (value === undefined) return;
    if (Object.hasOwn(rest, field) && rest[field] !== value && !(isBlank(rest[field] as string) && isBlank(value as string)))
      refused.push({ field: alias, message: `is another spelling of ${field}: send one of them` });
    else rest[field] = value;
  };
  const slot = position === null ? positions['after'] : typeof position === 'string' && Object.hasOwn(positions, position) ? positions[position] : undefined;
  if (slot) put(slot, 'request_script', request);
  else refused.push({ field: 'script_position', message: 'must be after or before' });
  put('response_transform', 'response_script', response);
  return { fields: rest, refused };
}
