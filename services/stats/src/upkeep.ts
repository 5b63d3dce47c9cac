/** Creates partitions for the days ahead, and drops rows and audit records that are too old: at the start and once an hour. */
import type { StatsConfig } from '@model-gateway/config';
import type { Snapshot } from '@model-gateway/contracts';
import type { Keep, Storage } from '@model-gateway/storage';
import type { Logger } from '@model-gateway/telemetry';
import { forgetOrphans } from './turns/forget-orphans.ts';

/** The hourly maintenance of log tables. */
export interface Upkeep {
  start(): void;
  stop(): void;
}

interface UpkeepDeps {
  storage: Storage;
  logger: Logger;
  keep: StatsConfig;
  /** The present configuration; null: there is none yet. */
  snapshot: () => Snapshot | null;
  now: () => number;
  everyMs?: number;
}

const dayMs = 86_400_000;
/** Days whose partition is created before their first row comes. */
const daysAhead = 2;
/** Minutes are for the live view alone. */
const minutesKeptMs = 36 * 3_600_000;
/** Messages that were set aside are looked at soon or never. */
const lettersKeptMs = 30 * dayMs;
/** Messages of alerts stay as long as they can be listed. */
const alertsKeptMs = 90 * dayMs;
/** An address that a key was not used from for so long is new again. */
const addressesKeptMs = 90 * dayMs;

export function createUpkeep({ storage, logger, keep, snapshot, now, everyMs = 3_600_000 }: UpkeepDeps): Upkeep {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  const isStopped = (): boolean => stopped;
  const logGone = (facts: Record<string, number>, text: string): void => {
    if (Object.values(facts).some((count) => count > 0)) logger.info(facts, text);
  };
  /** Each on its own: what keeps one from its end must not keep the disk from being freed by the others. */
  const steps: Record<string, () => Promise<unknown>> = {
    partitions: async () => {
      for (let ahead = 0; ahead <= daysAhead; ahead++) await storage.requests.prepareDay(now() + ahead * dayMs);
    },
    rows: async () => logGone(await storage.requests.prune(toKeep(keep, now()), isStopped), 'old rows of requests were forgotten'),
    bodies: async () => logGone({ bodies: await storage.bodies.prune(isStopped) }, 'expired bodies of requests were forgotten'),
    'dead letters': async () =>
      logGone({ letters: await storage.deadLetters.prune(now() - lettersKeptMs, isStopped) }, 'old messages that were set aside were forgotten'),
    turns: async () => logGone({ turns: await storage.turns.prune(isStopped) }, 'expired turns were forgotten'),
    tasks: async () => logGone({ tasks: await storage.tasks.prune(isStopped) }, 'expired tasks were forgotten'),
    addresses: () => storage.keyAddresses.prune(now() - addressesKeptMs, isStopped),
    alerts: () => storage.alerts.prune(now() - alertsKeptMs, isStopped),
    'turns of deleted keys': async () => {
      const present = snapshot();
      if (present) logGone({ turns: await forgetOrphans(storage.turns, present, isStopped) }, 'turns of deleted access keys were forgotten');
    },
    'audit log': async () => {
      if (keep.auditDays > 0)
        logGone({ records: await storage.audit.prune(now() - keep.auditDays * dayMs, isStopped) }, 'old records of the audit log were forgotten');
    },
  };
  const run = async (): Promise<void> => {
    const failed: string[] = [];
    let first: unknown;
    for (const [name, step] of Object.entries(steps)) {
      if (stopped) return;
      try {
        await step();
      } catch (error) {
        if (failed.length === 0) first = error;
        failed.push(name);
      }
    }
    // Rows still find a place, and what is too old waits for the next hour.
    if (failed.length > 0) logger.warn({ error: first, failed }, 'the upkeep of statistics failed and is tried again');
    if (stopped) return;
    timer = setTimeout(() => void run(), everyMs);
    timer.unref();
  };
  return {
    start: () => void run(),
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

const toKeep = ({ rowDays, hourDays, dayDays }: StatsConfig, now: number): Keep => {
  const before = (days: number): number | null => (days === 0 ? null : now - days * dayMs);
  return { rows: before(rowDays), sessions: before(rowDays), sums: { minute: now - minutesKeptMs, hour: before(hourDays), day: before(dayDays) } };
};
