/** The shape of what is known of a family, and what holds for a model that nothing is known of. */

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Thinking {
  /** `none`: the model does not think. `budget`: tokens. `effort`: a word. `adaptive`: on or off, with an effort beside it. */
  style: 'none' | 'budget' | 'effort' | 'adaptive';
  /** Bounds of a budget, in tokens. */
  min: number;
  max: number;
  /** The words it takes, weakest first; [] where it takes none or the words are unknown. */
  efforts: readonly Effort[];
  /** Whether it can be switched off. */
  optional: boolean;
  /** Whether the model does not think unless it is asked to. */
  offByDefault: boolean;
}

export interface SamplingRules {
  /** Any value of temperature, top_p, top_k or the penalties but the default is refused. */
  fixed: boolean;
  /** Largest temperature. */
  maxTemperature: number;
  /** Whether temperature and top_p may stand together. */
  both: boolean;
}

/** Micro-units of a currency per million tokens; what is left out costs what it is a kind of. */
export interface TokenRates {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite5m?: number;
  cacheWrite1h?: number;
  reasoning?: number;
  audioInput?: number;
  audioOutput?: number;
  imageInput?: number;
  imageOutput?: number;
}

export interface ReferencePrices extends TokenRates {
  currency: string;
  /** Rates of the whole request as soon as it reads more than so many tokens; they say only what differs. */
  tiers?: readonly ({ aboveTokens: number } & Partial<TokenRates>)[];
  /** The same of requests that the upstream says it served in this tier. */
  serviceTiers?: readonly ({ serviceTier: string; aboveTokens: number } & Partial<TokenRates>)[];
}

/** Which fields of a chat completion are taken, and under which names. */
export interface ChatFieldRules {
  /** The name of the token limit. */
  limitField: 'max_tokens' | 'max_completion_tokens';
  seedField: 'seed' | 'random_seed';
  /** How many stop sequences are taken; more, or any where it is none, is a 400. null: no limit is known. */
  maxStops: number | null;
  topK: boolean;
  /** Takes presence_penalty and frequency_penalty. */
  penalties: boolean;
  /** Refuses temperature, top_p and the penalties at `ownHosts`, even the defaults of others: its own values are fixed. */
  ownSampling: boolean;
  /** Takes `stream_options`. */
  streamOptions: boolean;
  /** Takes fields that only the first-party endpoint knows: verbosity, prompt_cache_key, service_tier, allowed_tools. */
  firstParty: boolean;
  /** The fields that are taken, where any other is refused; null: unknown ones are passed over. */
  onlyFields: ClosedFields | null;
}

/** What chat-completions endpoints take in the messages. */
export interface ChatMessageRules {
  /** Takes the role `developer`; elsewhere it is called `system`. */
  developerRole: boolean;
  /** Takes system messages after the first turn of the model. */
  laterSystem: boolean;
  /** Refuses arguments of an earlier call that are not JSON. */
  jsonArguments: boolean;
  /** Takes `cache_control` on parts. */
  cacheControl: boolean;
  /** The fields of an assistant's message that are taken, where any other is refused; null: unknown ones are passed over. */
  assistantFields: readonly string[] | null;
  /** Forbids the fields in which other vendors give reasoning, on earlier messages too. */
  forbidsReasoning: boolean;
  /** Refuses calls of earlier messages without the reasoning that led to them: while thinking is asked for, or unless it is turned off. */
  demandsReasoning: 'never' | 'asked' | 'unless-off';
}

/** What chat-completions endpoints take of these models, beyond what is known of the models themselves. */
export interface ChatRules extends ChatFieldRules, ChatMessageRules {
  /** How reasoning is asked for: an effort word, `thinking: {type}`, `enable_thinking`, an aggregator's `reasoning: {…}`, or not at all. */
  reasoning: 'effort' | 'thinking-type' | 'enable-thinking' | 'reasoning-object' | 'none';
  /** Takes `response_format` of type json_schema. */
  jsonSchema: boolean;
  /** Takes the word `required` for a tool choice; elsewhere only one tool can be named. */
  requiredChoice: boolean;
  /** Takes the name of a tool as a choice; elsewhere only `required` can force a call. */
  namedChoice: boolean;
  /** Refuses `type` beside `anyOf` in the schema of a tool: each member of the union must have its own. */
  typedUnions: boolean;
  /** Opens images and videos that are named by their address; where it does not, that is so at `ownHosts`. */
  opensImages: boolean;
  /** The addresses of its vendor, where relays and self-hosted servers take more than the vendor does. */
  ownHosts: RegExp | null;
  /** Knows tools of type `custom`; elsewhere they become functions. */
  freeTextTools: boolean;
  /** Which `reasoning_effort` its vendor's own chat completions take beside tools: any, none at all, or the word `none`, which must be said. */
  effortBesideTools: 'any' | 'unset' | 'none';
  /** Refuses a forced call of a tool while it thinks: where thinking is asked for, or unless it is turned off. */
  refusesForcedThinking: 'never' | 'asked' | 'unless-off';
}

