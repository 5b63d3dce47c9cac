/** Reads the environment, the command line and the TOML file once, and gives a frozen configuration or one clear line. */
import { readFileSync } from 'node:fs';
import { parse as parseToml, TomlError } from 'smol-toml';
import { ConfigError } from './config-error.ts';
import { Fault } from './parsers.ts';
import type { Variable } from './variable.ts';
import { notRead, variables } from './variables.ts';

type Values<T> = T extends Variable<infer V> ? V : { readonly [K in keyof T]: Values<T[K]> };

/** One slice per service, and the warnings to log at the start. */
export type Config = Values<typeof variables> & { readonly warnings: readonly string[] };
export type TlsConfig = Tls;
export type StatsConfig = Config['stats'];
export type TurnsConfig = Config['turns'];
export type SsoConfig = Config['sso'];
export type EdgeConfig = Config['edge'];
export type RouterConfig = Config['router'];
export type ScriptRunnerConfig = Config['scriptRunner'];
export type TranslatorConfig = Config['translator'];
export type McpConfig = Config['mcp'];
export type ConsoleConfig = Config['console'];

/** Where settings come from: environment variables and command-line arguments. */
export interface LoadOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** `--port 8080` or `--port=8080` for any variable that is not a secret; wins over the environment. */
  argv?: readonly string[];
  /** Flags that the program has taken out of `argv`: named where another is refused. */
  flags?: readonly string[];
}

type Table = { readonly [name: string]: Table | Variable<unknown> };
type Toml = { [key: string]: unknown };
const isVariable = (entry: Table | Variable<unknown>): entry is Variable<unknown> => (entry as Variable<unknown>).kind === 'variable';

/** All rows, in the order of the table, with the slice that owns them. */
export function listVariables(table: Table = variables as Table, owner = ''): { owner: string; variable: Variable<unknown> }[] {
  return Object.entries(table).flatMap(([name, entry]) =>
    isVariable(entry) ? [{ owner, variable: entry }] : listVariables(entry, owner === '' ? name : owner),
  );
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
};

function check(name: string, variable: Variable<unknown>, value: unknown): unknown {
  const parsed = variable.parser.parse(value);
  if (!(parsed instanceof Fault)) return parsed;
  throw new ConfigError(`${name}${variable.secret ? '' : ` ${show(value)}`} ${parsed.text}; accepted: ${variable.parser.accepts}`);
}

/** `--data-dir x` → `DATA_DIR: x`. */
function readArguments(argv: readonly string[], flags: readonly string[]): Record<string, string> {
  const byFlag = new Map<string, Variable<unknown>>();
  for (const { variable } of listVariables()) if (variable.env !== null) byFlag.set(`--${variable.env.toLowerCase().replaceAll('_', '-')}`, variable);
  const out: Record<string, string> = {};
  for (let i = 0; i < argv.length; i++) {
    const [flag = '', inline] = (argv[i] as string).split(/=(.*)/s, 2);
    const variable = byFlag.get(flag);
    if (variable === undefined)
      throw new ConfigError(
        `${show(flag)} is not an option; accepted: ${[...flags, ...[...byFlag].filter(([, one]) => !one.secret).map(([name]) => name)].join(' ')}`,
      );
    if (variable.secret) throw new ConfigError(`${flag} would show a secret in the process list; set ${variable.env} in the environment`);
    const value = inline ?? argv[++i];
    if (value === undefined) throw new ConfigError(`${flag} has no value; accepted: ${variable.parser.accepts}`);
    out[variable.env as string] = value;
  }
  return out;
}

const largestFile = 1024 * 1024;

function readToml(file: string, mayBeMissing: boolean): Toml {
  let source: string;
  try {
    source = readFileSync(file, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' && mayBeMissing) return {};
    throw new ConfigError(`CONFIG_FILE ${show(file)} cannot be read (${code}); accepted: a readable TOML file`, { cause: error });
  }
  if (source.length > largestFile) throw new ConfigError(`CONFIG_FILE ${show(file)} is larger than 1 MiB; accepted: a TOML file`);
  try {
    return parseToml(source) as Toml;
  } catch (error) {
    const where = error instanceof TomlError ? ` at line ${error.line}, column ${error.column}` : '';
    throw new ConfigError(`CONFIG_FILE ${show(file)} is not valid TOML${where}; accepted: TOML 1.0`, { cause: error });
  }
}

const isTable = (value: unknown): value is Toml => typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);

