/** Scripts on upstreams and models: their syntax, and the specification's other spelling of the two request slots. */
import type { ScriptField } from '@model-gateway/contracts';
import { checkScript } from '@model-gateway/script-language';
import type { Detail } from '../problem.ts';

const fields: readonly ScriptField[] = ['request_transform_before', 'request_transform_after', 'response_transform'];
type Scripts = Partial<Record<ScriptField, string | null>>;

const isBlank = (text: unknown): boolean => text === null || text === undefined || (typeof text === 'string' && text.trim() === '');

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

type Slot = 'request_transform_before' | 'request_transform_after';
type Fields = Readonly<Record<string, unknown>>;

const positions: Readonly<Record<string, Slot>> = { after: 'request_transform_after', before: 'request_transform_before' };
const otherThan = (slot: Slot): Slot => (slot === 'request_transform_after' ? 'request_transform_before' : 'request_transform_after');
const anotherSpelling = (slot: ScriptField): string => `is another spelling of ${slot}: send one of them`;
const bothFilled = 'both request slots hold a script: send request_transform_before and request_transform_after instead';

/** A body with its scripts in their slots, and what of it means nothing. */
interface Spelled {
  fields: Record<string, unknown>;
  refused: Detail[];
}

/**
 * `request_script` with `script_position`, and `response_script`, as the slots that they mean. In this spelling there is one request script: it leaves the
 * slot in which `stored`, the resource that the body changes, has it, and a position alone moves it.
 */
export function spellScripts(body: Fields, stored: Fields = {}): Spelled {
  const { request_script: request, script_position: position, response_script: response, ...fields } = body;
  const reply = response === undefined ? {} : { response_transform: response };
  const misplaced = isPosition(position) ? [] : [{ field: 'script_position', message: 'must be after or before' }];
  const doubled = differs(fields, reply) ? [{ field: 'response_script', message: anotherSpelling('response_transform') }] : [];
  if (misplaced.length + doubled.length > 0) return { fields, refused: [...misplaced, ...doubled] };
  const slot = position === undefined ? undefined : positions[(position as string | null) ?? 'after'];
  const { slots, fault } = placeScript({ request, slot }, fields, stored);
  return { fields: { ...fields, ...reply, ...slots }, refused: fault ? [fault] : [] };
}

const isPosition = (value: unknown): boolean => value === undefined || value === null || (typeof value === 'string' && Object.hasOwn(positions, value));

/** Blank scripts are all the same. */
const isSame = (one: unknown, other: unknown): boolean => one === other || (isBlank(one) && isBlank(other));
const differs = (fields: Fields, spelled: Fields): boolean =>
  Object.entries(spelled).some(([field, value]) => Object.hasOwn(fields, field) && !isSame(fields[field], value));

/** The slots as the one request script fills them; none where the body says nothing of it. */
function placeScript({ request, slot }: { request: unknown; slot: Slot | undefined }, fields: Fields, stored: Fields): { slots?: Fields; fault?: Detail } {
  if (request === undefined && slot === undefined) return {};
  const held = (one: Slot): unknown => (Object.hasOwn(fields, one) ? fields[one] : stored[one]);
  const filled = Object.values(positions).filter((one) => !isBlank(held(one)));
  const target = slot ?? (filled.length === 1 ? filled[0]! : 'request_transform_after');
  const other = otherThan(target);
  const text = request === undefined ? held(filled.length === 1 ? filled[0]! : target) : request;
  const field = request === undefined ? 'script_position' : 'request_script';
  if (request === undefined && filled.length === 0)
    return target === 'request_transform_after' ? {} : { fault: { field, message: 'there is no request script to move: send request_script along' } };
  if (request !== undefined && differs(fields, { [target]: request })) return { fault: { field, message: anotherSpelling(target) } };
  // Named beside this spelling with a text of its own, the other slot is a second script.
  if (request !== undefined && Object.hasOwn(fields, other) && !isSame(fields[other], request)) return { slots: { [target]: text } };
  if (filled.length === 2 && !isSame(held(other), text)) return { fault: { field, message: bothFilled } };
  return { slots: { [target]: text, [other]: null } };
}
