/** The tables of configuration resources. */
import { foldPerson } from '@model-gateway/contracts';
import type {
  AccessKeyDocument,
  AlertChannelDocument,
  KeyGroupDocument,
  LoadBalancerDocument,
  McpServerDocument,
  ModelDocument,
  PricingDocument,
  SearchConfigDocument,
  SearchProviderDocument,
  UpstreamDocument,
} from './documents.ts';
import type { ResourceDefinition } from './resource-repository.ts';

const always = { name: 'name', created_at: 'created_at', updated_at: 'updated_at' } as const;

export const upstreamDefinition: ResourceDefinition<UpstreamDocument> = {
  table: 'upstreams',
  section: 'upstreams',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const modelDefinition: ResourceDefinition<ModelDocument> = {
  table: 'models',
  section: 'models',
  sortable: { ...always, upstream: 'upstream' },
  searched: ['name', 'upstream'],
  toColumns: (document) => ({ columns: { upstream: document.upstream }, json: document }),
  fromColumns: (json) => json,
};

export const loadBalancerDefinition: ResourceDefinition<LoadBalancerDocument> = {
  table: 'load_balancers',
  section: 'load_balancers',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const pricingDefinition: ResourceDefinition<PricingDocument> = {
  table: 'model_pricing',
  section: 'pricing',
  sortable: { ...always, model: 'model' },
  searched: ['name', 'model'],
  toColumns: (document) => ({ columns: { model: document.model }, json: document }),
  fromColumns: (json) => json,
};

export const mcpServerDefinition: ResourceDefinition<McpServerDocument> = {
  table: 'mcp_servers',
  section: 'mcp_servers',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const searchProviderDefinition: ResourceDefinition<SearchProviderDocument> = {
  table: 'search_providers',
  section: 'search_providers',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const searchConfigDefinition: ResourceDefinition<SearchConfigDocument> = {
  table: 'search_config',
  section: 'search_config',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const alertChannelDefinition: ResourceDefinition<AlertChannelDocument> = {
  table: 'alert_channels',
  section: 'alert_channels',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const keyGroupDefinition: ResourceDefinition<KeyGroupDocument> = {
  table: 'key_groups',
  section: 'key_groups',
  sortable: always,
  searched: ['name'],
  toColumns: (document) => ({ columns: {}, json: document }),
  fromColumns: (json) => json,
};

export const accessKeyDefinition: ResourceDefinition<AccessKeyDocument> = {
  table: 'access_keys',
  section: 'access_keys',
  sortable: { ...always, group: 'group_name', owner: 'owner' },
  searched: ['name', 'group_name', 'owner'],
  // Hash and sealed value are stored in their columns only: a copy inside the JSON could go stale.
  toColumns: ({ hash, sealed, ...json }) => ({
    columns: { group_name: json.group, hash, sealed, owner: foldPerson(json.owner ?? ''), previous_hash: json.previous?.hash ?? null },
    json,
  }),
  fromColumns: (json: Omit<AccessKeyDocument, 'hash' | 'sealed'>, row) => ({ ...json, hash: row.hash ?? '', sealed: row.sealed ?? null }),
};
