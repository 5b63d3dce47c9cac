import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from './config.ts';
import { ConfigError } from './config-error.ts';
import { describeVariables } from './describe.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'config-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function file(text: string): string {
  const path = join(directory, `${Math.random()}.toml`);
  writeFileSync(path, text);
  return path;
}
const load = (env: Record<string, string> = {}, argv: string[] = []) => loadConfig({ env: { CONFIG_FILE: file(''), ...env }, argv });
const key = Buffer.from(Array.from({ length: 32 }, (_, i) => (i * 37) & 255)).toString('base64');

function faultOf(env: Record<string, string>, argv: string[] = []): string {
  try {
    load(env, argv);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    const { message } = error as ConfigError;
    expect(message).not.toContain('\n');
    return message;
  }
  throw new Error('the configuration was accepted');
}

describe('loadConfig', () => {
  test('defaults', () => {
    const config = load();
    expect(config.edge).toMatchObject({
      port: 7890,
      host: '0.0.0.0',
      keepAliveMs: 15_000,
      maxGlobalConcurrency: 1000,
      maxConcurrentStreams: 200,
      maxBodyBytes: 67_108_864,
    });
    expect(config.translator.timeouts).toEqual({ connect_ms: 10_000, first_byte_ms: 300_000, idle_ms: 120_000, total_ms: 3_600_000 });
    expect(config.storage).toMatchObject({ mode: 'sqlite', databaseUrl: null });
    expect(config.process).toMatchObject({ probePort: 9464, natsUrls: null, masterKey: null, logLevel: 'info' });
    expect(config.warnings).toEqual([]);
    expect(Object.isFrozen(config) && Object.isFrozen(config.edge) && Object.isFrozen(config.translator.timeouts)).toBe(true);
  });

  test('environment, file and command line', () => {
    const toml = file(
      '[server]\nmax_global_concurrency = 7\nlame_duck_seconds = 0.5\n[streaming]\nmax_concurrent_streams = 3\n[upstream.timeouts]\nidle_ms = 200\n',
    );
    const env = {
      CONFIG_FILE: toml,
      PORT: '0',
      PROMETHEUS_PORT: 'off',
      STREAMING_KEEPALIVE_SECONDS: '0.2',
      TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      NATS_URL: 'nats://a:4222,nats://b:4222',
      GATEWAY_MASTER_KEY: `k1:${key}`,
      REDIS_URL: '',
    };
    const config = loadConfig({ env, argv: ['--log-level=debug', '--port', '8080'] });
    expect(config.edge).toMatchObject({
      port: 8080,
      keepAliveMs: 200,
      maxGlobalConcurrency: 7,
      maxConcurrentStreams: 3,
      lameDuckMs: 500,
      trustedProxies: ['10.0.0.0/8', '::1/128'],
    });
    expect(config.translator.timeouts.idle_ms).toBe(200);
    expect(config.process).toMatchObject({ probePort: null, logLevel: 'debug', natsUrls: ['nats://a:4222', 'nats://b:4222'], redisUrl: null });
  });

  test('a comma in a password or in a database’s name is not one between servers', () => {
    const url = 'postgres://a:se,cret@h/d,e';
    expect(load({ STORAGE_MODE: 'postgresql', DATABASE_URL: url }).storage.databaseUrl).toBe(url);
  });

  test.each([
    [{ PORT: '70000' }, 'PORT "70000" is out of range; accepted: a whole number from 0 to 65535'],
    [{ PORT: '1e3' }, 'PORT "1e3" is not a number of this kind; accepted: a whole number from 0 to 65535'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL "loud" is not one of these; accepted: trace, debug, info, warn, error, fatal, silent'],
    [{ STREAMING_KEEPALIVE_SECONDS: '0' }, 'STREAMING_KEEPALIVE_SECONDS "0" is out of range'],
    [{ STREAMING_KEEPALIVE_SECONDS: '-1' }, 'STREAMING_KEEPALIVE_SECONDS "-1" is not'],
    [{ STORAGE_MODE: 'mysql' }, 'STORAGE_MODE "mysql" is not one of these; accepted: sqlite, postgresql'],
    [{ STORAGE_MODE: 'postgresql' }, 'DATABASE_URL is not set, but STORAGE_MODE is postgresql'],
    [{ DATABASE_URL: 'postgres://a:se,cret@h:1,i:2/d?target_session_attrs=read-write' }, 'DATABASE_URL names several servers: give one address'],
    [{ DATABASE_URL: 'postgres://h,i/d' }, 'DATABASE_URL names several servers: give one address'],
    [{ REDIS_URL: 'redis://h:6379,i:6379' }, 'REDIS_URL names several servers: give one address'],
    [{ NATS_TLS_KEY_FILE: '/k.pem' }, 'NATS_TLS_CERT_FILE is not set, but its counterpart is'],
    [{ DATABASE_TLS_CERT_FILE: '/c.pem' }, 'DATABASE_TLS_KEY_FILE is not set, but its counterpart is'],
    [{ REQUIRE_TLS: 'true', NATS_URL: 'tls://a:4222,nats://b:4222' }, 'NATS_URL is without verified TLS, but REQUIRE_TLS is true'],
    [{ REQUIRE_TLS: 'true', REDIS_URL: 'redis://a' }, 'REDIS_URL is without verified TLS, but REQUIRE_TLS is true'],
    [
      { REQUIRE_TLS: 'true', STORAGE_MODE: 'postgresql', DATABASE_URL: 'postgres://a:secret@h/d?sslmode=require' },
      'DATABASE_URL is without verified TLS, but REQUIRE_TLS is true',
    ],
    [{ TRUSTED_PROXIES: '10.0.0.0/33' }, 'TRUSTED_PROXIES "10.0.0.0/33" holds a wrong prefix length'],
    [{ OUTBOUND_PRIVATE: 'yes' }, 'OUTBOUND_PRIVATE "yes" is not one of these; accepted: allow, deny'],
    [{ PROMETHEUS_PORT: 'none' }, 'PROMETHEUS_PORT "none"'],
    [{ CONSOLE_SECRET_KEY: '' }, 'CONSOLE_SECRET_KEY is empty'],
    [{ CONSOLE_SECRET_KEY: 'short' }, 'CONSOLE_SECRET_KEY is shorter than 16 characters'],
    [{ CONSOLE_SECRET_KEY: 'please-change-me-now' }, 'CONSOLE_SECRET_KEY is a sample value'],
    [{ CONSOLE_SECRET_KEY: 'aaaaaaaaaaaaaaaaaaaa' }, 'CONSOLE_SECRET_KEY is a sample value'],
    [{ CONSOLE_PASSWORD: 'seven77' }, 'CONSOLE_PASSWORD is shorter than 8 characters'],
    [{ CONSOLE_PASSWORD: 'please change me' }, 'CONSOLE_PASSWORD is a sample value'],
    [{ CONSOLE_MAX_FAILURES: '0' }, 'CONSOLE_MAX_FAILURES "0" is out of range'],
    [{ CONSOLE_OIDC_ISSUER: 'http://idp.example.com' }, 'CONSOLE_OIDC_ISSUER "http://idp.example.com" has another scheme'],
    [{ CONSOLE_OIDC_ISSUER: 'https://idp.example.com' }, 'CONSOLE_OIDC_CLIENT_ID is not set'],
    [
      { CONSOLE_OIDC_ISSUER: 'https://idp.example.com', CONSOLE_OIDC_CLIENT_ID: 'c', CONSOLE_OIDC_ADMIN_ROLES: 'a' },
      'CONSOLE_OIDC_REDIRECT_URL is not set, but CONSOLE_OIDC_ISSUER is',
    ],
    [
      {
        CONSOLE_OIDC_ISSUER: 'https://idp.example.com',
        CONSOLE_OIDC_CLIENT_ID: 'c',
        CONSOLE_OIDC_REDIRECT_URL: 'https://gw.example.com/console/api/oidc/callback',
      },
      'CONSOLE_OIDC_ALLOWED_DOMAINS is not set',
    ],
    [
      {
        CONSOLE_OIDC_ISSUER: 'https://idp.example.com',
        CONSOLE_OIDC_CLIENT_ID: 'c',
        CONSOLE_OIDC_ADMIN_ROLES: 'a',
        CONSOLE_OIDC_REDIRECT_URL: 'https://gw.example.com/',
      },
      'CONSOLE_OIDC_REDIRECT_URL "https://gw.example.com/" leads nowhere; accepted: an address that ends in /console/api/oidc/callback',
    ],
    [
      {
        CONSOLE_OIDC_ISSUER: 'https://idp.example.com',
        CONSOLE_OIDC_CLIENT_ID: 'c',
        CONSOLE_OIDC_ADMIN_ROLES: 'a',
        CONSOLE_OIDC_REDIRECT_URL: 'https://gw.example.com/console/api/oidc/callback',
        CONSOLE_OIDC_SCOPE: 'profile,openid',
      },
      'CONSOLE_OIDC_SCOPE "profile,openid" lacks openid',
    ],
    [{ GATEWAY_MASTER_KEY: 'c2hvcnQ=' }, 'GATEWAY_MASTER_KEY does not decode to 32 bytes'],
    [{ GATEWAY_MASTER_KEY: 'A'.repeat(43) }, 'GATEWAY_MASTER_KEY is not random'],
    [{ GATEWAY_MASTER_KEY: `${key},${key}` }, 'GATEWAY_MASTER_KEY has several keys without ids'],
    [{ NATS_URL: 'nats://a:100%sure@h:1' }, 'NATS_URL has a % in its password that begins no escape (write %25)'],
    [{ DATABASE_URL: 'postgres://a:%@h/d' }, 'DATABASE_URL has a % in its password that begins no escape (write %25)'],
    [{ REDIS_URL: 'http://x' }, 'REDIS_URL has another scheme; accepted: a URL that begins with redis:// or rediss://'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317' }, 'OTEL_EXPORTER_OTLP_ENDPOINT has another scheme; accepted: a URL that begins with http:// or https://'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.example/?token=x' }, 'OTEL_EXPORTER_OTLP_ENDPOINT has a query or a fragment'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL "grpc" is not one of these; accepted: http/protobuf, http/json'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization' }, 'OTEL_EXPORTER_OTLP_HEADERS holds a part that is not name=value'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a b=c' }, 'OTEL_EXPORTER_OTLP_HEADERS holds a part that is not name=value'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'x-a=b%0d%0ax-c:d' }, 'OTEL_EXPORTER_OTLP_HEADERS holds a value with other characters, or none'],
    [{ OTEL_RESOURCE_ATTRIBUTES: 'share=100%' }, 'OTEL_RESOURCE_ATTRIBUTES "share=100%" has a % that begins no escape'],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER "jaeger_remote" is not one of these'],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG "1.5" is out of range; accepted: a number from 0 to 1'],
    [{ OTEL_TRACES_SAMPLER_ARG: '-0' }, 'OTEL_TRACES_SAMPLER_ARG "-0" is not a number of this kind'],
    [{ CONFIG_FILE: '/does/not/exist.toml' }, 'CONFIG_FILE "/does/not/exist.toml" cannot be read (ENOENT)'],
  ])('%j stops the start', (env, line) => {
    expect(faultOf(env as unknown as Record<string, string>)).toContain(line);
  });

  test.each([
    ['[server]\nfetch_client_urls = 1', 'server.fetch_client_urls 1 is neither; accepted: true or false'],
    ['[server]\nmax_global_concurency = 5', '"server.max_global_concurency" in '],
    ['[server]\nmax_global_concurrency = "many"', 'server.max_global_concurrency "many" is not a number of this kind'],
    ['[server]\nmax_global_concurrency = 1.5', 'server.max_global_concurrency 1.5 is not such a number'],
    ['[__proto__]\nx = 1', '"__proto__.x" in '],
    [
      '[upstream.timeouts]\nconect_ms = 5',
      'accepted: upstream.timeouts.connect_ms, upstream.timeouts.first_byte_ms, upstream.timeouts.idle_ms, upstream.timeouts.total_ms',
    ],
    ['[server.max_body_bytes]', 'server.max_body_bytes {} is not a number of this kind'],
    ['[servers]', '"servers" in '],
    ['PORT = 80', 'accepted: PORT in the environment; here [server] '],
    ['[server', 'is not valid TOML at line 1'],
  ])('the file %j stops the start', (toml, line) => {
    expect(faultOf({ CONFIG_FILE: file(toml) })).toContain(line);
  });

  test('a section may be empty', () => {
    expect(load({ CONFIG_FILE: file('[server]\n[upstream.timeouts]\n') }).edge.port).toBe(7890);
  });

  test('no error contains a secret', () => {
    for (const name of [
      'CONSOLE_SECRET_KEY',
      'GATEWAY_MASTER_KEY',
      'DATABASE_URL',
      'NATS_URL',
      'REDIS_URL',
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'OTEL_EXPORTER_OTLP_HEADERS',
    ]) {
      expect(faultOf({ [name]: 'hunter2 hunter2 hunter2' })).not.toContain('hunter2');
    }
    expect(faultOf({}, ['--console-secret-key', 'hunter2hunter2hunter2'])).not.toContain('hunter2');
    expect(faultOf({}, ['--nope', 'x'])).toContain('"--nope" is not an option; accepted: --config-file ');
    expect(() => loadConfig({ env: {}, argv: ['--nope'], flags: ['--demo'] })).toThrow('"--nope" is not an option; accepted: --demo --config-file ');
  });

  test('what goes to a collector, by the names that OpenTelemetry gave it', () => {
    expect(load().telemetry).toMatchObject({ endpoint: null, sampler: 'parentbased_traceidratio', samplerArg: 0.01, headers: [] });
    const { telemetry } = load({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp/',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-tenant=a=b',
      OTEL_RESOURCE_ATTRIBUTES: '__proto__=x,deployment.environment.name=test%2C1',
      OTEL_TRACES_SAMPLER_ARG: '.25',
    });
    expect(telemetry.headers).toEqual([
      ['authorization', 'Bearer abc'],
      ['x-tenant', 'a=b'],
    ]);
    expect(telemetry.resource).toEqual([
      ['__proto__', 'x'],
      ['deployment.environment.name', 'test,1'],
    ]);
    expect(telemetry).toMatchObject({ endpoint: 'https://collector.example/otlp/', samplerArg: 0.25 });
  });

  test('what is set and not used is said', () => {
    expect(load({ REDIS_URL: 'redis://r:6379', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://o:4318', DATABASE_URL: 'postgres://u:p@h/d' }).warnings).toEqual([
      'DATABASE_URL is set, but STORAGE_MODE is sqlite: it is not used',
      'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, but the gateway does not read it: it has no effect',
    ]);
  });

  test('docs/configuration.md is up to date', () => {
    expect(readFileSync(join(import.meta.dirname, '../../../docs/configuration.md'), 'utf8')).toBe(describeVariables());
  });
});
