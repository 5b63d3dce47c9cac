import type { UpstreamFault } from '../../chat/event.ts';
import { saysOverflow } from '../../kit/context-overflow.ts';
import { asNumber, asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';
import { clearsCaller } from '../../kit/status-of-fault.ts';

type Headers = Readonly<Record<string, string | undefined>>;

interface Rule {
  /** Of the code, which is a word or dotted words. */
  code: RegExp;
  /** Of the message, where the code alone does not tell. */
  words?: { test(message: string): boolean };
  class: UpstreamFault['class'];
  /** The status that the code has outside of a stream, where no status reaches us. */
  status: number;
}

/** In order: the first that holds decides. Codes outrank the status: some say 400 about our account. */
const rules: readonly Rule[] = [
  {
    code: /^(?:Arrearage|(?:Pre|Post)paidBillOverdue|CommodityNotPurchased|.*FreeTierOnly|.*QuotaExhausted|insufficient_quota)$/i,
    class: 'account',
    status: 403,
  },
  { code: /DataInspection|data_inspection/i, class: 'caller', status: 400 },
  { code: /^(?:Throttling|LimitRequests|limit_requests|.*RateQuota|.*RateLimit)/i, class: 'rate', status: 429 },
  { code: /^(?:InvalidApiKey|invalid_api_key|Unauthorized|NotAuthorized|Access(?:Key)?Invalid)/i, class: 'credential', status: 401 },
  { code: /AccessDenied/i, words: /does not support (?:a?synchronous|http) call/i, class: 'server', status: 403 },
  { code: /AccessDenied|^Forbidden|Workspace\.AccessDenied/i, class: 'credential', status: 403 },
  { code: /^(?:Model\.?(?:NotFound|NotExist)|model_not_found|ModelNotFound)/i, class: 'not-found', status: 404 },
  { code: /Time-?Out|Timeout/i, class: 'timeout', status: 504 },
  { code: /ServiceUnavailable|ModelUnavailable|ModelServingError|Overload|SystemBusy/i, class: 'overloaded', status: 503 },
  {
    code: /./,
    words: { test: saysOverflow },
    class: 'context',
    status: 400,
  },
  // The address that an admin chose does not fit the model: no caller can do anything about it.
  { code: /InvalidParameter|InvalidURL/i, words: /^url error, please check url/i, class: 'server', status: 400 },
  { code: /InvalidParameter|^Invalid|^BadRequest|UnsupportedOperation|^Conflict/i, class: 'caller', status: 400 },
  { code: /^InternalError|^SystemError|^ModelServiceFailed/i, class: 'server', status: 500 },
];

const classOfStatus = (status: number): UpstreamFault['class'] => {
  if (status === 401 || status === 403) return 'credential';
  if (status === 402) return 'account';
  if (status === 404) return 'not-found';
  if (status === 429) return 'rate';
  if (status === 503 || status === 529) return 'overloaded';
  if (status === 408 || status === 504) return 'timeout';
  return status >= 400 && status < 500 && status !== 405 ? 'caller' : 'server';
};

/** Longest message that is kept of an upstream. */
const maxLength = 2000;

/** A reply with an error status. */
export function readError(status: number, headers: Headers, body: string): UpstreamFault {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    // A page of some proxy: its words are not an error of this wire.
    return { class: status === 404 ? 'server' : classOfStatus(status), status, message: `The upstream answered with status ${status}.` };
  }
  return describe(json, status, headers);
}

/** An error inside a 200, whole or as an event; undefined when the body is none. */
export function readBodyError(json: unknown, said: boolean): UpstreamFault | undefined {
  const code = asString(own(json, 'code'));
  if (!said && (!code || own(json, 'output') !== undefined)) return undefined;
  return describe(json, asNumber(own(json, 'status_code')), {});
}

/** Of a task that ended, or of a part of it; undefined: it did not fail. */
export function readTaskFailure(output: unknown): UpstreamFault | undefined {
  const status = asString(own(output, 'task_status')) ?? asString(own(output, 'subtask_status'));
  if (status === 'CANCELED' || status === 'UNKNOWN')
    return { class: 'server', code: `task_${status.toLowerCase()}`, message: `The upstream's task ended as ${status}.` };
  return status === 'FAILED' ? describe(output, undefined, {}) : undefined;
}

function describe(json: unknown, given: number | undefined, headers: Headers): UpstreamFault {
  // The compatible endpoint of the same vendor answers in its own shape, also on this one's paths.
  const error = own(json, 'error') ?? json;
  const code = asString(own(error, 'code')) ?? asString(own(error, 'type')) ?? '';
  const message = (asString(own(error, 'message')) || 'The upstream gave no reason.').slice(0, maxLength);
  const rule = rules.find((one) => one.code.test(code) && (one.words?.test(message) ?? true));
  const status = given !== undefined && given >= 400 && given < 600 ? given : rule?.status;
  const kind = rule === undefined || (rule.class === 'caller' && clearsCaller(given)) ? classOfStatus(status ?? 500) : rule.class;
  const retryAfterMs = readRetryAfter(headers, kind === 'rate' || kind === 'overloaded' ? message : '');
  return {
    class: kind,
    ...(status !== undefined && { status }),
    ...(code !== '' && { code }),
    message,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
