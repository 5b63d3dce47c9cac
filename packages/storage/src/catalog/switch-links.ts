/** The models and load balancers that are targets of `switch-route` rules (`use_model`) of upstreams and models. */
import type { BodyRule } from '@model-gateway/contracts';
import type { Kysely } from 'kysely';
import type { Database, SwitchTargetColumns } from '../schema.ts';

export type SwitchOwnerKind = SwitchTargetColumns['owner_kind'];

/** An upstream or model with a `switch-route` rule. */
export interface SwitchOwner {
  kind: SwitchOwnerKind;
  name: string;
}

/** Reads which resources reroute to a model or load balancer. */
export interface SwitchLinks {
  /** Upstreams and models with a rule that names this target, at most `limit` of each. */
  ownersOf(target: string, limit: number): Promise<SwitchOwner[]>;
}

/** Updates the targets of one upstream or model. */
export interface SwitchLinkWriter extends SwitchLinks {
  /** Exactly these targets. */
  setTargets(kind: SwitchOwnerKind, id: string, targets: readonly string[]): Promise<void>;
}

export const switchTargets = (rules: readonly BodyRule[] | undefined): string[] => [
  ...new Set((rules ?? []).flatMap(({ use_model }) => (use_model ? [use_model] : []))),
];

const tables = { upstream: 'upstreams', model: 'models' } as const satisfies Record<SwitchOwnerKind, string>;

export function createSwitchLinks(db: Kysely<Database>): SwitchLinkWriter {
  const namesOf = async (kind: SwitchOwnerKind, target: string, limit: number): Promise<SwitchOwner[]> => {
    const rows = await db
      .selectFrom(tables[kind])
      .innerJoin('switch_targets', 'switch_targets.owner', `${tables[kind]}.id`)
      .select(`${tables[kind]}.name`)
      .where('owner_kind', '=', kind)
      .where('target', '=', target)
      .orderBy('name')
      .limit(limit)
      .execute();
    return rows.map(({ name }) => ({ kind, name }));
  };
  return {
    ownersOf: async (target, limit) => [...(await namesOf('upstream', target, limit)), ...(await namesOf('model', target, limit))],
    async setTargets(owner_kind, owner, targets) {
      await db.deleteFrom('switch_targets').where('owner_kind', '=', owner_kind).where('owner', '=', owner).execute();
      if (targets.length === 0) return;
      await db
        .insertInto('switch_targets')
        .values(targets.map((target) => ({ owner_kind, owner, target })))
        .execute();
    },
  };
}
