/** Bodies of calls on conversations, and their answers. */
import { invalid } from '../../../kit/fail.ts';
import { Losses } from '../../../kit/losses.ts';
import { asArray, asObject, asString, own } from '../../../kit/read.ts';
import { ItemReader } from '../read-items.ts';
import { noTools } from '../tools.ts';
import { type MintId, referenceOf, typeOf, withIds } from './items.ts';

const maxItems = 20;
const maxPairs = 16;
const maxKeyLength = 64;
const maxValueLength = 512;

export const conversationPrefix = 'conv_';

export function readNewConversation(value: unknown, mintId: MintId): { items: unknown[]; metadata: Record<string, string> } {
  const body = value === undefined ? {} : readBody(value);
  return { items: readItems(own(body, 'items'), mintId), metadata: readMetadata(own(body, 'metadata')) };
}

export function readConversationUpdate(value: unknown): { metadata: Record<string, string> } {
  const body = readBody(value);
  // null is one of its values: it takes the metadata away.
  if (!Object.hasOwn(body, 'metadata')) throw invalid('metadata', 'metadata must be given');
  return { metadata: readMetadata(own(body, 'metadata')) };
}

export function readNewItems(value: unknown, mintId: MintId): unknown[] {
  const items = readItems(own(readBody(value), 'items'), mintId);
  if (items.length === 0) throw invalid('items', 'items must hold at least one item');
  return items;
}

function readBody(value: unknown): Record<string, unknown> {
  const body = asObject(value);
  if (!body) throw invalid('', 'The body must be a JSON object.');
  return body;
}

function readItems(value: unknown, mintId: MintId): unknown[] {
  const items = asArray(value ?? []);
  if (!items) throw invalid('items', 'items must be a list of items');
  if (items.length > maxItems) throw invalid('items', `items must hold at most ${maxItems} items`);
  items.forEach((item, index) => {
    if (!asObject(item)) throw invalid(`items.${index}`, `items.${index} must be an object`);
    if (referenceOf(item) !== undefined || asString(own(item, 'type')) === 'item_reference')
      throw invalid(`items.${index}`, `items.${index} must be an item itself, not a reference to one`);
    if (typeOf(item) === 'compaction_trigger') throw invalid(`items.${index}`, `items.${index} asks for a compaction, and is not an item to keep`);
    if (typeOf(item) === undefined) throw invalid(`items.${index}.type`, `items.${index}.type must be given on an item without a role`);
  });
  // What this gateway cannot read would have every later translated request on the conversation refused, for a field that is not in it.
  new ItemReader(new Losses(), noTools()).readItems(items, 'items');
  return withIds(items, mintId);
}

function readMetadata(value: unknown): Record<string, string> {
  const metadata = asObject(value ?? {});
  if (!metadata) throw invalid('metadata', 'metadata must be an object of strings');
  const pairs = Object.entries(metadata);
  if (pairs.length > maxPairs) throw invalid('metadata', `metadata must hold at most ${maxPairs} pairs`);
  for (const [key, text] of pairs) {
    if (key.length > maxKeyLength) throw invalid('metadata', `metadata keys must have at most ${maxKeyLength} characters`);
    if (typeof text !== 'string') throw invalid('metadata', 'metadata values must be strings');
    if (text.length > maxValueLength) throw invalid('metadata', `metadata values must have at most ${maxValueLength} characters`);
  }
  return metadata as Record<string, string>;
}

export const conversation = (id: string, createdAt: number, metadata: unknown): unknown => ({
  id,
  object: 'conversation',
  created_at: Math.floor(createdAt / 1000),
  metadata: asObject(metadata) ?? {},
});

export const conversationDeleted = (id: string): unknown => ({ id, object: 'conversation.deleted', deleted: true });
