/** One slot: a process of its own that runs scripts, watched from outside. What it cannot stop itself is killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import type { ScriptFault, ScriptOutcome } from '@model-gateway/contracts';
import type { Logger } from '@model-gateway/telemetry';
import { FrameReader, frame } from '../child/frames.ts';
import { clockFactor, type SlotAnswer, type SlotRequest, type SlotSettings } from '../child/messages.ts';
import { slotCommand } from './command.ts';
import { processorMs, residentBytes } from './process-facts.ts';

/** A run for one slot. */
export interface SlotRun {
  request: SlotRequest;
  body: Uint8Array;
  /** Called once. `texts` belong to the receiver. */
  done(outcome: ScriptOutcome, texts: Uint8Array): void;
  /** The process died before it began the run: true when another slot takes the run, and this one need not answer. */
  retry?(): boolean;
}

const watchMs = 100;
/** The sandbox's own clock comes first. */
const graceMs = 2 * watchMs;
/** A process that has not said that it is ready by then never will. */
const startMs = 20_000;
/** Resident memory may be this many times the heap's limit, above what the process has when it is idle. */
const memoryFactor = 3;

interface UnderWay extends SlotRun {
  began: number;
  /** The process has said so. */
  begun: boolean;
  /** Processor time of the process when the run was first looked at; no run that ends before costs a look. */
  processorAt: number | null;
}

export class Slot {
  readonly #settings: SlotSettings;
  readonly #logger: Logger;
  readonly #child: ChildProcess;
  readonly #onEnd: (slot: Slot) => void;
  #ready = false;
  #whenReady: (() => void) | undefined;
  #run: UnderWay | undefined;
  #idleBytes: number | null = null;
  #killed: ScriptFault | undefined;
  #watch: NodeJS.Timeout | undefined;
  #starting: NodeJS.Timeout;
  #closed = false;

  /** `onEnd`: the process is gone, whatever the reason; its run has been answered. */
  constructor(settings: SlotSettings, logger: Logger, onEnd: (slot: Slot) => void) {
    this.#settings = settings;
    this.#logger = logger;
    this.#onEnd = onEnd;
    this.#child = start(settings);
    const reader = new FrameReader(({ json, bytes }) => this.#receive(json as SlotAnswer, bytes));
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#read(reader, chunk));
    this.#child.stdin?.on('error', (error) => logger.debug({ error }, 'a script slot does not listen any more'));
    this.#child.once('error', (error) => this.#end(`could not be started: ${error.message}`));
    this.#child.once('exit', (code, signal) => this.#end(signal ?? `code ${code}`));
    this.#starting = setTimeout(() => this.#kill({ code: 'ScriptRunnerUnavailable', message: 'a script slot did not start', line: null }), startMs);
    // Neither slots nor their timers keep a process alive that has nothing else to do.
    this.#starting.unref();
    this.#child.unref();
  }

  get ready(): boolean {
    return this.#ready && !this.#closed;
  }
  get pid(): number | undefined {
    return this.#child.pid;
  }

  onReady(callback: () => void): void {
    this.#whenReady = callback;
  }

  /** The slot must be ready and without a run. */
  run(run: SlotRun): void {
    this.#run = { ...run, began: performance.now(), begun: false, processorAt: null };
    this.#watch ??= setInterval(() => this.#look(), watchMs);
    const [head, body] = frame(run.request, run.body);
    this.#child.stdin?.write(head);
    if (body.length > 0) this.#child.stdin?.write(body);
  }

  /** Ends the process; a run under way is answered as lost. */
  close(): void {
    this.#kill({ code: 'ScriptRunnerUnavailable', message: 'the script runner is leaving', line: null });
  }

  #read(reader: FrameReader, chunk: Buffer): void {
    try {
      reader.push(chunk);
    } catch (error) {
      this.#logger.error({ error }, 'a script slot sent something that is not an answer');
      this.#kill({ code: 'ScriptRunnerUnavailable', message: 'a script slot broke', line: null });
    }
  }

  #receive(answer: SlotAnswer, texts: Buffer): void {
    if ('ready' in answer) {
      clearTimeout(this.#starting);
      this.#ready = true;
      this.#idleBytes = residentBytes(this.#child.pid);
      this.#whenReady?.();
      return;
    }
    if ('begun' in answer) {
      if (this.#run) this.#run.begun = true;
      return;
    }
    this.#answer(answer, texts);
  }

  #answer(outcome: ScriptOutcome, texts: Uint8Array): void {
    const run = this.#run;
    this.#run = undefined;
    clearInterval(this.#watch);
    this.#watch = undefined;
    run?.done(outcome, texts);
  }

  #look(): void {
    if (!this.#run) return;
    if (this.#isTooLong(this.#run)) return this.#kill({ code: 'TooMuchTime', message: 'the script took too long', line: null });
    const [idle, now] = [this.#idleBytes, residentBytes(this.#child.pid)];
    const allowed = this.#run.body.length * 4 + this.#settings.memoryLimitMb * 1024 * 1024 * memoryFactor;
    if (idle !== null && now !== null && now - idle > allowed) this.#kill({ code: 'TooMuchMemory', message: 'the script used too much memory', line: null });
  }

  /** A run is limited in CPU time, and less tightly in wall-clock time; where the system does not report CPU time, only the clock counts. */
  #isTooLong(run: UnderWay): boolean {
    const { timeoutMs } = this.#settings;
    const clock = performance.now() - run.began;
    if (clock > timeoutMs * clockFactor + graceMs) return true;
    const processor = processorMs(this.#child.pid);
    run.processorAt ??= processor;
    return (processor === null || run.processorAt === null ? clock : processor - run.processorAt) > timeoutMs;
  }

  #kill(fault: ScriptFault): void {
    if (this.#closed) return;
    this.#killed ??= fault;
    this.#child.kill('SIGKILL');
  }

  #end(how: string): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#starting);
    const began = this.#run?.began ?? performance.now();
    // A process that ends by itself during a run has had its isolate run out of memory, beyond what an isolate contains.
    const fault = this.#killed ?? { code: 'TooMuchMemory', message: 'the script used too much memory', line: null };
    if (!this.#killed) this.#logger.warn({ how, running: this.#run !== undefined }, 'a script slot ended');
    if (!this.#killed && this.#run?.begun === false && this.#run.retry?.()) this.#run = undefined;
    this.#answer({ operations: 0, execution_time_ms: Math.round(performance.now() - began), use_model: null, fault, places: [] }, new Uint8Array());
    this.#onEnd(this);
  }
}

/** The child inherits no environment. */
function start(settings: SlotSettings): ChildProcess {
  const { program, args } = slotCommand(JSON.stringify(settings));
  return spawn(program, args, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true });
}
