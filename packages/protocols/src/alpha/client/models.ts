/** Lists of models, in the shapes that clients of this protocol read. */
import type { Operation } from '@model-gateway/contracts';
import type { ListedModel, ModelsAsked } from '../../contract/index.ts';
import { catalogueEntry } from './agent-catalogue.ts';

/** One model as the real endpoint lists it, with its limits under the names that compatible servers use (Groq's list has them). */
export const writeModel = (model: ListedModel): Record<string, unknown> => ({
  id: model.name,
  object: 'model',
  created: model.createdAt,
  owned_by: model.ownedBy,
  ...(model.family?.context && { context_window: model.family.context }),
  ...(model.family?.input && { max_input_tokens: model.family.input }),
  ...(model.family?.output && { max_completion_tokens: model.family.output }),
});

/** Where one popular proxy tells limits and prices of its models; its clients ask there before they ask for the list. */
export const modelInfoPath = '/v1/model/info';

export function writeModels(models: readonly ListedModel[], { path, query }: ModelsAsked): unknown {
  if (path === modelInfoPath) return { data: models.map(writeModelInfo) };
  const list = { object: 'list', data: models.map(writeModel) };
  // Only one family of clients tells its version, and it reads `models` where all others read `data`.
  return query.has('client_version') ? { ...list, models: models.map(catalogueEntry) } : list;
}

const perToken = (micros: number | undefined): number | null => (micros === undefined ? null : micros / 1e12);

/** That proxy's words for what a model does; the first that fits, since a model has one. */
const modes: readonly (readonly [Operation, string])[] = [
  ['generate', 'chat'],
  ['embed', 'embedding'],
  ['rerank', 'rerank'],
  ['image', 'image_generation'],
  ['speech', 'audio_speech'],
  ['transcribe', 'audio_transcription'],
  ['realtime', 'realtime'],
];

const modeOf = ({ serves }: ListedModel): string | null => (serves ? (modes.find(([operation]) => serves.includes(operation))?.[1] ?? null) : 'chat');

function writeModelInfo(model: ListedModel): unknown {
  const { name, family } = model;
  const prices = family?.prices?.currency === 'USD' ? family.prices : null;
  return {
    model_name: name,
    litellm_params: { model: name },
    model_info: {
      id: name,
      mode: modeOf(model),
      max_tokens: family?.output ?? null,
      max_input_tokens: family?.input ?? null,
      max_output_tokens: family?.output ?? null,
      input_cost_per_token: perToken(prices?.input),
      output_cost_per_token: perToken(prices?.output),
      cache_read_input_token_cost: perToken(prices?.cacheRead),
      cache_creation_input_token_cost: perToken(prices?.cacheWrite5m),
      supports_vision: family?.vision ?? null,
      supports_function_calling: family?.tools ?? null,
      supports_pdf_input: family?.pdf ?? null,
      supports_reasoning: family === undefined ? null : family.thinking.style !== 'none',
      supports_prompt_caching: family === undefined ? null : family.cacheMarks === 'explicit',
    },
  };
}
