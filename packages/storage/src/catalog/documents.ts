/** What each table of configuration resources stores: the resource as saved, secrets sealed. */
import type {
  AlertChannelRecord,
  Budget,
  KeyGroup,
  KeyRateLimit,
  LoadBalancer,
  McpServerRecord,
  Model,
  Pricing,
  SearchConfig,
  SearchProviderRecord,
  UpstreamRecord,
} from '@model-gateway/contracts';

export type UpstreamDocument = Omit<UpstreamRecord, 'id'>;
export type ModelDocument = Omit<Model, 'created_at'>;
export type LoadBalancerDocument = Omit<LoadBalancer, 'created_at'>;
export type KeyGroupDocument = KeyGroup;
export type PricingDocument = Pricing;
export type SearchProviderDocument = Omit<SearchProviderRecord, 'id'>;
export type AlertChannelDocument = Omit<AlertChannelRecord, 'id'>;
export type SearchConfigDocument = SearchConfig;
export type McpServerDocument = Omit<McpServerRecord, 'id' | 'withheld'>;

/** An access key as stored: its value only as a hash and, where it can be shown again, sealed. */
export interface AccessKeyDocument {
  name: string;
  group: string;
  enabled: boolean;
  /** ISO 8601, or null for never. */
  expires_at: string | null;
  description: string;
  tags: string[];
  anonymous: boolean;
  /** Absent in rows written by earlier versions. */
  rate_limit?: KeyRateLimit | 'inherit';
  budget?: Budget | null;
  /** Whose key it is; absent in rows written by earlier versions, as `previous`. */
  owner?: string;
  /** The value that the last rotation replaced, kept to find the key by it; `until`: it went on working until then, ISO 8601; null: it stopped at once. */
  previous?: { mask: string; hash: string; until: string | null } | null;
  /** First and last characters of the key, for lists. */
  mask: string;
  /** Lower-case hex SHA-256. */
  hash: string;
  /** null for anonymous keys. */
  sealed: string | null;
}

/** A stored resource: its document with the row's id, ETag and times (ms since the epoch). */
export interface StoredResource<D> {
  /** Stable for the life of the row; part of what its secrets are bound to. */
  id: string;
  /** Catalog revision that last wrote it. */
  etag: number;
  document: D;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
}
