/** What the body anatomies of several protocols have in common. */
import type { Edit, Need } from '@model-gateway/json-bytes';
import { asArray, asObject, asString, own } from './read.ts';

type Path = Edit['path'];

/** System text before more of it. */
export const before = (text: string, rest: string): string => (rest === '' ? text : `${text}\n\n${rest}`);

/** Puts text before the text at `path`, or a block before its blocks; `fresh` is used where `path` is empty. Any other value stays unchanged. */
export function putBefore(value: unknown, path: Path, text: string, block: unknown, fresh: unknown = text): Edit[] {
  if (value === undefined || value === null) return [{ path, value: fresh, add: true }];
  if (typeof value === 'string') return [{ path, value: before(text, value) }];
  return Array.isArray(value) ? [{ path: [...path, 0], value: block, insert: true }] : [];
}

/** What `injectSystemMessage` looks at. */
export const systemMessageNeeds = (path: readonly string[]): Need[] => [
  { path: [...path, '0', 'role'], depth: 'value' },
  { path: [...path, '0', 'content'], depth: 'text' },
];

const systemRoles: unknown[] = ['system', 'developer'];

/** System text of messages that carry it themselves: before that of the first message, or as a message of its own. */
export function injectSystemMessage(messages: unknown, path: Path, text: string, block: unknown, content: unknown = text): Edit[] {
  const first = asArray(messages)?.[0];
  if (first === undefined) return [];
  if (systemRoles.includes(own(first, 'role'))) return putBefore(own(first, 'content'), [...path, 0, 'content'], text, block, content);
  return [{ path: [...path, 0], value: { role: 'system', content }, insert: true }];
}

/** The strings among these, for lists of names. */
export const namesAmong = (...values: readonly unknown[]): string[] => values.filter((value): value is string => typeof value === 'string');

/** Blocks whose one key is their kind. */
export const keysOf = (block: unknown): string[] => Object.keys(asObject(block) ?? {});

/** `image/png` is an image; what is not a picture, sound or film is a document. */
export function kindOfMedia(mediaType: unknown): string {
  const [kind = ''] = (asString(mediaType) ?? '').split('/');
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'document';
}
