/**
 * Alerts: checks which conditions hold, queues a message for each that begins (and for an upstream that recovered), and sends the queue. Every console does both; a beginning is
 * recorded once, and each message is claimed by one console. If a console is killed between sending a message and recording that, another sends it again.
 */
import type { AlertEvent } from '@model-gateway/contracts';
import type { AlertMessage, NewAlert } from '@model-gateway/storage';
import type { ConsoleContext } from '../context.ts';
import { Problem } from '../problem.ts';
import {
  budgets,
  type Condition,
  endedLogins,
  expiringKeys,
  failingUpstreams,
  missingPrices,
  recovered,
  strangeAddresses,
  upstreamState,
} from './conditions.ts';
import { type Channel, deliver, type Undelivered } from './deliver.ts';

/** The alerts of one console. */
export interface AlertWatch {
  start(): void;
  stop(): Promise<void>;
  /** Reports an event, which unlike a condition has no duration. Never rejects. */
  notify(condition: Condition): Promise<void>;
  /** Sends a test message to one channel at once, and records it. Resolves to null if the channel accepted it. */
  test(channel: Channel): Promise<Undelivered | null>;
  /** Mail to one person by the first channel that sends mail. Throws 409 where there is none. */
  mail(recipient: string, condition: Condition): Promise<void>;
}

const lookEveryMs = 15_000;
/** For checks that read all keys or the statistics. */
const lookSlowlyEveryMs = 60_000;
const sendEveryMs = 3_000;
/** Longer than sending a message may take. */
const leaseMs = 60_000;
const sentAtOnce = 10;
const minuteMs = 60_000;
/** Wait after each failed delivery; after the last one the message is given up. */
export const backoffMs = [10_000, 30_000, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs, 60 * minuteMs, 120 * minuteMs];

type Look = (context: ConsoleContext) => Promise<Condition[]>;
/** Which check finds an event's conditions. The ids of these conditions begin with the event. */
const quickLooks: readonly (readonly [AlertEvent, Look])[] = [
  ['upstream_failing', failingUpstreams],
  ['budget', budgets],
  ['key_new_address', strangeAddresses],
  ['credential_needs_login', endedLogins],
];
const slowLooks: readonly (readonly [AlertEvent, Look])[] = [
  ['price_missing', missingPrices],
  ['key_expiring', expiringKeys],
];

export function createAlerts(context: ConsoleContext): AlertWatch {
  const work = new Work(context);
  const timers: NodeJS.Timeout[] = [];
  const running = new Set<Promise<void>>();
  let stopped = false;
  /** Waits after each run, so that a slow database does not get more and more queries. */
  const repeat = (run: () => Promise<void>, everyMs: number, firstMs: number) => {
    const next = async () => {
      const one = run().catch((error: unknown) => context.logger.warn({ error }, 'alerts could not be processed, and are tried again'));
      running.add(one);
      await one;
      running.delete(one);
      if (!stopped) arm(everyMs);
    };
    const arm = (ms: number) => timers.push(setTimeout(() => void next(), ms).unref());
    arm(firstMs);
  };
  return {
    start() {
      repeat(() => work.look(quickLooks), lookEveryMs, 1_000);
      repeat(() => work.look(slowLooks), lookSlowlyEveryMs, 2_000);
      repeat(() => work.send(), sendEveryMs, 500);
    },
    async stop() {
      stopped = true;
      for (const timer of timers) clearTimeout(timer);
      await Promise.all(running);
      await work.sent();
    },
    notify: (condition) =>
      work.notify(condition).catch((error: unknown) => context.logger.warn({ error, event: condition.event }, 'an alert could not be stored')),
    test: (channel) => work.test(channel),
    mail: (recipient, condition) => work.mail(recipient, condition),
  };
}

class Work {
  readonly #context: ConsoleContext;
  readonly #sending = new Set<Promise<void>>();

  constructor(context: ConsoleContext) {
    this.#context = context;
  }

