/** The tables as Kysely sees them. Booleans and JSON are in the dialect's own form here; repositories convert them. */
import type { BodyEntry, DeadLetter, RequestRow } from '@model-gateway/contracts';
import type { Generated, GeneratedAlways } from 'kysely';

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
  /** Empty: nobody's. Folded by `foldPerson`. */
  owner: string;
  /** Of the value that the last rotation left working for a while. */
  previous_hash: string | null;
}

/** An address that a key was used from; IPv6 by its /64. Times in ms since the epoch. */
export interface KeyAddressColumns {
  access_key: string;
  address: string;
  first_at: number;
  last_at: number;
  /** When somebody said that it is the owner's; null: nobody did. */
  accepted_at: number | null;
}

export interface PricingColumns extends ResourceColumns {
  /** A name or a pattern: refers to nothing. */
  model: string;
}

/** A tool of an MCP server. */
export interface McpToolColumns {
  server_id: string;
  name: string;
  /** Of what it is now, and of what was approved. */
  hash: string;
  approved_hash: string;
  /** Milliseconds since the epoch. */
  first_at: number;
  changed_at: number | null;
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

export interface SwitchTargetColumns {
  owner_kind: 'upstream' | 'model';
  /** Row id. */
  owner: string;
  target: string;
}

export interface RevisionColumns {
  id: number;
  revision: number;
}

export interface ConsoleUserColumns {
  id: string;
  username: string;
  role: 'admin' | 'monitor' | 'member';
  enabled: unknown;
  password_hash: string | null;
  issuer: string | null;
  subject: string | null;
  /** Null in users of this gateway alone, and of earlier versions. */
  email: string | null;
  /** JSON. */
  oidc_values: string | null;
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

/** `input` and `response` are sealed; null in a deleted turn, which stays for its parent link. */
export interface TurnColumns {
  owner: string;
  id: string;
  parent: string | null;
  conversation: string | null;
  model: string;
  status: string;
  authority: number;
  background: unknown;
  holder: string;
  request_id: string;
  stream: string | null;
  at_model: string | null;
  at_upstream: string | null;
  at_account: string | null;
  created_at: number;
  touched_at: number;
  expires_at: number;
  deleted: unknown;
  bytes: number;
  /** The response's part of `bytes`. */
  response_bytes: number;
  input: string | null;
  response: string | null;
}

/** `content` and `reply` are sealed; `due_at` is null for a task that has ended. */
export interface TaskColumns {
  owner: string;
  id: string;
  status: string;
  created_at: number;
  due_at: number | null;
  expires_at: number;
  content: string;
  reply: string | null;
  /** Null in tasks of earlier versions, as those below. */
  access_key: string | null;
  model: string | null;
  /** Id of the row of the request that began it. */
  request: string | null;
}

/** What a task holds of the budgets of its key and group; nothing after `until`. */
export interface TaskReservationColumns {
  task: string;
  currency: string;
  access_key: string;
  key_group: string;
  micros: number;
  created_at: number;
  until: number;
}

/** Which turn an item is in. */
export interface TurnItemColumns {
  owner: string;
  item: string;
  turn: string;
}

/** The content that one owner's turns hold together. */
export interface TurnBytesColumns {
  owner: string;
  bytes: number;
}

/** `metadata` is sealed. */
export interface ConversationColumns {
  owner: string;
  id: string;
  created_at: number;
  expires_at: number;
  metadata: string;
  next_position: number;
}

/** `content` is sealed. */
export interface ConversationItemColumns {
  owner: string;
  conversation: string;
  position: number;
  item: string;
  bytes: number;
  content: string;
}

export type BodyColumns = Omit<BodyEntry, 'stream'> & {
  stream: unknown;
  request: string;
  request_bytes: number;
  request_truncated: unknown;
  response: string;
  response_bytes: number;
  response_truncated: unknown;
};

/** Of what may have a budget: its JSON, which the database reads out of the document. */
interface BudgetColumn {
  budget: GeneratedAlways<string | null>;
}

export interface SpendColumns {
  owner_kind: string;
  owner: string;
  currency: string;
  /** First millisecond of the UTC day. */
  day: number;
  micros: number;
}

/** Sums of `spend_days`, kept by its triggers. */
export interface SpendMonthColumns extends Omit<SpendColumns, 'day'> {
  /** First millisecond of the UTC month. */
  month: number;
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

/** What is added up, in the order of the columns. `errors`: without callers who left. */
export const measureNames = [
  'requests',
  'errors',
  'estimated',
  'unpriced',
  'input',
  'output',
  'cache_read',
  'cache_write',
  'reasoning',
  'cost_micros',
  'duration_ms',
  'audio_input',
  'audio_output',
] as const;
export type Measures = Record<(typeof measureNames)[number], number>;

/** One combination of dimension values. */
export interface SeriesColumns {
  id: Generated<number>;
  key: string;
  /** `all`, the one dimension that counts, or `full`. */
  scope: string;
  access_key: string;
  key_group: string;
  model: string;
  upstream: string;
  client_protocol: string;
  upstream_protocol: string;
  error: string;
  currency: string;
}

interface RollupPlace {
  series: number;
  /** 0 minute, 1 hour, 2 day. */
  grain: number;
  start: number;
}
export interface SumColumns extends RollupPlace, Measures {
  /** Whole durations and times to first content, as counts by bucket (`stats/histogram.ts`). */
  duration_counts: string;
  content_counts: string;
}
export interface SessionColumns extends Measures {
  session_id: string;
  access_key: string;
  currency: string;
  first_at: number;
  last_at: number;
}

/** A row whose attempts touched this upstream, which is not the one that the row names. */
export interface TouchedColumns {
  upstream: string;
  started_at: number;
  id: string;
}

export interface HistoryColumns {
  revision: number;
  occurred_at: number;
  actor: string;
  action: string;
  entity_type: string;
  entity_id: string;
  ip_address: string | null;
  request_id: string | null;
  changes: number;
}

export interface HistoryRowColumns {
  revision: number;
  position: number;
  section: string;
  name: string;
  /** A `RowImage` as JSON. */
  row_before: string | null;
  row_after: string | null;
}

export interface SsoCredentialColumns {
  id: string;
  name: string;
  profile: string;
  account: string | null;
  description: string;
  /** JSON. */
  settings: string;
  /** Sealed. */
  tokens: string | null;
  token_id: string | null;
  state: string;
  last_error: string | null;
  expires_at: number | null;
  refresh_at: number | null;
  refreshing_until: number | null;
  forced_at: number | null;
  refreshed_at: number | null;
  version: number;
  created_at: number;
  updated_at: number;
}

export interface SsoLoginColumns {
  id: string;
  /** Sealed. */
  content: string;
  version: number;
  expires_at: number;
}

/** A message of an alert. */
export interface AlertMessageColumns {
  id: string;
  channel: string;
  event: string;
  subject: string;
  /** The same for messages of which one is sent within the quiet time. */
  quiet_key: string;
  created_at: number;
  /** null: there is nothing left to do. */
  due_at: number | null;
  attempts: number;
  /** Claims since the last outcome. */
  claims: number;
  state: string;
  sent_at: number | null;
  last_error: string | null;
  /** JSON. */
  content: string;
}

export interface AlertStateColumns {
  id: string;
  began_at: number;
}

export interface Database {
  alert_channels: ResourceColumns;
  alert_messages: AlertMessageColumns;
  alert_states: AlertStateColumns;
  sso_credentials: SsoCredentialColumns;
  sso_logins: SsoLoginColumns;
  upstreams: ResourceColumns;
  models: ModelColumns;
  key_groups: ResourceColumns & BudgetColumn;
  access_keys: AccessKeyColumns & BudgetColumn;
  key_addresses: KeyAddressColumns;
  model_pricing: PricingColumns;
  mcp_servers: ResourceColumns;
  mcp_tools: McpToolColumns;
  search_providers: ResourceColumns;
  search_config: ResourceColumns;
  model_names: ModelNameColumns;
  load_balancers: ResourceColumns;
  load_balancer_names: BalancerNameColumns;
  load_balancer_entries: BalancerEntryColumns;
  load_balancer_pins: BalancerPinColumns;
  switch_targets: SwitchTargetColumns;
  catalog_revision: RevisionColumns;
  request_stats: RequestColumns;
  request_bodies: BodyColumns;
  tasks: TaskColumns;
  task_reservations: TaskReservationColumns;
  turns: TurnColumns;
  turn_items: TurnItemColumns;
  turn_bytes: TurnBytesColumns;
  conversations: ConversationColumns;
  conversation_items: ConversationItemColumns;
  spend_days: SpendColumns;
  spend_months: SpendMonthColumns;
  audit_logs: AuditColumns;
  dead_letters: DeadLetter;
  catalog_history: HistoryColumns;
  catalog_history_rows: HistoryRowColumns;
  console_users: ConsoleUserColumns;
  console_sessions: ConsoleSessionColumns;
  console_sign_in_codes: SignInCodeColumns;
  console_state: ConsoleStateColumns;
  stat_series: SeriesColumns;
  stat_sums: SumColumns;
  stat_sessions: SessionColumns;
  touched_upstreams: TouchedColumns;
}
