/** MCP servers: whose tools the gateway offers at `/mcp`, and how each is reached. */
import { z } from 'zod';

/** Paths below `/mcp` that are no server's. */
export const reservedMcpNames = ['sse', 'messages'] as const;

/** Name of a server, which is the prefix of its tools' names. */
export const mcpServerName = z
  .string()
  .max(64)
  .regex(/^[a-z0-9][a-z0-9_-]*$/, 'must begin with a lower-case letter or a digit, and hold only those, _ and -')
  .refine((name) => !(reservedMcpNames as readonly string[]).includes(name), 'is a reserved path: choose another name');

/** Names of tools that every client takes: others are not offered. */
export const mcpToolName = /^[A-Za-z0-9_./-]{1,128}$/;

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
const headerValue = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\x20-\x7e\x80-\xff]*$/, 'must be the value of a header, without control characters');

/** Probes of one server. Without a path the probe is the protocol's own handshake. */
export const mcpHealthCheckSchema = z.strictObject({
  /** Fetched by GET, resolved against the endpoint's origin. */
  path: z
    .string()
    .max(2048)
    .regex(/^\/[^\s#\\]*$/, 'must begin with a slash')
    .nullable()
    .default(null),
  interval_secs: z.int().min(1).max(86_400).default(60),
  timeout_secs: z.int().min(1).max(300).default(5),
});

/** How much one server may be asked, by all callers together. */
export const mcpRateLimitSchema = z.strictObject({
  requests_per_second: z.number().positive().max(1_000_000).nullable().default(null),
  /** Estimated tokens of arguments and results. */
  tokens_per_minute: z.int().min(1).max(1_000_000_000).nullable().default(null),
});

export const restMethods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'] as const;

/** One operation of a REST service, offered as a tool. */
export const restOperationSchema = z.strictObject({
  operation_id: z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'must be 1 to 100 letters, digits, _, - or .'),
  description: z.string().max(20_000).default(''),
  method: z.preprocess((value) => (typeof value === 'string' ? value.toUpperCase() : value), z.enum(restMethods)),
  /** Below the endpoint; `{name}` is filled from the argument of this name. */
  path: z
    .string()
    .max(2048)
    .regex(/^\/[^\s?#\\]*$/, 'must begin with a slash, without query or fragment'),
  /** JSON Schema of an object. */
  parameters_schema: z.record(z.string(), z.json()).default({ type: 'object', properties: {} }),
});
export type RestOperation = z.output<typeof restOperationSchema>;

/** `extra_config` of a `rest_bridge`. */
export const restBridgeSchema = z.strictObject({
  title: z.string().max(200).optional(),
  version: z.string().max(100).optional(),
  operations: z.array(restOperationSchema).min(1).max(2000),
});
export type RestBridge = z.output<typeof restBridgeSchema>;

/** The body an admin sends to create or replace an MCP server. */
export const mcpServerSchema = z.strictObject({
  name: mcpServerName,
  description: z.string().max(2000).default(''),
  transport: z.enum(['streamable_http', 'sse']).default('streamable_http'),
  connection_type: z.enum(['stateful', 'stateless', 'rest_bridge']).default('stateless'),
  endpoint: z
    .string()
    .max(2048)
    .regex(/^https?:\/\/[^\s/?#@\\]+(?:\/[^\s?#\\]*)?(?:\?[^\s#\\]*)?$/i, 'must be an http(s) URL without credentials or fragment'),
  /** Sent to the server as `Authorization`. A masked or absent value leaves the stored one as it is. */
  auth_header: headerValue.nullable().default(null),
  /** Sent to the server with every request. Masked values leave the stored ones as they are. */
  extra_headers: z
    .record(z.string().regex(headerName, 'not a header name'), headerValue)
    .refine((headers) => Object.keys(headers).length <= 64, 'holds more than 64 headers')
    .default({}),
  /** What access lists may name instead of tools. */
  tags: z.array(z.string().min(1).max(100)).max(50).default([]),
  /** Smaller comes first; descriptions of servers with larger figures are left out first. */
  priority: z.int().min(0).max(999).default(100),
  /** Sessions that nobody used for so long are closed. */
  idle_timeout_secs: z.int().min(1).max(86_400).default(300),
  /** Tools are asked for when a caller first lists or calls them, not when the server is added. */
  defer_loading: z.boolean().default(false),
  health_check: mcpHealthCheckSchema.default({ path: null, interval_secs: 60, timeout_secs: 5 }),
  /** Calls of one access key at a time. */
  max_concurrency: z.int().min(1).max(100_000).nullable().default(null),
  rate_limit: mcpRateLimitSchema.nullable().default(null),
  /** Of a `rest_bridge`: `{title, version, operations}`. */
  extra_config: z.record(z.string(), z.json()).nullable().default(null),
  /** A tool whose description or schema changed is not offered until an admin approves the change. */
  hold_changed_tools: z.boolean().default(false),
  enabled: z.boolean().default(true),
});
export type McpServerInput = z.input<typeof mcpServerSchema>;
export type McpServer = z.output<typeof mcpServerSchema>;

/** An MCP server as snapshots carry it: what it is sent as credentials is sealed, and absent from copies without secrets. */
export type McpServerRecord = Omit<McpServer, 'auth_header' | 'extra_headers'> & {
  id: string;
  sealed_auth?: string;
  /** Name → sealed value. */
  sealed_headers?: Record<string, string>;
  /** Only in copies without secrets: changes when what was left out does. */
  withheld?: string;
};

/** Whether some tool can match: `*`, `{server}.*`, `*.{tool}` or `{server}.{tool}`. Names of servers have no dot, so the first one separates. */
export function isToolPattern(pattern: string): boolean {
  if (pattern === '*') return true;
  const dot = pattern.indexOf('.');
  if (dot < 0) return false;
  const [server, tool] = [pattern.slice(0, dot), pattern.slice(dot + 1)];
  return (server === '*' || mcpServerName.safeParse(server).success) && (tool === '*' || mcpToolName.test(tool));
}

/**
 * What the keys of a group may use of all MCP servers: denied before allowed, tools before tags. The console takes patterns alone (`isToolPattern`); rows
 * of earlier versions may hold others.
 */
export const mcpToolAclSchema = z.strictObject({
  allowed_tools: z.array(z.string().min(1).max(300)).max(10_000).default([]),
  denied_tools: z.array(z.string().min(1).max(300)).max(10_000).default([]),
  allowed_tags: z.array(z.string().min(1).max(100)).max(1000).default([]),
});
export type McpToolAcl = z.output<typeof mcpToolAclSchema>;

/** Between a server's name and a tool's: `__` is for callers whose models refuse dots. */
export const mcpSeparators = ['.', '__'] as const;
export type McpSeparator = (typeof mcpSeparators)[number];

/** Fields of key groups; absent in rows of earlier versions. */
export const mcpGroupFields = {
  mcp_tool_acl: mcpToolAclSchema.default({ allowed_tools: [], denied_tools: [], allowed_tags: [] }),
  mcp_separator: z.enum(mcpSeparators).default('.'),
  /** Descriptions are left out of lists beyond so many tokens. null: no limit of the group's own. */
  mcp_max_tool_tokens: z.int().min(1).max(100_000_000).nullable().default(null),
};
export type McpGroupField = keyof typeof mcpGroupFields;
