/** Brings the schema up to date as soon as the database is available, and tracks whether it is available now. */
import type { Storage, StorageLogger } from './open-storage.ts';

/** Keeps trying to migrate the schema, and reports whether the database answers. */
export interface StorageGuard {
  /** Resolves after the first attempt. Rejects when the schema never can be brought up to date (not when the database is only away). */
  start(): Promise<void>;
  /** Runs `callback` once, when the schema is up to date: at once if it is. */
  whenMigrated(callback: () => void): void;
  /** Whether the database answered last time. */
  readonly up: boolean;
  stop(): void;
}

/** The database to watch, and the interval of the check in ms. */
export interface GuardOptions {
  storage: Storage;
  logger: StorageLogger;
  /** Interval of the availability check, in ms. */
  intervalMs?: number;
}

const isAway = (error: unknown): boolean => (error as { code?: unknown } | undefined)?.code === 'service_unavailable';

/** In the driver's words: ours are the same for all of them. A host with several addresses has a reason for each. */
function reasonOf(error: unknown): string {
  const cause = (error as { cause?: unknown } | undefined)?.cause ?? error;
  const reasons = cause instanceof AggregateError ? cause.errors : [cause];
  return reasons.map((one: unknown) => (one instanceof Error ? one.message : String(one))).join(', ');
}

/** What there is to mend, by engine. */
const seeTo = { postgresql: 'it, or to DATABASE_URL and DATABASE_TLS_…', sqlite: 'its file and disk, or to DATA_DIR' } as const;

export function guardStorage({ storage, logger, intervalMs = 2_000 }: GuardOptions): StorageGuard {
  let migrated = false;
  let up = false;
  /** An outage was logged: its end is logged too. */
  let missed = false;
  /** The last logged reason of an outage: the database is pinged every two seconds, and only a different reason is logged again. */
  let reported: string | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  const waiting: (() => void)[] = [];

  const report = (now: boolean, error?: unknown) => {
    const { mode, address } = storage;
    // An outage is not a defect: nobody needs to know where in the program it was noticed.
    const why = isAway(error) ? { reason: reasonOf(error) } : { error };
    if (now && missed) logger.info({ mode }, 'the database answers again');
    else if (!now && reasonOf(error) !== reported)
      logger.warn(
        { mode, address, ...why },
        `the database ${migrated ? 'is unavailable' : 'cannot be used yet'}: see to ${seeTo[mode]}; it is tried again every few seconds`,
      );
    reported = now ? undefined : reasonOf(error);
    missed = !now;
    up = now;
  };
  const attempt = async (): Promise<void> => {
    if (migrated) return storage.ping();
    await storage.migrate();
    migrated = true;
    for (const callback of waiting.splice(0)) callback();
  };
  const repeat = async (): Promise<void> => {
    // A schema defect that only shows after the start is treated like an outage: the data plane continues without the database.
    await attempt().then(
      () => report(true),
      (error: unknown) => report(false, error),
    );
    schedule();
  };
  const schedule = () => {
    if (stopped) return;
    timer = setTimeout(() => void repeat(), intervalMs);
    timer.unref();
  };
  return {
    async start() {
      try {
        await attempt();
        report(true);
      } catch (error) {
        if (!isAway(error)) throw error;
        report(false, error);
      }
      schedule();
    },
    whenMigrated(callback) {
      if (migrated) callback();
      else waiting.push(callback);
    },
    get up() {
      return up;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
