/** The connection: comes up in the background, comes back for ever, refuses to publish while it is down, and never throws out of a callback. */
import { connect, type Msg, type MsgHdrs, type NatsConnection, type NodeConnectionOptions, type Subscription } from '@nats-io/transport-node';
import { backOffMs } from '../kit/back-off.ts';
import type { BusLogger } from '../kit/logger.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import { connectionOptions } from './connection-options.ts';

export interface LinkOptions {
  /** One or several, separated by commas. Credentials in it are used and never logged. */
  url: string;
  /** Process name: `edge`, `translator`. Part of its inboxes, shown in the server's monitor. */
  name: string;
  logger: BusLogger;
  natsOptions?: NodeConnectionOptions;
}

interface Registration {
  subject: string;
  queue: string | undefined;
  hear: (message: Msg) => void;
  subscription: Subscription | null;
}

/** How long a subscription's last messages may take to arrive when it is given up. */
const drainSubscriptionMs = 2000;

export class Link {
  connected = false;
  connection: NatsConnection | null = null;
  private readonly options: LinkOptions;
  private readonly registrations = new Set<Registration>();
  private readonly watchers: ((connected: boolean) => void)[] = [];
  private closed = false;
  private stopWaiting: (() => void) | null = null;
  private readonly ended: Promise<void>;

  constructor(options: LinkOptions) {
    this.options = options;
    this.ended = this.run();
  }

  /** Largest payload the server takes; what the protocol's default is before it has said so. */
  get maxPayload(): number {
    return this.connection?.info?.max_payload ?? 1024 * 1024;
  }

  onChange(watch: (connected: boolean) => void): void {
    this.watchers.push(watch);
  }

  /** Whether it went out. Never throws, never buffers for later. */
  publish(subject: string, payload: Uint8Array, reply?: string, headers?: MsgHdrs): boolean {
    if (!this.connected || !this.connection) return false;
    try {
      this.connection.publish(subject, payload, reply === undefined ? undefined : headers ? { reply, headers } : { reply });
      return true;
    } catch (error) {
      this.options.logger.error({ error, bytes: payload.length }, 'a bus frame could not be published');
      return false;
    }
  }

  /** Stays subscribed over reconnections, until the returned function is called; that resolves when what was under way has been heard. */
  subscribe(subject: string, queue: string | undefined, hear: (message: Msg) => void): () => Promise<void> {
    const registration: Registration = { subject, queue, hear, subscription: null };
    this.registrations.add(registration);
    this.attach(registration);
    return async () => {
      this.registrations.delete(registration);
      const { subscription } = registration;
      if (!subscription || subscription.isClosed()) return;
      if (!this.connected) subscription.unsubscribe();
      else if (!(await settlesWithin(subscription.drain(), drainSubscriptionMs))) subscription.unsubscribe();
    };
  }

  /** Resolves when the server has seen everything sent so far, or false after a while. */
  async flush(): Promise<boolean> {
    return this.connected && this.connection ? settlesWithin(this.connection.flush(), drainSubscriptionMs) : false;
  }

  async close(): Promise<void> {
    this.closed = true;
    this.stopWaiting?.();
    const { connection } = this;
    if (connection && !connection.isClosed()) {
      await this.flush();
      await settlesWithin(connection.close(), drainSubscriptionMs);
    }
    this.change(false);
    await settlesWithin(this.ended, drainSubscriptionMs);
  }

  private async run(): Promise<void> {
    for (let tries = 1; !this.closed; tries++) {
      try {
        const connection = await connect(connectionOptions(this.options));
        tries = 0;
        await this.live(connection);
      } catch (error) {
        if (tries === 1 || tries % 20 === 0) this.options.logger.warn({ error: describe(error), tries }, 'the bus server cannot be reached');
      }
      if (!this.closed) await this.wait(backOffMs(tries + 1, 100, 2000));
    }
  }

  /** One connection, until it is closed for good. The library reconnects it meanwhile. */
  private async live(connection: NatsConnection): Promise<void> {
    if (this.closed) return connection.close();
    this.connection = connection;
    for (const registration of this.registrations) this.attach(registration);
    this.change(true);
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') this.change(false);
      else if (status.type === 'reconnect') this.change(true);
      else if (status.type === 'error') this.options.logger.warn({ error: describe(status.error) }, 'the bus server reported an error');
    }
    this.change(false);
    this.connection = null;
  }

  private attach(registration: Registration): void {
    const { connection } = this;
    if (!connection || connection.isClosed()) return;
    const { subject, queue, hear } = registration;
    const callback = (error: Error | null, message: Msg) => {
      // Whatever is thrown here would end the library's read loop, and with it the connection, without a word.
      try {
        if (error) this.options.logger.warn({ error: describe(error) }, 'a bus subscription failed');
        else hear(message);
      } catch (defect) {
        this.options.logger.error({ error: defect }, 'a bus message could not be handled');
      }
    };
    registration.subscription = connection.subscribe(subject, queue === undefined ? { callback } : { queue, callback });
  }

  private change(connected: boolean): void {
    if (this.connected === connected) return;
    this.connected = connected;
    this.options.logger.info({ connected }, connected ? 'the bus is connected' : 'the bus is disconnected');
    for (const watch of this.watchers) {
      try {
        watch(connected);
      } catch (error) {
        this.options.logger.error({ error }, 'a connection watcher threw');
      }
    }
  }

  private wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.stopWaiting = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Connection errors as text: their objects carry options, and those may carry credentials. */
const describe = (error: unknown): string => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));
