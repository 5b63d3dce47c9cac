/** Pain 21: every vendor's way to say that a prompt does not fit is recognised, and each client reads it in its own words. */
import { describe, expect, test } from '@jest/globals';
import { chatClients } from '../registry.ts';
import { overflowFigures, saysOverflow } from './context-overflow.ts';

/** What vendors answered, and what of it is figures. */
const said: readonly (readonly [string, ReturnType<typeof overflowFigures>])[] = [
  ['prompt is too long: 210000 tokens > 200000 maximum', { asked: 210000, allowed: 200000 }],
  [
    'input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    { asked: 188059, output: 20000, allowed: 200000 },
  ],
  [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140000 tokens. Please reduce the length of the messages.",
    { asked: 140000, allowed: 128000 },
  ],
  [
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (62000 in the messages, 8000 in the completion). Please reduce the length of the messages or completion.",
    { asked: 62000, output: 8000, allowed: 65536 },
  ],
  [
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 214000 tokens (204000 of text input, 10000 in the output). Please reduce the length of either one.",
    { asked: 204000, output: 10000, allowed: 200000 },
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 8192 tokens and your request has 6000 input tokens (4000 > 8192 - 6000).",
    { asked: 6000, output: 4000, allowed: 8192 },
  ],
  [
    "This model's maximum context length is 32768 tokens. However, you requested 4096 output tokens and your prompt contains at least 30000 input tokens, for a total of at least 34096 tokens.",
    { asked: 30000, output: 4096, allowed: 32768 },
  ],
  ["This model's maximum prompt length is 131072 but the request contains 200000 tokens.", { asked: 200000, allowed: 131072 }],
  ['The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).', { asked: 1200000, allowed: 1048576 }],
  ['Prompt contains 41024 tokens and 0 draft tokens, too large for model with 32768 maximum context length', { asked: 41024, allowed: 32768 }],
  ['prompt token count of 130000 exceeds the limit of 128000', { asked: 130000, allowed: 128000 }],
  ['The prompt is too long: 170000, model maximum context length: 131071', { asked: 170000, allowed: 131071 }],
  ['Invalid request: Your request exceeded model token limit: 131072 (requested: 140000)', { asked: 140000, allowed: 131072 }],
  [
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 4000 `inputs` tokens and 512 `max_new_tokens`',
    { asked: 4000, output: 512, allowed: 4097 },
  ],
  ['Please reduce the length of the messages or completion. Current length is 9000 while limit is 8192', { asked: 9000, allowed: 8192 }],
  ['request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it', { asked: 5000, allowed: 4096 }],
  ['Too many input tokens. Max input tokens: 300000, request input token count: 350000 ', { asked: 350000, allowed: 300000 }],
  ['<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]', { allowed: 30720 }],
  ['too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.', { asked: 5000, allowed: 4081 }],
  [
    "Requested token count exceeds the model's maximum context length of 202752 tokens. You requested a total of 202941 tokens: 170941 tokens from the input messages and 32000 tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.",
    { asked: 170941, output: 32000, allowed: 202752 },
  ],
  ["The input (61709 tokens) is longer than the model's context length (40960 tokens).", { asked: 61709, allowed: 40960 }],
  [
    'Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens). Use a shorter input or enable --allow-auto-truncate.',
    { asked: 160062, allowed: 59862 },
  ],
  ['length of prompt_tokens (147509) must be less than max_seq_len (65536).', { asked: 147509, allowed: 65536 }],
  [
    "You passed 99073 input tokens and requested 32000 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 99072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=99073)",
    { asked: 99073, output: 32000, allowed: 131072 },
  ],
  [
    "This model's maximum context length is 200 tokens. However, your request has 203 input tokens. Please reduce the length of the input messages.",
    { asked: 203, allowed: 200 },
  ],
  ['The decoder prompt (length 40000) is longer than the maximum model length of 32768.', { asked: 40000, allowed: 32768 }],
  [
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.',
    { asked: 300000, allowed: 272000 },
  ],
  [
    'Unable to submit request because the input token count is 1200000 but model only supports up to 1048576. Reduce the input token count and try again.',
    { asked: 1200000, allowed: 1048576 },
  ],
  ['Input validation error: `inputs` must have less than 4096 tokens. Given: 5000', { asked: 5000, allowed: 4096 }],
  [
    'AiError: The estimated number of input and maximum output tokens (35000) exceeded this model context window limit (24000)',
    { asked: 35000, allowed: 24000 },
  ],
  [
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 4103>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input',
    { asked: 4103, allowed: 4096 },
  ],
  ['Your prompt exceeds the maximum allowed input length of 131072 tokens.', {}],
  ['输入内容过长，请减少 Prompt 中的 token 数量后重试', {}],
  ['Input is too long for requested model.', {}],
  ['Your input exceeds the context window of this model. Please adjust your input and try again.', {}],
  ['invalid params, context window exceeds limit (2013)', {}],
  ['Prompt 超长', {}],
  ['CONTENT_LENGTH_EXCEEDS_THRESHOLD', {}],
  ['the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model', { asked: 5000, allowed: 4096 }],
];

