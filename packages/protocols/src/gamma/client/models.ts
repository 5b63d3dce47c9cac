/** Lists of models in gamma's shape. */

import type { ListedModel, ModelsAsked } from '../../contract/index.ts';
import { invalid } from '../../kit/fail.ts';

const chatMethods = ['generateContent', 'streamGenerateContent', 'countTokens'];
const embeddingMethods = ['embedContent', 'batchEmbedContents'];

const isChat = ({ serves }: ListedModel): boolean => serves?.includes('generate') ?? true;

/** Clients choose models by these. What has no method of this protocol is served at other paths only. */
function methodsOf(model: ListedModel): readonly string[] {
  if (isChat(model)) return chatMethods;
  if (model.serves?.includes('embed')) return embeddingMethods;
  return model.serves?.includes('image') ? ['predict'] : [];
}

export const writeModel = (model: ListedModel): unknown => ({
  name: `models/${model.name}`,
  displayName: model.name,
  ...(model.family?.input && { inputTokenLimit: model.family.input }),
  ...(model.family?.output && { outputTokenLimit: model.family.output }),
  ...(model.family && isChat(model) && { thinking: model.family.thinking.style !== 'none' }),
  supportedGenerationMethods: methodsOf(model),
});

/** The vendor's own bound, which cuts a larger wish silently. Without `pageSize` all are given up to it. */
const maxPageSize = 1000;

/** One page; its `nextPageToken` is the name of its last model, so that it holds while models come and go. */
export function writeModels(models: readonly ListedModel[], { query }: ModelsAsked): unknown {
  const size = readSize(query.get('pageSize') ?? query.get('page_size'));
  const token = query.get('pageToken') ?? query.get('page_token');
  const last = token ? models.findIndex(({ name }) => name === token) : -1;
  if (token && last < 0) throw invalid('pageToken', 'pageToken is not one that this list gave.');
  const page = models.slice(last + 1, last + 1 + size);
  const more = last + 1 + page.length < models.length;
  return { models: page.map(writeModel), ...(more && { nextPageToken: page.at(-1)?.name }) };
}

function readSize(text: string | null): number {
  if (text === null || text === '' || text === '0') return maxPageSize;
  const size = Number(text);
  if (!Number.isInteger(size) || size < 0) throw invalid('pageSize', 'pageSize must be a whole number.');
  return Math.min(size, maxPageSize);
}
