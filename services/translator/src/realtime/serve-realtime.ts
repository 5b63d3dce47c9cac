/** One realtime session from the edge's hand to its end: finds an upstream, relays, and leaves its rows whatever happens. */
import { type ServerStream, WholeMessages } from '@model-gateway/bus';
import { frameFlag, type RealtimeControl, type RealtimeJob, type RequestRow, type Snapshot, type SocketClose } from '@model-gateway/contracts';
import { codeOfCancel, GatewayError, toGatewayError } from '@model-gateway/contracts/errors';
import { findProtocol, type RealtimeAdapter } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';
import { type Span, traceFields } from '@model-gateway/telemetry';
import type { OpenReply } from '../open-reply.ts';
import { Cancellation } from '../request/cancellation.ts';
import { beginRun, endRun, noteTurn } from '../spans.ts';
import type { RealtimeDeps } from './deps.ts';
import type { Frame } from './dialled.ts';
import { type EarlyFrame, EarlyFrames } from './early-frames.ts';
import { type Begun, findUpstream, type NotBegun } from './find-upstream.ts';
import { Relay, type RelayEnd } from './relay.ts';
import { keepHandle, planResumed } from './resumption.ts';
import { SessionRecord } from './session-record.ts';
import { settingsOf } from './short-lived-keys.ts';

type Stream = ServerStream<'translator.realtime'>;

/** A response under way when the model or its upstream is disabled may end, but not go on for longer than this. */
const lastResponseMs = 4000;

/** Serves one session from the bus: a defect ends the session and nothing else. */
export function serveRealtime(job: RealtimeJob, stream: Stream, deps: RealtimeDeps): void {
  new Session(job, stream, deps).run().catch((error: unknown) => {
    deps.logger.error({ stream: stream.id, error }, 'defect in a realtime session');
    stream.fail(toGatewayError(error));
  });
}

class Session implements OpenReply {
  index = -1;
  readonly #job: RealtimeJob;
  readonly #stream: Stream;
  readonly #deps: RealtimeDeps;
  readonly #cancellation = new Cancellation();
  readonly #early = new EarlyFrames();
  readonly #messages: WholeMessages;
  readonly #record: SessionRecord;
  readonly #span: Span | undefined;
  #relay: Relay | undefined;
  /** Closed before an upstream was found. */
  #closedEarly: RelayEnd | undefined;
  #accepted = false;

