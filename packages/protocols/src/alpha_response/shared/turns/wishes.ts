/** What a request asks of the store of turns. */
import { hasElementOfKeys } from '@model-gateway/json-bytes';
import type { SearchedBody, TurnWishes } from '../../../contract/index.ts';
import { invalid } from '../../../kit/fail.ts';
import { asObject, asString, type JsonObject, own } from '../../../kit/read.ts';
import { listInput, referenceKeys, referenceOf } from './items.ts';

/** More items than any conversation has in one request. */
const maxReferences = 50_000;

/** Words one of which is in every body that names something stored by a field or an item of its own. */
const references: readonly string[] = ['"previous_response_id"', '"conversation"', '"item_reference"'];

/** Top-level fields that are about the store, or may name what is in it. */
export const keys: readonly string[] = ['store', 'previous_response_id', 'conversation', 'background', 'input'];

/** Items of an id alone are references too, and callers send back ids of other items in nearly every body. */
export const mayRefer = (body: SearchedBody): boolean =>
  references.some((word) => body.contains(word)) || (body.contains('"id"') && hasElementOfKeys(body.value('input') ?? nothing, referenceKeys));
const nothing = new Uint8Array();

export function readWishes(value: unknown): TurnWishes {
  const body = asObject(value);
  if (!body) throw invalid('', 'The body must be a JSON object.');
  const previous = readId(own(body, 'previous_response_id'), 'previous_response_id');
  const conversation = readConversation(own(body, 'conversation'));
  if (previous !== undefined && conversation !== undefined)
    throw invalid('previous_response_id', 'previous_response_id and conversation cannot be given together: each names the turns to go on from.');
  return {
    store: readBoolean(body, 'store') ?? true,
    background: readBoolean(body, 'background') ?? false,
    references: readReferences(body),
    ...(previous !== undefined && { previous }),
    ...(conversation !== undefined && { conversation }),
  };
}

function readId(value: unknown, field: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw invalid(field, `${field} must be a non-empty string`);
  return value;
}

/** Its id, alone or in an object. */
function readConversation(value: unknown): string | undefined {
  const object = asObject(value);
  if (!object) return readId(value, 'conversation');
  if (own(object, 'id') === undefined) throw invalid('conversation.id', 'conversation.id must be given');
  return readId(own(object, 'id'), 'conversation.id');
}

function readBoolean(body: JsonObject, field: string): boolean | undefined {
  const value = own(body, field);
  if (value !== undefined && typeof value !== 'boolean') throw invalid(field, `${field} must be true or false`);
  return value;
}

function readReferences(body: JsonObject): string[] {
  const ids = new Set<string>();
  (listInput(body) ?? []).forEach((item, index) => {
    const id = referenceOf(item);
    if (id === undefined) {
      if (asString(own(item, 'type')) === 'item_reference') throw invalid(`input.${index}.id`, `input.${index}.id must be a non-empty string`);
      return;
    }
    ids.add(readId(id, `input.${index}.id`) ?? id);
    if (ids.size > maxReferences) throw invalid(`input.${index}`, `a request may refer to at most ${maxReferences} stored items`);
  });
  return [...ids];
}
