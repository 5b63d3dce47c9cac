/** Tries at the start what a service must be allowed to do on the server, and what nobody may do. */
import { dispensableSubjects, durableSubjects, type ServiceName } from '@model-gateway/contracts';
import { headers, type NatsConnection, type PermissionViolationError } from '@nats-io/transport-node';
import { settlesWithin } from '../kit/settle-within.ts';
import { dispensableFrames, probesOf } from './permissions.ts';
import { consumerOf, eventStream, everything, forbidden, isDirectSubject, subjectOf } from './subjects.ts';

/** What a check of the permissions found. */
export interface PermissionReport {
  /** `publish gw.v1.router.plan`: what the service needs and was refused. */
  missing: string[];
  /** What was refused too, but the service does without. */
  dispensable: string[];
  /** Services may not choose among processes: the server's configuration is that of an earlier version. */
  undirected: boolean;
  /** What nobody needs was allowed: the server has no user of this service's own. */
  open: boolean;
}

const nothing = new Uint8Array(0);
/** No stream has this name: the store refuses what is expected there, and keeps nothing. */
const noStream = 'gw_nowhere';
const answerMs = 5000;

export const describeViolation = ({ operation, subject }: PermissionViolationError): string =>
  `${operation === 'subscription' ? 'subscribe' : 'publish'} ${subject}`;
const forbiddenTries = new Set([`publish ${forbidden}`, `subscribe ${everything}`]);
/** Whether the bus works without it, by letting the queue group choose. */
export const isOptional = (violation: string): boolean => isDirectSubject(violation.slice(violation.indexOf(' ') + 1));
const durable: ReadonlySet<string> = new Set(durableSubjects);
/** With a dot at the end: the subject, and what is addressed to one process by it. */
const dispensable = dispensableSubjects.map((name) => `${subjectOf(name)}.`);
const dispensableConsumers = dispensableSubjects.filter((name) => durable.has(name)).map((name) => `.${eventStream}.${consumerOf(name)}.`);

/** Whether it is of a subject that the service does without, of its consumer, or of an inbox that is written to for such subjects alone. */
export function isDispensable(violation: string, service?: ServiceName): boolean {
  const at = violation.indexOf(' ');
  const subject = `${violation.slice(at + 1)}.`;
  if (dispensable.some((one) => subject.startsWith(one))) return true;
  if (dispensableConsumers.some((one) => subject.startsWith('$JS.') && subject.includes(one))) return true;
  if (service === undefined || !violation.startsWith('publish ')) return false;
  return dispensableFrames(service).some((pattern) => subject.startsWith(pattern.slice(0, pattern.indexOf('*'))));
}
/** Whether it is one of the tries that should be refused. */
export const isForbiddenTry = (violation: string): boolean => forbiddenTries.has(violation);

/**
 * `violations` is filled by the connection's error handler. Probes are empty messages, which every listener of ours ignores. null when the
 * server did not answer.
 */
export async function checkPermissions(connection: NatsConnection, service: ServiceName, violations: Set<string>): Promise<PermissionReport | null> {
  violations.clear();
  for (const { subject, durable } of probesOf(service)) {
    if (durable) connection.publish(subject, nothing, { headers: expectedNowhere() });
    else connection.publish(subject, nothing);
  }
  connection.publish(forbidden, nothing);
  // Given up in the same breath: on an open server nothing comes of it.
  connection.subscribe(everything, { callback: () => undefined }).unsubscribe();
  // The server answers in order: what it refuses, then the flush.
  let answered = false;
  const flushed = connection.flush().then(() => {
    answered = true;
  });
  await settlesWithin(flushed, answerMs);
  if (!answered) return null;
  await new Promise((resolve) => setImmediate(resolve));
  return {
    missing: [...violations].filter((violation) => !isForbiddenTry(violation) && !isOptional(violation) && !isDispensable(violation, service)),
    dispensable: [...violations].filter((violation) => isDispensable(violation, service) && !isOptional(violation)),
    undirected: [...violations].some((violation) => isOptional(violation) && !isDispensable(violation, service)),
    open: [...forbiddenTries].some((violation) => !violations.has(violation)),
  };
}

function expectedNowhere() {
  const expected = headers();
  expected.set('Nats-Expected-Stream', noStream);
  return expected;
}