const settings = listVariables().flatMap(({ variable }) => variable.toml ?? []);
const sectionOf = (path: string): string => path.slice(0, path.lastIndexOf('.') + 1);
const sections = new Set(settings.map(sectionOf));

/** Dotted path → value of every leaf; an empty table is a leaf where no section of that name is known. */
function flatten(table: Toml, prefix = ''): Map<string, unknown> {
  const out = new Map<string, unknown>();
  for (const key of Object.keys(table)) {
    const value = table[key];
    const path = `${prefix}${key}`;
    if (!isTable(value) || (Object.keys(value).length === 0 && !sections.has(`${path}.`))) out.set(path, value);
    else for (const [inner, leaf] of flatten(value, `${path}.`)) out.set(inner, leaf);
  }
  return out;
}

function refuseUnknownKeys(leaves: Map<string, unknown>, file: string): void {
  const known = new Set(settings);
  for (const path of leaves.keys())
    if (!known.has(path)) throw new ConfigError(`${show(path)} in ${show(file)} is not a setting; accepted: ${acceptedFor(path)}`);
}

/** Help for a misplaced setting: the settings of its section, else the sections that exist, or where its name belongs. */
function acceptedFor(path: string): string {
  const section = sectionOf(path);
  if (section !== '' && sections.has(section)) return settings.filter((name) => sectionOf(name) === section).join(', ');
  const everywhere = [...sections].map((name) => `[${name.slice(0, -1)}]`).join(' ');
  return listVariables().some(({ variable }) => variable.env === path) ? `${path} in the environment; here ${everywhere}` : everywhere;
}

/** A variable from its sources: command line, environment, file, default. */
function resolve(variable: Variable<unknown>, env: LoadOptions['env'], leaves: Map<string, unknown>): unknown {
  const text = variable.env === null ? undefined : env[variable.env];
  // Compose files pass unset variables on as empty ones.
  if (text !== undefined && (text !== '' || variable.refuseEmpty)) return check(variable.env as string, variable, text);
  if (variable.toml !== null && leaves.has(variable.toml)) return check(variable.toml, variable, leaves.get(variable.toml));
  return variable.fallback;
}

function build(table: Table, env: LoadOptions['env'], leaves: Map<string, unknown>): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [name, entry] of Object.entries(table)) {
    const value = isVariable(entry) ? resolve(entry, env, leaves) : build(entry, env, leaves);
    out[name] = Array.isArray(value) ? Object.freeze(value) : value;
  }
  return Object.freeze(out);
}

function warningsOf(config: Values<typeof variables>, env: LoadOptions['env']): string[] {
  const warnings: string[] = [];
  if (config.storage.mode === 'sqlite' && config.storage.databaseUrl !== null) warnings.push('DATABASE_URL is set, but STORAGE_MODE is sqlite: it is not used');
  for (const name of notRead) if ((env[name] ?? '') !== '') warnings.push(`${name} is set, but the gateway does not read it: it has no effect`);
  return warnings;
}

type Tls = Values<typeof variables>['process']['natsTls'];
const isGiven = (tls: Tls): boolean => Object.values(tls).some((value) => value !== null);

