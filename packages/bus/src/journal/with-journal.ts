/** A bus whose durable events outlive the process that publishes them. */
import { type DurableSubject, durableSubjects } from '@model-gateway/contracts';
import { GatewayError, isGatewayError } from '@model-gateway/contracts/errors';
import type { Bus } from '../bus.ts';
import { Journal, type JournalOptions } from './journal.ts';

const isDurable = (subject: string): subject is DurableSubject => (durableSubjects as readonly string[]).includes(subject);

/** Edges of earlier versions published violations as ordinary records, and MCP aggregators their rows with all others: both have subjects of their own now. */
function subjectNow(subject: string, event: unknown): string {
  const { action, kind, authority } = (event ?? {}) as { action?: unknown; kind?: unknown; authority?: unknown };
  if (subject === 'audit.record' && action === 'acl.violation') return 'audit.violation';
  // Edges publish rows of calls whose aggregator was lost, and may not use the subject of aggregators.
  return subject === 'stats.request' && kind === 'mcp_call' && authority !== 1 ? 'stats.tool' : subject;
}

/**
 * As `bus`, but durable events that are not acknowledged within 80 ms are on the disk. Publishing resolves as before; what a full queue
 * refuses resolves when it is on the disk, and is published again later.
 */
export function withJournal(bus: Bus, options: JournalOptions): Bus {
  const journal = new Journal(options);
  const isFull = (error: unknown): boolean => isGatewayError(error) && error.code === 'overloaded';
  journal.start(async (subject, id, event) => {
    const now = subjectNow(subject, event);
    // A later version may have left it: the queue of a subject without a listener would never be empty.
    if (!isDurable(now)) throw new GatewayError('internal', { cause: new Error(`${subject} is not a durable subject`) });
    await bus.publishDurable(now, id, event as never);
  });
  return {
    ask: bus.ask.bind(bus),
    open: bus.open.bind(bus),
    publish: bus.publish.bind(bus),
    serve: bus.serve.bind(bus),
    serveAs: bus.serveAs.bind(bus),
    listen: bus.listen.bind(bus),
    listenDurably: bus.listenDurably.bind(bus),
    onConnection: bus.onConnection.bind(bus),
    get connected() {
      return bus.connected;
    },
    stats: () => {
      const stats = bus.stats();
      return { ...stats, outboxItems: Math.max(stats.outboxItems, journal.items) };
    },
    publishDurable(subject, id, event) {
      const kept = journal.add(subject, id, event);
      return bus.publishDurable(subject, id, event).then(kept.done, async (error: unknown) => {
        // Anything but a full queue will not be better another time.
        // A disk that refuses it is as full as the queue.
        if (isFull(error) && (await kept.park().catch(() => false))) return;
        kept.done();
        throw error;
      });
    },
    async drain() {
      await bus.drain();
      await journal.stop();
    },
  };
}
