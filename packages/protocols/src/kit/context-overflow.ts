/**
 * One table of how vendors report that a prompt does not fit the model's context window, and how each client protocol reports it. Agents compact
 * their history only when they recognise their own protocol's message, so an upstream's message is never passed on unchanged.
 */

/** Tokens, as far as a message names them. */
export interface OverflowFigures {
  /** Of the prompt, or of prompt and reply together where the vendor does not tell them apart. */
  asked?: number;
  /** Reserved for the reply, where the message names it separately from the prompt's. */
  output?: number;
  allowed?: number;
}

type Figure = keyof OverflowFigures;
interface Wording {
  /** Who says it so. */
  source: string;
  pattern: RegExp;
  /** What the captures are, in order. `null`: a sum that the others already say. */
  figures: readonly (Figure | null)[];
}

// Bounded everywhere: the text is an upstream's.
const n = '(\\d{1,12})';
const words = (text: string): RegExp => new RegExp(text.replaceAll('#', n), 'i');

const wordings: readonly Wording[] = [
  { source: 'Anthropic', pattern: words('input length and `?max_tokens`? exceed context limit: # \\+ # > #'), figures: ['asked', 'output', 'allowed'] },
  { source: 'Anthropic', pattern: words('# tokens? > # maximum'), figures: ['asked', 'allowed'] },
  {
    source: 'OpenAI, DeepSeek, OpenRouter, vLLM',
    pattern: words('maximum context length is # tokens[^]{0,200}?requested (?:about )?# tokens \\(# (?:in|of)[^,)]{0,60}, # (?:in|for|of)'),
    figures: ['allowed', null, 'asked', 'output'],
  },
  {
    source: 'vLLM',
    pattern: words('maximum context length is # tokens[^]{0,200}?requested # output tokens and your prompt contains (?:at least )?# input tokens'),
    figures: ['allowed', 'output', 'asked'],
  },
  {
    source: 'vLLM, Meta',
    pattern: words('passed # input tokens and requested # output tokens[^]{0,60}?context length is only # tokens'),
    figures: ['asked', 'output', 'allowed'],
  },
  {
    source: 'vLLM',
    pattern: words('is too large: #\\. [^]{0,40}?maximum context length is # tokens and your request has # input tokens'),
    figures: ['output', 'allowed', 'asked'],
  },
  { source: 'vLLM', pattern: words('maximum context length is # tokens[^]{0,40}?your request has # input tokens'), figures: ['allowed', 'asked'] },
  { source: 'vLLM', pattern: words('prompt \\(length #\\) is longer than the maximum model length of #'), figures: ['asked', 'allowed'] },
  { source: 'OpenAI', pattern: words('maximum context length is # tokens[^]{0,200}?resulted in # tokens'), figures: ['allowed', 'asked'] },
  { source: 'OpenAI', pattern: words('configured limit of # tokens\\.[^]{0,40}?resulted in # tokens'), figures: ['allowed', 'asked'] },
  { source: 'OpenAI, Together', pattern: words('maximum context length is # tokens[^]{0,200}?requested (?:about )?# tokens'), figures: ['allowed', 'asked'] },
  { source: 'xAI', pattern: words('maximum prompt length is # but the request contains # tokens'), figures: ['allowed', 'asked'] },
  {
    source: 'Gemini',
    pattern: words('input token count \\(?#\\)? exceeds the maximum number of (?:input )?tokens allowed \\(?#'),
    figures: ['asked', 'allowed'],
  },
  { source: 'Vertex AI', pattern: words('input token count is # but (?:the )?model only supports up to #'), figures: ['asked', 'allowed'] },
  { source: 'Mistral', pattern: words('prompt contains # tokens[^]{0,80}? with # maximum context length'), figures: ['asked', 'allowed'] },
  { source: 'GitHub Copilot', pattern: words('prompt token count of # exceeds the limit of #'), figures: ['asked', 'allowed'] },
  { source: 'Fireworks', pattern: words('prompt is too long: #, model maximum context length: #'), figures: ['asked', 'allowed'] },
  { source: 'Moonshot', pattern: words('token limit: # \\(requested: #\\)'), figures: ['allowed', 'asked'] },
  {
    source: 'Text Generation Inference, Together',
    pattern: words('inputs`? tokens \\+ `?max_new_tokens`? must be <= #\\. Given: # `?inputs`? tokens and # '),
    figures: ['allowed', 'asked', 'output'],
  },
  { source: 'Text Generation Inference', pattern: words('inputs`? must have less than # tokens\\. Given: #'), figures: ['allowed', 'asked'] },
  {
    source: 'Cloudflare',
    pattern: words('input and maximum output tokens \\(#\\) exceeded this model context window limit \\(#\\)'),
    figures: ['asked', 'allowed'],
  },
  { source: 'LM Studio', pattern: words('n_keep: # ?>= ?n_ctx: #'), figures: ['asked', 'allowed'] },
  { source: 'Cerebras', pattern: words('current length is # while limit is #'), figures: ['asked', 'allowed'] },
  { source: 'llama.cpp', pattern: words('request \\(# tokens\\) exceeds the available context size \\(# tokens\\)'), figures: ['asked', 'allowed'] },
  {
    source: 'Groq, OpenAI: one request against the tokens of a minute',
    pattern: words('request too large for [^]{0,300}?limit #, requested #'),
    figures: ['allowed', 'asked'],
  },
  { source: 'Amazon Nova', pattern: words('max input tokens: #, request input token count: #'), figures: ['allowed', 'asked'] },
  {
    source: 'SGLang',
    pattern: words('maximum context length of # tokens[^]{0,80}?total of # tokens: # tokens from the input[^,.]{0,40}? and # tokens'),
    figures: ['allowed', null, 'asked', 'output'],
  },
  { source: 'SGLang', pattern: words("input \\(# tokens\\) is longer than the model's context length \\(# tokens\\)"), figures: ['asked', 'allowed'] },
  { source: 'SGLang', pattern: words('input length \\(# tokens\\) exceeds the maximum allowed length \\(# tokens\\)'), figures: ['asked', 'allowed'] },
  { source: 'SiliconFlow', pattern: words('length of prompt_tokens \\(#\\) must be less than max_seq_len \\(#\\)'), figures: ['asked', 'allowed'] },
  { source: 'DashScope', pattern: words('range of input length should be \\[\\d{1,4}, ?#\\]'), figures: ['allowed'] },
  { source: 'watsonx', pattern: words('number of input tokens # cannot exceed the total tokens limit #'), figures: ['asked', 'allowed'] },
  { source: 'Cohere', pattern: words('total number of tokens[^.]{0,60} cannot exceed #\\D{1,60}received #'), figures: ['allowed', 'asked'] },
  {
    source: 'several',
    pattern: words('# (?:input )?tokens?\\b[^.]{0,40}exceeds?[^.]{0,60} (?:limit|maximum|window|length) of #'),
    figures: ['asked', 'allowed'],
  },
  { source: 'several', pattern: words('(?:maximum context length|context window|context length) (?:of|is) #'), figures: ['allowed'] },
];

