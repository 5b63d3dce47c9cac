import type { AccessKeyRecord } from './entities/access-key.ts';
import type { KeyGroup } from './entities/key-group.ts';
import type { BalancerPin, LoadBalancer } from './entities/load-balancer.ts';
import type { McpServerRecord } from './entities/mcp-server.ts';
import type { Model } from './entities/model.ts';
import type { Pricing } from './entities/pricing.ts';
import type { SearchConfig, SearchProviderRecord } from './entities/search.ts';
import type { UpstreamRecord } from './entities/upstream.ts';

/** What a caller's model name stands for: a model, or a load balancer over several. */
export type ResolvedName = { via: 'canonical' | 'alias'; canonical: string } & (
  | { model: Model; balancer?: undefined }
  | { model?: undefined; balancer: LoadBalancer }
);

/**
 * Which state of the configuration. A database that was restored to an older state gives the numbers of revisions out again: the time of the commit tells
 * two states of one number apart.
 */
export interface CatalogState {
  revision: number;
  /** When it was committed, in ms since the epoch. Absent before the first commit, and from a console of an earlier version. */
  committedAt?: number | undefined;
}

/** The whole configuration at one revision: frozen, indexed, shared by reference. */
export interface Snapshot extends CatalogState {
  upstreams: ReadonlyMap<string, UpstreamRecord>;
  /** By canonical name. */
  models: ReadonlyMap<string, Model>;
  /** By canonical name. */
  loadBalancers: ReadonlyMap<string, LoadBalancer>;
  /** Balancer → access key → entry. */
  pins: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** Every name a caller may use, hidden canonical names included (resolution refuses them). */
  names: ReadonlyMap<string, ResolvedName>;
  keyGroups: ReadonlyMap<string, KeyGroup>;
  /** By name. */
  pricing: ReadonlyMap<string, Pricing>;
  /** By name. */
  mcpServers: ReadonlyMap<string, McpServerRecord>;
  /** By name. Empty in services without the master key. */
  searchProviders: ReadonlyMap<string, SearchProviderRecord>;
  /** null: never set, or withheld from services without the master key. */
  searchConfig: SearchConfig | null;
  /** By lower-case hex SHA-256 of the key. */
  accessKeys: ReadonlyMap<string, AccessKeyRecord>;
  /** Keys whose last rotation left the old value working for a while, by the hash of that value; who lets somebody in looks at its `until`. */
  previousKeys?: ReadonlyMap<string, AccessKeyRecord>;
}

/** What one commit changed, so that receivers need not load everything. `gone` is applied before `put`. */
export interface SectionDelta<Row, Key = string> {
  put: Row[];
  gone: Key[];
}
/** The rows that one commit changed, by section of the configuration. */
export interface CatalogDelta {
  upstreams?: SectionDelta<UpstreamRecord>;
  models?: SectionDelta<Model>;
  load_balancers?: SectionDelta<LoadBalancer>;
  load_balancer_pins?: SectionDelta<BalancerPin, Pick<BalancerPin, 'load_balancer' | 'access_key'>>;
  pricing?: SectionDelta<Pricing>;
  mcp_servers?: SectionDelta<McpServerRecord>;
  key_groups?: SectionDelta<KeyGroup>;
  search_providers?: SectionDelta<SearchProviderRecord>;
  /** One row at most. */
  search_config?: SectionDelta<SearchConfig>;
  /** `gone` holds hashes. */
  access_keys?: SectionDelta<AccessKeyRecord>;
}

/** The same rows, as they cross the bus and as storage reads them. */
export interface CatalogRows {
  revision: number;
  /** `committedAt` of its state. */
  committed_at?: number | undefined;
  upstreams: UpstreamRecord[];
  models: Model[];
  /** Absent from a console of an earlier version. */
  load_balancers?: LoadBalancer[];
  load_balancer_pins?: BalancerPin[];
  /** Absent from a console of an earlier version. */
  pricing?: Pricing[];
  /** Absent from a console of an earlier version. */
  search_providers?: SearchProviderRecord[];
  search_config?: SearchConfig[];
  /** Absent from a console of an earlier version. */
  mcp_servers?: McpServerRecord[];
  key_groups: KeyGroup[];
  access_keys: AccessKeyRecord[];
}
