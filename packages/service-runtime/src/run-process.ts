/** The life of a process: start, serve, drain on a signal, stop, exit; a defect ends it at once (crash-only). */
import type { Logger } from '@model-gateway/telemetry';
import { startFault } from './listen.ts';
import type { Health, Service } from './service.ts';

/** The part of `process` that is used, so that tests can replace it. */
export interface ProcessHost {
  on(event: string, listener: (...args: never[]) => void): unknown;
  off(event: string, listener: (...args: never[]) => void): unknown;
  /** False once the parent's end of the channel is closed; undefined where there never was a channel. */
  readonly connected?: boolean;
  exit(code: number): void;
}

/** The service to run, and the times of its shutdown in ms. */
export interface RunProcessOptions {
  service: Service;
  logger: Logger;
  /** Time between "not ready" and the first refusal, so that load balancers look away first. Default 2,000 ms. */
  lameDuckMs?: number;
  /** Cap on `service.stop()`. Default 30,000 ms. */
  stopMs?: number;
  /** What SIGHUP does instead of draining. */
  onHangUp?: () => void;
  /** Called once when draining begins, with the signal's name. */
  onSignal?: (signal: string) => void;
  /** Called after the service stopped, before the exit (probe server, telemetry). Counts against the cap. */
  onStopped?: () => Promise<void> | void;
  host?: ProcessHost;
}

/** A running process, for the probe server and for an embedder that stops it. */
export interface RunningProcess {
  /** The service's health, with `draining` once a signal came. */
  health(): Health;
  /** Drains as SIGTERM does. Resolves with the exit code when the process is about to exit. */
  stop(reason: string): Promise<number>;
}

/**
 * A terminal's Ctrl-C, and a supervisor that signals the whole group, reach both `npm start` and this process, and `npm start` forwards the signal:
 * two signals this close together are one.
 */
const echoMs = 1000;

const delay = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Resolves `late` when `work` takes longer than `ms`; rejects as `work` does. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | 'late'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, ms, 'late');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Installs the signal handlers, then starts the service; resolves when it runs. A failed start is logged and exits 1.
 * SIGTERM, SIGINT, SIGHUP, or the end of a parent that started us with a channel: not ready → lame duck → stop within the cap → exit 0 (1 when the
 * stop failed or was late). A second signal, more than a second later, exits at once. An uncaught exception or unhandled rejection is logged and exits 1: state after a defect cannot be trusted.
 */
export async function runProcess(options: RunProcessOptions): Promise<RunningProcess> {
  const { service, logger, lameDuckMs = 2000, stopMs = 30_000, onSignal, onHangUp, onStopped, host = process as unknown as ProcessHost } = options;
  let leaving: Promise<number> | undefined;
  let running = false;
  let signalledAt = 0;

  function exit(code: number): void {
    logger.flush();
    host.exit(code);
  }

  async function leave(reason: string): Promise<number> {
    logger.info({ reason, lameDuckMs, stopMs }, 'process draining');
    onSignal?.(reason);
    service.drain?.();
    if (running) await delay(lameDuckMs);
    let code = 0;
    try {
      const outcome = await within(
        service.stop().then(() => onStopped?.()),
        stopMs,
      );
      if (outcome === 'late') {
        code = 1;
        logger.error({ stopMs }, 'process did not stop in time');
      }
    } catch (error) {
      code = 1;
      logger.error({ error }, 'process failed to stop');
    }
    logger.info({ code }, 'process exits');
    return code;
  }

  function stop(reason: string): Promise<number> {
    leaving ??= leave(reason).then((code) => {
      release();
      exit(code);
      return code;
    });
    return leaving;
  }

  const signalled = (signal: string): void => {
    if (leaving === undefined) {
      signalledAt = performance.now();
      void stop(signal);
      return;
    }
    if (performance.now() - signalledAt < echoMs) return;
    logger.warn({ signal }, 'second signal: process exits at once');
    exit(1);
  };
  const crashed = (kind: string) => (error: unknown) => {
    logger.fatal({ error, kind }, 'process failed');
    exit(1);
  };
  const listeners: Record<string, (...args: never[]) => void> = {
    SIGTERM: () => signalled('SIGTERM'),
    SIGINT: () => signalled('SIGINT'),
    SIGHUP: () => (onHangUp && leaving === undefined ? onHangUp() : signalled('SIGHUP')),
    // The end of the parent is not a second request to stop: it follows the signal that ended the parent.
    disconnect: () => void stop('the parent process is gone'),
    uncaughtException: crashed('uncaughtException') as (...args: never[]) => void,
    unhandledRejection: crashed('unhandledRejection') as (...args: never[]) => void,
  };
  for (const [event, listener] of Object.entries(listeners)) host.on(event, listener);
  // The parent may have gone before the listener was registered.
  if (host.connected === false) void stop('the parent process is gone');
  function release(): void {
    for (const [event, listener] of Object.entries(listeners)) host.off(event, listener);
  }

  try {
    await service.start();
    running = true;
  } catch (error) {
    // A stop during the start makes the start fail: then the stop decides the exit.
    if (leaving === undefined) {
      logger.fatal({ error: startFault(error) }, 'process failed to start');
      release();
      exit(1);
    }
  }

  return {
    health() {
      const health = service.health();
      return leaving === undefined ? health : { ready: false, reasons: ['draining', ...health.reasons] };
    },
    stop,
  };
}
