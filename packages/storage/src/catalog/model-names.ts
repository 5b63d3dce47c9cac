/** The one space of names that callers may use: canonical model names and aliases. */
import type { Kysely } from 'kysely';
import type { Database, ModelNameColumns } from '../schema.ts';
import type { ModelDocument } from './documents.ts';

export interface TakenName {
  name: string;
  kind: 'canonical' | 'alias';
  /** Canonical name of the model that has it. */
  model: string;
}

export interface ModelNames {
  /** Which of these names another model has. */
  findTaken(names: readonly string[], exceptModelId?: string): Promise<TakenName[]>;
}

export interface ModelNameWriter extends ModelNames {
  /** Gives a model exactly its own names. Throws `conflict` when one is taken. */
  claim(modelId: string, document: ModelDocument): Promise<void>;
  /** Frees the names of these models, so that several may exchange theirs in one transaction; each must claim again. */
  release(modelIds: readonly string[]): Promise<void>;
}

/** Well below every engine's limit of parameters. */
const chunkSize = 500;

export function createModelNames(db: Kysely<Database>): ModelNameWriter {
  const release = async (modelIds: readonly string[]) => {
    for (const ids of chunks(modelIds)) await db.deleteFrom('model_names').where('model_id', 'in', ids).execute();
  };
  return {
    async findTaken(names, exceptModelId) {
      const found: TakenName[] = [];
      for (const some of chunks(names)) {
        const rows = await db
          .selectFrom('model_names')
          .innerJoin('models', 'models.id', 'model_names.model_id')
          .select(['model_names.name', 'model_names.kind', 'model_names.model_id', 'models.name as model'])
          .where('model_names.name', 'in', some)
          .execute();
        for (const { model_id, ...row } of rows) if (model_id !== exceptModelId) found.push(row);
      }
      return found;
    },
    release,
    async claim(modelId, document) {
      await release([modelId]);
      const rows: ModelNameColumns[] = [{ name: document.name, model_id: modelId, kind: 'canonical' }];
      for (const alias of document.aliases) rows.push({ name: alias, model_id: modelId, kind: 'alias' });
      await db.insertInto('model_names').values(rows).execute();
    },
  };
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += chunkSize) yield items.slice(start, start + chunkSize);
}
