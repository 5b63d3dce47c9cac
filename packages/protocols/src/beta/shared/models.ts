/** Model lists: ours in this protocol's shape, and an upstream's read for the console. */

import type { ListedModel, ModelsAsked } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';
import { asArray, asString, own } from '../../kit/read.ts';
import { readPublisherModels } from '../../kit/vertex.ts';

export const writeModel = (model: ListedModel): unknown => ({
  type: 'model',
  id: model.name,
  display_name: model.name,
  created_at: new Date(model.createdAt * 1000).toISOString().replace(/\.\d{3}Z$/, 'Z'),
  ...(model.family?.input && { max_input_tokens: model.family.input }),
  ...(model.family?.output && { max_tokens: model.family.output }),
});

/** The vendor's own bound. Without `limit` all are given up to it, since some clients read the first page alone. */
const maxPageSize = 1000;

/** One page: `limit` models after `after_id`, or before `before_id`. An id that is not listed (any more) gives an empty page. */
export function writeModels(models: readonly ListedModel[], { query }: ModelsAsked): unknown {
  const limit = readLimit(query.get('limit'));
  const after = query.get('after_id');
  const before = query.get('before_id');
  const at = (id: string): number => models.findIndex(({ name }) => name === id);
  let rest: readonly ListedModel[] = models;
  if (after) rest = at(after) < 0 ? [] : models.slice(at(after) + 1);
  else if (before) rest = at(before) < 0 ? [] : models.slice(0, at(before));
  const page = before && !after ? rest.slice(-limit) : rest.slice(0, limit);
  return {
    data: page.map(writeModel),
    has_more: page.length < rest.length,
    first_id: page.at(0)?.name ?? null,
    last_id: page.at(-1)?.name ?? null,
  };
}

function readLimit(text: string | null): number {
  if (text === null || text === '') return maxPageSize;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > maxPageSize) throw invalid('limit', `limit must be an integer from 1 to ${maxPageSize}.`);
  return limit;
}

export function readModelList(body: unknown): string[] {
  const ids = (asArray(own(body, 'data')) ?? []).map((entry) => asString(own(entry, 'id')));
  return [...ids.filter((id): id is string => id !== undefined && id !== ''), ...readPublisherModels(body)];
}
