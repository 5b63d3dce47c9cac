/** Revisions of the protocol. Modern ones know no sessions: each request says all there is to know. */
export const modernVersions: readonly string[] = ['2026-07-28'];
/** The newest first. */
export const sessionVersions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
export const newestSessionVersion = '2025-11-25';
export const modernVersion = '2026-07-28';

export const isModern = (version: string | undefined): boolean => version !== undefined && (modernVersions.includes(version) || version > newestSessionVersion);
/** Batches exist in this revision alone. */
export const batchVersion = '2025-03-26';

/** How a peer speaks: with sessions, or in modern terms. */
export type Era = 'modern' | 'session';

const prefix = 'io.modelcontextprotocol/';
/** Keys of a modern request's `_meta`. */
export const metaKeys = {
  version: `${prefix}protocolVersion`,
  client: `${prefix}clientInfo`,
  capabilities: `${prefix}clientCapabilities`,
  logLevel: `${prefix}logLevel`,
  server: `${prefix}serverInfo`,
  subscription: `${prefix}subscriptionId`,
} as const;

/** Codes of JSON-RPC errors. */
export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** What the gateway or a server cannot do now. */
  server: -32000,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;
