/** What load balancers refer to: models by their entries, and access keys with the entry each is pinned to. */
import type { BalancerPin } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import type { Database } from '../schema.ts';

export interface PinPage {
  items: BalancerPin[];
  total: number;
}

export interface BalancerLinks {
  /** Names of load balancers with an entry of this model, at most `limit`. */
  balancersOf(model: string, limit: number): Promise<string[]>;
  /** Pins whose entry is this model, at most `limit`. */
  pinsOn(model: string, limit: number): Promise<BalancerPin[]>;
  findPin(balancerId: string, accessKey: string): Promise<BalancerPin | null>;
  /** By access key; `page` from 1. */
  listPins(balancerId: string, query: { page: number; pageSize: number }): Promise<PinPage>;
  allPins(): Promise<BalancerPin[]>;
}

export interface BalancerLinkWriter extends BalancerLinks {
  /** The models of exactly these entries. */
  setEntries(balancerId: string, models: readonly string[]): Promise<void>;
  setPin(balancerId: string, accessKey: string, model: string): Promise<void>;
  /** false when there was none. */
  removePin(balancerId: string, accessKey: string): Promise<boolean>;
}

export function createBalancerLinks(db: Kysely<Database>): BalancerLinkWriter {
  const pins = () =>
    db
      .selectFrom('load_balancer_pins')
      .innerJoin('load_balancers', 'load_balancers.id', 'load_balancer_pins.balancer_id')
      .select(['load_balancers.name as load_balancer', 'load_balancer_pins.access_key', 'load_balancer_pins.model as entry']);
  return {
    async balancersOf(model, limit) {
      const rows = await db
        .selectFrom('load_balancer_entries')
        .innerJoin('load_balancers', 'load_balancers.id', 'load_balancer_entries.balancer_id')
        .select('load_balancers.name')
        .where('load_balancer_entries.model', '=', model)
        .orderBy('load_balancers.name')
        .limit(limit)
        .execute();
      return rows.map(({ name }) => name);
    },
    pinsOn: (model, limit) => pins().where('load_balancer_pins.model', '=', model).orderBy('load_balancer_pins.access_key').limit(limit).execute(),
    async findPin(balancerId, accessKey) {
      const row = await pins().where('balancer_id', '=', balancerId).where('access_key', '=', accessKey).executeTakeFirst();
      return row ?? null;
    },
    async listPins(balancerId, { page, pageSize }) {
      const { total } = await db
        .selectFrom('load_balancer_pins')
        .select(sql<number>`count(*)`.as('total'))
        .where('balancer_id', '=', balancerId)
        .executeTakeFirstOrThrow();
      const items = await pins()
        .where('balancer_id', '=', balancerId)
        .orderBy('access_key')
        .limit(pageSize)
        .offset((page - 1) * pageSize)
        .execute();
      return { items, total: Number(total) };
    },
    allPins: () => pins().orderBy('load_balancers.name').orderBy('access_key').execute(),
    async setEntries(balancerId, models) {
      await db.deleteFrom('load_balancer_entries').where('balancer_id', '=', balancerId).execute();
      if (models.length === 0) return;
      await db
        .insertInto('load_balancer_entries')
        .values(models.map((model) => ({ balancer_id: balancerId, model })))
        .execute();
    },
    async setPin(balancerId, accessKey, model) {
      await db
        .insertInto('load_balancer_pins')
        .values({ balancer_id: balancerId, access_key: accessKey, model })
        .onConflict((conflict) => conflict.columns(['balancer_id', 'access_key']).doUpdateSet({ model }))
        .execute();
    },
    async removePin(balancerId, accessKey) {
      const [result] = await db.deleteFrom('load_balancer_pins').where('balancer_id', '=', balancerId).where('access_key', '=', accessKey).execute();
      return Number(result?.numDeletedRows ?? 0) > 0;
    },
  };
}
