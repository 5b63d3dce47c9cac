import type { UpstreamFault } from '../../chat/event.ts';
import type { StreamRecord } from '../../contract/index.ts';
import { saysOverflow } from '../../kit/context-overflow.ts';
import { asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';

type Headers = Readonly<Record<string, string | undefined>>;

interface Rule {
  /** Of the reason, or of the exception's type where there is no reason or none that decides. */
  when: RegExp;
  words?: { test(message: string): boolean };
  class: UpstreamFault['class'];
  status: number;
}

const reasons: readonly Rule[] = [
  { when: /^CONTENT_LENGTH_EXCEEDS_THRESHOLD$/, class: 'context', status: 400 },
  { when: /^INVALID_MODEL_ID$/, class: 'not-found', status: 400 },
  { when: /^INSUFFICIENT_MODEL_CAPACITY$/, class: 'overloaded', status: 429 },
  { when: /REQUEST_COUNT$|^OVERAGE_REQUEST_LIMIT_EXCEEDED$|SUSPENDED$/, class: 'account', status: 402 },
];

const types: readonly Rule[] = [
  { when: /^Throttling/i, class: 'rate', status: 429 },
  { when: /^ServiceQuotaExceeded|^SubscriptionRequired/i, class: 'account', status: 402 },
  { when: /AccessDenied|ExpiredToken|UnrecognizedClient|InvalidSignature|Unauthorized/i, class: 'credential', status: 403 },
  { when: /^ResourceNotFound/i, class: 'not-found', status: 404 },
  { when: /^ValidationException/i, words: { test: saysOverflow }, class: 'context', status: 400 },
  { when: /^Validation|^Conflict|^invalidState/i, class: 'caller', status: 400 },
  { when: /ServiceUnavailable|^ModelNotReady|Overload/i, class: 'overloaded', status: 503 },
  { when: /Timeout/i, class: 'timeout', status: 504 },
  { when: /^InternalServer|^ModelError|^ModelStreamError|^DryRun/i, class: 'server', status: 500 },
];

const classOfStatus = (status: number): UpstreamFault['class'] => {
  if (status === 401 || status === 403) return 'credential';
  if (status === 402) return 'account';
  if (status === 429) return 'rate';
  if (status === 503 || status === 529) return 'overloaded';
  if (status === 408 || status === 504) return 'timeout';
  return status >= 400 && status < 500 && status !== 404 && status !== 405 ? 'caller' : 'server';
};

const maxLength = 2000;

/** A reply with an error status. */
export function readError(status: number, headers: Headers, body: string): UpstreamFault {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    // A page of some proxy: its words are not an error of this wire.
  }
  return describe(json, headers['x-amzn-errortype'] ?? '', status, headers);
}

/** An exception, an error, or an invalid state inside a stream whose head said 200. */
export const readStreamError = (record: StreamRecord): UpstreamFault => describe(record.json, record.event ?? '', undefined, {});

function describe(json: unknown, named: string, status: number | undefined, headers: Headers): UpstreamFault {
  const type = bareType(asString(own(json, '__type')) ?? named);
  const reason = asString(own(json, 'reason')) ?? '';
  const message = (
    asString(own(json, 'message')) ??
    asString(own(json, 'Message')) ??
    (type || `The upstream answered with status ${status ?? 'unknown'}.`)
  ).slice(0, maxLength);
  const rule = reasons.find((one) => one.when.test(reason)) ?? types.find((one) => one.when.test(type) && (one.words?.test(message) ?? true));
  const known = status ?? rule?.status;
  const kind = rule?.class ?? classOfStatus(known ?? 500);
  const retryAfterMs = readRetryAfter(headers, kind === 'rate' || kind === 'overloaded' ? message : '');
  const code = reason || type;
  return {
    class: kind,
    ...(known !== undefined && { status: known }),
    ...(code !== '' && { code }),
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

/** `com.amazon.service#ValidationException`, `ValidationException:http://…` → `ValidationException`. */
const bareType = (type: string): string => (type.split('#').at(-1) ?? '').split(':')[0] ?? '';