/** All fields of a request that a vendor with a closed schema takes. */
export interface ClosedFields {
  request: readonly string[];
  /** By role. */
  messages: Readonly<Record<string, readonly string[]>>;
  call: readonly string[];
  function: readonly string[];
}

/** What the cloud host's one interface for all vendors (Converse) takes for these models: it answers with a 400 what a model does not know. */
export interface ConverseRules {
  /** Ways of `toolChoice`. */
  toolChoices: readonly ('auto' | 'any' | 'tool')[];
  /** Streams replies of requests that offer tools; where not, such a request gets its reply at once. */
  streamsTools: boolean;
  /** Where `cachePoint` may stand. */
  cachePoints: readonly ('system' | 'messages' | 'tools')[];
  /** Whether a cache point in the messages may stand after text alone, and after no result, call or file. */
  cachesAfterText: boolean;
  /** Whether a cache point takes a lifetime. */
  cacheLifetimes: boolean;
  /** `status` of a tool result. */
  resultStatus: boolean;
  /** `system`; otherwise its text goes in front of the first user turn. */
  system: boolean;
  /** `outputConfig.textFormat`; otherwise the schema is asked for in words. */
  structuredOutput: boolean;
  /** Whether replies cite documents that ask for it (`citations`). */
  citations: boolean;
  /** How reasoning is asked for: in the messages vendor's fields, as Nova's configuration, as an effort in words, or not at all. */
  reasoning: 'messages' | 'nova' | 'effort' | 'none';
  /** Where `top_k` goes among the additional fields. */
  topK: 'top_k' | 'nova' | 'none';
}

/** What generate-content endpoints take of these models. */
export interface GenerateContentRules {
  /** Takes images and files inside functionResponse. */
  mediaInResults: boolean;
  /** Takes functions beside a JSON answer; the others answer 400. */
  formatBesideTools: boolean;
  /** Takes presencePenalty and frequencyPenalty; the others answer 400. */
  penalties: boolean;
  /** Of those that take levels of thinking: whether they take a budget too; the others answer 400. */
  budgetForLevel: boolean;
}

/** Who makes the model. */
export type Vendor =
  | 'anthropic'
  | 'openai'
  | 'google'
  | 'amazon'
  | 'deepseek'
  | 'qwen'
  | 'moonshot'
  | 'zai'
  | 'minimax'
  | 'mistral'
  | 'meta'
  | 'xai'
  | 'cohere';

/** How much a model reads and writes, in tokens. */
export interface TokenLimits {
  /** The tiktoken table that counts it best. */
  tokenizer: 'o200k_base' | 'cl100k_base';
  /** Tokens it can read and write together; null: unknown. */
  context: number | null;
  /** Most tokens of a prompt: the window, but where `replyApart`; null: unknown. */
  input: number | null;
  /** The longest reply has its own part of the window, which no prompt may use (272,000 of 400,000 are left). */
  replyApart: boolean;
  /** Most tokens of one reply, thinking included but where `thinksBeside`; null: unknown. */
  output: number | null;
  /** What is asked for where the upstream must be given a limit and the caller gave none. */
  defaultOutput: number;
  /** Least tokens of a reply's limit that is not refused. */
  minOutput: number;
  /** A reply's limit holds for the answer alone: what is thought comes on top of it. */
  thinksBeside: boolean;
}

/** What a model reads and does. */
export interface Abilities {
  vision: boolean;
  pdf: boolean;
  tools: boolean;
  thinking: Thinking;
  structuredOutput: 'native' | 'emulate';
  sampling: SamplingRules;
  /** Refuses a reply that is not streamed. */
  streamsOnly: boolean;
}

