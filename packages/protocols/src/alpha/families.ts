/** What must differ in a request by the upstream's model id. The one place that knows model names; new ones are lines here. */
export interface ModelFamily {
  /** The name of the token limit. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** How reasoning is asked for: an effort word, `thinking: {type}`, `enable_thinking`, aggregator's `reasoning: {…}`, or not at all. */
  reasoning: 'effort' | 'thinking-type' | 'enable-thinking' | 'reasoning-object' | 'none';
  /** Effort words above `high`, and what "no reasoning" is called (null: it cannot be turned off). */
  highestEffort: 'high' | 'xhigh';
  noEffort: 'none' | 'minimal' | null;
  /**
   * Whether earlier reasoning goes back as `reasoning_content`; some refuse a tool loop without it, and refuse or ignore it elsewhere. `tags`: in
   * front of the text, as it came.
   */
  replaysReasoning: 'never' | 'with-calls' | 'always' | 'tags';
  /** Refuses temperature, top_p and penalties that are not the default. */
  fixedSampling: boolean;
  /** How many stop sequences are taken; more, or any where it is none, is a 400. */
  mostStops: number;
  /** Takes `response_format` of type json_schema. */
  jsonSchema: boolean;
  /** Takes fields that only the first-party endpoint knows: verbosity, prompt_cache_key, service_tier, allowed_tools. */
  firstParty: boolean;
  topK: boolean;
  /** Takes `cache_control` on parts. */
  cacheControl: boolean;
  /** Takes `stream_options`. */
  streamOptions: boolean;
  seedField: 'seed' | 'random_seed';
  /** Refuses a tool call in the history that lacks its proof. */
  needsCallProof: boolean;
  /** Knows tools of type `custom`; elsewhere they become functions. */
  freeTextTools: boolean;
  /** Ids of calls are nine letters or digits, and nothing else is taken. */
  nineCharacterIds: boolean;
}

const plain: ModelFamily = {
  maxTokensField: 'max_tokens',
  reasoning: 'effort',
  highestEffort: 'high',
  noEffort: 'none',
  replaysReasoning: 'never',
  fixedSampling: false,
  mostStops: Number.POSITIVE_INFINITY,
  jsonSchema: true,
  firstParty: false,
  topK: false,
  cacheControl: false,
  streamOptions: true,
  seedField: 'seed',
  needsCallProof: false,
  freeTextTools: false,
  nineCharacterIds: false,
};

const reasoner: ModelFamily = { ...plain, maxTokensField: 'max_completion_tokens', fixedSampling: true, mostStops: 0, firstParty: true, noEffort: null };
const newest: ModelFamily = { ...reasoner, freeTextTools: true };

/** First match wins; patterns see the last path segment of the id, lower case, so `vendor/model` ids match too. */
const families: readonly (readonly [RegExp, ModelFamily])[] = [
  [/^gpt-5[\d.]*-chat/, { ...plain, maxTokensField: 'max_completion_tokens', reasoning: 'none', mostStops: 4, firstParty: true, freeTextTools: true }],
  [/^gpt-5\.[2-9]|^gpt-5.*codex-max|^gpt-[6-9]/, { ...newest, highestEffort: 'xhigh', noEffort: 'none' }],
  [/^gpt-5\.1/, { ...newest, noEffort: 'none' }],
  [/^gpt-5/, { ...newest, noEffort: 'minimal' }],
  [/^(o1|o3-mini)(-|$)/, { ...reasoner, mostStops: 4 }],
  [/^o\d(-|$)/, reasoner],
  [/^(gpt-4|gpt-3\.5|chatgpt-)/, { ...plain, reasoning: 'none', mostStops: 4, firstParty: true }],
  [/^(deepseek-reasoner|deepseek-r1)/, { ...plain, reasoning: 'none', replaysReasoning: 'with-calls', jsonSchema: false }],
  [/^deepseek/, { ...plain, reasoning: 'thinking-type', replaysReasoning: 'with-calls', jsonSchema: false }],
  [/^minimax/, { ...plain, replaysReasoning: 'tags' }],
  [/^kimi|^moonshot/, { ...plain, reasoning: 'thinking-type', replaysReasoning: 'always' }],
  [/^glm/, { ...plain, reasoning: 'thinking-type', replaysReasoning: 'always', jsonSchema: false }],
  [/^(qwen|qwq|qvq)/, { ...plain, reasoning: 'enable-thinking', replaysReasoning: 'with-calls', topK: true }],
  [/^(mistral|ministral|magistral|codestral|devstral|pixtral|open-mi)/, { ...plain, streamOptions: false, seedField: 'random_seed', nineCharacterIds: true }],
  [/^gemini-(?:[3-9]|\d\d)/, { ...plain, needsCallProof: true }],
  [/^claude/, { ...plain, reasoning: 'reasoning-object', cacheControl: true, topK: true }],
];

/** What to mind for this upstream model id; what every compatible endpoint takes when the name is unknown. */
export function findFamily(upstreamModelId: string): ModelFamily {
  let family = found.get(upstreamModelId);
  if (!family) {
    const name = upstreamModelId.toLowerCase().split('/').at(-1) ?? '';
    family = families.find(([pattern]) => pattern.test(name))?.[1] ?? plain;
    if (found.size >= mostFound) found.clear();
    found.set(upstreamModelId, family);
  }
  return family;
}

/** Each request asks several times for one of few ids. */
const found = new Map<string, ModelFamily>();
const mostFound = 4096;
