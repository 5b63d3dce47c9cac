/** What each service may do on the server, derived from its doors: nothing beyond what it calls, serves, tells and hears. */
import { type DoorOwner, type DurableSubject, durableSubjects, type ServiceDoors, serviceDoors } from '@model-gateway/contracts';
import { consumerOf, newsStream } from './news-stream.ts';
import { directPattern, inboxPrefix, subjectOf } from './subjects.ts';

export interface Permissions {
  publish: readonly string[];
  subscribe: readonly string[];
}

const doorsOf = (service: DoorOwner): ServiceDoors => serviceDoors[service];
const isDurable = (subject: string): subject is DurableSubject => (durableSubjects as readonly string[]).includes(subject);
const owners = Object.keys(serviceDoors) as DoorOwner[];

/** Everything that the service publishes to and subscribes to; `*` stands for a part that processes mint. */
export function permissionsOf(service: DoorOwner): Permissions {
  const { calls, serves, tells, hears, commits } = doorsOf(service);
  return {
    publish: [
      ...[...calls, ...tells].map(subjectOf),
      ...calls.map(subjectOf).map(directPattern),
      ...framesTo(service),
      ...storeApi(tells.some(isDurable), commits),
    ],
    subscribe: [`${inboxPrefix(service)}.>`, ...[...serves, ...hears].map(subjectOf), ...serves.map(subjectOf).map(directPattern)],
  };
}

/** What can be tried without anybody noticing: subjects of our own, and an inbox that nobody has. */
export function probesOf(service: DoorOwner): { subject: string; durable: boolean }[] {
  const { calls, tells } = doorsOf(service);
  return [
    ...[...calls, ...tells].map((door) => ({ subject: subjectOf(door), durable: isDurable(door) })),
    ...[...calls.map(subjectOf).map(directPattern), ...framesTo(service)].map((pattern) => ({ subject: pattern.replace('*', 'nobody'), durable: false })),
  ];
}

/** Inboxes of those who call it or are called by it. */
function framesTo(service: DoorOwner): string[] {
  const meet = (caller: ServiceDoors, server: ServiceDoors): boolean => caller.calls.some((subject) => server.serves.includes(subject));
  const own = doorsOf(service);
  return owners.filter((other) => other !== service && (meet(own, doorsOf(other)) || meet(doorsOf(other), own))).map((other) => `${inboxPrefix(other)}.*.f`);
}

/** Of JetStream's interface the few verbs about our one stream; only who commits news may change it or read from it. */
function storeApi(tellsDurably: boolean, commits: readonly DurableSubject[]): string[] {
  if (!tellsDurably && commits.length === 0) return [];
  const stream = (verb: string): string => `$JS.API.STREAM.${verb}.${newsStream}`;
  const ofConsumer = (consumer: string): string[] => [
    `$JS.API.CONSUMER.CREATE.${newsStream}.${consumer}`,
    `$JS.API.CONSUMER.CREATE.${newsStream}.${consumer}.>`,
    `$JS.API.CONSUMER.DURABLE.CREATE.${newsStream}.${consumer}`,
    `$JS.API.CONSUMER.INFO.${newsStream}.${consumer}`,
    `$JS.API.CONSUMER.MSG.NEXT.${newsStream}.${consumer}`,
    `$JS.ACK.${newsStream}.${consumer}.>`,
  ];
  return [stream('INFO'), stream('CREATE'), ...(commits.length > 0 ? [stream('UPDATE')] : []), ...commits.map(consumerOf).flatMap(ofConsumer)];
}
