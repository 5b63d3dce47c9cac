/** The shape of what is known of a family, and what holds for a model that nothing is known of. */

export type Effort = 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max';

export interface Thinking {
  /** `none`: the model does not think. `budget`: tokens. `effort`: a word. `adaptive`: on or off, with an effort beside it. */
  style: 'none' | 'budget' | 'effort' | 'adaptive';
  /** Bounds of a budget, in tokens. */
  least: number;
  most: number;
  /** The words it takes, weakest first; [] where it takes none or the words are unknown. */
  efforts: readonly Effort[];
  /** Whether it can be switched off. */
  optional: boolean;
}

export interface SamplingRules {
  /** Any value of temperature, top_p, top_k or the penalties but the default is refused. */
  fixed: boolean;
  /** Largest temperature. */
  mostTemperature: 1 | 2;
  /** Whether temperature and top_p may stand together. */
  both: boolean;
}

/** Micro-units of `currency` per million tokens. */
export interface ReferencePrices {
  currency: string;
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite5m?: number;
  cacheWrite1h?: number;
}

export interface ModelFamily {
  /** The most specific pattern that matched; `*` when none did. */
  pattern: string;
  /** The tiktoken table that counts it best. */
  tokenizer: 'o200k_base' | 'cl100k_base';
  /** Tokens it can read and write together; null: unknown. */
  context: number | null;
  /** Most tokens of one reply, thinking included but where `thinksBeside`; null: unknown. */
  output: number | null;
  /** What is asked for where the upstream must be given a limit and the caller gave none. */
  defaultOutput: number;
  /** A reply's limit holds for the answer alone: what is thought comes on top of it. */
  thinksBeside: boolean;
  vision: boolean;
  pdf: boolean;
  tools: boolean;
  thinking: Thinking;
  structuredOutput: 'native' | 'emulate';
  sampling: SamplingRules;
  /** Refuses a tool loop whose earlier reasoning is not sent back. */
  replaysReasoning: boolean;
  /** `explicit`: only what is marked is cached. `automatic`: the vendor caches by itself, or not at all. */
  cacheMarks: 'explicit' | 'automatic';
  /** Least tokens of a reply's limit that is not refused. */
  leastOutput: number;
  /** Longest id of a tool call, and whether only letters, digits, `_` and `-` may stand in it. */
  toolIds: { longest: number; plain: boolean };
  prices: ReferencePrices | null;
}

/** A row of the table: what differs from less specific rows. */
export interface FamilyRow extends Partial<Omit<ModelFamily, 'pattern' | 'thinking' | 'sampling' | 'toolIds'>> {
  thinking?: Partial<Thinking>;
  sampling?: Partial<SamplingRules>;
  toolIds?: Partial<ModelFamily['toolIds']>;
}

export const unknownFamily: ModelFamily = Object.freeze({
  pattern: '*',
  tokenizer: 'o200k_base',
  context: null,
  output: null,
  defaultOutput: 4096,
  thinksBeside: false,
  vision: true,
  pdf: true,
  tools: true,
  thinking: Object.freeze({ style: 'budget', least: 1024, most: 32_768, efforts: Object.freeze([]), optional: true }),
  structuredOutput: 'native',
  sampling: Object.freeze({ fixed: false, mostTemperature: 2, both: true }),
  replaysReasoning: false,
  cacheMarks: 'automatic',
  leastOutput: 1,
  toolIds: Object.freeze({ longest: 64, plain: true }),
  prices: null,
} satisfies ModelFamily);
