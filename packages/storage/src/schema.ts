/** The tables as Kysely sees them. Booleans and JSON are in the dialect's own form here; repositories convert them. */
import type { RequestRow } from '@model-gateway/contracts';

/** Columns that every table of configuration resources has. `document` is JSON text; `etag` is the catalog revision that last wrote the row. */
export interface ResourceColumns {
  id: string;
  name: string;
  etag: number;
  document: string;
  created_at: number;
  updated_at: number;
}

export interface ModelColumns extends ResourceColumns {
  upstream: string;
}

export interface AccessKeyColumns extends ResourceColumns {
  group_name: string;
  /** Lower-case hex SHA-256. */
  hash: string;
  /** null for anonymous keys. */
  sealed: string | null;
}

export interface PricingColumns extends ResourceColumns {
  /** A name or a pattern: refers to nothing. */
  model: string;
}

export interface ModelNameColumns {
  name: string;
  model_id: string;
  kind: 'canonical' | 'alias';
}

export interface BalancerNameColumns {
  name: string;
  balancer_id: string;
  kind: 'canonical' | 'alias';
}

export interface BalancerEntryColumns {
  balancer_id: string;
  model: string;
}

export interface BalancerPinColumns {
  balancer_id: string;
  access_key: string;
  model: string;
}

export interface RevisionColumns {
  id: number;
  revision: number;
}

export interface ConsoleUserColumns {
  id: string;
  username: string;
  role: 'admin' | 'monitor';
  enabled: unknown;
  password_hash: string | null;
  issuer: string | null;
  subject: string | null;
  etag: number;
  created_at: number;
  updated_at: number;
  last_login_at: number | null;
}

export interface ConsoleSessionColumns {
  id: string;
  token_hash: string;
  user_id: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ends_at: number;
  ip_address: string;
  user_agent: string;
}

export interface SignInCodeColumns {
  code_hash: string;
  user_id: string;
  expires_at: number;
}

export interface ConsoleStateColumns {
  id: number;
  revision: number;
  applied_password_hash: string | null;
}

export type RequestColumns = Record<keyof RequestRow, unknown> & { id: string; started_at: number; authority: number };

export interface SpendColumns {
  owner_kind: string;
  owner: string;
  currency: string;
  /** First millisecond of the UTC day. */
  day: number;
  micros: number;
}

export interface AuditColumns {
  id: string;
  occurred_at: number;
  actor: string;
  action: string;
  entity_type: string;
  entity_id: string;
  diff: string | null;
  ip_address: string | null;
  request_id: string | null;
}

export interface Database {
  upstreams: ResourceColumns;
  models: ModelColumns;
  key_groups: ResourceColumns;
  access_keys: AccessKeyColumns;
  model_pricing: PricingColumns;
  model_names: ModelNameColumns;
  load_balancers: ResourceColumns;
  load_balancer_names: BalancerNameColumns;
  load_balancer_entries: BalancerEntryColumns;
  load_balancer_pins: BalancerPinColumns;
  catalog_revision: RevisionColumns;
  request_stats: RequestColumns;
  spend_days: SpendColumns;
  audit_logs: AuditColumns;
  spend_turn: { id: number; turn: number };
  console_users: ConsoleUserColumns;
  console_sessions: ConsoleSessionColumns;
  console_sign_in_codes: SignInCodeColumns;
  console_state: ConsoleStateColumns;
}
