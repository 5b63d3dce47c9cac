/** Stores one row per finished request: consumes durable messages and commits them in batches. */
import type { Bus, Disposable } from '@model-gateway/bus';
import type { CatalogWatcher } from '@model-gateway/catalog';
import type { StatsConfig, TurnsConfig } from '@model-gateway/config';
import type { Snapshot, SpendOwner } from '@model-gateway/contracts';
import type { PriceOf } from '@model-gateway/model-catalog';
import type { Keyring } from '@model-gateway/secrets';
import type { Service } from '@model-gateway/service-runtime';
import { guardStorage, type Storage } from '@model-gateway/storage';
import type { Logger, Metrics, Redactor } from '@model-gateway/telemetry';
import { keepAudit } from './audit/keep-audit.ts';
import { createCleaner } from './bodies/clean-text.ts';
import { keepBodies } from './bodies/keep-bodies.ts';
import { createBudgetWatch } from './budgets/watch-budgets.ts';
import { createSetAside } from './dead-letters/set-aside.ts';
import { createLiveLogFeed, type LiveLogFeed } from './live-log/live-log-feed.ts';
import { keepRows, type RowKeeper } from './rows/keep-rows.ts';
import { keepTasks } from './tasks/keep-tasks.ts';
import { keepTurns } from './turns/keep-turns.ts';
import { createUpkeep } from './upkeep.ts';

/** What the stats service is built from. */
export interface StatsDeps {
  bus: Bus;
  storage: Storage;
  logger: Logger;
  /** What models cost, for rows that come without. */
  priceOf: PriceOf;
  /** Where prices come from: rows wait until there is a configuration to price them by. Absent: `priceOf` needs none. */
  catalog?: Pick<CatalogWatcher, 'start' | 'stop' | 'ready' | 'onChange' | 'current' | 'at'>;
  metrics?: Metrics;
  /** What bodies are searched for before they are stored. Absent: none are taken. */
  secrets?: { keyring: Keyring; redactor: Redactor };
  keep: StatsConfig;
  /** Absent, or without `secrets`: no turns are kept. Switched off, the owners of what upstreams keep are all that comes to be stored. */
  turns?: TurnsConfig;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

/** What tasks hold is read first: of one that ends in between both figures count it, rather than neither. */
async function answerSpent(owners: readonly SpendOwner[], { tasks, requests }: Storage): Promise<{ micros: number[]; tasks: number[] }> {
  const held = await tasks.held(owners);
  return { micros: await requests.spent(owners), tasks: held };
}

/** Stopping leaves the storage open: who opened it closes it. */
export function createStats({ bus, storage, logger, priceOf, catalog, metrics, secrets, keep, turns: turnsConfig, now = Date.now }: StatsDeps): Service {
  const guard = guardStorage({ storage, logger });
  const upkeep = createUpkeep({ storage, logger, keep, snapshot: () => catalog?.current() ?? null, now });
  const budgets = createBudgetWatch({ requests: storage.requests, snapshot: () => catalog?.current() ?? null, logger, metrics, now });
  let rows: RowKeeper | undefined;
  let answers: Disposable | undefined;
  let audit: Disposable | undefined;
  let bodies: Disposable | undefined;
  let turns: Disposable | undefined;
  let tasks: Disposable | undefined;
  let feed: LiveLogFeed | undefined;
  let stopping = false;
  /** Messages may arrive before the first snapshot: dead letters are then searched only for well-known forms of credentials. */
  const clean = createCleaner({ secrets, logger, snapshot: () => catalog?.current() ?? null });
  const setAside = createSetAside({ storage, logger, metrics, clean, now });
  /** The current snapshot if it has this revision; another process may have received a later one first. */
  const snapshotSince = (revision: number): Snapshot | null | Promise<Snapshot> => {
    const now = catalog?.current() ?? null;
    return !catalog || (now && now.revision >= revision) ? now : catalog.at(revision);
  };
  const open = (): void => {
    if (!stopping) rows = keepRows({ bus, storage, logger, priceOf, setAside, publish: (rowsToPublish) => feed?.publish(rowsToPublish), now });
  };
  const whenPriced = (callback: () => void): void => {
    if (!catalog || catalog.ready) return callback();
    const forget = catalog.onChange(() => {
      forget();
      callback();
    });
  };
  return {
    name: 'stats',
    async start() {
      await guard.start();
      await catalog?.start();
      // Messages wait on the bus until the tables exist and prices are known.
      guard.whenMigrated(() => {
        if (stopping) return;
        audit = keepAudit({ bus, storage, logger, setAside, now });
        if (secrets) bodies = keepBodies({ bus, storage, logger, ...secrets, snapshot: snapshotSince });
        if (secrets && turnsConfig) turns = keepTurns({ bus, storage, keyring: secrets.keyring, logger, config: turnsConfig, setAside, now });
        if (secrets) tasks = keepTasks({ bus, storage, keyring: secrets.keyring, logger, now });
        upkeep.start();
        budgets.start();
        feed = createLiveLogFeed(bus);
        answers = bus.serve({ ask: { 'stats.spent': ({ owners }) => answerSpent(owners, storage) } });
        whenPriced(open);
      });
    },
    async stop() {
      stopping = true;
      guard.stop();
      upkeep.stop();
      budgets.stop();
      await Promise.all([rows?.dispose(), answers?.dispose(), audit?.dispose(), bodies?.dispose(), turns?.dispose(), tasks?.dispose(), feed?.dispose()]);
      await catalog?.stop();
    },
    health() {
      const reasons = [
        ...(bus.connected ? [] : ['bus']),
        ...(bus.stats().refusedListeners === 0 ? [] : ['events']),
        ...(guard.up && !rows?.failing ? [] : ['storage']),
        ...(!catalog || catalog.ready ? [] : ['catalog']),
        ...(stopping ? ['draining'] : []),
      ];
      return { ready: reasons.length === 0, reasons };
    },
  };
}
