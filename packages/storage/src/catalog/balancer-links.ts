/** What load balancers refer to: models by their entries, and access keys with the entry each is pinned to. */
import type { BalancerPin } from '@model-gateway/contracts';
import { type Kysely, sql } from 'kysely';
import type { StorageDialect } from '../dialects/dialect.ts';
import type { Database } from '../schema.ts';
import type { ListQuery } from './resource-repository.ts';
import { type ChangeRecorder, pinImage, pinName } from './row-change.ts';

/** One page of pins, and the number of all that match. */
export interface PinPage {
  items: BalancerPin[];
  total: number;
}

/** Reads references from load balancers to models and access keys. */
export interface BalancerLinks {
  /** Names of load balancers with an entry of this model, at most `limit`. */
  balancersOf(model: string, limit: number): Promise<string[]>;
  /** Pins whose entry is this model, at most `limit`. */
  pinsOn(model: string, limit: number): Promise<BalancerPin[]>;
  findPin(balancerId: string, accessKey: string): Promise<BalancerPin | null>;
  /** Searched in both names; sorted by `access_key` or `entry`. Default: access_key. */
  listPins(balancerId: string, query: Pick<ListQuery, 'page' | 'pageSize' | 'search' | 'sort'>): Promise<PinPage>;
  allPins(): Promise<BalancerPin[]>;
}

/** Updates those references, inside a catalog transaction. */
export interface BalancerLinkWriter extends BalancerLinks {
  /** The models of exactly these entries. */
  setEntries(balancerId: string, models: readonly string[]): Promise<void>;
  setPin(balancerId: string, accessKey: string, model: string): Promise<void>;
  /** false when there was none. */
  removePin(balancerId: string, accessKey: string): Promise<boolean>;
  /** All of an access key, or of a load balancer (by id). */
  removePins(of: { accessKey: string } | { balancerId: string }): Promise<void>;
}

/** `recorder`: notes pins that are set and removed; read-only users pass none. */
export function createBalancerLinks(db: Kysely<Database>, dialect: StorageDialect, recorder?: ChangeRecorder): BalancerLinkWriter {
  const pins = () =>
    db
      .selectFrom('load_balancer_pins')
      .innerJoin('load_balancers', 'load_balancers.id', 'load_balancer_pins.balancer_id')
      .select(['load_balancers.name as load_balancer', 'load_balancer_pins.access_key', 'load_balancer_pins.model as entry']);
  const findPin = async (balancerId: string, accessKey: string): Promise<BalancerPin | null> =>
    (await pins().where('balancer_id', '=', balancerId).where('access_key', '=', accessKey).executeTakeFirst()) ?? null;
  const record = (before: BalancerPin | null, after: BalancerPin | null) => {
    const pin = after ?? before;
    if (pin) recorder?.record('load_balancer_pins', pinName(pin), before && pinImage(before), after && pinImage(after));
  };
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
    findPin,
    async listPins(balancerId, { page, pageSize, search, sort }) {
      let matching = pins().where('balancer_id', '=', balancerId);
      if (search)
        matching = matching.where((eb) =>
          eb.or([dialect.contains(eb.ref('load_balancer_pins.access_key'), search), dialect.contains(eb.ref('load_balancer_pins.model'), search)]),
        );
      const { total } = await matching.clearSelect().select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
      const items = await matching
        .orderBy(sort?.column === 'entry' ? 'load_balancer_pins.model' : 'load_balancer_pins.access_key', sort?.descending ? 'desc' : 'asc')
        .orderBy('load_balancer_pins.access_key')
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
      const before = await findPin(balancerId, accessKey);
      await db
        .insertInto('load_balancer_pins')
        .values({ balancer_id: balancerId, access_key: accessKey, model })
        .onConflict((conflict) => conflict.columns(['balancer_id', 'access_key']).doUpdateSet({ model }))
        .execute();
      record(before, await findPin(balancerId, accessKey));
    },
    async removePin(balancerId, accessKey) {
      const before = await findPin(balancerId, accessKey);
      if (!before) return false;
      await db.deleteFrom('load_balancer_pins').where('balancer_id', '=', balancerId).where('access_key', '=', accessKey).execute();
      record(before, null);
      return true;
    },
    async removePins(of) {
      const [column, value] = 'accessKey' in of ? (['access_key', of.accessKey] as const) : (['balancer_id', of.balancerId] as const);
      for (const pin of await pins().where(column, '=', value).execute()) record(pin, null);
      await db.deleteFrom('load_balancer_pins').where(column, '=', value).execute();
    },
  };
}
