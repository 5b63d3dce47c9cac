/** One record of the audit log, as it crosses the bus and as storage keeps it. */

/** What was done (spec: audit record; the last four are ours). */
export const auditActions = [
  'create',
  'update',
  'delete',
  'rotate',
  'batch_update',
  'batch_commit',
  'import',
  'login.success',
  'login.failure',
  'logout',
  'change_password',
  'admin_change_password',
  'sessions.revoke_all',
  'tool.call',
  'acl.violation',
  'mcp.context.refreshed',
  'reveal',
  'rollback',
  'lookup',
  'cancel',
  'test',
] as const;
export type AuditAction = (typeof auditActions)[number];

/** What it was done to (spec: audit record; the last five are ours). */
export const auditEntityTypes = [
  'access_key',
  'upstream',
  'model',
  'model_pricing',
  'mcp_server',
  'console_user',
  'console_session',
  'load_balancer',
  'lb_static_binding',
  'lb_static_binding_pin',
  'sso_credential',
  'search_provider',
  'search_config',
  'batch',
  'mcp',
  'mcp_context',
  'key_group',
  'config',
  'dead_letter',
  'turn',
  'task',
  'alert_channel',
] as const;
export type AuditEntityType = (typeof auditEntityTypes)[number];

/** One record of the audit log, as it crosses the bus and is stored. */
export interface AuditRow {
  /** Minted, time-ordered. */
  id: string;
  /** Milliseconds since the epoch. */
  occurred_at: number;
  /** Console user name, `secret_key`, or `api_key:<mask>`. */
  actor: string;
  action: AuditAction;
  entity_type: AuditEntityType;
  entity_id: string;
  /** What changed, credentials masked. */
  diff: Readonly<Record<string, unknown>> | null;
  ip_address: string | null;
  /** The caller's `z-request-id`. */
  request_id: string | null;
}
