/** What one transaction did to rows of the configuration: each row once, as it was before and as it is after. */
import type { BalancerPin } from '@model-gateway/contracts';
import type { StoredResource } from './documents.ts';

export const catalogSections = [
  'upstreams',
  'models',
  'load_balancers',
  'pricing',
  'mcp_servers',
  'search_providers',
  'search_config',
  'alert_channels',
  'key_groups',
  'access_keys',
  'load_balancer_pins',
] as const;
export type CatalogSection = (typeof catalogSections)[number];

/** Enough of a row to put it back. Secrets stay sealed; they are bound to the id, which therefore comes back too. */
export interface RowImage {
  id: string;
  createdAt: number;
  document: Readonly<Record<string, unknown>>;
}

/** One changed row: `before` is null when it was created, `after` when it was deleted. */
export interface RowChange {
  section: CatalogSection;
  /** Names the row within its section, for ever: names do not change. */
  name: string;
  before: RowImage | null;
  after: RowImage | null;
}

/** Collects the row changes of one transaction. */
export interface ChangeRecorder {
  record(section: CatalogSection, name: string, before: RowImage | null, after: RowImage | null): void;
  /** In the order of the first change of each row. A row that was created and deleted again is left out. */
  changes(): RowChange[];
}

export function createRecorder(): ChangeRecorder {
  const byRow = new Map<string, RowChange>();
  return {
    record(section, name, before, after) {
      const key = `${section}\n${name}`;
      const known = byRow.get(key);
      if (known) known.after = after;
      else byRow.set(key, { section, name, before, after });
    },
    changes: () => [...byRow.values()].filter(({ before, after }) => before !== null || after !== null),
  };
}

export const imageOf = <D extends object>({ id, createdAt, document }: StoredResource<D>): RowImage => ({
  id,
  createdAt,
  document: document as RowImage['document'],
});

/** Names hold no control characters: the two parts cannot be taken for others. */
const between = '\n';
export const pinName = ({ load_balancer, access_key }: Pick<BalancerPin, 'load_balancer' | 'access_key'>): string => load_balancer + between + access_key;
/** A pin is not a row with an id of its own. */
export const pinImage = (pin: BalancerPin): RowImage => ({ id: '', createdAt: 0, document: { ...pin } });
