/** The request that a caller would have sent without a store: its history before its own input. */
import { GatewayError } from '@model-gateway/contracts/errors';
import { invalid } from '../../../kit/fail.ts';
import { asObject, asString, type JsonObject, own } from '../../../kit/read.ts';
import { isMinted, listInput, type MintId, referenceOf, typeOf, withIds } from './items.ts';

const notFound = (id: string, path: string): GatewayError =>
  new GatewayError('not_found', { param: path, message: `Item with id '${id.slice(0, 128)}' not found.` });

/** The request's own items; those that it only names are as the caller would have sent them. */
function ownItems(body: unknown, items: ReadonlyMap<string, unknown>): unknown[] {
  const input = listInput(body);
  if (!input) throw invalid('input', 'input must be a string or an array of items');
  return input.map((item, index) => {
    const id = referenceOf(item);
    if (id === undefined) return item;
    const named = items.get(id);
    if (named === undefined) throw notFound(id, `input.${index}`);
    return named;
  });
}

export const inputItems = (body: unknown, mintId: MintId, items: ReadonlyMap<string, unknown>): unknown[] => withIds(ownItems(body, items), mintId);

export function expand(value: unknown, history: readonly unknown[], items: ReadonlyMap<string, unknown>): unknown {
  const body = asObject(value);
  if (!body) throw invalid('', 'The body must be a JSON object.');
  const expanded: JsonObject = { ...body };
  delete expanded['previous_response_id'];
  delete expanded['conversation'];
  // A text stays one where nothing comes before it.
  if (history.length === 0 && !Array.isArray(own(body, 'input'))) return expanded;
  const named = new Set(items.values());
  const asked = ownItems(body, items);
  const answered = new Set([...history, ...asked].flatMap((item) => (typeOf(item)?.endsWith('_output') ? [own(item, 'call_id')] : [])));
  // Nobody ran a call that was cut.
  const kept = history.filter((item) => !isCutCall(item) || answered.has(own(item, 'call_id')));
  expanded['input'] = [...kept.map(sentBack), ...asked.map((item) => (named.has(item) ? sentBack(item) : item))];
  return expanded;
}

const isCutCall = (item: unknown): boolean =>
  typeOf(item)?.endsWith('_call') === true && asString(own(item, 'call_id')) !== undefined && isUnfinished(own(item, 'status'));
const isUnfinished = (status: unknown): boolean => status === 'incomplete' || status === 'in_progress';

/** A stored item without what only the list of a turn's input needs, and what the vendor refuses when it is sent back. */
function sentBack(value: unknown): unknown {
  const item = asObject(value);
  if (!item) return value;
  const type = typeOf(item);
  if (type === 'reasoning' && own(item, 'status') !== undefined) {
    const { status: _status, ...rest } = item;
    return rest;
  }
  const given = type?.endsWith('_output') || (type === 'message' && own(item, 'role') !== 'assistant');
  if (!given || !isMinted(own(item, 'id'))) return item;
  const { id: _id, ...rest } = item;
  return rest;
}
