/** The one place where subjects are made: a static tree, plus inboxes whose parts we mint. No caller's text ever gets in. */
import { createHash, randomBytes } from 'node:crypto';

const root = 'gw.v1';
const word = /^[a-z][a-z0-9-]{0,39}$/;
const inboxForm = /^gw\.v1\.inbox\.[a-z][a-z0-9-]{0,39}\.[A-Za-z0-9_-]{22}$/;

/** All our subjects: nobody may subscribe to them together. */
export const everything = `${root}.>`;

/** A subject that no user of the server may publish to. */
export const forbidden = `${root}.nobody.forbidden`;

/** The JetStream stream of durable events. */
export const eventStream = 'gw_news';

/** Its consumer of a subject: `stats.request` → `stats-request`. */
export const consumerOf = (subject: string): string => subject.replace('.', '-');

/** `router.plan` → `gw.v1.router.plan`. Throws on anything that is not a plain `service.verb`. */
export function subjectOf(name: string): string {
  const words = name.split('.');
  if (words.length !== 2 || !words.every((part) => word.test(part))) throw new Error('a subject is made of a service and a verb');
  return `${root}.${name}`;
}

/** Where the connection's library makes inboxes of its own; named after the process so that permissions can tell them apart. */
export function inboxPrefix(processName: string): string {
  if (!word.test(processName)) throw new Error('a process name on the bus is lower-case letters, digits and dashes');
  return `${root}.inbox.${processName}`;
}

/** A fresh inbox that cannot be guessed (128 bits). */
export const mintInbox = (processName: string): string => `${inboxPrefix(processName)}.${randomBytes(16).toString('base64url')}`;

const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

/** The process with this inbox, where it serves the subject. */
export const directSubject = (subject: string, inbox: string): string => `${subject}.${lastPart(inbox)}`;

/** The process that serves the subject under this name. A digest, because the name may have come from a caller. */
export const namedSubject = (subject: string, name: string): string => `${subject}.${createHash('sha256').update(name).digest('base64url').slice(0, 22)}`;

/** Every process that serves the subject. */
export const toAllSubject = (subject: string): string => `${subject}.all`;

/** Both, for the server's permissions. */
export const directPattern = (subject: string): string => `${subject}.*`;

const direct = /^gw\.v1\.(?!inbox\.)[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*\.[A-Za-z0-9_-]+$/;
/** Whether it reaches one process, or each. */
export const isDirectSubject = (subject: string): boolean => direct.test(subject);

/** Whether a name that came over the bus is an inbox; we publish to nothing else that a peer names. */
export const isInbox = (name: string): boolean => inboxForm.test(name);

/** All that is sent to one process alone. */
export const inboxSubscription = (inbox: string): string => `${inbox}.*`;

/** Frames go to one fixed subject, which the server's routing cache remembers; the stream id is in the frame. */
export const frameSubject = (inbox: string): string => `${inbox}.f`;

/** Only for what the server itself answers (no responders, publish acknowledgements): the id is in the subject. */
export const answerSubject = (inbox: string, key: number): string => `${inbox}.${key.toString(36)}`;

/** The id in an answer subject; NaN when it holds none. */
export const answerKey = (subject: string): number => Number.parseInt(lastPart(subject), 36);
