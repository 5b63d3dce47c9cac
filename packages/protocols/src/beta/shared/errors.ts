/** Error bodies, both ways: a caller's in this protocol's shape, and what an upstream's error says about whose fault it was. */
import type { UpstreamFault } from '../../chat/event.ts';
import type { ClientError } from '../../contract/index.ts';
import { classOfError, statusMeant } from '../../kit/class-of-error.ts';
import { type OverflowWords, redrawOverflow, saysOverflow } from '../../kit/context-overflow.ts';
import { asArray, asObject, asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';
import { clearsCaller } from '../../kit/status-of-fault.ts';

const typeByStatus: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
]);

const typeOf = (status: number): string => typeByStatus.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

/** `{type:'error', error:{type, message}, request_id}`. */
export function writeError(error: ClientError): { body: string } {
  const message = error.code === 'context_overflow' ? redrawOverflow(error.message, overflowWords) : error.message;
  return { body: JSON.stringify({ type: 'error', error: { type: typeOf(error.status), message, ...detailsOf(error) }, request_id: error.requestId }) };
}

/** The vendor's codes for what the gateway refuses for the same reason. */
const codeOfOurs: ReadonlyMap<string, string> = new Map([['request_timeout', 'request_body_timeout']]);

function detailsOf({ details, code }: ClientError): { details?: unknown } {
  if (details) return { details };
  const ours = codeOfOurs.get(code);
  return ours === undefined ? {} : { details: { error_code: ours } };
}

/**
 * The vendor's own sentences for a prompt that does not fit, which agents look for: on the first they compact their history, on the one with
 * three numbers they ask for a shorter reply.
 */
const overflowWords: OverflowWords = {
  sum: (asked, output, allowed) =>
    `input length and \`max_tokens\` exceed context limit: ${asked} + ${output} > ${allowed}, decrease input length or \`max_tokens\` and try again`,
  prompt: (asked, allowed) => `prompt is too long: ${asked} tokens > ${allowed} maximum`,
  plain: (message) => (message.includes('prompt is too long') ? message : `prompt is too long: ${message}`),
};

const classByType: ReadonlyMap<string, UpstreamFault['class']> = new Map([
  ['invalid_request_error', 'caller'],
  ['authentication_error', 'credential'],
  ['permission_error', 'credential'],
  ['billing_error', 'account'],
  ['not_found_error', 'not-found'],
  ['request_too_large', 'caller'],
  ['rate_limit_error', 'rate'],
  ['api_error', 'server'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timeout'],
]);

const classByStatus: ReadonlyMap<number, UpstreamFault['class']> = new Map([
  [401, 'credential'],
  [402, 'account'],
  [403, 'credential'],
  [404, 'not-found'],
  [405, 'server'],
  [408, 'timeout'],
  [429, 'rate'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
]);

const accountWords =
  /credit balance|billing|purchase credits|insufficient (?:credit|balance|funds)|organization has been disabled|usage limits?\b.{0,200}regain access/i;
const overloadedWords = /overloaded|at capacity|no capacity/i;

interface Said {
  type: string | undefined;
  code: string | undefined;
  message: string;
}

/** `isWorded`: the message is the upstream's. */
function classify(status: number | undefined, { type = '', code = '', message }: Said, isWorded: boolean): UpstreamFault['class'] {
  // Servers of other vendors, which answer as they do to other protocols.
  if (isWorded && status !== undefined && status !== 413 && !classByType.has(type)) {
    const fault = classOfError({ message, code, type }, status);
    if (fault === 'caller' && status === 400 && accountWords.test(message)) return 'account';
    return fault === 'server' && overloadedWords.test(message) ? 'overloaded' : fault;
  }
  const named = classByType.get(type);
  const byStatus = status === undefined ? undefined : (classByStatus.get(status) ?? (status >= 500 ? 'server' : 'caller'));
  // The type tells more than the status, except that what the status says of our key, account, model or server is never the caller's fault.
  const isOverruled = named === 'caller' && (status === 403 || status === 404 || clearsCaller(status));
  const fault = named !== undefined && !isOverruled ? named : (byStatus ?? 'server');
  // Not at 413: that one is about bytes, which no larger window mends.
  if (fault === 'caller' && status !== 413 && saysOverflow(message)) return 'context';
  if ((fault === 'caller' || fault === 'credential' || fault === 'rate') && accountWords.test(message)) return 'account';
  // Servers that are compatible say it with a 500.
  if (fault === 'server' && /insufficient balance/i.test(message)) return 'account';
  // 503 is what a server that is up but cannot serve says, whatever type its body has.
  if (fault === 'server' && (status === 503 || overloadedWords.test(message))) return 'overloaded';
  return fault;
}

const maxMessageLength = 2000;

/** The fault that an error body (a whole reply's, or a stream's `error` event) reports. Other shapes are read as far as they go. */
export function faultOf(body: unknown, replied?: number): UpstreamFault {
  // Vertex AI answers streams with a list of one.
  const outer = asArray(body)?.[0] ?? body;
  const inner = own(outer, 'error');
  const code = asString(own(inner, 'code'));
  const type = asString(own(inner, 'type')) ?? code;
  const status = statusMeant(replied ?? statusInside(inner), type);
  const words = [own(inner, 'message'), inner, own(outer, 'message'), own(outer, 'detail')].map(asString).find((text) => text !== undefined && text !== '');
  const message = (words ?? 'The upstream reported an error.').slice(0, maxMessageLength);
  const details = asObject(own(inner, 'details'));
  return {
    class: classify(status, { type, code, message }, words !== undefined),
    ...(status !== undefined && { status }),
    ...(type !== undefined && { code: type }),
    ...(details && { details }),
    message,
  };
}

/** Compatible servers put the status that they can no longer send into a stream's error, as a number or in digits. */
function statusInside(error: unknown): number | undefined {
  const code = own(error, 'code') ?? own(error, 'status');
  const status = typeof code === 'string' || typeof code === 'number' ? Number(code) : Number.NaN;
  return status >= 400 && status < 600 ? Math.trunc(status) : undefined;
}

export function readError(status: number, headers: Readonly<Record<string, string | undefined>>, body: string): UpstreamFault {
  const fault = faultOf(parseBody(body), status);
  const retryAfterMs = readRetryAfter(headers, fault.message);
  return { ...fault, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** JSON, else the text itself; a page of HTML says nothing to a caller. */
function parseBody(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    const text = body.trim();
    return text === '' || text.startsWith('<') ? {} : { message: text };
  }
}
