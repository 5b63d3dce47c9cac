/** What each sealed secret is bound to (the associated data of its seal), so that a ciphertext moved to another row or field does not open. */
export const sealedAs = {
  upstreamKey: (upstreamId: string, keyId: string): string => `upstreams/${upstreamId}/api_keys/${keyId}`,
  upstreamProxy: (upstreamId: string): string => `upstreams/${upstreamId}/proxy`,
  upstreamClientKey: (upstreamId: string): string => `upstreams/${upstreamId}/tls/client_key`,
  /** `name` in lower case. */
  upstreamHeader: (upstreamId: string, name: string): string => `upstreams/${upstreamId}/custom_headers/${name}`,
  /** `requestId`: of the row, or of the request that an orphan ran for. */
  attemptMessage: (requestId: string): string => `request_stats/${requestId}/attempts`,
  accessKey: (accessKeyId: string): string => `access_keys/${accessKeyId}/key`,
} as const;