  async look(looks: readonly (readonly [AlertEvent, Look])[]): Promise<void> {
    const { storage } = this.#context;
    for (const [event, look] of looks) {
      const known = await storage.alerts.states();
      const present = await look(this.#context);
      const channels = await this.#channels();
      const lastOf = new Map(present.map((condition) => [condition.group, condition]));
      for (const condition of present) {
        if (known.has(condition.id) || condition.undecided) continue;
        // Of several levels that are reached at once the highest is reported; the others are known from now on.
        const isReported = condition.group === undefined || lastOf.get(condition.group) === condition;
        await storage.alerts.begin(condition.id, isReported ? await this.#messages(condition, channels) : []);
      }
      const ids = new Set(present.map(({ id }) => id));
      for (const id of known) if (id.startsWith(`${event}:`) && !ids.has(id)) await this.#end(id, channels);
    }
  }

  async #end(id: string, channels: readonly Channel[]): Promise<void> {
    const prefix = upstreamState('');
    const messages = id.startsWith(prefix) ? await this.#messages(await recovered(this.#context, id.slice(prefix.length)), channels) : [];
    await this.#context.storage.alerts.end(id, messages);
  }

  async notify(condition: Condition): Promise<void> {
    const messages = await this.#messages(condition, await this.#channels());
    if (messages.length > 0) await this.#context.storage.alerts.add(messages);
  }

  /** Does not wait for what it sends: a receiver that does not answer holds up nobody else's alerts. */
  async send(): Promise<void> {
    const free = sentAtOnce - this.#sending.size;
    if (free === 0) return;
    const { storage, logger } = this.#context;
    for (const message of await storage.alerts.claim(leaseMs, free)) {
      const one = this.#sendOne(message)
        .catch((error: unknown) => logger.warn({ error, event: message.event }, 'the result of an alert could not be stored'))
        .finally(() => this.#sending.delete(one));
      this.#sending.add(one);
    }
  }

  /** Resolves when everything that is being sent has ended. */
  async sent(): Promise<void> {
    await Promise.all(this.#sending);
  }

  async #sendOne(message: AlertMessage): Promise<void> {
    const { storage, logger, now } = this.#context;
    const channel = (await this.#channels()).find(({ name }) => name === message.channel);
    if (!channel) return storage.alerts.settle(message.id, { state: 'failed', retryAt: null, error: 'the channel is gone or switched off' });
    const fault = await deliver(channel, message, this.#context);
    if (fault === null || fault.isPartial) return storage.alerts.settle(message.id, { state: 'sent', retryAt: null, error: fault?.error ?? null });
    const wait = fault.terminal ? undefined : backoffMs[message.attempts - 1];
    const retryAt = wait === undefined ? null : now() + wait;
    logger.warn({ channel: channel.name, event: message.event, error: fault.error, attempts: message.attempts }, 'an alert was not delivered');
    await storage.alerts.settle(message.id, { state: retryAt === null ? 'failed' : 'waiting', retryAt, error: fault.error });
  }

  async test(channel: Channel): Promise<Undelivered | null> {
    const { storage, mintId, now } = this.#context;
    const content = { title: 'Test of an alert channel', text: `The channel ${channel.name} of the model gateway works.`, data: { channel: channel.name } };
    const message = { id: mintId('alr_'), event: 'test', subject: channel.name, createdAt: now(), content };
    const fault = await deliver(channel, message, this.#context);
    const settled = { state: fault === null || fault.isPartial ? 'sent' : 'failed', error: fault?.error ?? null } as const;
    await storage.alerts.add([{ ...message, channel: channel.name, quietKey: message.id, quietMs: 0, settled }]);
    return fault;
  }

  async mail(recipient: string, condition: Condition): Promise<void> {
    const channel = (await this.#channels()).find(({ kind }) => kind === 'email');
    if (!channel) throw new Problem('conflict', 'There is no enabled alert channel that sends mail.');
    const { id, event, quiet, subject, title, text, data } = condition;
    const content = { title, text, data, recipients: [recipient], only: true };
    await this.#context.storage.alerts.add([
      { id: this.#context.mintId('alr_'), channel: channel.name, event, subject, quietKey: `${quiet}:${id}`, quietMs: 0, content },
    ]);
  }

  /** Those that are enabled. */
  async #channels(): Promise<Channel[]> {
    const stored = await this.#context.storage.catalog.alertChannels.all();
    return stored.filter(({ document }) => document.enabled).map(({ id, document }) => ({ ...document, id }));
  }

  async #messages(condition: Condition, channels: readonly Channel[]): Promise<NewAlert[]> {
    const { event, quiet: quietKey, subject, title, text, data, accessKey } = condition;
    const wanting = channels.filter(({ events }) => events.includes(event));
    if (wanting.length === 0) return [];
    const owner = accessKey !== undefined && wanting.some(({ to_owner }) => to_owner) ? await this.#ownerOf(accessKey) : null;
    return wanting.flatMap(({ name: channel, kind, to, to_owner, quiet_minutes }) => {
      const recipients = to_owner && owner !== null ? [owner] : [];
      if (kind === 'email' && to.length + recipients.length === 0) return [];
      const content = { title, text, data, ...(recipients.length > 0 && { recipients }) };
      return [{ id: this.#context.mintId('alr_'), channel, event, subject, quietKey, quietMs: quiet_minutes * minuteMs, content }];
    });
  }

  async #ownerOf(accessKey: string): Promise<string | null> {
    const owner = (await this.#context.storage.catalog.accessKeys.find(accessKey))?.document.owner ?? '';
    return owner.includes('@') ? owner : null;
  }
}
