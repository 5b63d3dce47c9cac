/**
 * What is to be said of each field of the configuration beside what its schema says: a text in the languages of the console (`data/field-texts`), an example,
 * its unit, and which shape is inside. The API's document, `docs/gateway-file.md` and the help in the console's forms all come from here.
 */
import texts from '../../data/field-texts/en.json' with { type: 'json' };

/** Names of the shapes: `upstream`, `upstream_key`, … */
export type FieldShape = keyof typeof texts;

/** English text of a field; undefined where there is none. */
export const textOf = (shape: FieldShape, field: string): string | undefined => (texts[shape] as Readonly<Record<string, string>>)[field];
export const fieldShapes = Object.keys(texts) as FieldShape[];
export const fieldsOf = (shape: FieldShape): string[] => Object.keys(texts[shape]);

type Nested = Readonly<Partial<Record<FieldShape, Readonly<Record<string, FieldShape>>>>>;

/** Shape of a field's value, or of the entries of its list. */
const nested: Nested = {
  gateway_file: {
    upstreams: 'upstream',
    models: 'model',
    pricing: 'price',
    load_balancers: 'load_balancer',
    mcp_servers: 'mcp_server',
    search_providers: 'search_provider',
    search_config: 'search_config',
    alert_channels: 'alert_channel',
    key_groups: 'key_group',
    access_keys: 'access_key',
    load_balancer_pins: 'balancer_pin',
    sso_credentials: 'sso_credential',
  },
  upstream: { api_keys: 'upstream_key', timeouts: 'timeouts', dns: 'dns', tls: 'tls', rate_limit: 'rate_limit', request_body_rules: 'body_rule' },
  model: { rate_limit: 'rate_limit', request_body_rules: 'body_rule' },
  price: { tiers: 'price_tier', service_tiers: 'price_service_tier' },
  load_balancer: { entries: 'balancer_entry' },
  mcp_server: { health_check: 'mcp_health_check', rate_limit: 'mcp_rate_limit' },
  key_group: {
    header_acl: 'header_rule',
    rate_limit: 'key_rate_limit',
    budget: 'budget',
    mcp_tool_acl: 'mcp_tool_acl',
    store_bodies: 'store_bodies',
    member_keys: 'member_keys',
  },
  member_keys: { max_budget: 'budget' },
  alert_channel: { smtp: 'smtp' },
  access_key: { rate_limit: 'key_rate_limit', budget: 'budget' },
  body_rule: { condition: 'body_rule_condition', when: 'body_rule_when' },
  body_rule_condition: { where: 'body_rule_match' },
};
export const shapeInside = (shape: FieldShape, field: string): FieldShape | undefined => nested[shape]?.[field];

const perMillion = 'currency for a million tokens';
const prices = ['input', 'output', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'reasoning', 'audio_input', 'audio_output', 'image_input', 'image_output'];
const units: Readonly<Record<string, string>> = {
  rpm: 'requests a minute',
  tpm: 'tokens a minute',
  initial_tokens: 'percent',
  tokens_per_minute: 'tokens a minute',
  requests_per_second: 'requests a second',
  above_tokens: 'tokens',
  mcp_max_tool_tokens: 'tokens',
  price_per_search: 'currency for one search',
  limit: 'currency',
  max_concurrency: 'calls at a time',
  unit: 'currency for a million of them',
  ...Object.fromEntries(prices.map((name) => [name, perMillion])),
};
const endings: readonly [RegExp, string][] = [
  [/_ms$/, 'milliseconds'],
  [/_secs$/, 'seconds'],
  [/_hours$/, 'hours'],
  [/_minutes$/, 'minutes'],
  [/_days$/, 'days'],
  [/_bytes$/, 'bytes'],
  [/_chars$/, 'characters'],
];

/** In what a field of this name counts; undefined where nothing is counted. The same name always means the same unit. */
export const unitOf = (field: string): string | undefined => units[field] ?? endings.find(([ending]) => ending.test(field))?.[1];

