/** Errors: an upstream's words into our classes, and ours into the caller's shape. */

import type { UpstreamFault } from '../../chat/event.ts';
import type { ClientAdapter, ClientError } from '../../contract/index.ts';
import { addressRemedy, classOfError, statusMeant } from '../../kit/class-of-error.ts';
import { exceedsWholeRate, type OverflowWords, redrawOverflow, saysOverflow } from '../../kit/context-overflow.ts';
import { namingField } from '../../kit/fail.ts';
import { asNumber, asObject, asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';
import { isAgent } from './models-tag.ts';
import { newResponse, printEvent } from './wire.ts';

type FaultClass = UpstreamFault['class'];
type Headers = Readonly<Record<string, string | undefined>>;

/** The error's own code or type decides before the status does: some servers say 400 or 200 about an account or a missing model. */
const byCode: ReadonlyMap<string, FaultClass> = new Map<string, FaultClass>([
  ['context_length_exceeded', 'context'],
  ['context_window_exceeded', 'context'],
  ['model_context_window_exceeded', 'context'],
  ['insufficient_quota', 'account'],
  ['billing_hard_limit_reached', 'account'],
  ['billing_not_active', 'account'],
  ['account_deactivated', 'account'],
  ['invalid_api_key', 'credential'],
  ['authentication_error', 'credential'],
  ['invalid_authentication', 'credential'],
  ['permission_error', 'credential'],
  ['model_not_found', 'not-found'],
  ['deploymentnotfound', 'not-found'],
  ['operationnotsupported', 'not-found'],
  ['rate_limit_exceeded', 'rate'],
  ['rate_limit_error', 'rate'],
  ['ratelimitreached', 'rate'],
  ['usage_limit_reached', 'rate'],
  ['too_many_requests', 'rate'],
  ['server_is_overloaded', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['overloaded', 'overloaded'],
  ['slow_down', 'overloaded'],
  ['server_error', 'server'],
  ['internal_error', 'server'],
  ['api_error', 'server'],
  ['timeout', 'timeout'],
  ['vector_store_timeout', 'timeout'],
]);

const maxMessageLength = 2000;

/** A non-2xx reply. Never throws; `body` may be anything. */
export function readError(status: number, headers: Headers, body: string): UpstreamFault {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // Proxies in front of an upstream answer in HTML or plain text.
  }
  const inner = findError(parsed) ?? {};
  const plain = parsed === undefined && !body.trimStart().startsWith('<') ? body.trim() : '';
  return buildFault(inner, status, headers, plain);
}

/** The error of an `error` event (flat or nested) or of `response.failed`; `status` unknown, since the stream's own was 200. */
export const readStreamError = (value: unknown): UpstreamFault => buildFault(findError(value) ?? {}, undefined, {}, '');

/** The object that holds the message: nested under `error` (or `response.error`), flat, or an array of one. */
function findError(value: unknown): Record<string, unknown> | undefined {
  const outer = asObject(Array.isArray(value) ? value[0] : value);
  if (!outer) return undefined;
  const nested = asObject(own(outer, 'error')) ?? asObject(own(own(outer, 'response'), 'error'));
  if (nested) return nested;
  const text = asString(own(outer, 'error'));
  return text === undefined ? outer : { ...outer, message: text };
}

function buildFault(error: Record<string, unknown>, status: number | undefined, headers: Headers, plain: string): UpstreamFault {
  const message = (asString(own(error, 'message')) ?? asString(own(error, 'detail')) ?? plain).slice(0, maxMessageLength);
  const rawCode = own(error, 'code');
  const type = asString(own(error, 'type'));
  const code = typeof rawCode === 'number' ? String(rawCode) : asString(rawCode) || (type === 'error' ? undefined : type);
  const param = asString(own(error, 'param'));
  const meant = statusMeant(status, type);
  const className = classify([asString(rawCode), type], meant ?? Number(code), message, param);
  const review = asObject(own(error, 'misalignment'));
  // A spent plan of a login says it beside the message.
  const planSeconds = asNumber(own(error, 'resets_in_seconds'));
  const retryAfterMs = readRetryAfter(headers, planSeconds === undefined ? message : `resets in ${Math.trunc(planSeconds)}s`);
  return {
    class: className,
    ...(meant !== undefined && { status: meant }),
    ...(code !== undefined && { code }),
    // A refusal of our key quotes part of it.
    message:
      className === 'credential'
        ? 'The upstream refused the credential.'
        : (addressRemedy({ code: code ?? '', message }) ?? (message || 'The upstream gave no reason.')),
    ...(param !== undefined && { param }),
    ...(className === 'caller' && code !== undefined && { details: { code, ...(review && { misalignment: review }) } }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function classify(codes: (string | undefined)[], status: number, message: string, param: string | undefined): FaultClass {
  if (exceedsWholeRate(message)) return 'too-large';
  for (const code of codes) {
    const known = code === undefined ? undefined : byCode.get(code.toLowerCase());
    // 503 is what a server that is up but cannot serve says, whatever it calls its error.
    if (known) return known === 'server' && status === 503 ? 'overloaded' : known;
  }
  // A 404 about an input item is the request's fault; any other is about the model or the address.
  if (status === 404 && param?.startsWith('input') && !saysOverflow(message)) return 'caller';
  const [code = '', type = ''] = codes;
  return classOfError({ message, code, type }, status);
}

/** Our codes in the words that clients of this protocol act on. */
const clientCodes: Readonly<Record<string, string>> = {
  unauthorized: 'invalid_api_key',
  budget_exhausted: 'insufficient_quota',
  rate_limited: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  overloaded: 'server_is_overloaded',
  too_many_streams: 'server_is_overloaded',
  upstream_overloaded: 'server_is_overloaded',
  // Coding agents compact their history on this code, so it must not hide behind "the upstream rejected it".
  context_overflow: 'context_length_exceeded',
};

const clientTypes: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'insufficient_quota'],
  [403, 'permission_error'],
  [429, 'rate_limit_error'],
]);

/** The vendor's own sentence for a prompt that does not fit. It names no figures. */
const overflowSentence = 'Your input exceeds the context window of this model. Please adjust your input and try again.';
const overflowWords: OverflowWords = {
  sum: (asked, output, allowed) => `${overflowSentence} (${asked} tokens of input and ${output} of output; ${allowed} are allowed.)`,
  prompt: (asked, allowed) => `${overflowSentence} (${asked} tokens of input; ${allowed} are allowed.)`,
  plain: () => overflowSentence,
};

/** Agents read from the sentence how long to wait. */
const waitWords = (seconds: number): string => ` Please try again in ${Math.max(1, Math.ceil(seconds))}s.`;

function drawError(error: ClientError): { message: string; type: string; param: string | null; code: string; misalignment?: object } {
  const waits = error.retryAfter !== undefined && (error.status === 429 || error.status === 503) && !/try again in/i.test(error.message);
  const words = error.code === 'invalid_request' ? namingField(error.message, error.param) : error.message;
  const message = error.code === 'context_overflow' ? redrawOverflow(error.message, overflowWords) : words;
  // An upstream of this protocol said it in a stream that had begun: what a client may do about it goes by the code.
  const said = asString(own(error.details, 'code'));
  const review = asObject(own(error.details, 'misalignment'));
  return {
    message: waits ? message + waitWords(error.retryAfter ?? 1) : message,
    type: clientTypes.get(error.status) ?? (error.status < 500 ? 'invalid_request_error' : 'server_error'),
    param: error.param ?? null,
    code: said ?? (Object.hasOwn(clientCodes, error.code) ? clientCodes[error.code] : undefined) ?? error.code,
    ...(review && { misalignment: review }),
  };
}

export const writeError = (error: ClientError): { body: string } => ({ body: JSON.stringify({ error: drawError(error) }) });

/**
 * The coding agent of this protocol looks for a prompt that does not fit in the stream alone, where the vendor says it (`response.failed`); a 400
 * with the same code ends its turn without shortening the conversation.
 */
export const refuseInStream: NonNullable<ClientAdapter['refuseInStream']> = (error, { headers, model, createdAt, mintId }) => {
  if (error.code !== 'context_overflow' || !isAgent(headers)) return null;
  const { code, message } = drawError(error);
  const created = newResponse(mintId('resp_'), model, createdAt);
  return (
    printEvent('response.created', 0, { response: created }) +
    printEvent('response.in_progress', 1, { response: created }) +
    printEvent('response.failed', 2, { response: { ...created, status: 'failed', error: { code, message } } })
  );
};
