/** Google's error bodies, read and written. */

import type { UpstreamFault } from '../../chat/event.ts';
import type { ClientError } from '../../contract/index.ts';
import { type OverflowWords, redrawOverflow, saysOverflow } from '../../kit/context-overflow.ts';
import { namingField } from '../../kit/fail.ts';
import { asArray, asNumber, asObject, asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';

type Headers = Readonly<Record<string, string | undefined>>;
type FaultClass = UpstreamFault['class'];

// ---- reading -------------------------------------------------------------------------------------------------------

/** Longer messages help nobody, and a log line has a size. */
const maxMessageLength = 2000;

/** Google quotes the key it refuses: "Consumer 'api_key:AIza…' has been suspended". */
const redact = (message: string): string =>
  message
    .slice(0, maxMessageLength)
    .replace(/AIza[\w-]{10,}/g, '[redacted]')
    .replace(/((?:api_)?key[:=]\s?)[^\s'"&]+/gi, '$1[redacted]');

/** A non-2xx body, or an `error` found in a body of a 200: an object, the same wrapped in an array (streams without alt=sse), or text that is not JSON. */
export function readError(status: number, headers: Headers, body: string): UpstreamFault {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    json = undefined; // An HTML page or plain text of something in between: its words are the message.
  }
  return readErrorValue(status, headers, json, body);
}

/** The same for a body that is already parsed. `text` is used when it holds no message. */
export function readErrorValue(status: number, headers: Headers, json: unknown, text: string): UpstreamFault {
  const body = asArray(json) ? asArray(json)?.find((element) => own(element, 'error') !== undefined) : json;
  const error = own(body, 'error');
  const message = redact(asString(own(error, 'message')) ?? asString(error) ?? asString(own(body, 'message')) ?? plainText(text));
  const word = asString(own(error, 'status'));
  const details = (asArray(own(error, 'details')) ?? []).filter((detail) => asObject(detail));
  const reason = findDetail(details, 'ErrorInfo', 'reason');
  const code = asNumber(own(error, 'code'));
  const effective = status >= 400 ? status : (code ?? 500);
  const retryAfterMs = readDelay(details) ?? readRetryAfter(headers, message);
  const kind = classify({ status: effective, word, reason: asString(reason), message, details, delayed: retryAfterMs !== undefined });
  const violation = asArray(findDetail(details, 'BadRequest', 'fieldViolations'))?.[0];
  const param = asString(own(violation, 'field'));
  return {
    class: kind,
    status: effective,
    ...(word !== undefined && { code: asString(reason) ?? word }),
    message: message === '' ? `The upstream answered ${effective}.` : message,
    ...(param !== undefined && { param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const plainText = (text: string): string => (/^\s*[<{[]/.test(text) ? '' : text.trim());

const findDetail = (details: readonly unknown[], type: string, name: string): unknown =>
  own(
    details.find((detail) => asString(own(detail, '@type'))?.endsWith(`.${type}`)),
    name,
  );

/** `RetryInfo.retryDelay` ("48s", "1.5s") in ms. */
function readDelay(details: readonly unknown[]): number | undefined {
  const delay = asString(findDetail(details, 'RetryInfo', 'retryDelay'));
  return delay === undefined ? undefined : readRetryAfter({ 'retry-after': delay });
}

const credentialWords = /api key (?:not valid|not found|expired)|api[_ ]key[_ ]invalid|unregistered callers/i;
const accountWords = /billing|prepay|credits?\b|spend(?:ing)? cap|free tier|location is not supported/i;

/** Of a file, a cache or a bucket that the request names: the key itself is good, and goes on serving others. */
const resourceWords =
  /permission to access the file|cachedcontent not found|does not have storage\.|permission denied on resource.{0,200}\/(?:cachedContents|files)\//i;

/** What an error body says. */
interface Said {
  status: number;
  /** `error.status`. */
  word: string | undefined;
  reason: string | undefined;
  message: string;
  details: readonly unknown[];
  /** It says when to come back. */
  delayed: boolean;
}

function classify({ status, word, reason, message, details, delayed }: Said): FaultClass {
  // A refused key is a 400 here, which would otherwise be the caller's fault.
  if (reason?.startsWith('API_KEY_') || (status < 500 && credentialWords.test(message))) return 'credential';
  if (status === 429 || word === 'RESOURCE_EXHAUSTED') return isSpent(message, details, delayed) ? 'account' : 'rate';
  if (word === 'FAILED_PRECONDITION' && accountWords.test(message)) return 'account';
  if (status === 401 || word === 'UNAUTHENTICATED') return 'credential';
  if (status === 402 || reason === 'BILLING_DISABLED') return 'account';
  if (status === 403 || word === 'PERMISSION_DENIED') return resourceWords.test(message) ? 'not-found' : accountWords.test(message) ? 'account' : 'credential';
  if (status === 404 || word === 'NOT_FOUND') return 'not-found';
  if (status === 405) return 'server';
  if (status === 503 || status === 529 || word === 'UNAVAILABLE' || /model is overloaded/i.test(message)) return 'overloaded';
  if (status === 504 || status === 408 || word === 'DEADLINE_EXCEEDED') return 'timeout';
  if (status >= 400 && status < 500) return saysOverflow(message) ? 'context' : 'caller';
  return 'server';
}

/**
 * A day's quota or the balance is used up: waiting some seconds does not help, whatever RetryInfo says. "Check your billing details" is part of every
 * 429 and means nothing by itself.
 */
function isSpent(message: string, details: readonly unknown[], delayed: boolean): boolean {
  const violations = asArray(findDetail(details, 'QuotaFailure', 'violations')) ?? [];
  if (violations.some((violation) => /PerDay/i.test(asString(own(violation, 'quotaId')) ?? ''))) return true;
  return !delayed && violations.length === 0 && accountWords.test(message);
}

// ---- writing -------------------------------------------------------------------------------------------------------

const statusWords: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  412: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const wordOf = (status: number): string => statusWords[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'INTERNAL');

/** The vendor's own sentence for a prompt that does not fit; it has none for a reply that does not. */
const overflowWords: OverflowWords = {
  sum: (asked, output, allowed) => `The input token count (${asked}) and maxOutputTokens (${output}) exceed the maximum number of tokens allowed (${allowed}).`,
  prompt: (asked, allowed) => `The input token count (${asked}) exceeds the maximum number of tokens allowed (${allowed}).`,
  plain: (message) => (/input token count/i.test(message) ? message : `The input token count exceeds the maximum number of tokens allowed. ${message}`),
};

/** `{"error":{code,message,status}}`; the wait goes into RetryInfo, where clients of this protocol look for it. */
export function writeError(error: ClientError): { body: string } {
  const details =
    error.retryAfter === undefined ? undefined : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${Math.ceil(error.retryAfter)}s` }];
  const words = error.code === 'context_overflow' ? redrawOverflow(error.message, overflowWords) : error.message;
  const message = namingField(words, error.param);
  return { body: JSON.stringify({ error: { code: error.status, message, status: wordOf(error.status), ...(details && { details }) } }) };
}