const script = 'function transform(body, context) { return body; }';
const pem = '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----';
const examples: Readonly<Partial<Record<FieldShape, Readonly<Record<string, unknown>>>>> = {
  gateway_file: { version: 2 },
  upstream: {
    name: 'openai',
    base_url: 'https://api.openai.com',
    api_keys: [{ key: '${OPENAI_API_KEY}' }],
    sso_credential: 'team-login',
    custom_headers: { 'x-team': 'research' },
    user_agent: 'our-gateway/1',
    timeouts: { connect_ms: 5000 },
    proxy: 'http://proxy.example.com:3128',
    dns: { servers: ['tls://9.9.9.9'] },
    tls: { min_version: '1.3' },
    rate_limit: { rpm: 600, max_concurrency: 20 },
    extra_config: { auth: 'none' },
    request_body_rules: [{ mode: 'remove', path: 'user' }],
    request_transform_before: script,
    request_transform_after: script,
    response_transform: script,
  },
  upstream_key: { id: 'key_1', key: '${OPENAI_API_KEY}', weight: 2, account: 'org-1', label: 'production', fingerprint: '8f3a01bc', state: null },
  timeouts: { connect_ms: 5000, first_byte_ms: 60_000, idle_ms: 120_000, total_ms: 600_000 },
  dns: { servers: ['tls://9.9.9.9'], ttl_secs: 60 },
  tls: { ca: pem, client_cert: pem, client_key: '${CLIENT_KEY_PEM}', server_name: 'api.example.com' },
  rate_limit: { rpm: 600, max_concurrency: 20, tpm: 1_000_000, tps_min_interval_ms: 50, wait_timeout_secs: 5, initial_tokens: 50 },
  key_rate_limit: { rpm: 60, window_secs: 10 },
  budget: { limit: '200.00', currency: 'USD', credit: { from: 1_790_812_800_000, topped_up_micros: 50_000_000, forgiven_micros: 0 } },
  model: {
    name: 'fast',
    upstream: 'openai',
    upstream_model_id: 'gpt-4o-mini',
    aliases: ['default'],
    base_url: 'https://eu.api.example.com',
    kind: 'image',
    inference_profile: 'eu.example-profile',
    rate_limit: { rpm: 60 },
    extra_config: { voices: { alloy: 'Cherry' } },
    request_body_rules: [{ mode: 'add-if-absent', path: 'temperature', value: 0.2 }],
    request_transform_before: script,
    request_transform_after: script,
    response_transform: script,
  },
  price: {
    name: 'fast-2027',
    model: 'fast',
    currency: 'USD',
    input: '3.00',
    output: '15.00',
    cache_read: '0.30',
    cache_write_5m: '3.75',
    cache_write_1h: '6.00',
    reasoning: '15.00',
    audio_input: '40.00',
    audio_output: '80.00',
    image_input: '10.00',
    image_output: '40.00',
    unit: '40000.00',
    tiers: [{ above_tokens: 200_000, input: '6.00', output: '22.50' }],
    service_tiers: [{ service_tier: 'flex', input: '1.50', output: '7.50' }],
    valid_from: '2027-01-01T00:00:00Z',
    description: 'by contract',
  },
  price_tier: {
    above_tokens: 200_000,
    input: '6.00',
    output: '22.50',
    cache_read: '0.60',
    cache_write_5m: '7.50',
    cache_write_1h: '12.00',
    reasoning: '22.50',
    audio_input: '80.00',
    audio_output: '160.00',
    image_input: '20.00',
    image_output: '80.00',
  },
  price_service_tier: {
    service_tier: 'flex',
    above_tokens: 200_000,
    input: '1.50',
    output: '7.50',
    cache_read: '0.15',
    cache_write_5m: '1.88',
    cache_write_1h: '3.00',
    reasoning: '7.50',
    audio_input: '20.00',
    audio_output: '40.00',
    image_input: '5.00',
    image_output: '20.00',
  },
  load_balancer: { name: 'best', aliases: ['default'], entries: [{ model: 'fast', weight: 3 }, { model: 'smart' }] },
  balancer_entry: { model: 'fast', weight: 3 },
  balancer_pin: { load_balancer: 'best', access_key: 'ada', entry: 'fast' },
  mcp_server: {
    name: 'tickets',
    description: 'Tickets of the support team',
    endpoint: 'https://mcp.example.com/mcp',
    auth_header: '${TICKETS_AUTHORIZATION}',
    extra_headers: { 'x-tenant': 'acme' },
    tags: ['support'],
    priority: 10,
    idle_timeout_secs: 600,
    health_check: { path: '/healthz' },
    max_concurrency: 4,
    rate_limit: { requests_per_second: 10 },
    extra_config: { title: 'Tickets', operations: [{ operation_id: 'list', method: 'GET', path: '/tickets' }] },
  },
  mcp_health_check: { path: '/healthz', interval_secs: 30, timeout_secs: 3 },
  mcp_rate_limit: { requests_per_second: 10, tokens_per_minute: 100_000 },
  mcp_tool_acl: { allowed_tools: ['tickets.*'], denied_tools: ['tickets.delete'], allowed_tags: ['support'] },
  search_provider: {
    name: 'web',
    base_url: 'https://search.example.com/search',
    price_per_search: '0.005',
    currency: 'USD',
    description: 'by contract',
    api_key: '${SEARCH_KEY}',
  },
  search_config: {
    name: 'default',
    default_provider: 'web',
    max_uses: 3,
    max_rounds: 4,
    max_results: 5,
    timeout_ms: 10_000,
    fetch_max_bytes: 1_048_576,
    fetch_max_chars: 50_000,
    fetch_max_redirects: 2,
  },
  key_group: {
    name: 'research',
    models: ['fast', 'claude-*'],
    header_acl: [{ header: 'x-team', match: 'equals', value: 'research', action: 'allow' }],
    rate_limit: { rpm: 60 },
    budget: { limit: '200.00', period: 'month' },
    mcp_tool_acl: { allowed_tools: ['tickets.*'] },
    mcp_max_tool_tokens: 20_000,
    store_bodies: { enabled: true, ttl_hours: 24 },
    members: ['ada@example.com'],
    member_keys: { max: 2, max_days: 90 },
    description: 'The research team',
  },
  member_keys: { max: 2, max_budget: { limit: '20', period: 'month' }, max_days: 90 },
  alert_channel: {
    name: 'on-call',
    from: 'gateway@example.com',
    to: ['ada@example.com'],
    events: ['budget', 'upstream_failing'],
    quiet_minutes: 30,
    description: 'Whoever is on call',
    url: 'https://hooks.example.com/on-call',
    secret: '${ALERT_SECRET}',
    smtp: { host: 'smtp.example.com' },
  },
  smtp: { host: 'smtp.example.com', port: 465, username: 'gateway', password: '${SMTP_PASSWORD}' },
  header_rule: { header: 'x-team', value: 'research' },
  store_bodies: { max_bytes: 65_536, ttl_hours: 72 },
  access_key: {
    name: 'ada',
    key: '${ADA_ACCESS_KEY_VALUE}',
    group: 'research',
    expires_at: '2027-12-31T23:59:59Z',
    owner: 'ada@example.com',
    description: "Ada's laptop",
    tags: ['project-x'],
    rate_limit: { rpm: 20 },
    budget: { limit: '50', period: 'month' },
  },
  body_rule: {
    path: 'temperature',
    value: 0.2,
    condition: { scope: 'tools', where: [{ path: 'type', equal: 'web_search' }] },
    when: [{ path: 'model', equal: 'fast' }],
    use_model: 'smart',
  },
  body_rule_condition: { scope: 'tools', where: [{ path: 'type', equal: 'web_search' }] },
  body_rule_match: { path: 'type', equal: 'web_search' },
  body_rule_when: { path: 'stream', equal: true },
  sso_credential: {
    name: 'team-login',
    profile: 'beta_user',
    description: "The team's subscription",
    settings: {},
    account: 'ada@example.com',
    tokens: '${SSO_CREDENTIAL_TEAM_LOGIN}',
  },
};

/** A value that somebody may really write; undefined where the choices or the shape inside say enough. */
export const exampleOf = (shape: FieldShape, field: string): unknown => examples[shape]?.[field];

/** What is taken for a field that its schema requires where a file leaves it out. */
export const fallbackOf = (shape: FieldShape, field: string): string | undefined => (shape === 'price' && field === 'name' ? 'the model' : undefined);
