/** What an upstream reads before the conversation (system text, tools): the part of a request that newer vendors bind their signatures to. */
import { asArray, asObject, own } from './read.ts';

/** Where any of our wires puts instructions and tools. */
const fields = ['system', 'systemInstruction', 'system_instruction', 'instructions', 'tools', 'toolConfig'] as const;

/** A role may be anything: one that is not text must not be made one. */
const isInstruction = (message: unknown): boolean => own(message, 'role') === 'system' || own(message, 'role') === 'developer';

/** System text and tools of a request body of any protocol, in a fixed order; the same prefix always prints as the same JSON. */
export function promptPrefix(body: unknown): unknown[] {
  const messages = asArray(own(body, 'messages')) ?? [];
  const end = messages.findIndex((message) => !isInstruction(message));
  return [...fields.map((field) => asObject(body)?.[field] ?? null), messages.slice(0, end < 0 ? messages.length : end)];
}
