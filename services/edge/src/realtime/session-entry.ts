/** A realtime session as the edge knows it: its id, who opened it, and the row that it leaves where no translator does. */
import type { IncomingMessage } from 'node:http';
import { newRequestRow, type RealtimeKind, type ResolvedName } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import type { Protocol, RealtimeAdapter, RealtimePath } from '@model-gateway/protocols';
import { mintRequestId } from '@model-gateway/service-runtime';
import { endServed, type Span } from '@model-gateway/telemetry';
import type { Principal } from '../admission/credentials.ts';
import { sessionOf } from '../admission/session.ts';
import type { EdgeContext } from '../context.ts';
import type { Headers } from '../http/client-routes.ts';
import { clientRequestIdOf, type RequestIds } from '../http/request-ids.ts';
import { beginSessionSpan } from '../request-span.ts';

export class SessionEntry implements RequestIds {
  readonly id = mintRequestId();
  readonly startedAt = Date.now();
  readonly request: IncomingMessage;
  readonly protocol: Protocol;
  readonly version: string | undefined;
  readonly clientIp: string | null;
  readonly clientRequestId: string | null;
  readonly sessionId: string | null;
  readonly #context: EdgeContext;
  readonly #path: string;
  readonly #began = performance.now();
  #published = false;
  #span: Span | undefined;
  /** As far as they are known. */
  kind: RealtimeKind;
  principal: Principal | null = null;
  requestedModel: string | null = null;
  named: ResolvedName | null = null;

  constructor(request: IncomingMessage, { path, protocol, kind, version }: RealtimePath, context: EdgeContext) {
    this.request = request;
    this.#path = path;
    this.protocol = protocol;
    this.version = version;
    this.kind = kind;
    this.#context = context;
    this.clientIp = context.admission.clientAddress(request);
    this.clientRequestId = clientRequestIdOf(request);
    this.sessionId = sessionOf(request.headers as Headers);
  }

  /** How such sessions speak. */
  get adapter(): RealtimeAdapter | undefined {
    return this.protocol.upstream?.realtime?.[this.kind];
  }

  elapsedMs(): number {
    return performance.now() - this.#began;
  }

  /** Its caller is known: from here on it is traced, if it is at all. */
  trace(principal: Principal): void {
    const { tracer } = this.#context.reporting;
    if (tracer) this.#span = beginSessionSpan(this, this.#path, principal, tracer);
  }

  /** For who works on the session from here on. undefined: it is not traced. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** The session is over, or never began. What comes after the first is ignored. */
  endTrace(status: number, errorCode: string | null): void {
    const span = this.#span;
    if (!span) return;
    span.set({
      'http.response.status_code': status,
      'gen_ai.request.model': this.requestedModel,
      'gen_ai.conversation.id': this.sessionId,
      'gateway.model': this.named?.canonical,
    });
    endServed(span, { status, error_code: errorCode });
  }

  /** The translator's row, where there is one, replaces it. */
  publish(status: number, { code }: GatewayError): void {
    this.endTrace(status, code);
    if (this.#published) return;
    this.#published = true;
    const { reporting } = this.#context;
    const row = newRequestRow({
      id: this.id,
      kind: 'realtime_session',
      client_request_id: this.clientRequestId,
      started_at: this.startedAt,
      authority: 1,
      access_key: this.principal?.key.name ?? null,
      key_group: this.principal?.group.name ?? null,
      model: this.named?.canonical ?? null,
      requested_model: this.requestedModel?.slice(0, 200) ?? null,
      client_protocol: this.protocol.id,
      stream: true,
      status,
      error_code: code,
      duration_ms: Math.round(this.elapsedMs()),
      client_ip: this.clientIp,
      user_agent: this.request.headers['user-agent']?.slice(0, 512) ?? null,
      session_id: this.sessionId ?? this.id,
    });
    reporting.meters.finished(row);
    reporting.rows.publish(row);
  }
}
