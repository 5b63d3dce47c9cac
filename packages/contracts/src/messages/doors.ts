/**
 * Which service has which doors on the bus: what the server's users may do is derived from it (`packages/bus`), and a wall compares it with the
 * services' sources. A subject that stands here too little is refused at the first use, with a line that names it.
 */
import type { AskSubjects, DurableSubject, NewsSubjects, OpenSubjects } from './subjects.ts';

type CallSubject = keyof AskSubjects | keyof OpenSubjects;

export interface ServiceDoors {
  /** Asked or opened by it. */
  calls: readonly CallSubject[];
  /** Answered by it. */
  serves: readonly CallSubject[];
  /** News that it tells, durable ones too. */
  tells: readonly (keyof NewsSubjects)[];
  /** News that it hears as they come. */
  hears: readonly (keyof NewsSubjects)[];
  /** Durable news that it commits. */
  commits: readonly DurableSubject[];
}

/** Of whoever holds the configuration with its sealed values, and the master key that opens them. */
const snapshotCalls = ['catalog.revision', 'catalog.load'] as const;
/** Of whoever holds it without. */
const redactedSnapshotCalls = ['catalog.revision', 'catalog.load-redacted'] as const;
/** Of whoever answers questions to all processes, and of whoever counts who lives. */
const gatheredTells = ['gather.here', 'gather.answer'] as const;
const countingHears = ['gather.here', 'gather.answer'] as const;

export const serviceDoors = {
  edge: {
    calls: ['router.plan', 'translator.run', 'stats.spent', 'stats.keep-bodies', 'console.http', ...redactedSnapshotCalls],
    serves: [],
    tells: ['stats.request', 'audit.violation', ...gatheredTells],
    hears: ['router.outcome', 'catalog.changed-redacted', 'gather.ask', ...countingHears],
    commits: [],
  },
  router: {
    calls: [...redactedSnapshotCalls],
    serves: ['router.plan'],
    tells: [...gatheredTells],
    hears: ['router.outcome', 'catalog.changed-redacted', 'gather.ask'],
    commits: [],
  },
  translator: {
    calls: ['router.plan', 'script.run', ...snapshotCalls],
    serves: ['translator.run'],
    tells: ['router.outcome', 'stats.request', ...gatheredTells],
    hears: ['catalog.changed', 'gather.ask', ...countingHears],
    commits: [],
  },
  'script-runner': {
    calls: [...redactedSnapshotCalls],
    serves: ['script.run'],
    tells: [],
    hears: ['catalog.changed-redacted'],
    commits: [],
  },
  stats: {
    calls: [...snapshotCalls],
    serves: ['stats.spent', 'stats.keep-bodies'],
    tells: ['logs.rows'],
    hears: ['logs.watch', 'catalog.changed'],
    commits: ['stats.request', 'audit.record', 'audit.violation'],
  },
  console: {
    calls: ['router.plan', 'translator.run', 'script.run'],
    serves: ['console.http', 'catalog.revision', 'catalog.load', 'catalog.load-redacted'],
    tells: ['catalog.changed', 'catalog.changed-redacted', 'console.user-changed', 'logs.watch', 'gather.ask', 'stats.request', 'audit.record'],
    hears: ['console.user-changed', 'logs.rows', ...countingHears],
    commits: [],
  },
} as const satisfies Record<string, ServiceDoors>;

export type DoorOwner = keyof typeof serviceDoors;

/** Who is given the master key, and the configuration with what it opens. */
export const keyHolders = ['translator', 'stats', 'console'] as const satisfies readonly DoorOwner[];

export const holdsMasterKey = (service: string): boolean => (keyHolders as readonly string[]).includes(service);

export const isDoorOwner = (name: string): name is DoorOwner => Object.hasOwn(serviceDoors, name);
