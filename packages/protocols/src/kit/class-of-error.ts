/**
 * Whose fault an error is, by the words of all vendors whose servers are known: many answer in the shapes of several protocols, with the same words in each.
 * A protocol's own codes outrank this.
 */
import type { UpstreamFault } from '../chat/event.ts';
import { exceedsWholeRate, saysOverflow } from './context-overflow.ts';

type FaultClass = UpstreamFault['class'];

/** What an error body says, whichever of the vendors' shapes it has. */
export interface ErrorWords {
  message: string;
  code: string;
  type: string;
  param: string | undefined;
  /** A status named inside the body, as mid-stream errors do. */
  status: number | undefined;
  /** The body was an error object, not a page of some proxy. */
  structured: boolean;
  /** These are the words of a vendor behind an aggregator, whose key is not ours. */
  relayed: boolean;
}

/** Codes of vendors for a prompt that is too long for the model. */
const tooLongCodes = /context_length_exceeded|context_window|exceed_context_size|tokens_limit_reached|model_max_prompt_tokens_exceeded|^1261$/i;
const accountCodes = new RegExp(
  `^(?:${[
    'insufficient_quota|insufficient_balance|billing_\\w+|account_(?:deactivated|suspended)|arrearage|quota_exceeded|exceeded_current_quota_error',
    // Z.ai: no balance, plan run out. Ark: overdue, and its own cap on spending. DashScope: nothing left for free. Groq: shut out.
    '1113|1309|AccountOverdueError|SetLimitExceeded|.*FreeTierOnly|organization_restricted|blocked_api_access',
    // LiteLLM: the budget of our key there. watsonx: a plan's tokens. Novita: no balance. Vercel: no card on file.
    'budget_exceeded|token_quota_reached|NOT_ENOUGH_BALANCE|customer_verification_required',
  ].join('|')})$`,
  'i',
);
const accountWords = new RegExp(
  [
    'exceeded your current quota|insufficient (?:balance|credits?|funds)|credit balance is too low|billing|arrear|overdue balance',
    'account (?:\\S{1,100} )?(?:is|has been) (?:deactivated|suspended|not active)',
    // xAI, Fireworks, OpenRouter, Ark.
    "n[o']t have any credits|run out of credits|used all available credits|spending limit|key limit exceeded|exhausted its free trial",
  ].join('|'),
  'i',
);
/**
 * One vendor calls its limit of a minute a quota, in OpenAI's words for an empty account; only its link tells. OpenAI (https://github.com/openai/codex/issues/88)
 * and Groq (https://github.com/continuedev/continue/issues/10920) end their words about a limit with a link to the page of bills, where it can be raised.
 */
const throttleWords = /error-code#(?:token|rate)-limit|^rate limit reached for /i;
const credentialCodes =
  /^(?:invalid_api_key|authentication_error|invalid_authentication(?:_error)?|unauthorized|permission_(?:denied|error)|unsupported_country_region_territory|AuthenticationError|PermissionDenied|1004|2049)$/i;
/** At the beginning, as all of these stand: a refusal quotes what the caller wrote, which says nothing of our key. */
const credentialWords = /^(?:incorrect|invalid|no|missing|expired) api[- ]?key|^api[- ]?key (?:not valid|is invalid|expired|not found)/i;
const overloadedCodes = /overload|capacity_exceeded|server_busy|service_unavailable|insufficient_system_resource|queue_exceeded|^NoCapacity$|^1305$/i;
const overloadedWords = /overloaded|at capacity|currently busy|no capacity/i;
/** Limits of plans over hours or weeks, too (Z.ai 1308 and 1310, MiniMax 2056): they pass by themselves, at the time that the message names. */
const rateCodes = /rate_?limit|too_many_(?:requests|tokens)|usage_limit_reached|^429$|^throttl|requests_limit|tokens_limit$|^(?:1002|1308|1310|2056)$/i;
const missingModelCodes =
  /model_not_found|model_not_exist|model_not_available|model_decommissioned|not_found_error|^NotFound|DeploymentNotFound|OperationNotSupported|unknown_model|unavailable_model|invalid_model|^1211$/i;
const missingModelWords =
  /model\b.{0,200}\b(?:does not exist|not found|not exist|is not supported|unknown)|unknown model|no endpoints found|not a valid model id|supported api model names are|invalid model name passed/i;
/** Groq's, with a 400, for what the model wrote: no call that could be read or was allowed, or no JSON as it was asked for. */
const modelCodes = /^(?:tool_use_failed|json_validate_failed)$/;
/** A server at home that lost its model while it answered, or before, and an endpoint of Hugging Face that was paused; they say 400. */
const lostModelWords = /^(?:the )?model (?:has crashed|(?:is )?unloaded)|\bendpoint is paused\b/i;
const moderationWords = /moderation|flagged|content[_ ](?:policy|filter)|safety/i;

/** Content that is refused with any key: asking again with others would only put those at risk. Streams say it without a status. */
const refusedInput = new RegExp(
  `^(?:${[
    '(?:bio|cyber)_policy|(?:misalignment|content)_policy_violation',
    'image_(?:too_large|too_small|parse_error|content_policy_violation|file_too_large|file_not_found)',
    'unsupported_image_media_type|empty_image_file|failed_to_download_image',
  ].join('|')})$`,
);

