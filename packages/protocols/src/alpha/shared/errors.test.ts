import { describe, expect, test } from '@jest/globals';
import { readWhole } from '../upstream/read-response.ts';
import { readError, readStreamError } from './errors.ts';

const body = (error: object, beside: object = {}): string => JSON.stringify({ error, ...beside });
const relayed = (code: number, raw: object | string, more: object = {}): string =>
  body({ message: 'Provider returned error', code, metadata: { raw: typeof raw === 'string' ? raw : JSON.stringify(raw), provider_name: 'Other', ...more } });

describe('what vendors say of the account, by where it was reported', () => {
  test.each([
    // https://github.com/coze-dev/coze-studio/issues/2195
    ['Ark, overdue', 403, body({ code: 'AccountOverdueError', message: 'The request failed because your account has an overdue balance.', type: 'Forbidden' })],
    // https://www.volcengine.com/docs/82379/1299023
    ['Ark, cap on spending', 429, body({ code: 'SetLimitExceeded', message: 'The model service has been paused.', type: 'TooManyRequests' })],
    ['Ark, trial', 429, body({ code: 'QuotaExceeded', message: 'Your account 1 has exhausted its free trial quota for the model.', type: 'TooManyRequests' })],
    // https://github.com/continuedev/continue/issues/10373, https://github.com/Anantys-oss/koan/issues/2412, https://github.com/Wei-Shaw/sub2api/issues/4069
    [
      'xAI',
      429,
      JSON.stringify({
        code: 'Some resource has been exhausted',
        error: 'Your team has either used all available credits or reached its monthly spending limit.',
      }),
    ],
    ['xAI', 403, JSON.stringify({ code: 'permission-denied', error: "Your newly created team doesn't have any credits or licenses yet." })],
    ['xAI', 403, JSON.stringify({ code: 'personal-team-blocked:spending-limit', error: 'You have run out of credits or need a Grok subscription.' })],
    // https://github.com/pollinations/pollinations/issues/12136
    [
      'Fireworks',
      412,
      body({ code: 'PRECONDITION_FAILED', message: 'Account a-1 is suspended, possibly due to failure to pay past invoices.', type: 'error' }),
    ],
    // https://github.com/gptme/gptme/issues/1449
    [
      'OpenRouter, cap of the key',
      403,
      body({ code: 403, message: 'Key limit exceeded (monthly limit). Manage it using https://openrouter.ai/settings/keys' }),
    ],
    // https://docs.z.ai/api-reference/api-code
    ['Z.ai, plan', 429, body({ code: '1309', message: 'Your GLM Coding Plan package has expired and is temporarily unavailable.' })],
    [
      'DashScope',
      403,
      body({ code: 'AllocationQuota.FreeTierOnly', type: 'AllocationQuota.FreeTierOnly', message: 'The free tier of the model has been exhausted.' }),
    ],
    ['Groq', 400, body({ code: 'organization_restricted', type: 'invalid_request_error', message: 'Organization has been restricted.' })],
    // https://github.com/modelscope/modelscope/issues/1691
    ['MiniMax', 429, body({ http_code: '429', type: 'insufficient_balance_error', message: 'insufficient balance (1008)' })],
    ['LiteLLM', 400, body({ code: '400', type: 'budget_exceeded', message: 'Budget has been exceeded! Current cost: 0.1, Max budget: 0.05' })],
    ['LiteLLM', 429, body({ code: '429', type: 'budget_exceeded', message: 'Budget has been exceeded! Current cost: 5.0, Max budget: 1.0' })],
    ['watsonx', 403, JSON.stringify({ errors: [{ code: 'token_quota_reached', message: 'Request of 1 token(s) from quota was rejected' }], status_code: 403 })],
    ['Novita', 403, JSON.stringify({ code: 403, reason: 'NOT_ENOUGH_BALANCE', message: 'not enough balance', metadata: {} })],
    ['Vercel', 403, body({ type: 'customer_verification_required', message: 'AI Gateway requires a valid credit card on file to service requests.' })],
  ])('%s, %i', (_vendor, status, text) => expect(readError(status, {}, text).class).toBe('account'));
});

