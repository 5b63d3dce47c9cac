/**
 * Which service has which doors on the bus: what the server's users may do is derived from it (`packages/bus`), and a wall compares it with the
 * services' sources. A subject that stands here too little is refused at the first use, with a line that names it.
 */
import type { AskSubjects, DurableSubject, EventSubjects, OpenSubjects } from './subjects.ts';

type CallSubject = keyof AskSubjects | keyof OpenSubjects;

export interface ServiceSubjects {
  /** Asked or opened by it. */
  calls: readonly CallSubject[];
  /** Answered by it. */
  serves: readonly CallSubject[];
  /** News that it tells, durable ones too. */
  publishes: readonly (keyof EventSubjects)[];
  /** News that it hears as they come. */
  listens: readonly (keyof EventSubjects)[];
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

export const serviceSubjects = {
  edge: {
    calls: ['router.plan', 'translator.run', 'stats.spent', 'stats.keep-bodies', 'console.http', ...redactedSnapshotCalls],
    serves: [],
    publishes: ['stats.request', 'audit.violation', ...gatheredTells],
    listens: ['router.outcome', 'catalog.changed-redacted', 'gather.ask', ...countingHears],
    commits: [],
  },
  router: {
    calls: [...redactedSnapshotCalls],
    serves: ['router.plan'],
    publishes: [...gatheredTells],
    listens: ['router.outcome', 'catalog.changed-redacted', 'gather.ask'],
    commits: [],
  },
  translator: {
    calls: ['router.plan', 'script.run', ...snapshotCalls],
    serves: ['translator.run'],
    publishes: ['router.outcome', 'stats.request', ...gatheredTells],
    listens: ['catalog.changed', 'gather.ask', ...countingHears],
    commits: [],
  },
  'script-runner': {
    calls: [...redactedSnapshotCalls],
    serves: ['script.run'],
    publishes: [],
    listens: ['catalog.changed-redacted'],
    commits: [],
  },
  stats: {
    calls: [...snapshotCalls],
    serves: ['stats.spent', 'stats.keep-bodies'],
    publishes: ['logs.rows'],
    listens: ['logs.watch', 'catalog.changed'],
    commits: ['stats.request', 'audit.record', 'audit.violation'],
  },
  console: {
    calls: ['router.plan', 'translator.run', 'script.run'],
    serves: ['console.http', 'catalog.revision', 'catalog.load', 'catalog.load-redacted'],
    publishes: ['catalog.changed', 'catalog.changed-redacted', 'console.user-changed', 'logs.watch', 'gather.ask', 'stats.request', 'audit.record'],
    listens: ['console.user-changed', 'logs.rows', ...countingHears],
    commits: [],
  },
} as const satisfies Record<string, ServiceSubjects>;

export type ServiceName = keyof typeof serviceSubjects;

/** Who is given the master key, and the configuration with what it opens. */
export const keyHolders = ['translator', 'stats', 'console'] as const satisfies readonly ServiceName[];

export const holdsMasterKey = (service: string): boolean => (keyHolders as readonly string[]).includes(service);

export const isServiceName = (name: string): name is ServiceName => Object.hasOwn(serviceSubjects, name);
