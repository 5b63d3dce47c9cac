/** The row of a tool call whose aggregator was lost with it: nobody else is left to write one. */
import { isObject, type McpExchange, newRequestRow, pathOfRow, type RequestRow, rowKeyOfExchange, usualBytesPerToken } from '@model-gateway/contracts';
import type { GatewayError } from '@model-gateway/contracts/errors';
import { readMessage } from './read-message.ts';

const maxName = 200;

/** What the edge knows of a call that was lost. */
export interface LostCall {
  exchange: McpExchange;
  body: Uint8Array | undefined;
  error: GatewayError;
  /** A status that the caller has read already; else that of the error. */
  status: number;
  stream: boolean;
  durationMs: number;
}

/** null: the exchange called no tool, or was a batch, of whose calls nobody knows which had ended. An aggregator that was only frozen publishes a row with the same key, which replaces this one. */
export function rowOfLostCall({ exchange, body, error, status, stream, durationMs }: LostCall): RequestRow | null {
  const message = readMessage(body);
  if (message?.method !== 'tools/call' || !isObject(message.params) || typeof message.params['name'] !== 'string') return null;
  const { name, arguments: given } = message.params;
  const bytes = given === undefined ? 0 : Buffer.byteLength(JSON.stringify(given));
  const { caller } = exchange;
  return newRequestRow({
    ...rowKeyOfExchange(exchange),
    kind: 'mcp_call',
    client_request_id: caller.clientRequestId,
    authority: 1,
    access_key: caller.accessKey,
    key_group: caller.keyGroup,
    requested_model: name.slice(0, maxName),
    stream,
    status,
    error_code: error.code,
    input_tokens: Math.ceil(bytes / usualBytesPerToken),
    output_tokens: 0,
    usage_source: 'estimated',
    duration_ms: durationMs,
    request_bytes: bytes,
    client_ip: caller.clientIp,
    user_agent: caller.userAgent,
    session_id: exchange.headers['mcp-session-id']?.slice(-100) ?? null,
    path: pathOfRow(exchange.method, exchange.path),
  });
}