/** OpenAI says 424 where a tool server that the request names fails (https://github.com/agentgateway/agentgateway/issues/383): the caller's to mend. */
const callersServer = /\bMCP\b|connector_error/i;
/** Refusals of a request quote what it says. */
const quotesCaller: ReadonlySet<number | undefined> = new Set([400, 404, 409, 413, 422, 424]);

/** Azure's, for a path or an `api-version` that it does not know. */
const isNoResource = ({ code, message }: Pick<ErrorWords, 'code' | 'message'>): boolean => code === '404' && /^resource not found\.?$/i.test(message);

/** What to do about it, in place of words that say nothing. */
export const addressRemedy = (words: Pick<ErrorWords, 'code' | 'message'>): string | undefined =>
  isNoResource(words)
    ? `${words.message}: nothing is served at this address. For Azure, base_url is the endpoint of the resource, or ends in /openai/v1; that of a deployment needs direct_path and its api-version.`
    : undefined;

/** LiteLLM said 401 of a model that its key may not use before it said 403: the key itself is good. */
export const statusMeant = (status: number | undefined, type: string | undefined): number | undefined =>
  status === 401 && type !== undefined && /_model_access_denied$/.test(type) ? 403 : status;

interface Rule {
  class: FaultClass;
  when(words: ErrorWords, status: number | undefined): boolean;
}

const said = (words: ErrorWords, codes: RegExp): boolean => codes.test(words.code) || codes.test(words.type);

/** In order: the first that holds decides. The vendor's own code outranks the status, since some say 400 or 429 about our account. */
const rules: readonly Rule[] = [
  // Before all that goes by words: these quote what the model wrote.
  { class: 'model', when: (words) => said(words, modelCodes) },
  { class: 'caller', when: (words) => said(words, refusedInput) },
  { class: 'caller', when: (words, status) => status === 424 && callersServer.test(`${words.type} ${words.message}`) },
  { class: 'rate', when: (words, status) => status === 429 && throttleWords.test(words.message) },
  // Before the account: the words name the page of bills.
  { class: 'too-large', when: (words) => exceedsWholeRate(words.message) },
  // What a vendor behind an aggregator says of the aggregator's key or account says nothing of ours.
  {
    class: 'server',
    when: (words, status) => words.relayed && (status === 401 || status === 402 || said(words, credentialCodes) || said(words, accountCodes)),
  },
  { class: 'account', when: (words, status) => said(words, accountCodes) || status === 402 || (accountWords.test(words.message) && !quotesCaller.has(status)) },
  { class: 'credential', when: (words, status) => status === 401 || said(words, credentialCodes) || credentialWords.test(words.message) },
  { class: 'caller', when: (words, status) => status === 403 && moderationWords.test(`${words.code} ${words.type} ${words.message}`) },
  { class: 'credential', when: (_words, status) => status === 403 },
  {
    class: 'context',
    when: (words, status) => status !== 429 && (said(words, tooLongCodes) || (!isServerSide(status) && saysOverflow(words.message))),
  },
  {
    class: 'overloaded',
    when: (words, status) =>
      status === 503 || status === 529 || status === 498 || said(words, overloadedCodes) || (status === 429 && overloadedWords.test(words.message)),
  },
  {
    class: 'rate',
    when: (words, status) =>
      status === 429 || said(words, rateCodes) || (status === undefined && /^too many (?:tokens|requests), please wait\b/i.test(words.message)),
  },
  { class: 'server', when: (words, status) => status === 404 && isNoResource(words) },
  {
    class: 'not-found',
    when: (words, status) =>
      said(words, missingModelCodes) ||
      // What was served once: others may serve it still.
      status === 410 ||
      (status === 404 && words.structured) ||
      (status === 400 && missingModelWords.test(words.message)),
  },
  // A bare page with 404: the address is wrong, which is no caller's doing.
  { class: 'server', when: (_words, status) => status === 404 || status === 405 },
  // 424: what TGI says of a generation that failed (https://github.com/huggingface/text-generation-inference/blob/003eaec/docs/openapi.json).
  { class: 'server', when: (words, status) => status === 424 || lostModelWords.test(words.message) },
  { class: 'timeout', when: (words, status) => status === 408 || status === 504 || status === 524 || said(words, /^timeout|timed_out|request_timeout/i) },
  {
    class: 'caller',
    when: (words, status) =>
      (status !== undefined && status >= 400 && status < 500) || (status === undefined && said(words, /invalid_request|bad_request|invalid_|^2013$/i)),
  },
];

const isServerSide = (status: number | undefined): boolean => status !== undefined && status >= 502;

/** undefined: it is no status of an error. */
export const knownStatus = (status: number | undefined): number | undefined => (status !== undefined && status >= 400 && status < 600 ? status : undefined);

/** `status`: as `knownStatus` says. */
export const classOf = (words: ErrorWords, status: number | undefined): FaultClass => rules.find((rule) => rule.when(words, status))?.class ?? 'server';

/** The same for a body of which only this is known. */
export function classOfError(words: Pick<ErrorWords, 'message' | 'code' | 'type'>, status: number | undefined): FaultClass {
  return classOf({ param: undefined, status: undefined, structured: true, relayed: false, ...words }, knownStatus(status));
}
