/** Lists of items as callers page through them, and the query of a call that takes up a stream again. */
import type { ListWishes } from '../../../contract/index.ts';
import { invalid } from '../../../kit/fail.ts';
import { own } from '../../../kit/read.ts';
import { listedItem } from './items.ts';

const maxLimit = 100;
const defaultLimit = 20;
const maxIdLength = 512;
const wholeNumber = /^\d{1,15}$/;

/** `include[]` asks for data that a stored item has or has not; it is accepted. */
export function readList(query: string): ListWishes {
  const given = new URLSearchParams(query);
  const limit = given.get('limit');
  const order = given.get('order') ?? 'desc';
  const after = given.get('after');
  const count = limit === null ? defaultLimit : wholeNumber.test(limit) ? Number(limit) : 0;
  if (count < 1 || count > maxLimit) throw invalid('limit', `limit must be a whole number from 1 to ${maxLimit}`);
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'order must be asc or desc');
  if (after !== null && (after === '' || after.length > maxIdLength)) throw invalid('after', 'after must be the id of an item');
  return { limit: count, order, ...(after !== null && { after }) };
}

export function page(items: readonly unknown[], { limit, order, after }: ListWishes): unknown {
  const ordered = order === 'asc' ? items : items.toReversed();
  const at = after === undefined ? -1 : ordered.findIndex((item) => own(item, 'id') === after);
  if (after !== undefined && at < 0) throw unknownAfter();
  return list(ordered.slice(at + 1, at + 1 + limit), at + 1 + limit < ordered.length);
}

/** An `after` that is not an item of the list. */
export const unknownAfter = () => invalid('after', 'after is not an item of this list');

export const list = (items: readonly unknown[], hasMore: boolean): unknown => ({
  object: 'list',
  data: items.map(listedItem),
  first_id: own(items[0], 'id') ?? null,
  last_id: own(items.at(-1), 'id') ?? null,
  has_more: hasMore,
});

/** `stream` is as lenient as the vendor's; a position must be an event's number. */
export function readResume(query: string): { stream: boolean; after?: number } {
  const given = new URLSearchParams(query);
  const stream = given.get('stream');
  const after = given.get('starting_after');
  if (stream !== null && !['true', 'false'].includes(stream.toLowerCase())) throw invalid('stream', 'stream must be true or false');
  if (after !== null && !wholeNumber.test(after))
    throw invalid('starting_after', 'starting_after must be a whole number: the sequence_number of the last event seen');
  const streams = stream?.toLowerCase() === 'true';
  if (after !== null && !streams) throw invalid('starting_after', 'starting_after needs stream=true');
  return { stream: streams, ...(after !== null && { after: Number(after) }) };
}
