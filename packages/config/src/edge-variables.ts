/** The settings of the edge: its port, limits, time-outs and what it keeps. */
import { cidrs, hostAddress, seconds, wholeNumber, words } from './parsers.ts';
import { variable } from './variable.ts';

const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

export const edgeVariables = {
  port: variable(wholeNumber(0, 65535), { env: 'PORT', fallback: 7890, description: 'Public port of the gateway; 0 asks for any free one.' }),
  host: variable(hostAddress, {
    env: 'HOST',
    fallback: '0.0.0.0',
    description: 'Address to listen on, for the public port and for the probes; `::` is every one of IPv6 and, where the machine has it, of IPv4.',
  }),
  trustedProxies: variable(cidrs, {
    env: 'TRUSTED_PROXIES',
    fallback: [] as readonly string[],
    shown: '',
    description: 'Proxies whose `X-Forwarded-For` is believed.',
  }),
  keepAliveMs: variable(seconds(0.05, 3600), {
    env: 'STREAMING_KEEPALIVE_SECONDS',
    fallback: 15_000,
    shown: '15',
    description: 'Seconds of silence after which a stream gets a keep-alive.',
  }),
  maxGlobalConcurrency: variable(wholeNumber(1, 1_000_000), {
    toml: 'server.max_global_concurrency',
    fallback: 1000,
    description: 'Requests under way at once, in all edges that share Redis; more are answered 503.',
  }),
  maxConcurrentStreams: variable(wholeNumber(1, 1_000_000), {
    toml: 'streaming.max_concurrent_streams',
    fallback: 200,
    description: 'Streams under way at once, in all edges that share Redis; more are answered 503.',
  }),
  resumeMs: variable(seconds(1, 3600), {
    toml: 'streaming.resume_seconds',
    fallback: 60_000,
    shown: '60',
    description:
      "Seconds for which the events of a stream that was asked for with `x-gateway-resume: 1` are kept after its caller's connection ended; the upstream is given up then.",
  }),
  resumeBytes: variable(wholeNumber(256 * 1024, GiB), {
    toml: 'streaming.resume_bytes',
    fallback: 8 * MiB,
    description: 'Bytes of events kept of one such stream; of a longer one the oldest are dropped.',
  }),
  resumeTotalBytes: variable(wholeNumber(MiB, 64 * GiB), {
    toml: 'streaming.resume_total_bytes',
    fallback: 256 * MiB,
    description:
      'Bytes kept of all such streams together, by process; above it the streams that were left by their callers are dropped, the longest left first.',
  }),
  mcpAllowedOrigins: variable(words, {
    toml: 'mcp.allowed_origins',
    fallback: [] as readonly string[],
    shown: '',
    description:
      'Origins of web pages that may call `/mcp`, as `https://host`; others than the gateway’s own are refused, and requests without an origin are not.',
  }),
  realtimeMaxSessions: variable(wholeNumber(0, 100_000), {
    toml: 'realtime.max_sessions',
    fallback: 1000,
    description: 'Realtime sessions open at once, by process; more are answered 503. Each also counts as a request under way.',
  }),
  realtimeIdleMs: variable(seconds(1, 86_400), {
    toml: 'realtime.idle_seconds',
    fallback: 900_000,
    shown: '900',
    description: 'Seconds without a frame in either direction after which a realtime session is closed.',
  }),
  realtimeLifetimeMs: variable(seconds(1, 86_400), {
    toml: 'realtime.lifetime_seconds',
    fallback: 7_200_000,
    shown: '7200',
    description: 'Seconds after which a realtime session is closed, however busy it is.',
  }),
  rateLimitRpm: variable(wholeNumber(0, 10_000_000), {
    env: 'RATE_LIMIT_RPM',
    fallback: null,
    description: 'Requests that one access key may make in a window; 0 or not set: no limit, unless the window is given (then 120).',
  }),
  rateLimitWindowSecs: variable(wholeNumber(1, 86_400), {
    env: 'RATE_LIMIT_WINDOW_SECS',
    fallback: null,
    description: 'Seconds of that window; 60 when only the number is given.',
  }),
  ipRateLimitRpm: variable(wholeNumber(0, 10_000_000), {
    env: 'IP_RATE_LIMIT_RPM',
    fallback: null,
    description: 'Requests a minute from one address, or one /64 of IPv6; 0 or not set: no limit.',
  }),
  maxBodyBytes: variable(wholeNumber(1024, 2 * GiB), {
    toml: 'server.max_body_bytes',
    fallback: 64 * MiB,
    description: 'Largest request body; above it 413.',
  }),
  bodyBudgetBytes: variable(wholeNumber(1024, 64 * GiB), {
    toml: 'server.body_budget_bytes',
    fallback: 512 * MiB,
    description:
      'Bytes of request bodies held at once; above it 503 before the body is read. Of the translators too: bytes of bodies that arrive over NATS at once, where that is more than 512 MiB.',
  }),
  storedBodyBudgetBytes: variable(wholeNumber(0, 4 * GiB), {
    toml: 'server.stored_body_budget_bytes',
    fallback: 32 * MiB,
    description: 'Bytes of bodies held at once for key groups with `store_bodies`; above it bodies are not stored (`gateway_bodies_dropped_total`).',
  }),
  maxRequestMs: variable(seconds(0.1, 86_400), {
    toml: 'server.max_request_seconds',
    fallback: 3_600_000,
    shown: '3600',
    description: 'Longest life of one request, in seconds.',
  }),
  maxHeaderBytes: variable(wholeNumber(4096, 1024 * 1024), {
    toml: 'server.max_header_bytes',
    fallback: 64 * 1024,
    description: 'Largest request head; above it 431.',
  }),
  headersTimeoutMs: variable(seconds(0.1, 600), {
    toml: 'server.headers_timeout_seconds',
    fallback: 10_000,
    shown: '10',
    description: 'Seconds a connection may take to send a request head.',
  }),
  maxConnections: variable(wholeNumber(0, 1_000_000), {
    toml: 'server.max_connections',
    fallback: 0,
    description:
      'Connections of callers open at once, by process; more are closed at once. 0 = half the file descriptors that the process may have, at most 16384.',
  }),
  maxConnectionsPerAddress: variable(wholeNumber(0, 1_000_000), {
    toml: 'server.max_connections_per_address',
    fallback: 0,
    description: 'Of these, connections of one address (IPv6: of one /64) that is not in `TRUSTED_PROXIES`. 0 = half of them.',
  }),
  minBodyBytesPerSecond: variable(wholeNumber(0, 1_000_000_000), {
    toml: 'server.min_body_bytes_per_second',
    fallback: 1024,
    description: 'A request whose body arrives more slowly than this for ten seconds is answered 408; 0 = any pace.',
  }),
  lameDuckMs: variable(seconds(0, 300), {
    toml: 'server.lame_duck_seconds',
    fallback: 2000,
    shown: '2',
    description: 'Seconds between "not ready" and the end of listening when the process leaves.',
  }),
  drainMs: variable(seconds(0, 3600), {
    toml: 'server.drain_seconds',
    fallback: 30_000,
    shown: '30',
    description: 'Seconds that requests under way get to end when the process leaves.',
  }),
} as const;
