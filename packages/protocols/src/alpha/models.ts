import type { ListedModel } from '../protocol.ts';

/** One model as the real endpoint lists it. */
export const writeModel = (model: ListedModel): unknown => ({ id: model.name, object: 'model', created: model.createdAt, owned_by: model.ownedBy });

export const writeModels = (models: readonly ListedModel[]): unknown => ({ object: 'list', data: models.map(writeModel) });
