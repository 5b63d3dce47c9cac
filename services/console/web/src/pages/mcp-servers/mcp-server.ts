/** An MCP server as the API gives it, and as the form holds it. */
import { parseOrNull, printOrEmpty } from '../../components/json-text.ts';

export const transports = ['streamable_http', 'sse'] as const;
export const connectionTypes = ['stateless', 'stateful', 'rest_bridge'] as const;

/** An MCP server, as the API returns it. */
export interface McpServer {
  name: string;
  description: string;
  transport: (typeof transports)[number];
  connection_type: (typeof connectionTypes)[number];
  endpoint: string;
  auth_header: string | null;
  extra_headers: Record<string, string>;
  tags: string[];
  priority: number;
  idle_timeout_secs: number;
  defer_loading: boolean;
  health_check: { path: string | null; interval_secs: number; timeout_secs: number };
  max_concurrency: number | null;
  rate_limit: { requests_per_second: number | null; tokens_per_minute: number | null } | null;
  extra_config: Record<string, unknown> | null;
  hold_changed_tools: boolean;
  enabled: boolean;
}

/** An MCP server, as the form holds it. */
export interface McpServerForm extends Record<string, unknown> {
  name: string;
  description: string;
  transport: McpServer['transport'];
  connection_type: McpServer['connection_type'];
  endpoint: string;
  auth_header: string;
  extra_headers: { name: string; value: string }[];
  tags: string[];
  priority: number | '';
  idle_timeout_secs: number | '';
  defer_loading: boolean;
  /** JSON text. */
  extra_config: string;
  hold_changed_tools: boolean;
  enabled: boolean;
}

export const emptyServer: McpServerForm = {
  name: '',
  description: '',
  transport: 'streamable_http',
  connection_type: 'stateless',
  endpoint: '',
  auth_header: '',
  extra_headers: [],
  tags: [],
  priority: 100,
  idle_timeout_secs: 300,
  defer_loading: false,
  extra_config: '',
  hold_changed_tools: false,
  enabled: true,
};

export const toForm = (server: McpServer): McpServerForm => ({
  name: server.name,
  description: server.description,
  transport: server.transport,
  connection_type: server.connection_type,
  endpoint: server.endpoint,
  auth_header: server.auth_header ?? '',
  extra_headers: Object.entries(server.extra_headers).map(([name, value]) => ({ name, value })),
  tags: server.tags,
  priority: server.priority,
  idle_timeout_secs: server.idle_timeout_secs,
  defer_loading: server.defer_loading,
  extra_config: printOrEmpty(server.extra_config),
  hold_changed_tools: server.hold_changed_tools,
  enabled: server.enabled,
});

/** Health check, concurrency and rate limit are not the form's: they stay as they are. */
export const toBody = (form: McpServerForm) => ({
  ...form,
  name: form.name.trim(),
  endpoint: form.endpoint.trim(),
  auth_header: form.auth_header.trim() || null,
  extra_headers: Object.fromEntries(form.extra_headers.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value])),
  priority: form.priority === '' ? null : form.priority,
  idle_timeout_secs: form.idle_timeout_secs === '' ? null : form.idle_timeout_secs,
  extra_config: parseOrNull(form.extra_config),
});

export type McpState = 'unknown' | 'healthy' | 'unhealthy';

/** How a server is, as all live aggregators say. */
export interface McpStatus {
  name: string;
  state: McpState;
  reason: string | null;
  sessions: number;
  /** Its tools could not be had when they were last asked for. */
  stale: boolean;
  faults: string[];
  /** How many; null: never loaded. */
  tools: number | null;
}

export interface McpTool {
  name: string;
  description: string;
  tokens: number;
  changed: boolean;
  held: boolean;
  changed_at: string | null;
}

export type McpTools = Omit<McpStatus, 'tools'> & { tools: McpTool[] | null };