/** A key without its certificate would be ignored; an address without TLS, where it is required, would be used. */
function checkTls({ process: { natsUrls, natsTls, redisUrl, redisTls, requireTls }, storage }: Values<typeof variables>): void {
  for (const [prefix, tls] of [
    ['NATS', natsTls],
    ['REDIS', redisTls],
    ['DATABASE', storage.databaseTls],
  ] as const)
    if ((tls.certFile === null) !== (tls.keyFile === null))
      throw new ConfigError(`${prefix}_TLS_${tls.certFile === null ? 'CERT' : 'KEY'}_FILE is not set, but its counterpart is; accepted: both, or neither`);
  if (!requireTls) return;
  const refuse = (name: string, accepted: string): never => {
    throw new ConfigError(`${name} is without verified TLS, but REQUIRE_TLS is true; accepted: ${accepted}`);
  };
  if (natsUrls?.some((url) => !/^(?:tls|wss):/.test(url)) && !isGiven(natsTls)) refuse('NATS_URL', 'tls://, or NATS_TLS_CA_FILE');
  if (redisUrl?.startsWith('redis:') && !isGiven(redisTls)) refuse('REDIS_URL', 'rediss://, or REDIS_TLS_CA_FILE');
  const { mode, databaseUrl, databaseTls } = storage;
  const isVerified = databaseUrl !== null && new URL(databaseUrl).searchParams.get('sslmode') === 'verify-full';
  if (mode === 'postgresql' && !isVerified && !isGiven(databaseTls)) refuse('DATABASE_URL', '?sslmode=verify-full, or DATABASE_TLS_CA_FILE');
}

/** The console's path to which the identity provider redirects after a sign-in. */
const callbackPath = '/console/api/oidc/callback';

/** An issuer without rules would admit nobody, or everybody who has an account there. */
function checkSignIn({
  issuer,
  clientId,
  redirectUrl,
  scope,
  adminRoles,
  monitorRoles,
  memberRoles,
  allowedDomains,
}: Values<typeof variables>['console']['oidc']): void {
  if (issuer === null) return;
  if (clientId === null)
    throw new ConfigError(`CONSOLE_OIDC_CLIENT_ID is not set, but CONSOLE_OIDC_ISSUER is; accepted: ${variables.console.oidc.clientId.parser.accepts}`);
  if (redirectUrl === null)
    throw new ConfigError(
      `CONSOLE_OIDC_REDIRECT_URL is not set, but CONSOLE_OIDC_ISSUER is; accepted: the console's public address, such as https://gateway.example.com${callbackPath}`,
    );
  if (!new URL(redirectUrl).pathname.endsWith(callbackPath))
    throw new ConfigError(`CONSOLE_OIDC_REDIRECT_URL ${show(redirectUrl)} leads nowhere; accepted: an address that ends in ${callbackPath}`);
  if (!scope.split(' ').includes('openid'))
    throw new ConfigError(
      `CONSOLE_OIDC_SCOPE ${show(scope)} lacks openid, without which a provider says nothing of who signed in; accepted: openid and others, with a space between them`,
    );
  if (adminRoles.length + monitorRoles.length + memberRoles.length + allowedDomains.length === 0)
    throw new ConfigError(
      'CONSOLE_OIDC_ALLOWED_DOMAINS is not set, and neither is a role, but CONSOLE_OIDC_ISSUER is: everybody there could sign in; accepted: domains, CONSOLE_OIDC_ADMIN_ROLES, CONSOLE_OIDC_MONITOR_ROLES or CONSOLE_OIDC_MEMBER_ROLES',
    );
}

/**
 * Loads and checks everything. Throws a ConfigError (one line, no secret in it) on the first fault. `warnings` are to be logged once.
 */
export function loadConfig({ env, argv = [], flags = [] }: LoadOptions): Config {
  const sources = { ...env, ...readArguments(argv, flags) };
  const file = resolve(variables.process.configFile, sources, new Map()) as string;
  const leaves = flatten(readToml(file, (sources['CONFIG_FILE'] ?? '') === ''));
  refuseUnknownKeys(leaves, file);
  const config = build(variables as Table, sources, leaves) as Values<typeof variables>;
  if (config.storage.mode === 'postgresql' && config.storage.databaseUrl === null) {
    throw new ConfigError(`DATABASE_URL is not set, but STORAGE_MODE is postgresql; accepted: ${variables.storage.databaseUrl.parser.accepts}`);
  }
  checkTls(config);
  checkSignIn(config.console.oidc);
  return Object.freeze({ ...config, warnings: Object.freeze(warningsOf(config, sources)) });
}
