/** The shared name space of models and load balancers: canonical names and aliases. */

import { GatewayError } from '@model-gateway/contracts/errors';
import type { Kysely } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';

export type NameOwner = 'model' | 'load balancer';

/** A name in use, and what uses it. */
export interface TakenName {
  name: string;
  kind: 'canonical' | 'alias';
  owner: NameOwner;
  /** Canonical name of the model or load balancer that has it. */
  of: string;
}

/** Looks up names that callers may use. */
export interface ModelNames {
  /** Which of these names another model or load balancer has. Row ids are unique over both. */
  findTaken(names: readonly string[], exceptId?: string): Promise<TakenName[]>;
  /** Names and aliases that hold this text, case ignored: at most `limit` of models and as many of load balancers, by name. */
  search(text: string, limit: number): Promise<TakenName[]>;
}

/** Claims and frees names, inside a catalog transaction. */
export interface ModelNameWriter extends ModelNames {
  /** Gives a row exactly its own names. Throws `conflict` when one is taken. */
  claim(owner: NameOwner, id: string, document: { name: string; aliases: readonly string[] }): Promise<void>;
  /** Frees the names of these rows, so that several may exchange theirs in one transaction; each must claim again. */
  release(ids: readonly string[]): Promise<void>;
}

/** Well below every engine's limit of parameters. */
const chunkSize = 500;

export function createModelNames(db: Kysely<Database>, dialect: StorageDialect): ModelNameWriter {
  const release = async (ids: readonly string[]) => {
    for (const some of chunks(ids)) {
      await db.deleteFrom('model_names').where('model_id', 'in', some).execute();
      await db.deleteFrom('load_balancer_names').where('balancer_id', 'in', some).execute();
    }
  };
  const findTaken = async (names: readonly string[], exceptId?: string): Promise<TakenName[]> => {
    const found: TakenName[] = [];
    for (const some of chunks(names)) {
      const models = await db
        .selectFrom('model_names')
        .innerJoin('models', 'models.id', 'model_names.model_id')
        .select(['model_names.name', 'model_names.kind', 'models.id', 'models.name as of'])
        .where('model_names.name', 'in', some)
        .execute();
      const balancers = await db
        .selectFrom('load_balancer_names')
        .innerJoin('load_balancers', 'load_balancers.id', 'load_balancer_names.balancer_id')
        .select(['load_balancer_names.name', 'load_balancer_names.kind', 'load_balancers.id', 'load_balancers.name as of'])
        .where('load_balancer_names.name', 'in', some)
        .execute();
      for (const { id, ...row } of models) if (id !== exceptId) found.push({ ...row, owner: 'model' });
      for (const { id, ...row } of balancers) if (id !== exceptId) found.push({ ...row, owner: 'load balancer' });
    }
    return found;
  };
  const search = async (text: string, limit: number): Promise<TakenName[]> => {
    const models = await db
      .selectFrom('model_names')
      .innerJoin('models', 'models.id', 'model_names.model_id')
      .select(['model_names.name', 'model_names.kind', 'models.name as of'])
      .where((eb) => dialect.contains(eb.ref('model_names.name'), text))
      .orderBy('model_names.name')
      .limit(limit)
      .execute();
    const balancers = await db
      .selectFrom('load_balancer_names')
      .innerJoin('load_balancers', 'load_balancers.id', 'load_balancer_names.balancer_id')
      .select(['load_balancer_names.name', 'load_balancer_names.kind', 'load_balancers.name as of'])
      .where((eb) => dialect.contains(eb.ref('load_balancer_names.name'), text))
      .orderBy('load_balancer_names.name')
      .limit(limit)
      .execute();
    return [...models.map((row) => ({ ...row, owner: 'model' as const })), ...balancers.map((row) => ({ ...row, owner: 'load balancer' as const }))];
  };
  return {
    findTaken,
    search,
    release,
    async claim(owner, id, { name, aliases }) {
      await release([id]);
      // Unique keys only cover one table each; writers are serialized, so a name that is free now stays free until the end of the transaction.
      if ((await findTaken([name, ...aliases], id)).length > 0) throw new GatewayError('conflict');
      const rows = [{ name, kind: 'canonical' as const }, ...aliases.map((alias) => ({ name: alias, kind: 'alias' as const }))];
      if (owner === 'model')
        await db
          .insertInto('model_names')
          .values(rows.map((row) => ({ ...row, model_id: id })))
          .execute();
      else
        await db
          .insertInto('load_balancer_names')
          .values(rows.map((row) => ({ ...row, balancer_id: id })))
          .execute();
    },
  };
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let start = 0; start < items.length; start += chunkSize) yield items.slice(start, start + chunkSize);
}
