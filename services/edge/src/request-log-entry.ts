/** The log row of one request, and what is settled with it: reserved money, captured bodies, the trace span. */
import { isInUpstreamTerms, newRequestRow, pathOfRow, type RequestRow } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { type Span, traceFields } from '@model-gateway/telemetry';
import type { Reservation } from './admission/budgets.ts';
import type { RequestFacts } from './admission/request-facts.ts';
import type { BodyCapture } from './bodies/body-capture.ts';
import type { ClientExchange } from './client-exchange.ts';
import type { EdgeContext } from './context.ts';
import { endSpan } from './request-span.ts';

export class RequestLogEntry {
  readonly #exchange: ClientExchange;
  readonly #context: Pick<EdgeContext, 'catalog' | 'reporting'>;
  #reservation: Reservation | undefined;
  #span: Span | undefined;
  #handedOver = false;
  #published = false;

  constructor(exchange: ClientExchange, context: Pick<EdgeContext, 'catalog' | 'reporting'>) {
    this.#exchange = exchange;
    this.#context = context;
  }

  /** What was reserved of the budgets of key and group; settled by the row. */
  settleLater(reservation: Reservation): void {
    this.#reservation = reservation;
  }

  /** What was reserved, in millionths by currency: a task that the request begins holds it for longer. undefined: nothing. */
  get reserved(): Record<string, number> | undefined {
    const amounts = this.#reservation?.amounts;
    return amounts && amounts.size > 0 ? Object.fromEntries(amounts) : undefined;
  }

  /** undefined: the request is not traced. */
  trace(span: Span | undefined): void {
    this.#span = span;
  }

  /** For who works on the request from here on. */
  get traceparent(): string | undefined {
    return this.#span?.traceparent;
  }

  /** A translator has the request: what it cost is for the translator's row to tell. */
  handOver(): void {
    this.#handedOver = true;
  }

  /** Answers a request that the edge refuses, before or instead of the translator, and publishes its row. */
  refuse(error: GatewayError, facts: RequestFacts): void {
    const { id, left } = this.#exchange;
    if (error.code === 'internal')
      this.#context.reporting.logger.error({ request: id, ...traceFields(this.#span), error: error.cause ?? error }, 'defect in the edge');
    this.#exchange.writeError(error, facts);
    this.publish(this.row(facts, left ? 499 : error.status, left ? 'client_gone' : error.code), facts);
  }

  /** The request began a task, which holds from now on what was reserved for it. */
  leaveToTask(): void {
    this.#reservation?.settleByTasks();
  }

  /** Publishes one row per request, whichever part finished it. `settled` runs when the bus has stored the row. */
  publish(row: RequestRow, facts: RequestFacts, settled?: () => void): void {
    if (this.#published) return;
    this.#published = true;
    if (row.authority === 1 && this.#handedOver) this.#reservation?.settleByRows();
    else this.#reservation?.settle(row);
    const { meters, rows } = this.#context.reporting;
    meters.finished(row);
    rows.publish(row, settled);
    const { capture } = this.#exchange;
    if (capture) this.#handBodies(capture, row, facts);
    if (this.#span) endSpan(this.#span, row);
  }

  #handBodies(capture: BodyCapture, row: RequestRow, { principal, stream }: RequestFacts): void {
    if (!principal) return capture.drop();
    const { id, startedAt, protocol } = this.#exchange;
    this.#context.reporting.bodies.hand(capture, () => ({
      id,
      startedAt,
      accessKey: principal.key.name,
      keyGroup: principal.group.name,
      model: row.model,
      clientProtocol: protocol.id,
      stream,
      status: row.status,
      revision: this.#context.catalog.current()?.revision ?? 0,
    }));
  }

  /** What the edge knows by itself; the translator's row, when there is one, replaces it. */
  row(facts: RequestFacts, status: number, errorCode: string | null): RequestRow {
    const exchange = this.#exchange;
    return newRequestRow({
      id: exchange.id,
      client_request_id: exchange.clientRequestId,
      started_at: exchange.startedAt,
      authority: 1,
      access_key: facts.principal?.key.name ?? null,
      key_group: facts.principal?.group.name ?? null,
      model: facts.model,
      requested_model: facts.requestedModel?.slice(0, 200) ?? null,
      client_protocol: exchange.protocol.id,
      stream: facts.stream,
      status,
      error_code: errorCode,
      duration_ms: Math.round(exchange.elapsedMs()),
      request_bytes: facts.requestBytes,
      response_bytes: exchange.responseBytes,
      client_ip: exchange.clientIp,
      user_agent: exchange.request.headers['user-agent']?.slice(0, 512) ?? null,
      session_id: facts.sessionId,
      path: isInUpstreamTerms(facts.operation) ? pathOfRow(exchange.request.method, exchange.path) : null,
    });
  }
}
