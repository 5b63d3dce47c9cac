/** The JetStream stream of durable events and its consumers: made on demand, made again when the store was lost. */
import { durableSubjects, serviceSubjects } from '@model-gateway/contracts';
import { AckPolicy, DiscardPolicy, type JetStreamManager, jetstreamManager, RetentionPolicy, StorageType, type StreamConfig } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { consumerOf, eventStream, subjectOf } from './subjects.ts';

const nanosPerMs = 1_000_000;
const maxAgeMs = 7 * 24 * 3600 * 1000;
const duplicateWindowMs = 2 * 60 * 1000;
/** How long a deletion may take a server. */
export const deletionMs = 500;
const smallestStoreBytes = 64 * 1024 * 1024;
/** Messages a consumer may hold unacknowledged: with batches of 128 KiB this bounds what waits in a listener. */
export const maxUnacknowledged = 128;

/** Of a text that may name many subjects. */
const maxNamed = 500;

/** JetStream's error codes that are not failures here. */
const apiCode = { streamNotFound: 10059, streamNameInUse: 10058, noStorage: 10047, consumerExists: 10148 } as const;

export async function eventManager(connection: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(connection, { checkAPI: false, timeout: 5000 });
}

/** How the store of durable events is made. */
interface StoreShape {
  /** Its largest size; less where the server has less. */
  maxBytes: number;
  /** Servers of a cluster that keep each event. */
  replicas: number;
}

/**
 * Makes sure that the stream is there, takes every durable subject and none of what services ask each other, and has as many copies. Resolves with what
 * an operator has to know of how it was made. Rejects when JetStream is away, and when the stream goes on to hand on what it holds.
 */
export async function ensureEventStream(manager: JetStreamManager, shape: StoreShape): Promise<string[]> {
  const subjects = durableSubjects.map(subjectOf);
  try {
    const { config } = await manager.streams.info(eventStream);
    const kept = config.subjects.filter(mayBeDurable);
    const missing = subjects.filter((subject) => !kept.includes(subject));
    const foreign = config.subjects.filter((subject) => !mayBeDurable(subject));
    const wanted = { subjects: [...kept, ...missing] };
    const notes: string[] = [];
    const handed = handsOn(config);
    if (handed !== null) notes.push(await stopHandingOn(manager, wanted, handed));
    else if (missing.length + foreign.length > 0) await manager.streams.update(eventStream, wanted);
    if (foreign.length > 0)
      notes.push(
        `the stream ${eventStream} took ${foreign.join(', ').slice(0, maxNamed)}, which are not durable events, and has stopped: find out who made it so, and delete what it kept of these (nats stream purge ${eventStream} --subject SUBJECT)`,
      );
    // A process that asks for one copy does not know how many there should be.
    if (config.num_replicas < shape.replicas) await manager.streams.update(eventStream, { num_replicas: shape.replicas });
    return notes;
  } catch (error) {
    if (codeOf(error) !== apiCode.streamNotFound) throw error;
    // A server that is just deleting it would share its files with the new one, and lose both (seen with 2.9.10).
    await new Promise((resolve) => setTimeout(resolve, deletionMs));
    await addStream(manager, subjects, shape);
    return [];
  }
}

const durable: ReadonlySet<string> = new Set(durableSubjects);
/** What services ask each other, and tell without keeping it. */
const passing: ReadonlySet<string> = new Set(
  Object.values(serviceSubjects)
    .flatMap(({ calls, serves, publishes, listens }): readonly string[] => [...calls, ...serves, ...publishes, ...listens])
    .filter((subject) => !durable.has(subject))
    .map(subjectOf),
);
const plain = /^gw\.v1\.[a-z][a-z0-9-]*\.[a-z][a-z0-9-]*$/;

/**
 * A neighbour of another version may know subjects that we do not: those stay. Others are taken away: a service that may make the stream could have it
 * keep and republish requests that its own permissions do not let it read.
 */
const mayBeDurable = (subject: string): boolean => plain.test(subject) && !passing.has(subject);

const handsOn = ({ republish, subject_transform }: StreamConfig): string | null =>
  republish ? `republishes to ${republish.dest}` : subject_transform ? `renames ${subject_transform.src}` : null;

/** Resolves with what is to be said of it. Servers before 2.10 let nobody change it, some not even its subjects: there it has to be deleted. */
async function stopHandingOn(manager: JetStreamManager, wanted: Pick<StreamConfig, 'subjects'>, handed: string): Promise<string> {
  const said = `the stream ${eventStream} ${handed}, which the gateway asks of no stream: find out who made it so`;
  try {
    await manager.streams.update(eventStream, { ...wanted, republish: undefined, subject_transform: undefined } as unknown as Partial<StreamConfig>);
  } catch (error) {
    await manager.streams.update(eventStream, wanted).catch(() => undefined);
    throw new Error(`${said}, and delete it (nats stream rm ${eventStream}); it is made anew`, { cause: error });
  }
  return `${said}; it has stopped`;
}

async function addStream(manager: JetStreamManager, subjects: string[], { maxBytes, replicas }: StoreShape): Promise<void> {
  try {
    await manager.streams.add({
      name: eventStream,
      subjects,
      storage: StorageType.File,
      // Each item has one consumer, and is gone when that one has committed it.
      retention: RetentionPolicy.Workqueue,
      // A full store refuses new events, which wait in the outboxes, rather than forget old ones.
      discard: DiscardPolicy.New,
      max_age: maxAgeMs * nanosPerMs,
      max_bytes: maxBytes,
      num_replicas: replicas,
      duplicate_window: duplicateWindowMs * nanosPerMs,
    });
  } catch (error) {
    if (codeOf(error) === apiCode.streamNameInUse) return;
    if (codeOf(error) !== apiCode.noStorage || maxBytes / 2 < smallestStoreBytes) throw error;
    await addStream(manager, subjects, { maxBytes: maxBytes / 2, replicas });
  }
}

/** Makes sure that the durable consumer of a subject is there, and waits as long for acknowledgements as this version would have it. */
export async function ensureEventConsumer(manager: JetStreamManager, subject: string, ackWaitMs: number): Promise<void> {
  const config = {
    durable_name: consumerOf(subject),
    filter_subject: subjectOf(subject),
    ack_policy: AckPolicy.Explicit,
    ack_wait: ackWaitMs * nanosPerMs,
    max_ack_pending: maxUnacknowledged,
  };
  try {
    await manager.consumers.add(eventStream, config);
  } catch (error) {
    if (codeOf(error) !== apiCode.consumerExists) throw error;
    // Made by another version, with its figures. Where they cannot be changed it serves all the same.
    await manager.consumers.update(eventStream, config.durable_name, { ack_wait: config.ack_wait }).catch(() => {});
  }
}

const codeOf = (error: unknown): number | undefined => (error as { code?: number } | null)?.code;
