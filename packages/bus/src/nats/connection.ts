/** The connection: connects in the background, reconnects forever, refuses to publish while it is down, and never throws out of a callback. */
import type { ServiceName } from '@model-gateway/contracts';
import {
  connect,
  type Msg,
  type MsgHdrs,
  type NatsConnection,
  type NodeConnectionOptions,
  PermissionViolationError,
  type Subscription,
} from '@nats-io/transport-node';
import { backOffMs } from '../kit/back-off.ts';
import type { BusLogger } from '../kit/logger.ts';
import { settlesWithin } from '../kit/settle-within.ts';
import { connectionOptions, type NatsTls, serverHosts, serversInTurn } from './connection-options.ts';
import { checkPermissions, describeViolation, isDispensable, isForbiddenTry, isOptional } from './permission-check.ts';

/** Options of the connection. */
export interface ServerConnectionOptions {
  /** One or several, separated by commas. Credentials in it are used and never logged. */
  url: string;
  /** Process name: `edge`, `translator`. Part of its inboxes, shown in the server's monitor. */
  name: string;
  logger: BusLogger;
  natsOptions?: NodeConnectionOptions;
  /** Files that TLS is spoken with. */
  tls?: NatsTls | undefined;
  /** The service whose permissions are checked before the connection counts; absent: no check. */
  permissions?: { service: ServiceName; required: boolean };
}

interface Registration {
  subject: string;
  queue: string | undefined;
  receive: (message: Msg) => void;
  subscription: Subscription | null;
}

/** How long a subscription's last messages may take to arrive when it is given up. */
const drainSubscriptionMs = 2000;
/** Delay before missing permissions are checked again. */
const lookAgainMs = 3000;
/** The same when the connection broke during the check. */
const askAgainMs = 200;
/** Violations remembered for one connection; inboxes of peers come and go. */
const maxViolations = 200;
/** How often it is looked into why a lost server stays away. */
const explainMs = 5000;
/** A reason that stays is logged again after this. */
const reportAgainMs = 60_000;

/** One connection to the server, made again whenever it breaks. */
export class ServerConnection {
  /** Up, and allowed what it needs. */
  connected = false;
  connection: NatsConnection | null = null;
  private readonly options: ServerConnectionOptions;
  private readonly registrations = new Set<Registration>();
  private readonly watchers: ((connected: boolean) => void)[] = [];
  /** The server takes what is published, though the watchers may not have been called yet. */
  private usable = false;
  private admitted = false;
  /** What the server refused since the last check. */
  private readonly violations = new Set<string>();
  private openReported = false;
  private undirectedReported = false;
  private closed = false;
  private stopWaiting: (() => void) | null = null;
  /** Ends the present connection's life here, whatever becomes of it. */
  private leave: (() => void) | null = null;
  private readonly chooseServer = serversInTurn();
  /** Why the server cannot be reached, as logged since `reportedAt`: several servers may have a reason each. */
  private readonly reported = new Set<string>();
  private reportedAt = 0;
  private readonly ended: Promise<void>;

  constructor(options: ServerConnectionOptions) {
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
    if (!this.usable || !this.connection) return false;
    try {
      this.connection.publish(subject, payload, reply === undefined ? undefined : headers ? { reply, headers } : { reply });
      return true;
    } catch (error) {
      this.options.logger.error({ error, bytes: payload.length }, 'a bus frame could not be published');
      return false;
    }
  }

