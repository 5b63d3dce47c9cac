/** A real child process of the gateway for suites: started until ready, its log kept, its faults remembered, never left behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { compileCache, gatewayEntry } from './gateway-entry.ts';

export interface ManagedProcess {
  readonly name: string;
  /** null while it does not run. */
  readonly pid: number | null;
  /** Those that it was given, in order. */
  readonly ports: readonly number[];
  /** Sends the signal; for one that ends a process, resolves once it has ended. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Ends it when it runs (SIGTERM), starts it on the same ports, waits until it is ready. */
  restart(): Promise<void>;
  /** Lines of standard output and error of all its runs, oldest first; the last 20,000. */
  logs(): string[];
  /** What it counts, in Prometheus' text format. */
  metrics(): Promise<string>;
}

export interface ProcessPlan {
  name: string;
  /** After the entry file. */
  args: readonly string[];
  /** Asked at each start; the ports are those of this run. */
  env(ports: readonly number[]): Record<string, string>;
  /** How many free ports it needs. */
  ports: number;
  /** Where it answers 200 once it is ready. */
  readyUrl(ports: readonly number[]): string;
}

const root = join(import.meta.dirname, '../..');
/** Those of `npm start` and the image, but for large pages: they take 0.1 s of CPU at each start, and change nothing that a suite can see. */
const flags = (JSON.parse(readFileSync(join(root, 'deploy/images/node-flags.json'), 'utf8')) as string[]).filter(
  (flag) => !flag.startsWith('--use-largepages'),
);
const keptLines = 20_000;
const readyMs = 100_000;
const stopMs = 45_000;
const pauses: ReadonlySet<NodeJS.Signals> = new Set(['SIGSTOP', 'SIGCONT']);

const running = new Set<ChildProcess>();
// A suite that fails half-way must not leave processes behind.
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export class GatewayProcess implements ManagedProcess {
  readonly name: string;
  /** What must not happen in any run: fatal lines, ends that nobody asked for. */
  readonly faults: string[] = [];
  /** Whether it was ended, stopped or continued by whoever uses it. */
  signalled = false;
  ports: readonly number[] = [];
  readonly #plan: ProcessPlan;
  readonly #lines: string[] = [];
  #child: ChildProcess | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(plan: ProcessPlan) {
    this.name = plan.name;
    this.#plan = plan;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  logs(): string[] {
    return [...this.#lines];
  }

  async metrics(): Promise<string> {
    return (await fetch(new URL('/metrics', this.#plan.readyUrl(this.ports)))).text();
  }

  /** Starts on free ports; tries others when somebody took them in between. */
  async start(): Promise<void> {
    for (let tries = 1; ; tries++) {
      this.ports = await Promise.all(Array.from({ length: this.#plan.ports }, freePort));
      const from = this.#lines.length;
      try {
        return await this.#launch();
      } catch (error) {
        const taken = this.#lines.slice(from).some((line) => /EADDRINUSE|in use/.test(line));
        if (!taken || tries === 5) throw error;
        this.faults.length = 0;
      }
    }
  }

  /** This process does not wait for it any more. */
  unref(): void {
    this.#child?.unref();
    for (const stream of [this.#child?.stdout, this.#child?.stderr]) (stream as Socket | null | undefined)?.unref();
  }

  forgetLines(): void {
    this.#lines.length = 0;
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.signalled = true;
    const child = this.#child;
    if (child === null) return;
    if (pauses.has(signal)) return void child.kill(signal);
    this.#child = null;
    child.kill(signal);
    const last = setTimeout(() => {
      this.faults.push(`${this.name} did not end within ${stopMs} ms of ${signal}`);
      child.kill('SIGKILL');
    }, stopMs);
    await this.#ended;
    clearTimeout(last);
  }

  async restart(): Promise<void> {
    await this.kill('SIGTERM');
    await this.#launch();
  }

  async #launch(): Promise<void> {
    const child = spawn(process.execPath, [...flags, await gatewayEntry(), ...this.#plan.args], {
      // Nothing of the test's own environment leaks in but what a process needs to run at all.
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '/', ...compileCache, ...this.#plan.env(this.ports) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    this.#child = child;
    collectLines(child, (line) => this.#receive(line));
    let ended = false;
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => this.#receive(`cannot be started: ${error.message}`));
      child.once('close', (code, signal) => {
        ended = true;
        running.delete(child);
        // `kill` lets go of the child first: whoever still holds it did not ask for the end.
        if (this.#child === child) {
          this.#child = null;
          this.faults.push(`${this.name} ended by itself (${signal ?? `code ${code}`}):\n${this.#lines.slice(-15).join('\n')}`);
        }
        resolve();
      });
    });
    const url = this.#plan.readyUrl(this.ports);
    const deadline = Date.now() + readyMs;
    while (!ended && Date.now() < deadline) {
      if (await isReady(url)) return;
      await sleep(50);
    }
    await this.kill();
    throw new Error(`${this.name} did not get ready:\n${this.#lines.slice(-20).join('\n')}`);
  }

  #receive(line: string): void {
    if (this.#lines.length >= keptLines) this.#lines.splice(0, keptLines >> 2);
    this.#lines.push(line);
    if (line.includes('"level":"fatal"')) this.faults.push(`${this.name} logged: ${line}`);
  }
}

function collectLines(child: ChildProcess, onMessage: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream?.setEncoding('utf8');
    stream?.on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) onMessage(line);
    });
    stream?.on('end', () => {
      if (rest !== '') onMessage(rest);
    });
  }
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
