/** The one table of settings: its shape is the shape of the configuration, a slice per service. */

import { edgeVariables } from './edge-variables.ts';
import {
  attributePairs,
  baseUrl,
  consolePassword,
  consoleSecret,
  flag,
  fraction,
  headerPairs,
  headerText,
  masterKey,
  oneOf,
  portOrOff,
  seconds,
  secureUrl,
  text,
  urlOf,
  urlsOf,
  wholeNumber,
  words,
} from './parsers.ts';
import { ssoVariables } from './sso-variables.ts';
import { tlsVariables } from './tls-variables.ts';
import { variable } from './variable.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export const variables = {
  process: {
    configFile: variable(text(1024), { env: 'CONFIG_FILE', fallback: 'gateway.toml', description: 'The TOML file; it may be missing unless this is set.' }),
    dataDir: variable(text(1024), { env: 'DATA_DIR', fallback: './data', description: 'Directory of the SQLite file and of the key file that `up` makes.' }),
    logLevel: variable(oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'), {
      env: 'LOG_LEVEL',
      fallback: 'info',
      description: 'The least important log line that is written.',
    }),
    probePort: variable(portOrOff, {
      env: 'PROMETHEUS_PORT',
      fallback: 9464,
      description: 'Internal port of `/metrics`, `/healthz` and `/readyz` of each process.',
    }),
    masterKey: variable(masterKey, {
      env: 'GATEWAY_MASTER_KEY',
      fallback: null,
      secret: true,
      description:
        'Seals secrets at rest; the first key seals and all open. Without it `up` makes a key file, and `serve translator`, `serve data-plane`, `serve stats` and `serve console` refuse to start; the other services do without.',
    }),
    natsUrls: variable(urlsOf('nats', 'tls', 'ws', 'wss'), {
      env: 'NATS_URL',
      fallback: null,
      secret: true,
      description: 'NATS servers between services; not set, the bus is inside the process.',
    }),
    natsTls: tlsVariables('NATS', 'NATS'),
    natsPermissions: variable(oneOf('warn', 'require'), {
      env: 'NATS_PERMISSIONS',
      fallback: 'warn',
      description:
        'What a server means that lets a service do more than it needs (no user of its own, or no user at all): a line in the log, or a bus that is never connected.',
    }),
    natsReplicas: variable(oneOf('1', '3', '5'), {
      env: 'NATS_REPLICAS',
      fallback: '1',
      description:
        'Servers of a NATS cluster that keep each durable message (rows of requests, audit records) until the statistics have it. More than 1 needs as many servers; a store that has fewer copies is given more.',
    }),
    requireTls: variable(flag, {
      env: 'REQUIRE_TLS',
      fallback: false,
      description:
        'Whether a start is refused that would reach NATS, PostgreSQL or Redis without verified TLS (`tls://`, `sslmode=verify-full`, `rediss://`, or files of its own).',
    }),
    memoryLimitBytes: variable(wholeNumber(0, 16 * 1024 * GiB), {
      toml: 'server.memory_limit_bytes',
      fallback: 0,
      description:
        'Memory that one process may take. Above 85 % of it connections are not kept, above 92 % new streams are answered 503, above 95 % new requests. 0 = what the container or the machine has.',
    }),
    overloadLagMs: variable(wholeNumber(0, 60_000), {
      toml: 'server.overload_lag_ms',
      fallback: 100,
      description: "Lag of a process's event loop, for most of a second, above which connections are not kept; 0 = any.",
    }),
    redisUrl: variable(urlOf('redis', 'rediss'), {
      env: 'REDIS_URL',
      fallback: null,
      secret: true,
      description: 'Redis, where processes share limits; not set, each process counts for itself. Lost, each goes on with its share.',
    }),
    redisTls: tlsVariables('REDIS', 'Redis'),
    redisTimeoutMs: variable(wholeNumber(10, 60_000), {
      toml: 'server.redis_timeout_ms',
      fallback: 100,
      description: 'Milliseconds that Redis may take for an answer before it counts as lost.',
    }),
  },
  telemetry: {
    endpoint: variable(baseUrl, {
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      fallback: null,
      secret: true,
      description:
        'OpenTelemetry collector (OTLP over HTTP) that traces and metrics are sent to, at `/v1/traces` and `/v1/metrics` below it; not set, none are.',
    }),
    disabled: variable(flag, { env: 'OTEL_SDK_DISABLED', fallback: false, description: 'Whether nothing is sent all the same.' }),
    protocol: variable(oneOf('http/protobuf', 'http/json'), {
      env: 'OTEL_EXPORTER_OTLP_PROTOCOL',
      fallback: 'http/protobuf' as const,
      description: 'How they are written.',
    }),
    headers: variable(headerPairs, {
      env: 'OTEL_EXPORTER_OTLP_HEADERS',
      fallback: [] as readonly (readonly [string, string])[],
      shown: '',
      secret: true,
      description: 'Sent along to the collector; a credential for it, above all.',
    }),
    compression: variable(oneOf('none', 'gzip'), { env: 'OTEL_EXPORTER_OTLP_COMPRESSION', fallback: 'none' as const, description: 'Of what is sent there.' }),
    timeoutMs: variable(wholeNumber(100, 600_000), {
      env: 'OTEL_EXPORTER_OTLP_TIMEOUT',
      fallback: 10_000,
      description: 'Milliseconds that the collector may take for a batch, with what is tried again.',
    }),
    traces: variable(oneOf('otlp', 'none'), { env: 'OTEL_TRACES_EXPORTER', fallback: 'otlp' as const, description: 'Whether traces are sent.' }),
    metrics: variable(oneOf('otlp', 'none'), { env: 'OTEL_METRICS_EXPORTER', fallback: 'otlp' as const, description: 'Whether metrics are sent.' }),
    metricIntervalMs: variable(wholeNumber(100, 3_600_000), {
      env: 'OTEL_METRIC_EXPORT_INTERVAL',
      fallback: 60_000,
      description: 'Milliseconds between two readings of the metrics that are sent.',
    }),
    sampler: variable(oneOf('always_on', 'always_off', 'traceidratio', 'parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'), {
      env: 'OTEL_TRACES_SAMPLER',
      fallback: 'parentbased_traceidratio' as const,
      description:
        "Which requests are traced. `parentbased_…`: those that a caller's `traceparent` marks as sampled, none that it marks as not, and of the others as the rest of the word says.",
    }),
    samplerArg: variable(fraction, { env: 'OTEL_TRACES_SAMPLER_ARG', fallback: 0.01, description: 'The share of requests that `traceidratio` traces.' }),
    batchEveryMs: variable(wholeNumber(10, 600_000), {
      env: 'OTEL_BSP_SCHEDULE_DELAY',
      fallback: 2000,
      description: 'Milliseconds for which spans are gathered before they are sent; 512 of them go at once.',
    }),
    serviceName: variable(text(256), {
      env: 'OTEL_SERVICE_NAME',
      fallback: null,
      description: '`service.name` of what is sent; not set, `model-gateway` for `up` and `model-gateway-edge` and the like for `serve`.',
    }),
    resource: variable(attributePairs, {
      env: 'OTEL_RESOURCE_ATTRIBUTES',
      fallback: [] as readonly (readonly [string, string])[],
      shown: '',
      description: 'More of what describes the process (`deployment.environment.name=production`).',
    }),
  },
  storage: {
    mode: variable(oneOf('sqlite', 'postgresql'), { env: 'STORAGE_MODE', fallback: 'sqlite', description: 'Where configuration and statistics are kept.' }),
    databaseUrl: variable(urlOf('postgres', 'postgresql'), {
      env: 'DATABASE_URL',
      fallback: null,
      secret: true,
      description: 'PostgreSQL, needed when `STORAGE_MODE=postgresql`. One server: with standbys, the address that leads to the primary.',
    }),
    databaseTls: tlsVariables('DATABASE', 'PostgreSQL'),
  },
  stats: {
    rowDays: variable(wholeNumber(0, 36_500), {
      env: 'STATS_ROW_DAYS',
      fallback: 30,
      description: 'Days for which rows of requests and sessions are kept; 0 = forever. Statistics outlive them.',
    }),
    hourDays: variable(wholeNumber(0, 36_500), {
      toml: 'stats.hourly_days',
      fallback: 90,
      description: 'Days for which sums of each hour are kept; 0 = forever.',
    }),
    dayDays: variable(wholeNumber(0, 36_500), {
      toml: 'stats.daily_days',
      fallback: 1095,
      description: 'Days for which sums of each day are kept; 0 = forever.',
    }),
    auditDays: variable(wholeNumber(0, 36_500), {
      env: 'AUDIT_RETENTION_DAYS',
      fallback: 365,
      description: 'Days for which records of the audit log are kept; 0 = forever.',
    }),
  },
  turns: {
    enabled: variable(flag, {
      toml: 'turns.enabled',
      fallback: true,
      description: 'Whether the gateway keeps the turns of Responses and conversations itself. `false`: upstreams that keep them are asked.',
    }),
    retentionDays: variable(wholeNumber(1, 36_500), {
      toml: 'turns.retention_days',
      fallback: 30,
      description: 'Days for which stored turns and conversations are kept.',
    }),
    maxBytesPerKey: variable(wholeNumber(0, Number.MAX_SAFE_INTEGER), {
      toml: 'turns.max_bytes_per_key',
      fallback: 1024 * 1024 * 1024,
      description: 'Bytes that the stored turns of one access key may hold; beyond them requests are answered and not stored.',
    }),
  },
  sso: ssoVariables,
  edge: edgeVariables,
  router: {
    keyBindingTtlMs: variable(seconds(0, 31_536_000), {
      env: 'KEY_BINDING_TTL_SECS',
      fallback: 1_800_000,
      shown: '1800',
      description: 'Seconds without a request after which an access key is no longer bound to one key of an upstream; 0 = never.',
    }),
  },
  translator: {
    retryBudgetPercent: variable(wholeNumber(0, 1000), {
      toml: 'routing.retry_budget_percent',
      fallback: 20,
      description: 'Requests of load balancers that may go on to another node, in percent of the requests of the last ten seconds.',
    }),
    retryBudgetFloor: variable(wholeNumber(0, 1_000_000), {
      toml: 'routing.retry_budget_floor',
      fallback: 10,
      description: 'As above: so many a second are always allowed, by process.',
    }),
    maxHops: variable(wholeNumber(1, 16), {
      toml: 'routing.max_hops',
      fallback: 5,
      description: 'How often `switch-route` rules and scripts may send one request on to another model; once more is answered 502 `route_loop`.',
    }),
    outboundPrivate: variable(oneOf('allow', 'deny'), {
      env: 'OUTBOUND_PRIVATE',
      fallback: 'allow',
      description: 'Whether upstreams may be at loopback and private addresses; link-local and cloud-metadata addresses never may.',
    }),
    fetchClientUrls: variable(flag, {
      toml: 'server.fetch_client_urls',
      fallback: false,
      description: 'Whether files that callers name by address are fetched for upstreams that take only bytes; private addresses never are.',
    }),
    userAgent: variable(headerText(512), {
      env: 'USER_AGENT',
      fallback: 'model-gateway',
      description: 'The `User-Agent` of calls to upstreams that set none.',
    }),
    drainMs: variable(seconds(0.1, 3600), {
      toml: 'upstream.drain_seconds',
      fallback: 30_000,
      shown: '30',
      description: 'Seconds for which a reply is read on after its caller left, of upstreams with `on_client_abort: drain`.',
    }),
    maxDrains: variable(wholeNumber(0, 100_000), {
      toml: 'upstream.max_drains',
      fallback: 100,
      description: 'How many replies are read on so at once, by process; calls beyond that are cancelled.',
    }),
    maxConnectionsPerOrigin: variable(wholeNumber(1, 1_000_000), {
      toml: 'upstream.max_connections',
      fallback: null,
      description:
        'Connections to one upstream origin at once, by process; one access key may hold 80 %. More are 503 `upstream_connections`. Not set: 1.25 × `server.max_global_concurrency`.',
    }),
    http2: variable(flag, {
      toml: 'upstream.http2',
      fallback: true,
      description: 'Whether HTTP/2 is spoken with upstreams that offer it over TLS. `extra_config.http2` of an upstream (`on`, `off`) wins.',
    }),
    timeouts: {
      connect_ms: variable(wholeNumber(1, 600_000), {
        toml: 'upstream.timeouts.connect_ms',
        fallback: 10_000,
        description: 'Milliseconds to reach an upstream.',
      }),
      first_byte_ms: variable(wholeNumber(1, 3_600_000), {
        toml: 'upstream.timeouts.first_byte_ms',
        fallback: 300_000,
        description: "Milliseconds until an upstream's reply begins.",
      }),
      idle_ms: variable(wholeNumber(1, 3_600_000), {
        toml: 'upstream.timeouts.idle_ms',
        fallback: 120_000,
        description: 'Milliseconds of silence inside a reply.',
      }),
      total_ms: variable(wholeNumber(1, 86_400_000), {
        toml: 'upstream.timeouts.total_ms',
        fallback: 3_600_000,
        description: 'Milliseconds for a whole call.',
      }),
    },
  },
  mcp: {
    maxToolTokens: variable(wholeNumber(0, 100_000_000), {
      toml: 'mcp.max_tool_tokens',
      fallback: 0,
      description:
        'Tokens that the list of tools at `/mcp` may take; descriptions of servers with the largest priority figures are left out first. 0 = any. The smallest of this, the key group’s and the request’s limit holds.',
    }),
  },
  scriptRunner: {
    poolSize: variable(wholeNumber(1, 64), {
      toml: 'server.script_pool_size',
      fallback: 4,
      description: 'Scripts that run at once; each has a process of its own, and one more stands warm.',
    }),
    maxOperations: variable(wholeNumber(1, 100_000_000), {
      env: 'SCRIPT_MAX_OPERATIONS',
      fallback: 2000,
      description: 'Operations of one run of a script: turns of loops, calls, entries of functions.',
    }),
    memoryLimitMb: variable(wholeNumber(8, 4096), {
      env: 'SCRIPT_MEMORY_LIMIT_MB',
      fallback: 64,
      description: 'Heap of one slot, in MB; its process is killed at three times that.',
    }),
    lazyBody: variable(flag, {
      env: 'SCRIPT_LAZY_BODY',
      fallback: true,
      description: 'Whether a script reads of the body what it looks at (a view); false: all of it, as plain objects.',
    }),
    timeoutMs: variable(wholeNumber(10, 60_000), {
      toml: 'server.script_timeout_ms',
      fallback: 1000,
      description: 'Milliseconds of a processor that one run may take; by the clock it may take twice that.',
    }),
    waitMs: variable(wholeNumber(1, 600_000), {
      toml: 'server.script_wait_ms',
      fallback: 5000,
      description: 'Milliseconds that a run may wait for a free slot.',
    }),
  },
  console: {
    secretKey: variable(consoleSecret, {
      env: 'CONSOLE_SECRET_KEY',
      fallback: null,
      secret: true,
      refuseEmpty: true,
      description: 'Bearer token of the console API that never expires.',
    }),
    password: variable(consolePassword, {
      env: 'CONSOLE_PASSWORD',
      fallback: null,
      secret: true,
      description:
        'Password of the console user `admin`: made at the first start, and set again at a start that finds another value here than the last one applied.',
    }),
    maxFailures: variable(wholeNumber(1, 1000), {
      env: 'CONSOLE_MAX_FAILURES',
      fallback: 5,
      description: 'Failed sign-ins after which an address is banned; a success forgives those of its own name.',
    }),
    banMs: variable(seconds(1, 31_536_000), { env: 'CONSOLE_BAN_DURATION', fallback: 300_000, shown: '300', description: 'Seconds that such a ban lasts.' }),
    sessionMaxMs: variable(seconds(60, 31_536_000), {
      env: 'CONSOLE_SESSION_MAX_SECONDS',
      fallback: 604_800_000,
      shown: '604800',
      description: 'Longest life of a console session, however busy it is; unused it ends after 24 hours.',
    }),
    historyRevisions: variable(wholeNumber(1, 1_000_000), {
      toml: 'console.history_revisions',
      fallback: 1_000,
      description: 'Commits of the configuration that are remembered and can be gone back to.',
    }),
    oidc: {
      issuer: variable(secureUrl, {
        env: 'CONSOLE_OIDC_ISSUER',
        fallback: null,
        description: 'OpenID provider whose users may sign in to the console; not set, none.',
      }),
      clientId: variable(text(256), { env: 'CONSOLE_OIDC_CLIENT_ID', fallback: null, description: "The console's client id there." }),
      clientSecret: variable(text(1024), {
        env: 'CONSOLE_OIDC_CLIENT_SECRET',
        fallback: null,
        secret: true,
        description: 'Its secret; not set for a public client.',
      }),
      redirectUrl: variable(secureUrl, {
        env: 'CONSOLE_OIDC_REDIRECT_URL',
        fallback: null,
        description: 'The address registered there, ending in `/console/api/oidc/callback`. Required with an issuer.',
      }),
      label: variable(text(64), { env: 'CONSOLE_OIDC_LABEL', fallback: 'Single sign-on', description: "The provider's name on the sign-in page." }),
      scope: variable(text(256), {
        env: 'CONSOLE_OIDC_SCOPE',
        fallback: 'openid profile email',
        description: 'Scopes that are asked for: `openid`, and what brings the role claim (at some providers `groups`).',
      }),
      roleClaim: variable(text(128), {
        env: 'CONSOLE_OIDC_ROLE_CLAIM',
        fallback: 'groups',
        description: 'Claim that holds groups or roles, dots between nested names.',
      }),
      adminRoles: variable(words, {
        env: 'CONSOLE_OIDC_ADMIN_ROLES',
        fallback: [] as readonly string[],
        shown: '',
        description: 'Its values that make an admin.',
      }),
      monitorRoles: variable(words, {
        env: 'CONSOLE_OIDC_MONITOR_ROLES',
        fallback: [] as readonly string[],
        shown: '',
        description: 'Its values that make a monitor; `*`: everybody who can sign in at the provider.',
      }),
      memberRoles: variable(words, {
        env: 'CONSOLE_OIDC_MEMBER_ROLES',
        fallback: [] as readonly string[],
        shown: '',
        description: 'Its values that make a member, who sees only their own keys; `*`: everybody who can sign in at the provider.',
      }),
      allowedDomains: variable(words, {
        env: 'CONSOLE_OIDC_ALLOWED_DOMAINS',
        fallback: [] as readonly string[],
        shown: '',
        description: 'Only verified e-mail addresses of these domains may sign in; without role settings they become monitors.',
      }),
    },
  },
};

/** Well-known names that this gateway does not read: setting one logs a warning, so that nobody believes it works. */
export const notRead: readonly string[] = [
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_EXPORTER_OTLP_METRICS_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL',
  'OTEL_EXPORTER_OTLP_METRICS_PROTOCOL',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
];