/** What a model takes of earlier turns. */
export interface HistoryRules {
  /**
   * Whether earlier reasoning goes back as readable text; some refuse a tool loop without it, and refuse or ignore it elsewhere. `tags`: in front of
   * the text, as it came.
   */
  replaysReasoning: 'never' | 'with-calls' | 'always' | 'tags';
  /** Refuses a call in the history that lacks the signature it came with. */
  needsCallSignature: boolean;
  /** Takes system turns between other turns, where its vendor's protocol knows them. */
  systemTurns: boolean;
  /**
   * What becomes of a conversation that ends in a begun reply: it is continued as it is, or where the message is marked with `prefix` or `partial`;
   * `no`: it is refused, or answered anew. null: unknown.
   */
  begunReply: 'continues' | 'prefix' | 'partial' | 'no' | null;
  /** Maximum length of a tool call id, and whether it is restricted to letters, digits, `_` and `-`. */
  toolIds: { maxLength: number; plain: boolean };
  /** `explicit`: only what is marked is cached. `automatic`: the vendor caches by itself, or not at all. */
  cacheMarks: 'explicit' | 'automatic';
  /** Knows `prompt_cache_breakpoint` on parts and `prompt_cache_options`, in chat completions and Responses; others refuse the fields. */
  cacheBreakpoints: boolean;
}

/** What is known of a family of models: the one table that every writer asks. */
export interface ModelFamily extends TokenLimits, Abilities, HistoryRules {
  /** The most specific pattern that matched; `*` when none did. */
  pattern: string;
  /** null: unknown. */
  vendor: Vendor | null;
  prices: ReferencePrices | null;
  chat: ChatRules;
  converse: ConverseRules;
  generateContent: GenerateContentRules;
}

/** What the list of models says, which no row may. */
type Listed = 'context' | 'input' | 'output' | 'prices';

/** A row of the table: what differs from less specific rows. */
export type FamilyRow = { [Key in Exclude<keyof ModelFamily, 'pattern' | Listed>]?: Key extends Part ? Partial<ModelFamily[Key]> : ModelFamily[Key] } & {
  /** The listed model whose window holds for models of this family that are not listed. Its prices do not: a guess would be billed. */
  like?: string;
};

/** The records that a row may fill in part. */
export type Part = (typeof parts)[number];
export const parts = ['thinking', 'sampling', 'toolIds', 'chat', 'converse', 'generateContent'] as const satisfies readonly (keyof ModelFamily)[];

export const unknownFamily: ModelFamily = Object.freeze({
  pattern: '*',
  vendor: null,
  tokenizer: 'o200k_base',
  context: null,
  input: null,
  replyApart: false,
  output: null,
  defaultOutput: 4096,
  thinksBeside: false,
  vision: true,
  pdf: true,
  tools: true,
  thinking: Object.freeze({ style: 'budget', min: 1024, max: 32_768, efforts: Object.freeze([]), optional: true, offByDefault: false }),
  structuredOutput: 'native',
  sampling: Object.freeze({ fixed: false, maxTemperature: 2, both: true }),
  replaysReasoning: 'never',
  needsCallSignature: false,
  systemTurns: false,
  begunReply: null,
  streamsOnly: false,
  cacheMarks: 'automatic',
  cacheBreakpoints: false,
  minOutput: 1,
  toolIds: Object.freeze({ maxLength: 64, plain: true }),
  prices: null,
  chat: Object.freeze({
    limitField: 'max_tokens',
    reasoning: 'effort',
    maxStops: null,
    jsonSchema: true,
    firstParty: false,
    topK: false,
    penalties: true,
    ownSampling: false,
    requiredChoice: true,
    namedChoice: true,
    typedUnions: false,
    opensImages: true,
    ownHosts: null,
    laterSystem: true,
    jsonArguments: false,
    cacheControl: false,
    streamOptions: true,
    seedField: 'seed',
    freeTextTools: false,
    developerRole: false,
    demandsReasoning: 'never',
    refusesForcedThinking: 'never',
    effortBesideTools: 'any',
    forbidsReasoning: false,
    assistantFields: null,
    onlyFields: null,
  }),
  converse: Object.freeze({
    toolChoices: Object.freeze(['auto', 'any', 'tool'] as const),
    streamsTools: true,
    cachePoints: Object.freeze([]),
    cachesAfterText: false,
    cacheLifetimes: false,
    resultStatus: false,
    system: true,
    structuredOutput: false,
    citations: false,
    reasoning: 'none',
    topK: 'none',
  }),
  generateContent: Object.freeze({ mediaInResults: false, formatBesideTools: true, penalties: true, budgetForLevel: true }),
} satisfies ModelFamily);
