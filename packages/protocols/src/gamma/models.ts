/** Lists of models in gamma's shape. */
import type { ListedModel } from '../protocol.ts';

const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];

export const writeModel = (model: ListedModel): unknown => ({
  name: `models/${model.name}`,
  displayName: model.name,
  ...(model.contextWindow !== undefined && { inputTokenLimit: model.contextWindow }),
  ...(model.maxOutput !== undefined && { outputTokenLimit: model.maxOutput }),
  supportedGenerationMethods: methods,
});

export const writeModels = (models: readonly ListedModel[]): unknown => ({ models: models.map(writeModel) });