  /** Stays subscribed over reconnections, until the returned function is called; that resolves when the messages under way have been handled. */
  subscribe(subject: string, queue: string | undefined, onMessage: (message: Msg) => void): () => Promise<void> {
    const registration: Registration = { subject, queue, receive: onMessage, subscription: null };
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

  /** Writes out what was published, and a ping behind it; resolves with the server's answer. null while there is nobody to ask. */
  ping(): Promise<void> | null {
    return this.usable && this.connection ? this.connection.flush() : null;
  }

  /** Resolves when the server has seen everything sent so far, or false after a while. */
  async flush(): Promise<boolean> {
    return this.connected && this.connection ? settlesWithin(this.connection.flush(), drainSubscriptionMs) : false;
  }

  /**
   * The server does not answer: the next connection is made, to another one where there is one. The library would wait until the server has taken all
   * that was written to it, which one that hangs never does.
   */
  giveUp(): void {
    if (!this.connection || !this.leave) return;
    this.options.logger.warn({ server: this.connection.getServer() }, 'the bus server does not answer: its connection is given up');
    void this.connection.close().catch(() => undefined);
    this.leave();
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
        const connection = await connect({ ...connectionOptions(this.options), reconnectToServer: this.chooseServer });
        tries = 0;
        await this.live(connection);
      } catch (error) {
        this.reportUnreachable(error);
      }
      if (!this.closed) await this.wait(backOffMs(tries + 1, 100, 2000));
    }
  }

  private reportUnreachable(error: unknown): void {
    const reason = describe(error);
    const now = performance.now();
    if (now - this.reportedAt >= reportAgainMs) this.reported.clear();
    if (this.reported.has(reason)) return;
    if (this.reported.size === 0) this.reportedAt = now;
    this.reported.add(reason);
    this.options.logger.warn(
      { error: reason, servers: serverHosts(this.options.url) },
      'the bus server cannot be reached: see to it, or to NATS_URL and NATS_TLS_…; it is tried again all the time',
    );
  }

  /** The library keeps to itself why it cannot reconnect: a connection of its own finds out, as long as that lasts. */
  private async explain(connection: NatsConnection): Promise<void> {
    const lasts = (): boolean => !this.closed && this.connection === connection && !this.usable;
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, explainMs).unref());
      if (!lasts()) return;
      try {
        const probe = await connect({ ...connectionOptions(this.options), reconnect: false });
        await probe.close();
      } catch (error) {
        if (lasts()) this.reportUnreachable(error);
      }
    }
  }

  /** One connection, until it is closed for good. The library reconnects it meanwhile. */
  private async live(connection: NatsConnection): Promise<void> {
    if (this.closed) return connection.close();
    this.connection = connection;
    this.usable = true;
    this.reported.clear();
    for (const registration of this.registrations) this.attach(registration);
    this.admit(connection);
    const left = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    await Promise.race([this.follow(connection), left]);
    this.leave = null;
    this.down();
    this.admitted = false;
    this.connection = null;
  }

  private async follow(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (this.connection !== connection) continue;
      if (status.type === 'disconnect') this.lose(connection);
      else if (status.type === 'reconnect') this.up();
      else if (status.type === 'error') this.onError(status.error);
    }
  }

  private lose(connection: NatsConnection): void {
    const wasUsable = this.usable;
    this.down();
    if (wasUsable) void this.explain(connection);
  }

  private down(): void {
    this.usable = false;
    this.change(false);
  }

  /** Whether the server has refused to take this, which the service does without. */
  refuses(subject: string): boolean {
    const violation = `publish ${subject}`;
    return this.violations.has(violation) && isDispensable(violation);
  }

  private up(): void {
    this.usable = true;
    this.reported.clear();
    // The permissions may have been renewed meanwhile.
    for (const violation of this.violations) if (isDispensable(violation, this.options.permissions?.service)) this.violations.delete(violation);
    if (this.admitted) this.change(true);
  }

  /** The connection counts once the server allows what this service needs. */
  private admit(connection: NatsConnection): void {
    const { permissions, logger } = this.options;
    this.admitted = permissions === undefined;
    if (!permissions) return this.change(true);
    this.look(connection, permissions).catch((error: unknown) => logger.error({ error: describe(error) }, 'the permissions of the bus user cannot be read'));
  }

  private async look(connection: NatsConnection, { service, required }: { service: ServiceName; required: boolean }): Promise<void> {
    while (!this.closed && this.connection === connection && !this.admitted) {
      // Whatever was refused before is gone for the library: it may be allowed by now.
      for (const registration of this.registrations) if (registration.subscription?.isClosed()) this.attach(registration);
      const report = this.usable ? await checkPermissions(connection, service, this.violations) : null;
      if (report && report.missing.length === 0 && !(report.open && required)) {
        this.admitted = true;
        if (report.open) this.reportOpen();
        if (report.dispensable.length > 0) this.reportDispensable(report.dispensable);
        if (report.undirected) this.reportUndirected();
        if (this.usable) this.change(true);
        return;
      }
      if (report) this.refuse(report.missing);
      await new Promise((resolve) => setTimeout(resolve, report ? lookAgainMs : askAgainMs).unref());
    }
  }

  private refuse(missing: readonly string[]): void {
    if (missing.length > 0) this.options.logger.error({ missing }, 'the bus server refuses what this service needs: give its user these permissions');
    else this.options.logger.error({}, 'the bus server lets anybody do anything, and NATS_PERMISSIONS=require: give each service a user of its own');
  }

  private reportOpen(): void {
    if (this.openReported) return;
    this.openReported = true;
    this.options.logger.warn({}, 'the bus server lets this service do more than it needs: give each service a user of its own (deploy/nats/nats.conf)');
  }

  private reportDispensable(missing: readonly string[]): void {
    this.options.logger.warn({ missing }, 'the bus server refuses what this service can do without: renew the permissions (deploy/nats/nats.conf)');
  }

  private reportUndirected(): void {
    if (this.undirectedReported) return;
    this.undirectedReported = true;
    this.options.logger.warn(
      {},
      'the bus server does not let this service choose among processes, so that a stopped one gets its share: renew the permissions (deploy/nats/nats.conf)',
    );
  }

  private onError(error: unknown): void {
    const { logger, permissions } = this.options;
    // What it says to each try to reconnect is logged once for each reason.
    if (!(error instanceof PermissionViolationError))
      return this.usable ? logger.warn({ error: describe(error) }, 'the bus server reported an error') : this.reportUnreachable(error);
    const violation = describeViolation(error);
    const known = this.violations.has(violation) || this.violations.size >= maxViolations;
    this.violations.add(violation);
    // During the permission check, the check itself reports.
    const dispensable = isDispensable(violation, permissions?.service);
    if (!dispensable && isOptional(violation)) return permissions && !this.admitted ? undefined : this.reportUndirected();
    if (known || (permissions && (isForbiddenTry(violation) || !this.admitted))) return;
    if (dispensable) return this.reportDispensable([violation]);
    logger.error({ violation }, 'the bus server refuses what this service needs: give its user this permission');
    // A refused subscription misses messages silently: the service is not ready until it is subscribed again.
    if (!permissions || error.operation !== 'subscription' || !this.connection) return;
    this.change(false);
    this.admit(this.connection);
  }

  private attach(registration: Registration): void {
    const { connection } = this;
    if (!connection || connection.isClosed()) return;
    const { subject, queue, receive: onMessage } = registration;
    const callback = (error: Error | null, message: Msg) => {
      // An exception here would end the library's read loop, and with it the connection, silently.
      try {
        if (!error) onMessage(message);
        else if (!(error instanceof PermissionViolationError)) this.options.logger.warn({ error: describe(error) }, 'a bus subscription failed');
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
