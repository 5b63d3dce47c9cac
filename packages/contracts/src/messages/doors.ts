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

/** Of whoever holds a snapshot of the configuration. */
const snapshotCalls = ['catalog.revision', 'catalog.load'] as const;
/** Of whoever answers questions to all processes, and of whoever counts who lives. */
const gatheredTells = ['gather.here', 'gather.answer'] as const;
const countingHears = ['gather.here', 'gather.answer'] as const;

export const serviceDoors = {
  edge: {
    calls: ['router.plan', 'translator.run', 'stats.spent', 'stats.keep-bodies', 'console.http', ...snapshotCalls],
    serves: [],
    tells: ['stats.request', 'audit.record', ...gatheredTells],
    hears: ['router.outcome', 'catalog.changed', 'gather.ask', ...countingHears],
    commits: [],
  },
  router: {
    calls: [...snapshotCalls],
    serves: ['router.plan'],
    tells: [...gatheredTells],
    hears: ['router.outcome', 'catalog.changed', 'gather.ask'],
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
    calls: [...snapshotCalls],
    serves: ['script.run'],
    tells: [],
    hears: ['catalog.changed'],
    commits: [],
  },
  stats: {
    calls: [...snapshotCalls],
    serves: ['stats.spent', 'stats.keep-bodies'],
    tells: ['logs.rows'],
    hears: ['logs.watch', 'catalog.changed'],
    commits: ['stats.request', 'audit.record'],
  },
  console: {
    calls: ['router.plan', 'translator.run', 'script.run'],
    serves: ['console.http', 'catalog.revision', 'catalog.load'],
    tells: ['catalog.changed', 'console.user-changed', 'logs.watch', 'gather.ask', 'stats.request', 'audit.record'],
    hears: ['console.user-changed', 'logs.rows', ...countingHears],
    commits: [],
  },
} as const satisfies Record<string, ServiceDoors>;

export type DoorOwner = keyof typeof serviceDoors;

export const isDoorOwner = (name: string): name is DoorOwner => Object.hasOwn(serviceDoors, name);