test.each(said)('%s', (message, figures) => {
  expect(saysOverflow(message)).toBe(true);
  expect(overflowFigures(message)).toEqual(figures);
});

test.each([
  'max_tokens is too large: 200000. This model supports at most 16384 completion tokens',
  'Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000',
  'Request too large for model on tokens per minute (TPM): Limit 6000, Requested 9000, please reduce the length of the messages',
  'messages: at least one message is required',
  'Unknown field context_management',
  'The long context beta is not yet available for this subscription.',
])('is about something else: %s', (message) => expect(saysOverflow(message)).toBe(false));

test('hostile text costs no more than its length', () => {
  const began = process.cpuUsage();
  for (const piece of ['maximum context length is 1 tokens requested ', '9', 'exceeds tokens ', '1 tokens ', 'inputs tokens + '])
    for (const ask of [saysOverflow, overflowFigures]) ask(piece.repeat(100_000));
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(10_000);
});

describe('drawn for each client', () => {
  const drawn = (message: string): Record<string, string> =>
    Object.fromEntries(chatClients.map(({ id, client }) => [id, client.writeError({ status: 400, code: 'context_overflow', message, requestId: 'r' }).body]));
  const codes = {
    alpha: '"code":"context_length_exceeded"',
    alpha_response: '"code":"context_length_exceeded"',
    beta: '"type":"invalid_request_error"',
    gamma: '"status":"INVALID_ARGUMENT"',
  };

  test.each(said)('%s', (message) => {
    for (const [id, body] of Object.entries(drawn(message))) expect(body).toContain(codes[id as keyof typeof codes]);
    expect(drawn(message)['beta']).toMatch(/prompt is too long|input length and `max_tokens` exceed context limit: \d+ \+ \d+ > \d+/);
    expect(drawn(message)['gamma']).toMatch(/input token count/i);
    expect(drawn(message)['alpha']).toMatch(/maximum context length/);
    expect(drawn(message)['alpha_response']).toMatch(/exceeds the context window/);
  });

  test('a request larger than a minute’s tokens, without the organization and its bills', () => {
    const each = drawn(
      'Request too large for model `openai/gpt-oss-20b` in organization `org_01` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 34031, please reduce your message size and try again. Need more tokens? Upgrade to Dev Tier today at https://console.groq.com/settings/billing',
    );
    for (const body of Object.values(each)) expect(body).not.toMatch(/org_01|billing/);
    expect(each['beta']).toContain('prompt is too long: 34031 tokens > 8000 maximum');
    expect(each['alpha']).toContain('maximum context length is 8000 tokens. However, your messages resulted in 34031 tokens');
  });

  test('with the figures that are known', () => {
    const sum = drawn(said[3]![0]);
    // Claude Code asks again for a shorter reply on these three numbers alone.
    const ofVllm = said.find(([message]) => message.startsWith('You passed'))!;
    expect(drawn(ofVllm[0])['beta']).toContain('exceed context limit: 99073 + 32000 > 131072,');
    expect(sum['beta']).toContain('exceed context limit: 62000 + 8000 > 65536,');
    expect(drawn(said[4]![0])['beta']).toContain('prompt is too long: 204000 tokens > 200000 maximum');
    expect(drawn(said[0]![0])['gamma']).toContain('The input token count (210000) exceeds the maximum number of tokens allowed (200000).');
    expect(drawn(said[8]![0])['alpha']).toContain('maximum context length is 1048576 tokens. However, your messages resulted in 1200000 tokens');
  });
});
