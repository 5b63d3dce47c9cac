/** What is left of each call of a tool: a row of the request log, and an audit record. */
import type { Bus } from '@model-gateway/bus';
import { type AuditRow, type McpExchange, newRequestRow, rowKeyOfExchange } from '@model-gateway/contracts';
import type { MintId } from '@model-gateway/service-runtime';
import type { Logger } from '@model-gateway/telemetry';

/** One call of a tool that has ended. */
export interface FinishedCall {
  /** Of the HTTP exchange. */
  exchange: McpExchange;
  /** As the caller named it. */
  requested: string;
  server: string;
  tool: string;
  startedAt: number;
  ms: { queue: number; whole: number };
  /** What the caller was answered, as an HTTP status. */
  status: number;
  errorCode: string | null;
  bytes: { arguments: number; result: number };
  stream: boolean;
  session: string | null;
}

export interface RecordDeps {
  bus: Bus;
  logger: Logger;
  mintId: MintId;
  /** Milliseconds since the epoch. */
  now: () => number;
}

const tokensOf = (bytes: number): number => Math.ceil(bytes / 4);
const maxName = 200;

export class Records {
  readonly #deps: RecordDeps;
  /** Exchanges whose first call has its row: others of the same batch get ids of their own. */
  readonly #told = new WeakSet<McpExchange>();
  lost = 0;

  constructor(deps: RecordDeps) {
    this.#deps = deps;
  }

  /** A row of its own: one exchange may hold several calls. */
  finished(call: FinishedCall): void {
    const { caller } = call.exchange;
    const isFirst = !this.#told.has(call.exchange);
    this.#told.add(call.exchange);
    const key = isFirst ? rowKeyOfExchange(call.exchange) : { id: this.#deps.mintId('mcp_'), started_at: call.startedAt };
    const { id } = key;
    const row = newRequestRow({
      ...key,
      kind: 'mcp_call',
      client_request_id: caller.clientRequestId,
      authority: 2,
      access_key: caller.accessKey,
      key_group: caller.keyGroup,
      requested_model: call.requested.slice(0, maxName),
      upstream: call.server,
      upstream_model_id: call.tool.slice(0, maxName),
      stream: call.stream,
      status: call.status,
      error_code: call.errorCode,
      input_tokens: tokensOf(call.bytes.arguments),
      output_tokens: tokensOf(call.bytes.result),
      usage_source: 'estimated',
      queue_ms: Math.round(call.ms.queue),
      duration_ms: Math.round(call.ms.whole),
      request_bytes: call.bytes.arguments,
      response_bytes: call.bytes.result,
      client_ip: caller.clientIp,
      user_agent: caller.userAgent?.slice(0, 512) ?? null,
      session_id: call.session?.slice(-100) ?? null,
      path: `POST ${call.exchange.path}`.slice(0, 2048),
    });
    this.#deps.bus.publishDurable('stats.tool', row.id, row).catch((error: unknown) => {
      this.lost++;
      this.#deps.logger.error({ error, request: id }, 'a row of a tool call could not be published');
    });
    this.#audit(
      call.exchange,
      { action: 'tool.call', entity_type: 'mcp', entity_id: `${call.server}.${call.tool}` },
      {
        status: call.status,
        error: call.errorCode,
        duration_ms: Math.round(call.ms.whole),
      },
    );
  }

  /** A tool that the caller may not call. */
  violation(exchange: McpExchange, server: string, tool: string): void {
    this.#audit(exchange, { action: 'acl.violation', entity_type: 'mcp', entity_id: `${server}.${tool}`.slice(0, 300) }, { reason: 'tool_not_granted' });
  }

  /** A caller's call loaded the tools of a server whose loading is deferred. */
  loaded(exchange: McpExchange, server: string, tools: number): void {
    this.#audit(exchange, { action: 'mcp.context.refreshed', entity_type: 'mcp_context', entity_id: server }, { tools });
  }

  #audit({ caller }: McpExchange, what: Pick<AuditRow, 'action' | 'entity_type' | 'entity_id'>, diff: Record<string, unknown>): void {
    const row: AuditRow = {
      id: this.#deps.mintId('aud_'),
      occurred_at: this.#deps.now(),
      actor: `api_key:${caller.mask}`,
      ...what,
      diff: { access_key: caller.accessKey, key_group: caller.keyGroup, ...diff },
      ip_address: caller.clientIp,
      request_id: caller.clientRequestId,
    };
    this.#deps.bus
      .publishDurable('audit.tool', row.id, row)
      .catch((error: unknown) => this.#deps.logger.error({ error, record: row.id }, 'an audit record could not be published'));
  }
}