describe('a model that the upstream no longer has, so that another node is asked', () => {
  test.each([
    // https://github.com/capocasa/3code/issues/2
    ['NVIDIA', 410, JSON.stringify({ type: 'about:blank', title: 'Gone', status: 410, detail: "The model 'z-ai/glm4.7' has reached its end of life." })],
    // https://github.com/github/gh-models/issues/65
    ['GitHub Models', 400, body({ code: 'unavailable_model', message: 'Unavailable model: o4-mini', details: 'Unavailable model: o4-mini' })],
    ['LiteLLM', 400, body({ code: '400', type: 'invalid_request_error', param: 'model', message: '/chat/completions: Invalid model name passed in model=x.' })],
  ])('%s, %i', (_vendor, status, text) => expect(readError(status, {}, text).class).toBe('not-found'));

  test('a model that a key of LiteLLM may not use says nothing of the key', () => {
    const text = body({ message: 'key not allowed to access model.', type: 'key_model_access_denied', param: 'model', code: '401' });
    expect(readError(401, {}, text)).toMatchObject({ class: 'credential', status: 403 });
    expect(readError(401, {}, body({ message: 'Invalid proxy server token passed.', type: 'token_not_found_in_db', code: '401' })).status).toBe(401);
  });

  test('an endpoint that was paused is ill', () => {
    const text = JSON.stringify({ error: 'Bad Request: The endpoint is paused, ask a maintainer to restart it' });
    expect(readError(400, {}, text).class).toBe('server');
  });
});

