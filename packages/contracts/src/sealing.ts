/** The associated data of each sealed secret, so that a ciphertext copied to another row or field cannot be opened. */
export const sealedAs = {
  upstreamKey: (upstreamId: string, keyId: string): string => `upstreams/${upstreamId}/api_keys/${keyId}`,
  upstreamProxy: (upstreamId: string): string => `upstreams/${upstreamId}/proxy`,
  upstreamClientKey: (upstreamId: string): string => `upstreams/${upstreamId}/tls/client_key`,
  /** `name` in lower case. */
  upstreamHeader: (upstreamId: string, name: string): string => `upstreams/${upstreamId}/custom_headers/${name}`,
  /** `requestId`: of the row, or of the request that an orphan ran for. */
  attemptMessage: (requestId: string): string => `request_stats/${requestId}/attempts`,
  /** Content of a stored turn or of a conversation; `owner`: the id of the access key. */
  turn: (owner: string, id: string): string => `turns/${owner}/${id}`,
  /** What is known of an upstream's task, and what the upstream said last of it; `owner`: the id of the access key. */
  task: (owner: string, id: string): string => `tasks/${owner}/${id}`,
  mcpAuth: (serverId: string): string => `mcp_servers/${serverId}/auth_header`,
  /** `name` in lower case. */
  mcpHeader: (serverId: string, name: string): string => `mcp_servers/${serverId}/extra_headers/${name}`,
  /** `field`: url, secret or password. */
  alertChannel: (channelId: string, field: string): string => `alert_channels/${channelId}/${field}`,
  searchProviderKey: (providerId: string): string => `search_providers/${providerId}/api_key`,
  /** What a login gave: the tokens of a credential, the one that renews them among them. */
  ssoCredential: (credentialId: string): string => `sso_credentials/${credentialId}/tokens`,
  /** An access token on its way over the bus; `name`: of the credential. */
  ssoAccess: (name: string): string => `sso_access/${name}`,
  /** A login that is under way. */
  ssoLogin: (loginId: string): string => `sso_logins/${loginId}`,
  /** What a search or a fetch found, in the token that its caller keeps. */
  foundPage: 'found_page',
  accessKey: (accessKeyId: string): string => `access_keys/${accessKeyId}/key`,
} as const;
