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
  const run = async (): Promise<void> => {
    try {
      for (let ahead = 0; ahead <= daysAhead; ahead++) await storage.requests.prepareDay(now() + ahead * dayMs);
      const gone = await storage.requests.prune(toKeep(keep, now()), () => stopped);
      const bodies = await storage.bodies.prune(() => stopped);
      if (bodies > 0) logger.info({ bodies }, 'expired bodies of requests were forgotten');
      if (gone.rows > 0 || gone.partitions > 0) logger.info(gone, 'old rows of requests were forgotten');
      const letters = await storage.deadLetters.prune(now() - lettersKeptMs, () => stopped);
      if (letters > 0) logger.info({ letters }, 'old messages that were set aside were forgotten');
      const turns = await storage.turns.prune(() => stopped);
      if (turns > 0) logger.info({ turns }, 'expired turns were forgotten');
      const tasks = await storage.tasks.prune();
      if (tasks > 0) logger.info({ tasks }, 'expired tasks were forgotten');
      await storage.keyAddresses.prune(now() - addressesKeptMs);
      await storage.alerts.prune(now() - alertsKeptMs);
      const present = snapshot();
      const orphans = present ? await forgetOrphans(storage.turns, present, () => stopped) : 0;
      if (orphans > 0) logger.info({ turns: orphans }, 'turns of deleted access keys were forgotten');
      const records = keep.auditDays === 0 ? 0 : await storage.audit.prune(now() - keep.auditDays * dayMs, () => stopped);
      if (records > 0) logger.info({ records }, 'old records of the audit log were forgotten');
    } catch (error) {
      // Rows still find a place, and what is too old waits for the next hour.
      logger.warn({ error }, 'the upkeep of statistics failed and is tried again');
    }
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
