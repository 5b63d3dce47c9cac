/** Model lists: ours in this protocol's shape, and an upstream's read for the console. */
import { asArray, asString, own } from '../kit/read.ts';
import type { ListedModel } from '../protocol.ts';

export const writeModel = (model: ListedModel): unknown => ({
  type: 'model',
  id: model.name,
  display_name: model.name,
  created_at: new Date(model.createdAt * 1000).toISOString().replace(/\.\d{3}Z$/, 'Z'),
  ...(model.contextWindow !== undefined && { max_input_tokens: model.contextWindow }),
  ...(model.maxOutput !== undefined && { max_tokens: model.maxOutput }),
});

export const writeModels = (models: readonly ListedModel[]): unknown => ({
  data: models.map(writeModel),
  has_more: false,
  first_id: models.at(0)?.name ?? null,
  last_id: models.at(-1)?.name ?? null,
});

export function readModelList(body: unknown): string[] {
  const ids = (asArray(own(body, 'data')) ?? []).map((entry) => asString(own(entry, 'id')));
  return ids.filter((id): id is string => id !== undefined && id !== '');
}
