/** What each service may do on the server, derived from its subjects: nothing beyond what it calls, serves, publishes and subscribes to. */
import {
  type DurableSubject,
  dispensableServices,
  dispensableSubjects,
  durableSubjects,
  earlierSubjects,
  type ServiceName,
  type ServiceSubjects,
  serviceSubjects,
} from '@model-gateway/contracts';
import { consumerOf, directPattern, eventStream, inboxPrefix, subjectOf } from './subjects.ts';

/** Subjects that a user of the server may publish and subscribe to. */
export interface Permissions {
  publish: readonly string[];
  subscribe: readonly string[];
}

const subjectsOfService = (service: ServiceName): ServiceSubjects => serviceSubjects[service];
const isDurable = (subject: string): subject is DurableSubject => (durableSubjects as readonly string[]).includes(subject);
const owners = Object.keys(serviceSubjects) as ServiceName[];

/** Everything that the service publishes to and subscribes to; `*` stands for a part that processes mint. */
export function permissionsOf(service: ServiceName): Permissions {
  const { calls, serves, publishes, listens, commits } = subjectsOfService(service);
  return {
    publish: [
      ...[...calls, ...publishes, ...earlierOf(publishes)].map(subjectOf),
      ...calls.map(subjectOf).map(directPattern),
      ...framesTo(service),
      ...storeApi(publishes.some(isDurable), commits),
    ],
    subscribe: [`${inboxPrefix(service)}.>`, ...[...serves, ...listens].map(subjectOf), ...serves.map(subjectOf).map(directPattern)],
  };
}

/** Processes of the version before, which do not serve without them, share the server during an upgrade: the version after this one leaves them out. */
const earlierOf = (publishes: readonly string[]): string[] =>
  publishes.filter(isDurable).flatMap((subject) => (earlierSubjects[subject] === undefined ? [] : [earlierSubjects[subject]]));

/** What can be tried without anybody noticing: subjects of our own, and an inbox that nobody has. */
export function probesOf(service: ServiceName): { subject: string; durable: boolean }[] {
  const { calls, publishes } = subjectsOfService(service);
  return [
    ...[...calls, ...publishes].map((name) => ({ subject: subjectOf(name), durable: isDurable(name) })),
    ...[...calls.map(subjectOf).map(directPattern), ...framesTo(service)].map((pattern) => ({ subject: pattern.replace('*', 'nobody'), durable: false })),
  ];
}

const needed = (subject: string): boolean => !(dispensableSubjects as readonly string[]).includes(subject);
const dispensableInboxes: readonly string[] = dispensableServices.map((name) => framesOf(name));

/** Inboxes that the service writes to for the sake of subjects alone that it does without, or of services. */
export function dispensableFrames(service: ServiceName): string[] {
  const others = framesTo(service, needed).filter((pattern) => !dispensableInboxes.includes(pattern));
  return framesTo(service).filter((pattern) => !others.includes(pattern));
}

/** Inboxes of those who call it or are called by it, of its own kind too. */
function framesTo(service: ServiceName, counts: (subject: string) => boolean = () => true): string[] {
  const meet = (caller: ServiceSubjects, server: ServiceSubjects): boolean =>
    caller.calls.some((subject) => counts(subject) && server.serves.includes(subject));
  const own = subjectsOfService(service);
  return owners.filter((other) => meet(own, subjectsOfService(other)) || meet(subjectsOfService(other), own)).map(framesOf);
}

function framesOf(service: ServiceName): string {
  return `${inboxPrefix(service)}.*.f`;
}

/** Of JetStream's interface the few verbs about our one stream; only the service that commits events may change it or read from it. */
function storeApi(publishesDurably: boolean, commits: readonly DurableSubject[]): string[] {
  if (!publishesDurably && commits.length === 0) return [];
  const stream = (verb: string): string => `$JS.API.STREAM.${verb}.${eventStream}`;
  const ofConsumer = (consumer: string): string[] => [
    `$JS.API.CONSUMER.CREATE.${eventStream}.${consumer}`,
    `$JS.API.CONSUMER.CREATE.${eventStream}.${consumer}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${eventStream}.${consumer}`,
    `$JS.API.CONSUMER.INFO.${eventStream}.${consumer}`,
    `$JS.API.CONSUMER.MSG.NEXT.${eventStream}.${consumer}`,
    `$JS.ACK.${eventStream}.${consumer}.>`,
  ];
  return [stream('INFO'), stream('CREATE'), ...(commits.length > 0 ? [stream('UPDATE')] : []), ...commits.map(consumerOf).flatMap(ofConsumer)];
}
