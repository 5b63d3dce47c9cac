/**
 * Reads docker-compose.yml and runs exactly its commands and environment as local processes: no container engine is needed to know that the
 * arrangement works. Host names become local addresses; ports that containers may share become ports of their own.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';

const run = promisify(execFile);
export const root = join(import.meta.dirname, '../..');

export interface ComposeService {
  image?: string;
  build?: { context: string; dockerfile: string; args?: Record<string, string> };
  command?: string[];
  entrypoint?: string[];
  user?: string;
  read_only?: boolean;
  tmpfs?: string[];
  cap_drop?: string[];
  security_opt?: string[];
  env_file?: { path: string; required: boolean }[];
  /** null: as the environment has it, or not at all. */
  environment?: Record<string, string | null>;
  ports?: string[];
  networks?: string[];
  volumes?: string[];
  restart?: string;
  /** Started only where one of these is asked for. */
  profiles?: string[];
  stop_grace_period?: string;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[]; interval: string; timeout: string; retries: number; start_period?: string };
}

export interface ComposeFile {
  name: string;
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
}

export const readCompose = (): { text: string; file: ComposeFile } => {
  const text = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
  return { text, file: parse(text, { merge: true }) as ComposeFile };
};

/** `${NAME}`, `${NAME:?message}`, `${NAME:-default}` and `$$` as docker compose reads them. */
export function interpolate(value: string, env: Readonly<Record<string, string>>): string {
  return value.replace(/\$\$|\$\{(\w+)(?::([?-])([^}]*))?\}/g, (whole, name: string, kind: string | undefined, rest: string) => {
    if (whole === '$$') return '$';
    const found = env[name];
    if (found) return found;
    if (kind === '?') throw new Error(`${name}: ${rest}`);
    return kind === '-' ? rest : '';
  });
}

/** Names in the order in which compose may start them. */
export function startOrder(services: ComposeFile['services']): string[] {
  const order: string[] = [];
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) throw new Error(`depends_on goes in a circle: ${[...path, name].join(' → ')}`);
    const service = services[name];
    if (!service) throw new Error(`${path.at(-1)} depends on ${name}, which is not there`);
    for (const other of Object.keys(service.depends_on ?? {})) visit(other, [...path, name]);
    if (!order.includes(name)) order.push(name);
  };
  for (const name of Object.keys(services)) visit(name, []);
  return order;
}

export interface Instance {
  name: string;
  child: ChildProcess;
  /** The last output, for a failure's message. */
  log(): string;
  /** Runs the service's health check until it passes; rejects when the file's own patience is over or the process ended. */
  healthy(): Promise<void>;
}

export function startInstance(name: string, command: readonly string[], env: Record<string, string>, check: string[], maxWaitMs: number): Instance {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  const keep = (text: Buffer): void => {
    log = (log + text.toString('utf8')).slice(-8000);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  const lastResort = (): void => void child.kill('SIGKILL');
  process.once('exit', lastResort);
  child.once('exit', () => process.removeListener('exit', lastResort));
  return {
    name,
    child,
    log: () => log,
    async healthy() {
      const deadline = Date.now() + maxWaitMs;
      let last: unknown;
      while (Date.now() < deadline && child.exitCode === null) {
        try {
          await runCheck(check, env);
          return;
        } catch (error) {
          last = error;
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      throw new Error(`${name} did not become healthy (exit ${child.exitCode}): ${String(last)}\n${log}`);
    },
  };
}

async function runCheck([kind, ...rest]: string[], env: Record<string, string>): Promise<void> {
  const [program = '', ...args] = kind === 'CMD-SHELL' ? ['sh', '-c', ...rest] : rest;
  await run(program, args, { env, timeout: 20_000 });
}

/** SIGTERM as compose sends it; resolves with the exit code. */
export async function stopInstance({ child }: Instance, graceMs: number): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  child.kill('SIGTERM');
  const last = setTimeout(() => child.kill('SIGKILL'), graceMs);
  const code = await ended;
  clearTimeout(last);
  return code;
}

/** `1m30s`, `40s`, `500ms` in milliseconds. */
export function duration(text: string): number {
  const units: Record<string, number> = { ms: 1, s: 1000, m: 60_000 };
  return [...text.matchAll(/(\d+)(ms|s|m)/g)].reduce((sum, [, count, unit]) => sum + Number(count) * units[unit as string]!, 0);
}
