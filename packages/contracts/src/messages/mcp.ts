/**
 * Calls of callers at `/mcp`, and the secrets that the MCP aggregator reads beside the configuration. The edge lets callers in; what they say is read by the
 * aggregator. Bodies travel as the bytes of the stream.
 */

/** Who calls: an access key that was let in. */
export interface McpCaller {
  accessKey: string;
  /** Id of the access key, else its hash: sessions belong to it. */
  owner: string;
  keyGroup: string;
  /** First and last characters of the key, for the audit log. */
  mask: string;
  clientIp: string | null;
  userAgent: string | null;
  clientRequestId: string | null;
}

/** One HTTP exchange at `/mcp`, or the answer of a caller to a server that asked something (`answer`). */
export interface McpExchange {
  /** Of the request. */
  id: string;
  caller: McpCaller;
  method: string;
  /** Path without query, as it was sent. */
  path: string;
  /** Without the question mark. */
  query: string;
  /** Those that the protocol reads; names in lower case. */
  headers: Record<string, string>;
}

const msOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

/**
 * Id and time of the row of the tool call that an exchange makes. Both the aggregator and, where it was lost, the edge may leave a row, which statistics
 * then take for the same one. The time is the one that the request's id (UUIDv7) carries.
 */
export const rowKeyOfExchange = ({ id }: Pick<McpExchange, 'id'>): { id: string; started_at: number } => ({ id: `mcp_${id}`, started_at: msOf(id) });

/** Headers of a request that the aggregator reads. */
export const mcpRequestHeaders = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name', 'last-event-id'] as const;

/** Headers `mcp-param-*` repeat arguments of a call. */
export const isMcpHeader = (name: string): boolean => (mcpRequestHeaders as readonly string[]).includes(name) || name.startsWith('mcp-param-');

/** Id of a caller's session: the name of the process that has its connections, what there is to know of it, a signature. Edges send the session's requests to that process. */
export const mcpSessionForm = /^([A-Za-z0-9-]{1,64})\.([A-Za-z0-9_-]{1,8000})\.([A-Za-z0-9_-]{24})$/;

/** What the `requestState` of a call that waits for its caller begins with; the name of the process where it waits, and a random part, follow. */
export const mcpStatePrefix = 'mgw.';
const mcpState = 'mgw\\.([0-9a-f]{18})\\.[A-Za-z0-9_-]{24}';
export const mcpStateForm = new RegExp(`^${mcpState}$`);
/** The same in the body with which the caller comes back. */
export const mcpStateInBody = new RegExp(`"requestState"\\s*:\\s*"${mcpState}"`);

export interface McpReplyHead {
  status: number;
  headers: Record<string, string>;
}

/** Secrets of MCP servers, for the aggregator alone: the key under which they are sealed, and the sealed fields. */
export interface McpSecrets {
  /** Of each master key: 32 bytes in base64. */
  keys: { id: string; key: string }[];
  servers: {
    id: string;
    /** With its query. */
    endpoint: string;
    auth?: string;
    /** Name → sealed value. */
    headers?: Record<string, string>;
  }[];
}

/** A tool as a server describes it now; the hash is of description and schemas. */
export interface McpSeenTool {
  name: string;
  hash: string;
}

/** What one aggregator knows of one server. */
export interface McpServerStatus {
  name: string;
  state: 'unknown' | 'healthy' | 'unhealthy';
  /** Why it is not well. */
  reason: string | null;
  /** Connections that are open. */
  sessions: number;
  /** Its tools could not be had when they were last asked for. */
  stale: boolean;
  /** null: never loaded. */
  tools: McpToolStatus[] | null;
  /** Why some of its tools are not offered. */
  faults: string[];
}

export interface McpToolStatus {
  name: string;
  description: string;
  /** What a model pays for being offered it, estimated. */
  tokens: number;
  /** It is not as it was approved. */
  changed: boolean;
  /** For that reason it is not offered. */
  held: boolean;
}

/** A call of a tool by an admin, to try it. */
export interface McpToolTest {
  server: string;
  tool: string;
  /** JSON text of an object. */
  arguments: string;
}

/** JSON text of the result or of the error. */
export interface McpToolTested {
  ok: boolean;
  answer: string;
  durationMs: number;
}
