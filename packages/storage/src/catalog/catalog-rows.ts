/** Converts stored resources to catalog rows: the whole configuration, or what one commit changed of it. */
import type {
  AccessKeyRecord,
  BalancerPin,
  CatalogDelta,
  KeyGroup,
  LoadBalancer,
  McpServerRecord,
  Model,
  Pricing,
  SearchConfig,
  SearchProviderRecord,
  UpstreamRecord,
} from '@model-gateway/contracts';
import type {
  AccessKeyDocument,
  KeyGroupDocument,
  LoadBalancerDocument,
  McpServerDocument,
  ModelDocument,
  PricingDocument,
  SearchConfigDocument,
  SearchProviderDocument,
  UpstreamDocument,
} from './documents.ts';
import type { CatalogSection, RowChange, RowImage } from './row-change.ts';

type Row<D> = { id: string; createdAt: number; document: D };

export const upstreamRow = ({ id, document }: Row<UpstreamDocument>): UpstreamRecord => ({ id, ...document });
export const modelRow = ({ document, createdAt }: Row<ModelDocument>): Model => ({ ...document, created_at: createdAt });
export const balancerRow = ({ document, createdAt }: Row<LoadBalancerDocument>): LoadBalancer => ({ ...document, created_at: createdAt });
export const pricingRow = ({ document }: Row<PricingDocument>): Pricing => document;
export const mcpServerRow = ({ id, document }: Row<McpServerDocument>): McpServerRecord => ({ id, ...document });
export const searchProviderRow = ({ id, document }: Row<SearchProviderDocument>): SearchProviderRecord => ({ id, ...document });
export const searchConfigRow = ({ document }: Row<SearchConfigDocument>): SearchConfig => document;
/** Who is in a group is the console's business: other services do not get it. */
export const groupRow = ({ document: { members: _members, member_keys: _keys, ...document } }: Row<KeyGroupDocument>): KeyGroup => document;
export const keyRow = ({
  id,
  document: { name, group, enabled, expires_at, hash, rate_limit, budget, previous },
}: Row<AccessKeyDocument>): AccessKeyRecord => ({
  name,
  group,
  enabled,
  expires_at: expires_at === null ? null : Date.parse(expires_at),
  hash,
  id,
  // Empty fields are left out: a catalog holds tens of thousands of keys.
  ...(rate_limit !== undefined && rate_limit !== 'inherit' && { rate_limit }),
  ...(budget && { budget }),
  // One that stopped at once is nobody's business but the console's: an edge whose clock is late would let it in.
  ...(previous?.until && { previous: { hash: previous.hash, until: Date.parse(previous.until) } }),
});

/** How the rows of a section appear in snapshots, and the key by which each is found there. */
const shapes: {
  readonly [S in Exclude<CatalogSection, 'load_balancer_pins' | 'alert_channels'>]: { toRow(image: RowImage): object; keyOf(image: RowImage): string };
} = {
  upstreams: { toRow: (image) => upstreamRow(image as never), keyOf: nameOf },
  models: { toRow: (image) => modelRow(image as never), keyOf: nameOf },
  load_balancers: { toRow: (image) => balancerRow(image as never), keyOf: nameOf },
  pricing: { toRow: (image) => pricingRow(image as never), keyOf: nameOf },
  mcp_servers: { toRow: (image) => mcpServerRow(image as never), keyOf: nameOf },
  search_providers: { toRow: (image) => searchProviderRow(image as never), keyOf: nameOf },
  search_config: { toRow: (image) => searchConfigRow(image as never), keyOf: nameOf },
  key_groups: { toRow: (image) => groupRow(image as never), keyOf: nameOf },
  access_keys: { toRow: (image) => keyRow(image as never), keyOf: ({ document }) => String(document['hash']) },
};

function nameOf({ document }: RowImage): string {
  return String(document['name']);
}

/** Rows are copies: the receiver freezes them. */
export function toDelta(changes: readonly RowChange[]): CatalogDelta {
  const delta: Record<string, { put: object[]; gone: unknown[] }> = {};
  for (const { section, before, after } of changes) {
    // The console's own: no other service gets them.
    if (section === 'alert_channels') continue;
    const part = delta[section] ?? { put: [], gone: [] };
    delta[section] = part;
    if (section === 'load_balancer_pins') {
      if (after) part.put.push({ ...after.document });
      else if (before) part.gone.push(pinKey(before.document as unknown as BalancerPin));
      continue;
    }
    const { toRow, keyOf } = shapes[section];
    if (before && (!after || keyOf(before) !== keyOf(after))) part.gone.push(keyOf(before));
    if (after) part.put.push(structuredClone(toRow(after)));
  }
  return delta as CatalogDelta;
}

const pinKey = ({ load_balancer, access_key }: BalancerPin) => ({ load_balancer, access_key });
