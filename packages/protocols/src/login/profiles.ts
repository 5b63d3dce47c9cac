/** Every kind of login. Which of them are open is configuration. */
import type { SsoProfileId } from '@model-gateway/contracts';
import type { LoginProfile, LoginSetting } from './profile.ts';

const address = (fallback: string, description: string): LoginSetting => ({ fallback, description, address: true });
const region: LoginSetting = { fallback: 'us-east-1', description: 'Region of the account.' };
const tokenFile: LoginSetting = {
  description: 'File of the identity token that the platform projects into the container. It is read again for each exchange.',
};

const cloudhostIde: LoginProfile = {
  id: 'cloudhost_ide',
  name: 'Kiro / CodeWhisperer (AWS Builder ID or IAM Identity Center)',
  note: 'The service is made for the vendor’s own editor and may change without notice. Check that your subscription allows it.',
  experimental: true,
  flows: ['device', 'paste'],
  grant: 'aws-oidc',
  protocols: ['cloudhost_ide_streaming'],
  settings: {
    region,
    start_url: address('https://view.awsapps.com/start', 'Start page of the organisation; the default is a personal Builder ID.'),
    oidc_url: address('https://oidc.{region}.amazonaws.com', 'Where tokens of an identity center are issued.'),
    refresh_url: address('https://prod.{region}.auth.desktop.kiro.dev/refreshToken', 'Where tokens of a social sign-in are renewed.'),
    base_url: address('https://codewhisperer.{region}.amazonaws.com', 'Address of the upstream.'),
    scopes: {
      fallback: 'codewhisperer:completions codewhisperer:analysis codewhisperer:conversations',
      description: 'What is asked for at the login.',
    },
  },
  headers: {},
};

const cloudhostRole: LoginProfile = {
  id: 'cloudhost_role',
  name: 'AWS role (web identity, container or instance)',
  note: 'Temporary keys of a role. Calls are signed.',
  experimental: false,
  flows: ['machine'],
  grant: 'aws-role',
  protocols: ['cloudhost_converse', 'cloudhost_invoke'],
  settings: {
    region,
    source: { fallback: 'web_identity', description: 'Where the identity comes from: web_identity, container or instance.' },
    role_arn: { optional: true, description: 'The role to assume; required for web_identity.' },
    token_file: { ...tokenFile, fallback: '/var/run/secrets/eks.amazonaws.com/serviceaccount/token' },
    session_name: { fallback: 'model-gateway', description: 'Name of the session in the account’s own logs.' },
    sts_url: address('https://sts.{region}.amazonaws.com', 'Where the role is assumed.'),
    base_url: address('https://bedrock-runtime.{region}.amazonaws.com', 'Address of the upstream.'),
  },
  headers: {},
};

const betaFlags = 'oauth-2025-04-20';

const betaWorkload: LoginProfile = {
  id: 'beta_workload',
  name: 'Anthropic workload identity federation',
  note: 'The organisation must have a federation rule for the identity’s issuer.',
  experimental: false,
  flows: ['machine'],
  grant: 'jwt-bearer-json',
  protocols: ['beta'],
  settings: {
    base_url: address('https://api.anthropic.com', 'Address of the upstream.'),
    token_url: address('https://api.anthropic.com/v1/oauth/token', 'Where the identity token is exchanged.'),
    token_file: tokenFile,
    federation_rule_id: { description: 'Id of the federation rule.' },
    organization_id: { description: 'Id of the organisation.' },
    service_account_id: { optional: true, description: 'Id of the service account.' },
    workspace_id: { optional: true, description: 'Id of the workspace.' },
  },
  headers: { 'anthropic-beta': `${betaFlags},oidc-federation-2026-04-01` },
  bearer: true,
};

const betaUser: LoginProfile = {
  id: 'beta_user',
  name: 'Anthropic account',
  note: 'The vendor’s documentation forbids tokens of consumer plans in other products (19 February 2026) and blocks them at its servers: open this only with the vendor’s consent.',
  experimental: false,
  flows: ['code', 'paste'],
  grant: 'oauth-json',
  protocols: ['beta'],
  settings: {
    client_id: { description: 'Id of the client that the vendor registered for you.' },
    authorize_url: address('https://claude.ai/oauth/authorize', 'The vendor’s page.'),
    token_url: address('https://api.anthropic.com/v1/oauth/token', 'Where tokens are issued.'),
    redirect_url: address('http://127.0.0.1/callback', 'Where the page sends the browser back.'),
    scopes: { fallback: 'user:inference user:profile', description: 'What is asked for at the login.' },
    base_url: address('https://api.anthropic.com', 'Address of the upstream.'),
  },
  headers: { 'anthropic-beta': betaFlags },
  bearer: true,
};

const alphaWorkload: LoginProfile = {
  id: 'alpha_workload',
  name: 'OpenAI workload identity federation',
  note: 'A token exchange (RFC 8693) for an identity that the organisation trusts.',
  experimental: false,
  flows: ['machine'],
  grant: 'token-exchange',
  protocols: ['alpha_response', 'alpha'],
  settings: {
    source: { fallback: 'token_file', description: 'What the identity is: token_file, or client_certificate (X.509).' },
    token_url: address('https://auth.openai.com/oauth/token', 'Where the identity token is exchanged.'),
    token_file: { ...tokenFile, optional: true },
    client_cert: { optional: true, description: 'Certificate of the workload as PEM, with its chain after it; for client_certificate.' },
    client_key: { optional: true, secret: true, description: 'Private key of the certificate as PEM, not encrypted.' },
    ca: { optional: true, description: 'Certificates that are trusted instead of the system’s, as PEM; for client_certificate.' },
    mtls_token_url: address('https://mtls.auth.openai.com/oauth/token', 'Where the certificate is exchanged.'),
    mtls_base_url: address('https://mtls.api.openai.com/v1', 'Address of the upstream that takes tokens of a certificate.'),
    subject_token_type: { fallback: 'urn:ietf:params:oauth:token-type:jwt', description: 'Kind of the identity token.' },
    identity_provider_id: { description: 'Id of the identity provider that the organisation trusts.' },
    service_account_id: { description: 'Id of the service account.' },
    client_id: { optional: true, description: 'Id of the client, where the organisation has one.' },
    audience: { optional: true, description: 'Whom the token is meant for.' },
    base_url: address('https://api.openai.com/v1', 'Address of the upstream.'),
  },
  headers: {},
  bearer: true,
};

