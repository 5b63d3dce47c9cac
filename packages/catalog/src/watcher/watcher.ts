/** Each service's copy of the configuration: the newest snapshot it could get, and those its requests are pinned to. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { EventSubjects, Snapshot } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { CatalogLogger } from '../logger.ts';
import { isSameState } from '../same-state.ts';
import { HeldSnapshots } from './held-snapshots.ts';
import { loadRows } from './load-rows.ts';

/** Dependencies and settings of a watcher; durations in ms. */
export interface CatalogWatcherDeps {
  bus: Bus;
  logger: CatalogLogger;
  /** Load the configuration without secrets, over its own subjects: for services without the master key. Default false. */
  redacted?: boolean;
  /** Interval of the poll that repairs lost change events, in ms. */
  pollMs?: number;
  /** A monotonic clock in ms. */
  now?: () => number;
}

/** A service's view of the configuration, kept up to date over the bus. */
export interface CatalogWatcher {
  /** Resolves after the first attempt; `ready` tells whether it succeeded. Keeps trying. May be called by every service that shares this watcher. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** null before the first snapshot. Stays what it was while console or database are away. */
  current(): Snapshot | null;
  /**
   * Exactly this revision. Fetches it when it is not cached; rejects with `service_unavailable` when it cannot be had: older ones are kept for 60 s
   * and 16 revisions, here and by the console.
   */
  at(revision: number): Snapshot | Promise<Snapshot>;
  /** Called with each new current snapshot. Returns how to unsubscribe. */
  onChange(callback: (snapshot: Snapshot) => void): () => void;
  readonly ready: boolean;
}

/** Without a first snapshot the service cannot work, so it is asked for more often. */
const firstPollMs = 250;
const askMs = 1_500;
const loadMs = 10_000;

/** Logs the begin and the end of an outage of the console, each once. */
function createOutageLog(logger: CatalogLogger, current: () => Snapshot | null) {
  let away = false;
  return {
    began(error: unknown, what: string): void {
      if (away) return;
      away = true;
      const snapshot = current();
      // Services start in any order, so a console that is not there yet is not an error.
      if (snapshot === null && isGatewayError(error) && error.code === 'service_unavailable')
        logger.info({}, 'waiting for the console to send the configuration');
      else logger.warn({ error, revision: snapshot?.revision ?? null }, `${what}, continuing with the last known configuration`);
    },
    ended(): void {
      if (away) logger.info({ revision: current()?.revision }, 'the configuration can be read');
      away = false;
    },
  };
}

export function createCatalogWatcher({ bus, logger, redacted = false, pollMs = 2_000, now = () => performance.now() }: CatalogWatcherDeps): CatalogWatcher {
  const held = new HeldSnapshots({ revisions: 16, ageMs: 60_000, now });
  const loads = new Map<number | 'newest', Promise<Snapshot>>();
  const outage = createOutageLog(logger, () => held.current);
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let event: Disposable | undefined;
  let starting: Promise<void> | undefined;

  /** One load at a time for each revision, however many requests wait for it. */
  const load = (revision?: number): Promise<Snapshot> => {
    const key = revision ?? 'newest';
    const running = loads.get(key);
    if (running) return running;
    const before = held.current;
    const started = loadRows(bus, { revision, redacted, deadlineMs: loadMs })
      .then((rows) => held.take(rows, { isNewest: revision === undefined, before }))
      .finally(() => loads.delete(key));
    loads.set(key, started);
    return started;
  };

  /** Brings `current` to what the console has now. Never rejects. */
  const refresh = async (isCurrent: () => boolean): Promise<void> => {
    try {
      if (isCurrent()) return;
      await load();
      // An event that arrived during an older load joined that load instead of starting one.
      if (!isCurrent()) await load();
      outage.ended();
    } catch (error) {
      if (!stopped) outage.began(error, 'the configuration cannot be read');
    }
  };

  const onChange = (change: EventSubjects['catalog.changed']): void => {
    try {
      if (held.follow(change)) return;
    } catch (error) {
      logger.warn({ error, revision: change.revision }, 'a configuration change could not be applied, loading the whole configuration');
    }
    void refresh(() => held.current !== null && (held.current.revision > change.revision || isSameState(held.current, change)));
  };

  const poll = async (): Promise<void> => {
    try {
      const state = await bus.ask('catalog.revision', {}, { deadlineMs: askMs });
      await refresh(() => held.current !== null && isSameState(held.current, state));
    } catch (error) {
      if (!stopped) outage.began(error, 'the console does not answer');
    }
  };
  const schedule = () => {
    if (stopped) return;
    timer = setTimeout(() => void poll().then(schedule), held.current ? pollMs : Math.min(firstPollMs, pollMs));
    timer.unref();
  };

  const begin = async (): Promise<void> => {
    event = redacted ? bus.listen('catalog.changed-redacted', onChange) : bus.listen('catalog.changed', onChange);
    bus.onConnection((connected) => {
      if (connected && !stopped) void poll();
    });
    await poll();
    schedule();
  };

  return {
    start: () => {
      starting ??= begin();
      return starting;
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await event?.dispose();
    },
    current: () => held.current,
    at(revision) {
      const known = held.get(revision);
      if (known) return known;
      // Events were lost and a newer revision was loaded instead: another service may have loaded this one, and the console still has it.
      return load(revision).then((snapshot) => {
        if (snapshot.revision === revision) return snapshot;
        throw new GatewayError('service_unavailable', { message: 'This revision of the configuration cannot be had.' });
      });
    },
    onChange: (callback) => held.onChange(callback),
    get ready() {
      return held.current !== null;
    },
  };
}