/** Wordings without figures, or whose figures mean something else. */
const plainWords = new RegExp(
  [
    'context[_ -]?(?:length|window|size)',
    'maximum (?:context|prompt|input) ',
    '(?:prompt|input|request|message)s? (?:is |are )?too long',
    'too many (?:input )?tokens',
    'reduce the length',
    'input token count',
    'input tokens exceed',
    'input length and `?max_tokens`? exceed',
    "exceed(?:s|ed)? (?:the )?(?:model(?:'s)? )?(?:maximum |max(?:imum)? )?(?:context|number of (?:input )?tokens|(?:model )?token limit|input length|max(?:imum)? (?:input|length|tokens))",
    "exceeds? the (?:model'?s? )?max(?:imum)? (?:number of )?(?:tokens|length|context|input)",
    'maximum allowed (?:input )?length',
    'max_model_len',
    'range of input length',
    'total message token length',
    'exceed max message tokens',
    'longer than the maximum',
    'token limit exceeded',
    'tokens_limit_reached',
    'model_max_prompt_tokens_exceeded',
    'exceed_context_size',
    'content_length_exceeds_threshold',
    'input token length too long',
    'prompt 超长',
    '输入内容过长',
  ].join('|'),
  'i',
);
/** Limits of a minute are no window: waiting helps there. */
const perMinute = /\b[Tt]okens per (?:minute|min|hour|day)\b|\bTPM\b|please wait before trying again/;

/** Longest message that is looked at. */
const maxLength = 4000;

/** Whether a message says that the prompt is too long for the model. Only to be asked of a refusal (4xx), and not of a 429. */
export function saysOverflow(message: string): boolean {
  const text = message.slice(0, maxLength);
  return !perMinute.test(text) && (plainWords.test(text) || wordings.some(({ pattern }) => pattern.test(text)));
}

/**
 * Whether a message says that one request asks for more tokens than the account has in a minute or a day. Vendors call it a rate (429, or 413 at Groq), but it
 * is refused however long one waits.
 */
export const exceedsWholeRate = (message: string): boolean => /\brequest too large for .{0,300}?\((?:TPM|TPD)\): limit \d{1,12}, requested \d/i.test(message);

/** {} when it tells none. */
export function overflowFigures(message: string): OverflowFigures {
  const text = message.slice(0, maxLength);
  for (const { pattern, figures } of wordings) {
    const found = pattern.exec(text);
    if (!found) continue;
    const known: OverflowFigures = {};
    figures.forEach((figure, at) => {
      if (figure !== null) known[figure] = Number(found[at + 1]);
    });
    return known;
  }
  return {};
}

/** What a client protocol says, by what is known. */
export interface OverflowWords {
  /** Prompt and reply together do not fit, though the prompt alone would. */
  sum(asked: number, output: number, allowed: number): string;
  prompt(asked: number, allowed: number): string;
  /** No figures are known: `message` is what the upstream said. */
  plain(message: string): string;
}

/** The client's own sentence for an upstream's. */
export function redrawOverflow(message: string, say: OverflowWords): string {
  const { asked, output, allowed } = overflowFigures(message);
  if (asked === undefined || allowed === undefined) return say.plain(message);
  return output !== undefined && asked <= allowed ? say.sum(asked, output, allowed) : say.prompt(asked, allowed);
}