const alphaUser: LoginProfile = {
  id: 'alpha_user',
  name: 'OpenAI account',
  note: 'The login of the vendor’s coding agent. Check that your plan allows its use by other products.',
  experimental: false,
  flows: ['device', 'code', 'paste'],
  grant: 'oauth',
  protocols: ['alpha_response'],
  settings: {
    client_id: { description: 'Id of the client that the vendor registered for you.' },
    client_secret: { optional: true, secret: true, description: 'Its secret, where it has one.' },
    issuer: address('https://auth.openai.com', 'Who issues the tokens.'),
    authorize_url: address('{issuer}/oauth/authorize', 'The vendor’s page.'),
    token_url: address('{issuer}/oauth/token', 'Where tokens are issued.'),
    device_url: address('{issuer}/oauth/device/code', 'Where codes for devices are issued.'),
    redirect_url: address('http://127.0.0.1/callback', 'Where the page sends the browser back.'),
    scopes: { fallback: 'openid profile email offline_access', description: 'What is asked for at the login.' },
    base_url: address('https://api.openai.com/v1', 'Address of the upstream.'),
  },
  headers: {},
};

const gammaCloud: LoginProfile = {
  id: 'gamma_cloud',
  name: 'Google Cloud (service account, workload identity, default credentials)',
  note: 'Access tokens for Vertex AI.',
  experimental: false,
  flows: ['machine'],
  grant: 'google',
  protocols: ['gamma', 'beta', 'alpha'],
  settings: {
    key_json: {
      optional: true,
      secret: true,
      description: 'Key of a service account or configuration of a workload identity, as JSON. Absent: default credentials.',
    },
    scopes: { fallback: 'https://www.googleapis.com/auth/cloud-platform', description: 'What the token is for.' },
    quota_project: { optional: true, description: 'Project that is billed.' },
    base_url: {
      description:
        'Address of the upstream, with project and location: https://LOCATION-aiplatform.googleapis.com/v1/projects/PROJECT/locations/LOCATION/publishers/google, …/publishers/anthropic for Claude, or …/endpoints/openapi for the OpenAI-compatible one.',
      address: true,
    },
  },
  headers: {},
  bearer: true,
};

const entra: LoginProfile = {
  id: 'entra',
  name: 'Microsoft Entra (application, workload identity, managed identity)',
  note: 'Access tokens for Azure OpenAI and Foundry.',
  experimental: false,
  flows: ['machine'],
  grant: 'entra',
  protocols: ['alpha', 'alpha_response', 'beta'],
  settings: {
    source: { fallback: 'client_secret', description: 'Where the identity comes from: client_secret, federated_token or managed_identity.' },
    tenant_id: { optional: true, description: 'Id of the tenant; not needed for a managed identity.' },
    client_id: { optional: true, description: 'Id of the application, or of a managed identity that was assigned by hand.' },
    client_secret: { optional: true, secret: true, description: 'Secret of the application.' },
    token_file: { ...tokenFile, fallback: '/var/run/secrets/azure/tokens/azure-identity-token' },
    token_url: address('https://login.microsoftonline.com/{tenant_id}/oauth2/v2.0/token', 'Where tokens are issued.'),
    scopes: { fallback: 'https://cognitiveservices.azure.com/.default', description: 'What the token is for.' },
    base_url: { description: 'Address of the upstream.', address: true },
  },
  headers: {},
  bearer: true,
};

const editorCopilot: LoginProfile = {
  id: 'editor_copilot',
  name: 'GitHub Copilot',
  note: 'Short tokens for a subscription’s editor. Check that your plan allows its use by other products.',
  experimental: false,
  flows: ['device', 'paste'],
  grant: 'github-exchange',
  protocols: ['alpha', 'alpha_response'],
  settings: {
    client_id: { description: 'Id of the client that the vendor registered for you.' },
    token_url: address('https://github.com/login/oauth/access_token', 'Where the login’s token is issued.'),
    device_url: address('https://github.com/login/device/code', 'Where codes for devices are issued.'),
    exchange_url: address('https://api.github.com/copilot_internal/v2/token', 'Where short tokens are issued.'),
    scopes: { fallback: 'read:user', description: 'What is asked for at the login.' },
    base_url: address('https://api.githubcopilot.com', 'Address of the upstream.'),
  },
  headers: { 'copilot-integration-id': 'vscode-chat' },
};

export const loginProfiles: Readonly<Record<SsoProfileId, LoginProfile>> = {
  cloudhost_ide: cloudhostIde,
  cloudhost_role: cloudhostRole,
  beta_workload: betaWorkload,
  beta_user: betaUser,
  alpha_workload: alphaWorkload,
  alpha_user: alphaUser,
  gamma_cloud: gammaCloud,
  entra,
  editor_copilot: editorCopilot,
};