  constructor(job: RealtimeJob, stream: Stream, deps: RealtimeDeps) {
    this.#job = job;
    this.#stream = stream;
    this.#deps = deps;
    this.#span = beginRun({ ...job, operation: 'realtime' }, deps.tracer);
    this.#messages = new WholeMessages(job.maxFrameBytes);
    this.#record = new SessionRecord({ job, keyGroup: () => this.#keyGroup(), mintRowId: mintRequestId, publish: (row) => this.#publish(row) });
    stream.onCancel((reason) => this.#cancelled(reason));
    stream.onData((bytes, flags) => this.#receive(bytes, flags));
  }

  async run(): Promise<void> {
    this.#deps.running.add(this);
    try {
      await this.#run();
    } finally {
      this.#deps.running.remove(this);
    }
  }

  async #run(): Promise<void> {
    let begun: Begun | NotBegun;
    let settings: Record<string, unknown> | null;
    try {
      settings = settingsOf(this.#job, this.#deps.shortLivedKeys);
      const opening = await this.#opening();
      const plan = await planResumed(this.#job, opening, this.#spoken(), this.#deps);
      begun = await findUpstream({
        job: { ...this.#job, plan },
        cancellation: this.#cancellation,
        deps: this.#deps,
        opening,
        accepted: () => this.#accept(),
        tried: this.#record.tried.bind(this.#record),
        span: this.#span,
      });
    } catch (error) {
      return this.#fail(error);
    }
    if ('error' in begun) return this.#passOn(begun);
    await this.#hold(begun, settings);
  }

  async #hold(begun: Begun, settings: Record<string, unknown> | null): Promise<void> {
    const place = begun.lease.keepPlace();
    this.#record.established(place);
    let forget: (() => void) | undefined;
    const end = await new Promise<RelayEnd>((resolve) => {
      const relay = new Relay(
        begun,
        this.#stream,
        { record: this.#record, keepHandle: (handle) => keepHandle(handle, this.#job, begun.route, this.#deps) },
        resolve,
      );
      this.#relay = relay;
      this.#cancellation.onCancel(() => this.#stop());
      relay.start(this.#early.take(), settings);
      forget = this.#watchRoute(begun.route, relay);
    });
    forget?.();
    this.#record.end(101, end.errorCode, end.cutBy);
    place.release();
    this.#stream.tail({ close: end.close });
  }

  /**
   * Ends the session once the model that serves it, or its upstream, is disabled or deleted: a load balancer that its caller has named may go on without
   * that. Returns how to stop.
   */
  #watchRoute({ model, upstream }: Begun['route'], relay: Relay): () => void {
    const { catalog } = this.#deps;
    const look = ({ models, upstreams }: Snapshot): void => {
      if (!models.get(model.name)?.enabled)
        relay.leave({ code: 1008, reason: 'The model of this session is disabled or deleted.' }, lastResponseMs, 'model_not_found');
      else if (!upstreams.get(upstream.name)?.enabled)
        relay.leave({ code: 1008, reason: 'The upstream of this session is disabled or deleted.' }, lastResponseMs, 'upstream_disabled');
    };
    const known = catalog.current();
    if (known) look(known);
    return catalog.onChange(look);
  }

  /** The group of the caller's key by now, which may have been moved since the handshake. */
  #keyGroup(): string {
    const { accessKeyHash, keyGroup, plan } = this.#job;
    const snapshot = this.#deps.catalog.current();
    // The edge may know a newer one.
    if (accessKeyHash === undefined || !snapshot || snapshot.revision < plan.revision) return keyGroup;
    return (snapshot.accessKeys.get(accessKeyHash) ?? snapshot.previousKeys?.get(accessKeyHash))?.group ?? keyGroup;
  }

  /** How the caller speaks. */
  #spoken(): RealtimeAdapter | undefined {
    const { clientProtocol, kind = 'realtime' } = this.#job;
    return findProtocol(clientProtocol)?.upstream?.realtime?.[kind];
  }

  /** The caller's first frame, where upstreams say nothing before they have it. */
  async #opening(): Promise<Frame | null> {
    if (!this.#spoken()?.firstFrame?.opens) return null;
    const { bytes, flags } = await new Promise<EarlyFrame>((resolve, reject) => {
      this.#cancellation.onCancel(() => reject(this.#cancellation.error));
      this.#early.takeFirst(resolve);
    });
    this.#record.upBytes += bytes.length;
    return { bytes, isBinary: (flags & frameFlag.text) === 0 };
  }

  /** Ends the session: this process shuts down. */
  interrupt(error: GatewayError): void {
    this.#cancellation.interrupt(error);
  }

  #stop(): void {
    if (this.#closedEarly) this.#relay?.end(this.#closedEarly.close, null);
    else if (this.#cancellation.reason !== null) this.#relay?.abandon(codeOfCancel(this.#cancellation.reason));
    else this.#relay?.end({ code: 1001, reason: 'The gateway is shutting down.' }, 'draining');
  }

  #accept(): void {
    if (this.#accepted) return;
    this.#accepted = true;
    this.#stream.head({});
  }

  /** The words of the last upstream that was asked, none of which has begun the session. */
  #passOn({ error, frame, close }: NotBegun): void {
    if (frame) {
      this.#record.downBytes += frame.bytes.length;
      this.#stream.data(frame.bytes, frame.isBinary ? frameFlag.messageEnd : frameFlag.messageEnd | frameFlag.text);
    }
    this.#record.end(101, error.code);
    this.#stream.tail({ close });
  }

  #fail(cause: unknown): void {
    const early = this.#closedEarly;
    if (early) {
      this.#record.end(101, early.errorCode);
      return this.#stream.tail({ close: early.close });
    }
    const { reason } = this.#cancellation;
    const error = reason === null ? toGatewayError(cause) : new GatewayError(codeOfCancel(reason));
    if (reason === null && error.code === 'internal')
      this.#deps.logger.error({ request: this.#job.id, ...traceFields(this.#span), error: error.cause ?? error }, 'defect in a realtime session');
    this.#record.end(this.#accepted ? 101 : error.status, error.code);
    this.#stream.fail(error);
  }

  #receive(bytes: Uint8Array, flags: number): void {
    const message = this.#messages.push(bytes, flags);
    if (message === null) return this.#stream.consumed(bytes.length);
    if (message === 'too-long') return this.#close({ code: 1009, reason: 'The message is too long.' });
    if (this.#relay) return this.#relay.up(message, flags, bytes.length);
    this.#stream.consumed(bytes.length);
    if ((flags & frameFlag.control) !== 0) return this.#close((JSON.parse(message.toString('utf8')) as RealtimeControl).close);
    // Its bytes may be a view of a larger buffer of the bus.
    if (!this.#early.hold(Buffer.from(message), flags)) this.#close({ code: 1013, reason: 'Too much was sent before the session began.' });
  }

  #close(close: SocketClose): void {
    if (this.#relay) return this.#relay.end(close, null);
    this.#closedEarly ??= { close, errorCode: null };
    this.#cancellation.interrupt(new GatewayError('client_gone'));
  }

  #cancelled(reason: string): void {
    this.#cancellation.cancel(reason);
  }

  #publish(row: RequestRow): void {
    const { id } = row;
    if (this.#span) (row.kind === 'realtime_session' ? endRun : noteTurn)(this.#span, row);
    this.#deps.bus.publishDurable('stats.request', id, row).catch((error: unknown) => this.#deps.logger.error({ request: id, error }, 'row lost'));
  }
}
