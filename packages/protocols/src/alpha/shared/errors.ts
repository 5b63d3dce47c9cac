import type { UpstreamFault } from '../../chat/event.ts';
import type { ClientError } from '../../contract/index.ts';
import { addressRemedy, classOf, type ErrorWords, knownStatus, statusMeant } from '../../kit/class-of-error.ts';
import { type OverflowWords, redrawOverflow } from '../../kit/context-overflow.ts';
import { asArray, asNumber, asObject, asString, own } from '../../kit/read.ts';
import { readRetryAfter } from '../../kit/retry-after.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** A reply with an error status, or with an error in its body. */
export function readError(status: number, headers: Headers, body: string): UpstreamFault {
  const words = readWords(parse(body), body, status);
  return toFault(words, status >= 400 ? status : (words.status ?? status), headers);
}

/** The `error` of a chunk, or the data of an `event: error`, after a 200. */
export function readStreamError(json: unknown, data: string): UpstreamFault {
  const words = readWords(json, data, undefined);
  return toFault(words, words.status, {});
}

function toFault(words: ErrorWords, status: number | undefined, headers: Headers): UpstreamFault {
  const known = knownStatus(statusMeant(status, words.type));
  const fault = classOf(words, known);
  const retryAfterMs = readRetryAfter(headers, fault === 'rate' || fault === 'overloaded' ? words.message : '');
  const code = words.code || words.type;
  return {
    class: fault,
    ...(known !== undefined && { status: known }),
    ...(code !== '' && { code }),
    message: addressRemedy(words) ?? words.message,
    ...(words.param !== undefined && { param: words.param }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // Pages and bare text are handled as words.
    return undefined;
  }
}

/** Longest message that is kept of an upstream. */
const maxLength = 2000;

/** What the body says: for an aggregator, the error of the vendor behind it, which it includes as text. */
function readWords(json: unknown, text: string, status: number | undefined): ErrorWords {
  const outer = readOuterWords(json, text, status);
  const metadata = own(own(json, 'error'), 'metadata');
  const raw = asString(own(metadata, 'raw'));
  if (!raw || !/^provider returned error/i.test(outer.message)) return outer;
  const { message, code, type } = readOuterWords(parse(raw), raw, status);
  return { ...outer, message, code: code || outer.code, type: type || outer.type, relayed: own(metadata, 'is_byok') !== true };
}

function readOuterWords(json: unknown, text: string, status: number | undefined): ErrorWords {
  // One compatible endpoint wraps its error in a list.
  const body = asArray(json)?.[0] ?? json;
  const failure = failureBeside(body);
  // Cloudflare lists what went wrong under a name of its own, and says nothing beside it.
  const isSilent = ['message', 'detail', 'msg'].every((name) => own(body, name) === undefined);
  const listed = isSilent ? asObject(asArray(own(body, 'errors'))?.[0]) : undefined;
  const error = own(body, 'error') ?? failure ?? listed ?? body;
  const inner = asObject(error) ?? {};
  const written = own(inner, 'message');
  const message =
    asString(error) ??
    asString(written) ??
    readDetail(own(written, 'detail')) ??
    readDetail(own(inner, 'detail')) ??
    asString(own(inner, 'msg')) ??
    asString(own(failure, 'status_msg')) ??
    asString(own(body, 'message'));
  const code = own(inner, 'code') ?? own(failure, 'status_code') ?? own(body, 'code') ?? own(body, 'error_code');
  const bodyStatus = asNumber(own(inner, 'status_code')) ?? asNumber(code) ?? asNumber(Number(asString(code) ?? Number.NaN));
  return {
    message: (message || bareText(text, json) || `The upstream answered with status ${status ?? 'unknown'}.`).slice(0, maxLength),
    code: asString(code) ?? (typeof code === 'number' ? String(code) : ''),
    type: asString(own(inner, 'type')) ?? asString(own(inner, 'status')) ?? reasonOf(inner) ?? '',
    param: asString(own(inner, 'param')),
    status: bodyStatus !== undefined && bodyStatus >= 400 && bodyStatus < 600 ? bodyStatus : undefined,
    structured: asObject(body) !== undefined,
    relayed: false,
  };
}

/** A word, which may stand as a code; other servers write sentences there. */
const reasonOf = (error: unknown): string | undefined => /^[\w.-]{1,64}$/.exec(asString(own(error, 'reason')) ?? '')?.[0];

/** `base_resp` of MiniMax, whose status is 0 in a reply that succeeded; undefined where it reports no failure. */
export function failureBeside(body: unknown): unknown {
  const beside = own(body, 'base_resp');
  return asNumber(own(beside, 'status_code')) ? beside : undefined;
}

/** What a place is written with. Anything else may not even have words: a value that nests too deep cannot be joined. */
const isStep = (step: unknown): boolean => typeof step === 'string' || typeof step === 'number';

/** `detail` of the Python servers: a sentence, one in an object (KoboldCpp, DeepInfra), or a list of `{loc, msg}`; one vendor puts it into the message. */
function readDetail(detail: unknown): string | undefined {
  const list = asArray(detail);
  if (!list) return asString(detail) ?? asString(own(detail, 'message')) ?? asString(own(detail, 'msg')) ?? asString(own(detail, 'error'));
  return list
    .map((entry) => [(asArray(own(entry, 'loc')) ?? []).filter(isStep).join('.'), asString(own(entry, 'msg')) ?? ''].filter(Boolean).join(': '))
    .join('; ');
}

/** Plain text as it is; a page of HTML says nothing that a caller could use. */
const bareText = (text: string, json: unknown): string => (json !== undefined || /^\s*</.test(text) ? '' : text.trim());

/** The real endpoint's `type` words, by status. */
const typeOfStatus: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'invalid_request_error',
  429: 'rate_limit_error',
  499: 'invalid_request_error',
  503: 'service_unavailable_error',
  504: 'timeout_error',
};

/** Codes that callers of the real endpoint act upon, where ours have another name. */
const codeForCaller: Readonly<Record<string, string>> = {
  unauthorized: 'invalid_api_key',
  rate_limited: 'rate_limit_exceeded',
  upstream_rate_limited: 'rate_limit_exceeded',
  budget_exhausted: 'insufficient_quota',
  context_overflow: 'context_length_exceeded',
};

/** The real endpoint's sentences for a prompt that does not fit. */
const overflowWords: OverflowWords = {
  sum: (asked, output, allowed) =>
    `This model's maximum context length is ${allowed} tokens. However, you requested ${asked + output} tokens (${asked} in the messages, ${output} in the completion). Please reduce the length of the messages or completion.`,
  prompt: (asked, allowed) =>
    `This model's maximum context length is ${allowed} tokens. However, your messages resulted in ${asked} tokens. Please reduce the length of the messages.`,
  plain: (message) => (/maximum context length/i.test(message) ? message : `The messages exceed this model's maximum context length. ${message}`),
};

/** An error body in this protocol's shape. */
export function writeError(error: ClientError): { body: string; headers?: Record<string, string> } {
  const code = codeForCaller[error.code] ?? error.code;
  const message = error.code === 'context_overflow' ? redrawOverflow(error.message, overflowWords) : error.message;
  const type = typeOfStatus[error.status] ?? (error.status < 500 ? 'invalid_request_error' : 'server_error');
  return {
    body: JSON.stringify({ error: { message, type, param: error.param ?? null, code } }),
    ...(error.retryAfter !== undefined && { headers: { 'retry-after': String(Math.max(1, Math.ceil(error.retryAfter))) } }),
  };
}