test('an address at which Azure serves nothing is the admin’s to mend, and what to do is said', () => {
  const { class: kind, message } = readError(404, {}, body({ code: '404', message: 'Resource not found' }));
  expect(kind).toBe('server');
  expect(message).toMatch(/^Resource not found: .*base_url.*direct_path and its api-version/);
  expect(readError(404, {}, body({ code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' })).class).toBe('not-found');
});

describe('words within an object', () => {
  test.each([
    ['KoboldCpp', 503, { detail: { msg: 'Server is busy; please try again later.', type: 'service_unavailable' } }, 'Server is busy; please try again later.'],
    ['DeepInfra', 404, { detail: { error: 'Model is not available' } }, 'Model is not available'],
  ])('%s, %i', (_vendor, status, text, message) => expect(readError(status, {}, JSON.stringify(text)).message).toBe(message));

  test('the code of Databricks', () => {
    const text = JSON.stringify({ error_code: 'REQUEST_LIMIT_EXCEEDED', message: 'Exceeded workspace rate limit.' });
    expect(readError(429, {}, text)).toMatchObject({ class: 'rate', code: 'REQUEST_LIMIT_EXCEEDED' });
  });
});

describe('limits of a minute', () => {
  test('within a stream, where no status tells them from a prompt that is too long', () => {
    const error = {
      message: 'Tokens per minute limit exceeded - too many tokens processed.',
      type: 'too_many_tokens_error',
      param: 'quota',
      code: 'token_quota_exceeded',
    };
    expect(readStreamError({ error }, '').class).toBe('rate');
    expect(readStreamError({ error: { message: 'Too many tokens, please wait before trying again.' } }, '').class).toBe('rate');
  });

  test('GitHub Models says when in words', () => {
    const message = 'Rate limit of 15 per 60s exceeded for UserByModelByMinute. Please wait 30 seconds before retrying.';
    expect(readError(429, {}, body({ code: 'RateLimitReached', message }))).toMatchObject({ class: 'rate', retryAfterMs: 30_000 });
  });
});

test('a limit of a minute in the words for an empty account is a limit of a minute', () => {
  // https://github.com/can1357/oh-my-pi/pull/8476
  const message =
    'You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit';
  expect(readError(429, {}, body({ message, type: 'insufficient_quota', code: 'insufficient_quota' })).class).toBe('rate');
});

test.each([
  // https://github.com/continuedev/continue/issues/10920
  'Rate limit reached for model `llama-3.3-70b-versatile` in organization `org_1` service tier `on_demand` on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
  // https://github.com/openai/codex/issues/88
  'Rate limit reached for gpt-4o in organization org-1 on tokens per min (TPM): Limit 10000, Used 6630, Requested 3787. Please try again in 9m38.016s. Visit https://platform.openai.com/account/rate-limits to learn more. You can increase your rate limit by adding a payment method to your account at https://platform.openai.com/account/billing.',
])('a limit whose words link to the page of bills is a limit, and passes at its time: %s', (message) =>
  expect(readError(429, {}, body({ message, type: 'tokens', code: 'rate_limit_exceeded' }))).toMatchObject({ class: 'rate', retryAfterMs: 578_016 }),
);

describe('an aggregator that hands on the words of a vendor', () => {
  test('a prompt that does not fit is told as such', () => {
    const raw = { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 206000 tokens > 200000 maximum' } };
    expect(readError(400, {}, relayed(400, raw))).toMatchObject({ class: 'context', message: 'prompt is too long: 206000 tokens > 200000 maximum' });
  });

  // https://github.com/diegosouzapw/OmniRoute/issues/3044
  test('the caller reads what the vendor said', () => {
    const raw = { error: { type: 'invalid_request_error', message: 'Model supports at most 1 image per prompt.' } };
    expect(readError(400, {}, relayed(400, raw))).toMatchObject({ class: 'caller', message: 'Model supports at most 1 image per prompt.' });
    expect(readError(429, {}, relayed(429, 'x:free is temporarily rate-limited upstream. Please retry shortly.'))).toMatchObject({
      class: 'rate',
      message: 'x:free is temporarily rate-limited upstream. Please retry shortly.',
    });
  });

  test('a key that is not ours says nothing of ours', () => {
    const raw = { error: { code: 'invalid_api_key', message: 'Incorrect API key provided' } };
    expect(readError(401, {}, relayed(401, raw)).class).toBe('server');
    expect(readError(429, {}, relayed(429, { error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } })).class).toBe('server');
    expect(readError(401, {}, relayed(401, raw, { is_byok: true })).class).toBe('credential');
  });
});

test.each([
  // https://console.groq.com/docs/errors, https://docs.together.ai/docs/error-codes
  [400, body({ code: 'model_decommissioned', message: 'The model `x` has been decommissioned and is no longer supported.' }), 'not-found'],
  [400, body({ code: 'model_not_available', message: 'Unable to access non-serverless model x.' }), 'not-found'],
  [400, body({ code: 400, message: 'foo/bar is not a valid model ID' }), 'not-found'],
  [
    400,
    body({ code: 'invalid_request_error', message: 'The supported API model names are deepseek-v4-pro or deepseek-v4-flash, but you passed x.' }),
    'not-found',
  ],
  // https://github.com/langchain-ai/langchain-azure/issues/228
  [
    400,
    body({
      code: 'OperationNotSupported',
      message: 'The chatCompletion operation does not work with the specified model, gpt-5.1-codex. Please choose different model and try again.',
    }),
    'not-found',
  ],
  [400, body({ code: '1211', message: '模型不存在，请检查模型代码。' }), 'not-found'],
  [429, body({ code: '1305', message: '该模型当前访问量过大，请您稍后再试' }), 'overloaded'],
  // https://inference-docs.cerebras.ai/support/error
  [
    429,
    JSON.stringify({ message: "We're experiencing high traffic right now!", type: 'too_many_requests_error', param: 'queue', code: 'queue_exceeded' }),
    'overloaded',
  ],
  // https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1347
  [400, JSON.stringify({ error: 'The model has crashed without additional information. (Exit code: 6)' }), 'server'],
  // https://github.com/huggingface/text-generation-inference/blob/003eaec/docs/openapi.json
  [424, JSON.stringify({ error: 'Request failed during generation', error_type: 'generation' }), 'server'],
  [400, body({ code: 'InvalidParameter', message: 'Total tokens of image and text exceed max message tokens.' }), 'context'],
])('%i %s is %s', (status, text, expected) => expect(readError(status, {}, text).class).toBe(expected));

test.each([
  // https://github.com/pydantic/pydantic-ai/pull/2774, https://github.com/HunorLaczko/ha-groq-cloud-api/issues/20
  ['tool_use_failed', "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details."],
  ['tool_use_failed', 'tool call validation failed: attempted to call tool "invalid api key" which was not in request.tools'],
  // https://github.com/thepersonalaicompany/amurex-backend/issues/38
  ['json_validate_failed', "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details."],
])('%s is a fault of the model, whatever it quotes: %s', (code, message) => {
  expect(readError(400, {}, body({ message, type: 'invalid_request_error', code, failed_generation: '<function=read>' }))).toMatchObject({
    class: 'model',
    status: 400,
    code,
    message,
  });
});

test.each([
  // https://github.com/autohandai/code-cli/issues/338, https://github.com/continuedev/continue/issues/10602
  [
    'Groq',
    413,
    'Request too large for model `openai/gpt-oss-20b` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 34031, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
    'too-large',
  ],
  [
    'OpenAI',
    429,
    'Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 61337. The input or output tokens must be reduced in order to run successfully. Visit https://platform.openai.com/account/rate-limits to learn more.',
    'too-large',
  ],
  // https://github.com/coleam00/mcp-crawl4ai-rag/pull/41
  [
    'what waiting mends',
    429,
    'Rate limit reached for gpt-4o-mini in organization org-1 on tokens per min (TPM): Limit 200000, Used 195663, Requested 7592. Please try again in 976ms.',
    'rate',
  ],
])('more tokens than a whole minute has: %s', (_vendor, status, message, expected) =>
  expect(readError(status, {}, body({ message, type: 'tokens', param: null, code: 'rate_limit_exceeded' })).class).toBe(expected),
);

describe('a failure in a reply with status 200', () => {
  // https://github.com/MiniMax-AI/MiniMax-M2.5/issues/18, https://platform.minimax.io/docs/api-reference/errorcode
  test.each([
    [1008, 'insufficient balance', 'account'],
    [1002, 'rate limit exceeded(RPM)', 'rate'],
    [2056, 'usage limit exceeded, resets at 2026-03-27T04:00:00+08:00', 'rate'],
    [1004, 'login fail: Please carry the API secret key', 'credential'],
    [2049, 'invalid api key', 'credential'],
    [2013, 'invalid params, invalid chat setting', 'caller'],
    [1000, 'unknown error', 'server'],
  ])('%i: %s', (status_code, status_msg, expected) => {
    const reply = { id: 'x', choices: null, base_resp: { status_code, status_msg } };
    expect(readWhole(reply)).toEqual([{ type: 'error', error: expect.objectContaining({ class: expected, code: String(status_code), message: status_msg }) }]);
  });

  test('a status of 0 is none', () => {
    const reply = { id: 'x', choices: [{ index: 0, finish_reason: 'stop', message: { content: 'hi' } }], base_resp: { status_code: 0, status_msg: '' } };
    expect(readWhole(reply).at(-1)).toEqual({ type: 'end' });
  });
});

describe('errors as Cloudflare lists them', () => {
  const listed = (code: number, message: string): string => JSON.stringify({ errors: [{ message, code }], success: false, result: {}, messages: [] });
  const tooLong = 'AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000).';
  const badInput = "AiError: Bad input: Error: required properties at '/' are 'prompt'";

  test.each([
    ['a prompt too long', 413, listed(5021, tooLong), { class: 'context', message: tooLong, code: '5021' }],
    ['the caller', 400, listed(5006, badInput), { class: 'caller', message: badInput, code: '5006' }],
    ['the credential', 401, listed(10_000, 'Authentication error'), { class: 'credential' }],
  ])('%s', (_, status, text, fault) => {
    expect(readError(status, {}, text)).toMatchObject(fault);
  });

  test('a list without words says the status', () => {
    for (const errors of [[], [null], ['x'], {}]) expect(readError(400, {}, JSON.stringify({ errors })).message).toBe('The upstream answered with status 400.');
  });
});
