/**
 * Which service uses which subjects of the bus. The permissions of each service's user on the NATS server are derived from this table
 * (`packages/bus`), and an architecture test compares it with the services' sources. A subject missing here is refused on first use, with a log line
 * that names it.
 */
import type { AskSubjects, DurableSubject, EventSubjects, OpenSubjects } from './subjects.ts';

type CallSubject = keyof AskSubjects | keyof OpenSubjects;

/** The subjects of one service, by how it uses them. */
export interface ServiceSubjects {
  /** Subjects it asks or opens. */
  calls: readonly CallSubject[];
  /** Subjects it serves. */
  serves: readonly CallSubject[];
  /** Events it publishes, durable ones included. */
  publishes: readonly (keyof EventSubjects)[];
  /** Events it subscribes to. */
  listens: readonly (keyof EventSubjects)[];
  /** Durable events it consumes. */
  commits: readonly DurableSubject[];
}

/** For services that hold the master key and the configuration with its sealed values. */
const snapshotCalls = ['catalog.revision', 'catalog.load'] as const;
/** For services that hold the configuration without sealed values. */
const redactedSnapshotCalls = ['catalog.revision', 'catalog.load-redacted'] as const;
/** For services that answer gathered questions or count live processes. */
const gatherEvents = ['gather.here', 'gather.answer'] as const;
const gatherReplies = ['gather.here', 'gather.answer'] as const;

/** Services that run alone. */
const single = {
  edge: {
    calls: [
      'router.plan',
      'translator.run',
      'translator.turns',
      'translator.realtime',
      'realtime.verification-keys',
      'realtime.mint-key',
      'turns.write',
      'edge.stream',
      'mcp.exchange',
      'stats.spent',
      'stats.keep-bodies',
      'console.http',
      ...redactedSnapshotCalls,
    ],
    serves: ['edge.stream'],
    publishes: ['stats.request', 'audit.violation', ...gatherEvents],
    listens: ['router.outcome', 'catalog.changed-redacted', 'gather.ask', ...gatherReplies],
    commits: [],
  },
  router: {
    calls: [...redactedSnapshotCalls],
    serves: ['router.plan'],
    publishes: [...gatherEvents],
    listens: ['router.outcome', 'catalog.changed-redacted', 'gather.ask'],
    commits: [],
  },
  translator: {
    calls: ['router.plan', 'script.run', 'stats.tasks', 'sso.token', 'turns.read', 'turns.write', ...snapshotCalls],
    serves: ['translator.run', 'translator.turns', 'translator.realtime', 'realtime.verification-keys', 'realtime.mint-key'],
    publishes: ['router.outcome', 'stats.request', 'turns.finished', 'turns.alive', ...gatherEvents],
    listens: ['catalog.changed', 'turns.cancelled', 'gather.ask', ...gatherReplies],
    commits: [],
  },
  'script-runner': {
    calls: ['catalog.scripts'],
    serves: ['script.run'],
    publishes: [],
    listens: [],
    commits: [],
  },
  'mcp-aggregator': {
    calls: ['catalog.mcp-secrets', 'catalog.mcp-tools', ...redactedSnapshotCalls],
    serves: ['mcp.exchange', 'mcp.test-tool'],
    publishes: ['stats.tool', 'audit.tool', ...gatherEvents],
    listens: ['catalog.changed-redacted', 'mcp.refresh', 'gather.ask', ...gatherReplies],
    commits: [],
  },
  stats: {
    calls: [...snapshotCalls],
    serves: ['stats.spent', 'stats.tasks', 'stats.keep-bodies', 'turns.read', 'turns.write'],
    publishes: ['logs.rows', 'turns.cancelled'],
    listens: ['logs.watch', 'catalog.changed', 'turns.alive'],
    commits: ['stats.request', 'stats.tool', 'audit.record', 'audit.violation', 'audit.tool', 'turns.finished'],
  },
  console: {
    calls: ['router.plan', 'translator.run', 'translator.turns', 'script.run', 'turns.read', 'turns.write', 'mcp.test-tool'],
    serves: [
      'console.http',
      'sso.token',
      'catalog.revision',
      'catalog.scripts',
      'catalog.load',
      'catalog.load-redacted',
      'catalog.mcp-secrets',
      'catalog.mcp-tools',
    ],
    publishes: [
      'catalog.changed',
      'catalog.changed-redacted',
      'console.user-changed',
      'logs.watch',
      'mcp.refresh',
      'gather.ask',
      'stats.request',
      'audit.record',
    ],
    listens: ['console.user-changed', 'logs.rows', ...gatherReplies],
    commits: [],
  },
} as const satisfies Record<string, ServiceSubjects>;

/** Services that are several others in one process, which reach one another without the bus. */
export const compositions = { 'data-plane': ['edge', 'router', 'translator'] } as const satisfies Record<string, readonly (keyof typeof single)[]>;

/** Of these also a process of the same composition is called, by its name. */
const calledByName: readonly CallSubject[] = ['edge.stream'];
/** What the key holder among the parts reads for all of them. */
const copies: readonly string[] = ['catalog.load-redacted', 'catalog.changed-redacted'];

/** What the parts use together, without what stays in the process. */
function composed(parts: readonly (keyof typeof single)[]): ServiceSubjects {
  const all = <K extends keyof ServiceSubjects>(verb: K): ServiceSubjects[K][number][] => [
    ...new Set(parts.flatMap((part): ServiceSubjects[K][number][] => [...(single[part] as ServiceSubjects)[verb]])),
  ];
  const serves = all('serves');
  return {
    calls: all('calls').filter((subject) => !copies.includes(subject) && (!serves.includes(subject) || calledByName.includes(subject))),
    serves,
    publishes: all('publishes'),
    listens: all('listens').filter((subject) => !copies.includes(subject)),
    commits: all('commits'),
  };
}

export const serviceSubjects = { ...single, 'data-plane': composed(compositions['data-plane']) } satisfies Record<string, ServiceSubjects>;

/** Services that may be unknown to a server whose configuration is that of the version before them: the others do without them. */
export const dispensableServices = ['data-plane'] as const satisfies readonly (keyof typeof serviceSubjects)[];

/** Subjects that their services do without, so that they also start where the server's configuration is that of the version before the subject. */
export const dispensableSubjects = [
  ...([
    'catalog.scripts',
    'edge.stream',
    'stats.tasks',
    'sso.token',
    'translator.realtime',
    'realtime.verification-keys',
    'realtime.mint-key',
    'catalog.mcp-secrets',
    'catalog.mcp-tools',
    'mcp.exchange',
    'mcp.test-tool',
    'mcp.refresh',
    'stats.tool',
    'audit.tool',
  ] as const),
  ...(['translator.turns', 'turns.read', 'turns.write', 'turns.finished', 'turns.alive', 'turns.cancelled'] as const),
] as const satisfies readonly (CallSubject | keyof EventSubjects)[];

export type ServiceName = keyof typeof serviceSubjects;

/** Services that get the master key, and with it the configuration's sealed values. */
export const keyHolders = ['translator', 'data-plane', 'stats', 'console'] as const satisfies readonly ServiceName[];

export const holdsMasterKey = (service: string): boolean => (keyHolders as readonly string[]).includes(service);

export const isServiceName = (name: string): name is ServiceName => Object.hasOwn(serviceSubjects, name);
